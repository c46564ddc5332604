// SPDX-License-Identifier: Apache-2.0
/*
 * floor COMMAND [ARGS]: runs a command while the floor program is attached, and while the kernel
 * measures every program's run time.
 */
#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "floor.skel.h"

static struct floor_bpf *open_and_load(void)
{
	struct floor_bpf *skeleton = floor_bpf__open();

	if (!skeleton)
		return NULL;
	bpf_program__set_autoload(skeleton->progs.floor_resume,
				  libbpf_find_vmlinux_btf_id("sched_exit_tp", BPF_TRACE_RAW_TP) >
					  0);
	return floor_bpf__load(skeleton) ? NULL : skeleton;
}

int main(int argc, char **argv)
{
	struct floor_bpf *skeleton;
	int status = -1;
	pid_t child;

	if (argc < 2) {
		fprintf(stderr, "usage: floor COMMAND [ARGS]\n");
		return 64;
	}
	libbpf_set_strict_mode(LIBBPF_STRICT_ALL);
	skeleton = open_and_load();
	/* Ends with this process, unlike the sysctl. */
	if (bpf_enable_stats(BPF_STATS_RUN_TIME) < 0 || !skeleton || floor_bpf__attach(skeleton)) {
		fprintf(stderr, "floor: cannot load or attach its program: run it as root\n");
		return 77;
	}
	child = fork();
	if (child == 0) {
		execvp(argv[1], argv + 1);
		perror(argv[1]);
		_exit(127);
	}
	waitpid(child, &status, 0);
	floor_bpf__destroy(skeleton);
	return WIFEXITED(status) ? WEXITSTATUS(status) : 1;
}
