/* SPDX-License-Identifier: Apache-2.0 OR GPL-2.0-only */
/*
 * What the hooks of this signal share: the stack of an allocation, and where it is counted.
 */
#ifndef DWELL_ALLOC_BPF_H
#define DWELL_ALLOC_BPF_H

#include "choice.bpf.h"

#define ALLOC_SIZE_MAX (1ULL << 47) /* no process has more: such a call fails */

/* Of sizes: up to 2^n bytes. */
static __always_inline u16 alloc_class(u64 size)
{
	return size <= 1 ? 0 : (u16)(hist_log2(size - 1) + 1);
}

static __always_inline struct series_key alloc_key(const struct ledger_task *account, u32 kind,
						   u32 function, u64 size)
{
	struct series_key key = {.signal = SIG_ALLOC,
				 .kind = (u8)kind,
				 .detail = alloc_class(size),
				 .object = function};

	series_of(&key, account);
	return key;
}

#define HOOK_FRAMES 2 /* the program, and who calls it */

/*
 * regs: of user space, where the thread is there; NULL: it is in the kernel, which is told only if
 * that is what allocates. 0 with --no-stacks.
 */
static __always_inline u64 alloc_stack(void *ctx, const struct ledger_task *account,
				       struct live_config *live, const struct cpu_regs *regs,
				       bool has_kernel)
{
	struct stack_scratch *scratch;
	struct stack_wish wish = {
		.context = STACK_ALLOC,
		.tgid = account->tgid,
		.kind = SAMPLE_CPU,
		.has_user = true,
		.has_kernel = has_kernel,
		.skip = HOOK_FRAMES,
	};
	u32 stop;

	if (!live->block_stacks)
		return 0;
	scratch = stack_claim(STACK_ALLOC);
	if (scratch && regs) {
		scratch->regs = *regs;
		wish.regs = &scratch->regs;
	}
	return stack_take_in(ctx, &wish, scratch, &stop);
}

#endif
