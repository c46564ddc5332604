// SPDX-License-Identifier: Apache-2.0
/*
 * empty LIBRARY FUNCTION COMMAND [ARGS]: runs a command while a program that does nothing is at a
 * function of a library, in that command alone.
 */
#include <bpf/libbpf.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "empty.skel.h"

static int attach(struct empty_bpf *skeleton, pid_t pid, char **argv)
{
	LIBBPF_OPTS(bpf_uprobe_opts, opts, .func_name = argv[2]);

	return skeleton && bpf_program__attach_uprobe_opts(skeleton->progs.empty_begin, pid,
							   argv[1], 0, &opts)
		       ? 0
		       : -1;
}

int main(int argc, char **argv)
{
	struct empty_bpf *skeleton;
	int status = -1, hold[2];
	pid_t child;
	char go;

	if (argc < 4 || pipe(hold)) {
		fprintf(stderr, "usage: empty LIBRARY FUNCTION COMMAND [ARGS]\n");
		return 64;
	}
	libbpf_set_strict_mode(LIBBPF_STRICT_ALL);
	skeleton = empty_bpf__open_and_load();
	child = fork();
	if (child == 0) {
		close(hold[1]);
		if (read(hold[0], &go, 1) == 1)
			execvp(argv[3], argv + 3);
		_exit(127);
	}
	if (attach(skeleton, child, argv) || write(hold[1], "", 1) != 1) {
		fprintf(stderr, "empty: cannot attach to %s of %s: run it as root\n", argv[2],
			argv[1]);
		close(hold[1]);
		return 77;
	}
	waitpid(child, &status, 0);
	empty_bpf__destroy(skeleton);
	return WIFEXITED(status) ? WEXITSTATUS(status) : 1;
}
