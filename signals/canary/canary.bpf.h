/* SPDX-License-Identifier: Apache-2.0 OR GPL-2.0-only */
/*
 * How a canary sings; shared by its two objects (kfunc users live in one of their own).
 */
#ifndef DWELL_CANARY_BPF_H
#define DWELL_CANARY_BPF_H

#define CANARY_LOOPS 1000

static __always_inline int canary_emit(void *ring, struct live_config *live,
				       struct task_struct *task, u64 value)
{
	struct rec_canary *rec;

	if (!filter_samples(live))
		return 0;
	rec = EMIT_RESERVE_ON(ring, CANARY, canary, task);
	if (!rec)
		return 0;
	rec->token = live->canary_token;
	rec->value = value;
	EMIT_SUBMIT_ON(ring, rec);
	return 0;
}

/* Not inlined: some forty programs call it, and only the doctor ever runs them. */
static __noinline int canary_send(struct task_struct *task, u64 value)
{
	struct live_config *live = live_config();

	if (!live || !filter_wants(task))
		return 0;
	return canary_emit(&records, live, task, value);
}

/* For hooks that do not run in the context of the task that caused them. */
static __always_inline int canary_send_for_any(struct task_struct *task, u64 value)
{
	struct live_config *live = live_config();

	return live && live->scope != SCOPE_NONE ? canary_emit(&records, live, task, value) : 0;
}

/* Other syscalls, of anybody, must cost next to nothing and leave nothing behind. */
static __always_inline bool canary_hears(long id)
{
	return id == cfg_canary_syscall;
}

static __always_inline int canary_at_syscall(long id, u64 value)
{
	return canary_hears(id) ? canary_send(current_task(), value) : 0;
}

#endif
