/* SPDX-License-Identifier: Apache-2.0 OR GPL-2.0-only */
/*
 * The calls that a thread has open, as a stack of its own: those that a longjmp or an exception has
 * passed by are taken off when that shows, and counted.
 */
#ifndef DWELL_FUNC_OPEN_BPF_H
#define DWELL_FUNC_OPEN_BPF_H

/* The compiler computes the address before it asks whether it may: the mask is for the verifier. */
static __always_inline struct func_frame *frame_at(struct func_task *task, u64 i)
{
	if (i >= FUNC_DEPTH_MAX)
		return NULL;
	asm volatile("%0 &= %1" : "+r"(i) : "i"(FUNC_DEPTH_MAX - 1));
	return &task->frames[i];
}

/* The same place at the same address again: the first one did not return. */
static __always_inline bool is_alive(const struct func_frame *frame, u64 sp, u32 place)
{
	return !frame->sp || frame->sp > sp || (frame->sp == sp && frame->place != place);
}

/*
 * What is rare, and has loops, is in functions that the verifier checks by themselves, once: hence
 * they are not static, and find the thread's calls anew.
 */
int func_lose_call(u32 place);
int func_drop_calls(u32 left);
int func_drop_dead_calls(u64 sp, u32 place);
int func_find_call(u64 sp, u32 place);

static __always_inline struct func_task *func_task_here(void)
{
	return bpf_task_storage_get(&func_tasks, bpf_get_current_task_btf(), NULL, 0);
}

/* A call that will not return. Its class is not known. */
__noinline int func_lose_call(u32 place)
{
	struct ledger_task *account = account_of_current();
	struct func_spec *spec = spec_of(place);
	struct series_key key = {};

	if (!spec || !account)
		return 0;
	if (lacks_ends())
		return 0;
	begin_key(&key, spec, FUNC_KIND_CALL, account);
	series_count(series_find_alone(&key), orphan_starts);
	return 0;
}

/* Takes calls off the top, down to so many, which had no return. */
__noinline int func_drop_calls(u32 left)
{
	struct func_task *task = func_task_here();

	for (u32 i = 0; task && i < FUNC_DEPTH_MAX && task->depth > left; i++) {
		struct func_frame *frame = frame_at(task, task->depth - 1);

		if (frame && frame->weight)
			func_lose_call(frame->place);
		task->depth--;
	}
	return 0;
}

/* Those on whose part of the stack the thread is no more: a longjmp has passed them by. */
__noinline int func_drop_dead_calls(u64 sp, u32 place)
{
	struct func_task *task = func_task_here();
	u32 depth = task ? task->depth : 0;

	for (u32 i = 0; task && i < FUNC_DEPTH_MAX && depth; i++) {
		struct func_frame *frame = frame_at(task, depth - 1);

		if (!frame || is_alive(frame, sp, place))
			break;
		depth--;
	}
	return func_drop_calls(depth);
}

/* The number of the call that returns; FUNC_DEPTH_MAX: it is not there. */
__noinline int func_find_call(u64 sp, u32 place)
{
	struct func_task *task = func_task_here();
	u32 depth = task ? task->depth : 0;

	for (u32 i = 0; task && i < FUNC_DEPTH_MAX && depth; i++) {
		struct func_frame *frame = frame_at(task, --depth);

		if (!frame || frame->sp > sp)
			break;
		if (frame->place == place && frame->sp == sp)
			return (int)depth;
	}
	return FUNC_DEPTH_MAX;
}

static __always_inline struct func_task *func_task_of(const struct ledger_task *account)
{
	struct task_struct *current = bpf_get_current_task_btf();
	struct func_task *task;

	task = bpf_task_storage_get(&func_tasks, current, NULL, BPF_LOCAL_STORAGE_GET_F_CREATE);
	if (!task) {
		EMIT_LOSE(LABEL, no_storage);
		return NULL;
	}
	if (task->begin_ns != account->begin_ns) { /* new, or another program since an exec */
		if (task->depth)
			func_drop_calls(0);
		task->depth = 0;
		task->begin_ns = account->begin_ns;
	}
	return task;
}

#endif
