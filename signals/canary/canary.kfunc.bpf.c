// SPDX-License-Identifier: Apache-2.0 OR GPL-2.0-only
/*
 * The canary's user of kernel functions. Where the kernel lacks one, libbpf refuses the whole
 * object: so it stands in an object of its own.
 */
#include "../../bpf/common.bpf.h"
#include "canary.bpf.h"

/* struct bpf_iter_num, under a name of our own: newer headers declare it too. */
struct bpf_iter_num___own {
	u64 opaque;
};

extern int bpf_iter_num_new(struct bpf_iter_num___own *it, int start, int end) __ksym;
extern int *bpf_iter_num_next(struct bpf_iter_num___own *it) __ksym;
extern void bpf_iter_num_destroy(struct bpf_iter_num___own *it) __ksym;

SEC("?raw_tp/sys_enter")
int canary_for(struct bpf_raw_tracepoint_args *ctx)
{
	struct bpf_iter_num___own it;
	u64 count = 0;

	if (!canary_hears(ctx->args[1]))
		return 0;
	bpf_iter_num_new(&it, 0, CANARY_LOOPS);
	while (bpf_iter_num_next(&it))
		count++;
	bpf_iter_num_destroy(&it);
	return canary_send(current_task(), count);
}
