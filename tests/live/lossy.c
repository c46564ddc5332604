// SPDX-License-Identifier: Apache-2.0
/*
 * lossy INTERFACE N: from now on the interface loses one packet in N, at random, of those that
 * come in: a sender would hear of what is lost on its way out. It stays so when this has ended: the
 * program goes with the interface.
 */
#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <errno.h>
#include <linux/bpf.h>
#include <net/if.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../../src/base/cleanup.h"

#define PASS 0 /* TC_ACT_OK */
#define LOSE 2 /* TC_ACT_SHOT */

static int load(int one_in)
{
	const struct bpf_insn code[] = {
		{.code = BPF_JMP | BPF_CALL, .imm = BPF_FUNC_get_prandom_u32},
		{.code = BPF_ALU64 | BPF_MOD | BPF_K, .imm = one_in},
		{.code = BPF_JMP | BPF_JEQ | BPF_K, .off = 2},
		{.code = BPF_ALU64 | BPF_MOV | BPF_K, .imm = PASS},
		{.code = BPF_JMP | BPF_EXIT},
		{.code = BPF_ALU64 | BPF_MOV | BPF_K, .imm = LOSE},
		{.code = BPF_JMP | BPF_EXIT},
	};

	return bpf_prog_load(BPF_PROG_TYPE_SCHED_CLS, "lossy", "GPL", code, ARRAY_SIZE(code), NULL);
}

int main(int argc, char **argv)
{
	int index = argc == 3 ? (int)if_nametoindex(argv[1]) : 0;
	int one_in = argc == 3 ? atoi(argv[2]) : 0, fd = load(one_in), err;
	LIBBPF_OPTS(bpf_tc_hook, hook, .ifindex = index, .attach_point = BPF_TC_INGRESS);
	LIBBPF_OPTS(bpf_tc_opts, opts, .prog_fd = fd);

	if (!index || one_in < 2 || fd < 0) {
		fprintf(stderr, "lossy: %s: no such interface, N, or program: %s\n",
			argc == 3 ? argv[1] : "", strerror(errno));
		return 1;
	}
	err = bpf_tc_hook_create(&hook);
	if (!err || err == -EEXIST)
		err = bpf_tc_attach(&hook, &opts);
	if (err)
		fprintf(stderr, "lossy: %s: %s\n", argv[1], strerror(-err));
	return err != 0;
}
