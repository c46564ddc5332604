// SPDX-License-Identifier: Apache-2.0 OR GPL-2.0-only
/*
 * Walks the stacks of one process as samples do, at an event that also carries its registers and a
 * copy of its stack, so that another unwinder can be asked about the same moment: see agree.c.
 */
#include "../../bpf/common.bpf.h"

const volatile u32 agree_tgid;

SEC("perf_event")
int agree_tick(struct cpu_regs *ctx)
{
	struct stack_scratch *scratch;
	struct stack_wish wish = {.context = STACK_CPU, .tgid = agree_tgid, .has_user = true};
	struct rec_sample *rec;
	u32 stop;
	u64 key;

	if (bpf_get_current_pid_tgid() >> 32 != agree_tgid)
		return 0;
	scratch = stack_claim(STACK_CPU);
	if (scratch && (ctx->cs & CS_USER_MASK)) {
		scratch->regs = *ctx;
		wish.regs = &scratch->regs;
	}
	key = stack_take_in(ctx, &wish, scratch, &stop);
	rec = EMIT_RESERVE(SAMPLE, sample, current_task());
	if (!rec)
		return 0;
	rec->stack = key;
	rec->stop = (u8)stop;
	EMIT_SUBMIT(rec);
	return 1; /* the event is written out, too */
}
