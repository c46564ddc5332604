// SPDX-License-Identifier: Apache-2.0
/*
 * hooks HOOK,HOOK,... COMMAND [ARGS]: runs a command while the floor programs of these hooks are
 * attached, and while the kernel measures every program's run time; then tells theirs on stderr, a
 * line each: "hook_x runs ns".
 */
#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "hooks.skel.h"

static bool is_wanted(const char *program, const char *list)
{
	const char *hook = program + strlen("hook_"), *at = list;

	if (!strcmp(program, "hooks_newtask"))
		return true;
	for (; at; at = strchr(at, ',') ? strchr(at, ',') + 1 : NULL)
		if (strcspn(at, ",") == strlen(hook) && !strncmp(at, hook, strlen(hook)))
			return true;
	return false;
}

static int start(struct hooks_bpf *skeleton, const char *list)
{
	struct bpf_program *program;

	bpf_object__for_each_program(program, skeleton->obj)
		bpf_program__set_autoload(program, is_wanted(bpf_program__name(program), list));
	if (hooks_bpf__load(skeleton))
		return -1;
	bpf_object__for_each_program(program, skeleton->obj) {
		if (is_wanted(bpf_program__name(program), list) && !bpf_program__attach(program))
			return -1;
	}
	return bpf_enable_stats(BPF_STATS_RUN_TIME) < 0 ? -1 : 0;
}

static void tell(struct hooks_bpf *skeleton)
{
	struct bpf_program *program;

	bpf_object__for_each_program(program, skeleton->obj) {
		struct bpf_prog_info info = {0};
		__u32 size = sizeof(info);

		if (bpf_program__fd(program) >= 0 &&
		    !bpf_obj_get_info_by_fd(bpf_program__fd(program), &info, &size))
			fprintf(stderr, "%s %llu %llu\n", bpf_program__name(program),
				(unsigned long long)info.run_cnt,
				(unsigned long long)info.run_time_ns);
	}
}

int main(int argc, char **argv)
{
	struct hooks_bpf *skeleton;
	int status = -1;
	pid_t child;

	if (argc < 3) {
		fprintf(stderr, "usage: hooks HOOK,HOOK,... COMMAND [ARGS]\n");
		return 64;
	}
	libbpf_set_strict_mode(LIBBPF_STRICT_ALL);
	skeleton = hooks_bpf__open();
	if (!skeleton || start(skeleton, argv[1])) {
		fprintf(stderr, "hooks: cannot load or attach its programs: run it as root\n");
		return 77;
	}
	child = fork();
	if (child == 0) {
		execvp(argv[2], argv + 2);
		perror(argv[2]);
		_exit(127);
	}
	waitpid(child, &status, 0);
	tell(skeleton);
	hooks_bpf__destroy(skeleton);
	return WIFEXITED(status) ? WEXITSTATUS(status) : 1;
}
