// SPDX-License-Identifier: Apache-2.0 OR GPL-2.0-only
/*
 * Any function, tracepoint or USDT probe that a person names: how long its calls take, or how often
 * it is reached; and what passes between two of them.
 *
 * A thread's open calls are a stack of its own. A return belongs to the call of the same place
 * whose return address was where it is taken from now; calls above that never returned: a longjmp
 * passed them by. So recursion, tail calls, longjmp and the end of a thread need no guesses.
 */
#include "../../bpf/common.bpf.h"

#include "args.bpf.h"
#include "func.bpf.h"
#include "pool.bpf.h"

#include "open.bpf.h"
#include "calls.bpf.h"

/* --- what else a place can mean --- */

static __always_inline void count_one(void *ctx, const struct func_spec *spec, bool has_args,
				      const struct ledger_task *account, enum func_form form)
{
	struct series_key key = {};
	u32 weight = choose_weight();

	if (!weight)
		return;
	begin_key(&key, spec, FUNC_KIND_HIT, account);
	if (has_args || spec->by == FUNC_BY_STACK)
		key.more = more_at_entry(ctx, spec, account, form);
	if (spec->by == FUNC_BY_COMM)
		key.object = label_of_comm(spec->label);
	series_add_weighted(series_find_alone(&key), 1, weight);
}

/* What happens between places, by the id that ties them together. */
static __always_inline void pass(const struct func_spec *spec, u64 id,
				 const struct ledger_task *account)
{
	struct func_task *task;

	if (lacks_ends())
		return;
	switch (spec->role) {
	case FUNC_FROM:
		span_begin(spec, id, account);
		break;
	case FUNC_TO:
		span_end(spec, id, account);
		break;
	case FUNC_ENQUEUE:
		pool_enqueue(spec, id, account);
		break;
	case FUNC_START:
		task = func_task_of(account);
		if (task)
			pool_start(spec, id, task, account);
		break;
	case FUNC_END:
		pool_end(spec, id, func_task_here(), account);
		break;
	default:
		break;
	}
}

static __always_inline u64 id_at_entry(const void *ctx, const struct func_spec *spec,
				       const struct ledger_task *account, enum func_form form)
{
	return spec->key == FUNC_KEY_TID ? account->tid : arg_of(ctx, spec, spec->key, form);
}

static __always_inline int enter(void *ctx, u32 place, enum func_form form)
{
	struct func_spec *spec = spec_of(place);
	struct ledger_task *account;

	count_hit(place);
	account = account_of_current();
	if (!spec || !account)
		return 0;
	if (spec->role == FUNC_CALL)
		call_begin(ctx, spec, place, account, form);
	else if (spec->role == FUNC_COUNT)
		count_one(ctx, spec, true, account, form);
	else
		pass(spec, id_at_entry(ctx, spec, account, form), account);
	return 0;
}

static __always_inline int leave(void *ctx, u32 place, enum func_form form, u64 popped)
{
	struct func_spec *spec = spec_of(place);
	struct ledger_task *account;

	account = account_of_current();
	if (!spec || !account)
		return 0;
	if (spec->role == FUNC_CALL)
		call_end(ctx, spec, place, account, form, popped);
	else
		pass(spec, spec->key == FUNC_KEY_TID ? account->tid : returned_of(ctx, spec, form),
		     account);
	return 0;
}

SEC("?uprobe")
int func_enter(struct cpu_regs *ctx)
{
	UPROBE_BEGIN(ctx);
	return enter(ctx, place_of(ctx), FORM_REGS);
}

SEC("?uretprobe")
int func_leave(struct cpu_regs *ctx)
{
	UPROBE_BEGIN(ctx);
	return leave(ctx, place_of(ctx), FORM_REGS, REGS_RETURN_BYTES);
}

/* At the instruction that returns, where a return probe would do harm. */
SEC("?uprobe")
int func_return(struct cpu_regs *ctx)
{
	UPROBE_BEGIN(ctx);
	return leave(ctx, place_of(ctx), FORM_REGS, 0);
}

SEC("?kprobe")
int func_kernel_enter(struct cpu_regs *ctx)
{
	return enter(ctx, place_of(ctx), FORM_REGS);
}

SEC("?kretprobe")
int func_kernel_leave(struct cpu_regs *ctx)
{
	return leave(ctx, place_of(ctx), FORM_REGS, REGS_RETURN_BYTES);
}

/*
 * Cheaper, as there is no trap; each is of one function, as it is loaded for it. Links of this kind
 * have cookies from 5.19 on only: hence the place is agreed upon.
 */
SEC("?fentry")
int func_fentry(void *ctx)
{
	return enter(ctx, FUNC_FENTRY_PLACE, FORM_ARRAY);
}

SEC("?fexit")
int func_fexit(void *ctx)
{
	return leave(ctx, FUNC_FENTRY_PLACE, FORM_ARRAY, 0);
}

#define FUNC_CONTEXT_BYTES 4096 /* of a tracepoint's fields */

/* --- tracepoints: their fields are at places that the kernel's format file tells --- */

static __always_inline u64 field_of(void *ctx, const struct func_spec *spec, u32 n)
{
	u32 place = n - 1;
	u64 value = 0, at;

	if (place >= FUNC_ARGS_MAX || spec->args[place].kind != FUNC_ARG_CONTEXT)
		return 0;
	at = (u64)spec->args[place].value;
	if (at < FUNC_CONTEXT_BYTES)
		bpf_probe_read_kernel(&value, sizeof(value), ctx + at);
	return cut_to_size(value, spec->args[place].size);
}

SEC("?tracepoint")
int func_tracepoint(void *ctx)
{
	u32 place = place_of(ctx);
	struct func_spec *spec = spec_of(place);
	struct ledger_task *account;

	count_hit(place);
	account = account_of_current();
	if (!spec || !account)
		return 0;
	if (spec->role == FUNC_COUNT)
		count_one(ctx, spec, false, account, FORM_REGS);
	else
		pass(spec,
		     spec->key == FUNC_KEY_TID ? account->tid : field_of(ctx, spec, spec->key),
		     account);
	return 0;
}

/* --- a thread's end --- */

SEC("?tp_btf/sched_process_exit")
int BPF_PROG(func_exit, struct task_struct *task)
{
	struct ledger_task *account = account_of_current();
	struct func_pool *pool = pool_here();
	struct func_task *mine;

	mine = account ? func_task_here() : NULL;
	if (!mine)
		return 0;
	if (mine->begin_ns == account->begin_ns && mine->depth)
		func_drop_calls(0);
	mine->depth = 0;
	if (pool)
		pool_leave(pool, mine);
	return 0;
}

/* --- how often places are reached, before they are measured --- */

SEC("?uprobe")
int func_tick(struct cpu_regs *ctx)
{
	UPROBE_BEGIN(ctx);
	count_hit(place_of(ctx));
	return 0;
}
