// SPDX-License-Identifier: Apache-2.0
/*
 * nothing enter|both FILE OFFSET COMMAND [ARGS]: runs a command while programs that do nothing are
 * attached to a place of a file; both: to its return, too.
 * nothing calls COMMAND [ARGS]: the same, at both ends of each system call of the whole host.
 */
#include <bpf/libbpf.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "nothing.skel.h"

static bool attach_calls(struct nothing_bpf *skeleton)
{
	return bpf_program__attach(skeleton->progs.nothing_call_enter) &&
	       bpf_program__attach(skeleton->progs.nothing_call_exit);
}

static bool attach_place(struct nothing_bpf *skeleton, bool both, const char *file,
			 unsigned long offset)
{
	LIBBPF_OPTS(bpf_uprobe_opts, leave, .retprobe = true);

	if (both && !bpf_program__attach_uprobe_opts(skeleton->progs.nothing_leave, -1, file,
						     offset, &leave))
		return false;
	return bpf_program__attach_uprobe_opts(skeleton->progs.nothing_enter, -1, file, offset,
					       NULL);
}

static struct nothing_bpf *load(bool calls)
{
	struct nothing_bpf *skeleton = nothing_bpf__open();

	if (!skeleton)
		return NULL;
	bpf_program__set_autoload(skeleton->progs.nothing_call_enter, calls);
	bpf_program__set_autoload(skeleton->progs.nothing_call_exit, calls);
	return nothing_bpf__load(skeleton) ? NULL : skeleton;
}

static bool attach(struct nothing_bpf *skeleton, char **argv)
{
	if (!strcmp(argv[1], "calls"))
		return attach_calls(skeleton);
	return attach_place(skeleton, !strcmp(argv[1], "both"), argv[2],
			    strtoul(argv[3], NULL, 16));
}

int main(int argc, char **argv)
{
	bool calls = argc > 1 && !strcmp(argv[1], "calls");
	int status = -1, command = calls ? 2 : 4;
	struct nothing_bpf *skeleton;
	pid_t child;

	if (argc <= command) {
		fprintf(stderr, "usage: nothing enter|both FILE OFFSET COMMAND [ARGS]\n"
				"       nothing calls COMMAND [ARGS]\n");
		return 64;
	}
	skeleton = load(calls);
	if (!skeleton || !attach(skeleton, argv)) {
		fprintf(stderr, "nothing: cannot load or attach its programs: run it as root\n");
		return 77;
	}
	child = fork();
	if (child == 0) {
		execvp(argv[command], argv + command);
		perror(argv[command]);
		_exit(127);
	}
	waitpid(child, &status, 0);
	nothing_bpf__destroy(skeleton);
	return WIFEXITED(status) ? WEXITSTATUS(status) : 1;
}
