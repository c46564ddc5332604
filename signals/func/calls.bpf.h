/* SPDX-License-Identifier: Apache-2.0 OR GPL-2.0-only */
/*
 * A call that begins, and one that returns: what it is counted by, and how long it took.
 */
#ifndef DWELL_FUNC_CALLS_BPF_H
#define DWELL_FUNC_CALLS_BPF_H

/* --- what calls are told apart by --- */

static __always_inline u64 stack_here(void *ctx, const struct func_spec *spec,
				      const struct ledger_task *account)
{
	struct stack_wish wish = {
		.context = STACK_FUNC,
		.tgid = account->tgid,
		.kind = SAMPLE_CPU,
		.has_user = true,
		.has_kernel = spec->is_kernel,
	};
	u32 stop;

	return stack_take(ctx, &wish, &stop);
}

/* A label of its own for each name of a thread, told when it is first met. */
static __always_inline u64 label_of_comm(u64 label)
{
	struct task_struct *task = current_task();
	struct rec_label *rec;
	u64 comm[2] = {}, id;
	u8 is_told = 1;

	bpf_get_current_comm(comm, sizeof(comm));
	id = unwind_mix(unwind_mix(label, comm[0]), comm[1]) >> 1 | FUNC_LABEL_OF_COMM;
	if (bpf_map_lookup_elem(&func_comms, &id))
		return id;
	rec = EMIT_RESERVE(LABEL, label, task);
	if (!rec)
		return id; /* counted; the next one tells it */
	rec->id = id;
	rec->of = label;
	rec->signal = SIG_FUNC;
	rec->is_cut = 0;
	__builtin_memset(rec->name, 0, sizeof(rec->name));
	__builtin_memcpy(rec->name, comm, sizeof(comm));
	EMIT_SUBMIT(rec);
	bpf_map_update_elem(&func_comms, &id, &is_told, BPF_ANY);
	return id;
}

static __always_inline u64 more_at_entry(void *ctx, const struct func_spec *spec,
					 const struct ledger_task *account, enum func_form form)
{
	if (spec->by == FUNC_BY_ARG)
		return arg_of(ctx, spec, spec->by_arg, form);
	if (spec->by == FUNC_BY_STACK)
		return stack_here(ctx, spec, account);
	return 0;
}

/* --- calls --- */

static __always_inline void call_begin(void *ctx, const struct func_spec *spec, u32 place,
				       const struct ledger_task *account, enum func_form form)
{
	u64 sp = sp_of(ctx, spec, 0, form);
	struct func_task *task = func_task_of(account);
	struct live_config *live = live_config();
	struct func_frame *frame;
	u32 weight;

	if (!task)
		return;
	frame = task->depth ? frame_at(task, task->depth - 1) : NULL;
	if (sp && frame && !is_alive(frame, sp, place))
		func_drop_dead_calls(sp, place);
	/*
	 * In the kernel only their order ties ends together: so those that are left out are in it,
	 * too. And it may miss returns, where many threads are in a function at once: calls that
	 * stand there for good must not fill up all places.
	 */
	weight = choose_weight();
	if (!weight && sp)
		return;
	if (!sp && task->depth >= FUNC_DEPTH_MAX)
		func_drop_calls(0);
	frame = frame_at(task, task->depth);
	if (!frame) {
		func_lose_call(place); /* deeper than the kernel tells returns of */
		return;
	}
	frame->sp = sp;
	frame->place = place;
	frame->weight = weight;
	frame->more = more_at_entry(ctx, spec, account, form);
	if (live && live->slow_ns)
		slow_mark(account, &frame->mark);
	task->depth++;
	frame->begin_ns = bpf_ktime_get_ns();
}

/* The call that returns is mostly the last one; NULL: it is not there. */
static __always_inline struct func_frame *take_call(struct func_task *task, u64 sp, u32 place)
{
	struct func_frame *frame = task->depth ? frame_at(task, task->depth - 1) : NULL;
	u32 at;

	if (frame && frame->place == place && frame->sp == sp) {
		task->depth--;
		return frame;
	}
	at = (u32)func_find_call(sp, place);
	frame = frame_at(task, at);
	if (frame) {
		func_drop_calls(at + 1);
		task->depth = at;
	}
	return frame;
}

static __always_inline void tell_slow(void *ctx, const struct series_key *key,
				      const struct func_spec *spec, const struct func_frame *frame,
				      u64 ns, u64 returned, const struct ledger_task *account)
{
	struct slow_event event = {.ns = ns, .value = {returned}, .begin = &frame->mark};
	struct slow_mark now;

	if (!slow_is_told(SIG_FUNC, ns))
		return;
	slow_mark(account, &now);
	event.end = &now;
	event.stack = stack_here(ctx, spec, account);
	slow_send(current_task(), key, &event);
}

/* popped: bytes of the return address that are off the stack by now. */
static __always_inline void call_end(void *ctx, const struct func_spec *spec, u32 place,
				     struct ledger_task *account, enum func_form form, u64 popped)
{
	u64 now = bpf_ktime_get_ns(), returned = returned_of(ctx, spec, form), ns;
	u64 sp = sp_of(ctx, spec, popped, form);
	struct func_task *task = func_task_here();
	struct func_frame *frame = NULL;
	struct series_key key = {};

	/* On a thread where nothing began yet, it began before we came: that is no loss. */
	if (!task || task->begin_ns != account->begin_ns)
		return;
	begin_key(&key, spec, FUNC_KIND_CALL, account);
	frame = take_call(task, sp, place);
	if (!frame) {
		if (!lacks_starts())
			series_count(series_find_alone(&key), orphan_ends);
		return;
	}
	if (!frame->weight)
		return; /* it was left out */
	key.detail = spec->has_class ? (u16)class_of(returned) : 0;
	key.more = spec->by == FUNC_BY_RETURN ? returned : frame->more;
	if (spec->by == FUNC_BY_COMM)
		key.object = label_of_comm(spec->label);
	ns = now > frame->begin_ns ? now - frame->begin_ns : 0;
	series_add_weighted(series_find_alone(&key), ns, frame->weight);
	tell_slow(ctx, &key, spec, frame, ns, returned, account);
}

#endif
