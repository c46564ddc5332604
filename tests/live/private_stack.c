// SPDX-License-Identifier: Apache-2.0
/*
 * private_stack PROGRAM...: for each loaded program of these names, "NAME yes" or "NAME no":
 * whether the kernel runs it on a stack that its CPU has for it, by its machine code (x86-64,
 * from 6.13). A program that can be preempted, a uprobe's, must not: another thread's run would
 * write over it.
 */
#include <bpf/bpf.h>
#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* add r9, gs:[…]: the frame pointer of such a program, which is per CPU. */
static const unsigned char per_cpu_frame[] = {0x65, 0x4c, 0x03, 0x0c, 0x25};

static bool is_among(const char *name, char **names)
{
	for (; *names; names++)
		if (!strncmp(name, *names, BPF_OBJ_NAME_LEN - 1))
			return true;
	return false;
}

static void tell(int fd, const struct bpf_prog_info *first)
{
	struct bpf_prog_info info = {.jited_prog_len = first->jited_prog_len};
	__u32 size = sizeof(info);
	void *code = malloc(info.jited_prog_len);

	info.jited_prog_insns = (__u64)code;
	if (!code || bpf_obj_get_info_by_fd(fd, &info, &size) || !info.jited_prog_len)
		printf("%s unknown\n", first->name);
	else
		printf("%s %s\n", info.name,
		       memmem(code, info.jited_prog_len, per_cpu_frame, sizeof(per_cpu_frame))
			       ? "yes"
			       : "no");
	free(code);
}

int main(int argc, char **argv)
{
	__u32 id = 0;

	(void)argc;
	while (!bpf_prog_get_next_id(id, &id)) {
		struct bpf_prog_info info = {0};
		__u32 size = sizeof(info);
		int fd = bpf_prog_get_fd_by_id(id);

		if (fd < 0)
			continue;
		if (!bpf_obj_get_info_by_fd(fd, &info, &size) && is_among(info.name, argv + 1))
			tell(fd, &info);
		close(fd);
	}
	return 0;
}
