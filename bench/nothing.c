// SPDX-License-Identifier: Apache-2.0
/*
 * nothing enter|both FILE OFFSET COMMAND [ARGS]: runs a command while programs that do nothing are
 * attached to a place of a file; both: to its return, too.
 */
#include <bpf/libbpf.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "nothing.skel.h"

static bool attach(struct nothing_bpf *skeleton, bool both, const char *file, unsigned long offset)
{
	LIBBPF_OPTS(bpf_uprobe_opts, leave, .retprobe = true);

	if (both && !bpf_program__attach_uprobe_opts(skeleton->progs.nothing_leave, -1, file,
						     offset, &leave))
		return false;
	return bpf_program__attach_uprobe_opts(skeleton->progs.nothing_enter, -1, file, offset,
					       NULL);
}

int main(int argc, char **argv)
{
	struct nothing_bpf *skeleton;
	int status = -1;
	pid_t child;

	if (argc < 5) {
		fprintf(stderr, "usage: nothing enter|both FILE OFFSET COMMAND [ARGS]\n");
		return 64;
	}
	skeleton = nothing_bpf__open_and_load();
	if (!skeleton ||
	    !attach(skeleton, !strcmp(argv[1], "both"), argv[2], strtoul(argv[3], NULL, 16))) {
		fprintf(stderr, "nothing: cannot load or attach its programs: run it as root\n");
		return 77;
	}
	child = fork();
	if (child == 0) {
		execvp(argv[4], argv + 4);
		perror(argv[4]);
		_exit(127);
	}
	waitpid(child, &status, 0);
	nothing_bpf__destroy(skeleton);
	return WIFEXITED(status) ? WEXITSTATUS(status) : 1;
}
