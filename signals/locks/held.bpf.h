/* SPDX-License-Identifier: Apache-2.0 OR GPL-2.0-only */
/*
 * What the holder of a lock did while others waited for it. Who holds one is not seen when it takes
 * it, and a waiter cannot reach its account. But it is seen when it lets go: it wakes the next one,
 * in its own context. So each thread keeps when it was last off its CPUs, and for what; whoever
 * wakes one that waits for a lock looks up there what it did since that wait began.
 */
#ifndef DWELL_LOCKS_HELD_BPF_H
#define DWELL_LOCKS_HELD_BPF_H

/* How much of the ns that ended at end_ns was after begin_ns. */
static __always_inline u64 held_part(u64 begin_ns, u64 end_ns, u64 ns)
{
	u64 since = end_ns - begin_ns;

	if (end_ns <= begin_ns)
		return 0;
	return since < ns ? since : ns;
}

/*
 * In the context of the one that ends a wait. It held the lock since the wait began, or since it
 * got it itself by waiting: so it is the least time that it had it. Of one that came and went more
 * often than is kept, what is kept stands for the rest.
 */
static __always_inline void held_judge(struct ledger_task *waiter, struct ledger_task *holder)
{
	struct lock_watch *watch = &holder->lock;
	u64 now = bpf_ktime_get_ns(), begin = waiter->last_ns, oldest = ~0ULL;
	u64 queue = 0, block = 0;

	if (watch->object == waiter->wait_object && watch->got_ns > begin)
		begin = watch->got_ns;
	if (now <= begin)
		return;
	for (u32 i = 0; i < ABSENCES_MAX; i++) {
		const struct lock_absence *absence = &watch->absences[i];
		u64 queue_ns = absence->queue_us * 1000ULL, block_ns = absence->block_us * 1000ULL;
		u64 woken_ns = absence->back_ns - queue_ns;

		queue += held_part(begin, absence->back_ns, queue_ns);
		block += held_part(begin, woken_ns, block_ns);
		if (woken_ns - block_ns < oldest)
			oldest = woken_ns - block_ns;
	}
	if (watch->absence_count > ABSENCES_MAX && oldest > begin && oldest < now) {
		u64 kept_us = (now - oldest) / 1000 + 1, all_us = (now - begin) / 1000;

		queue = queue / kept_us * all_us;
		block = block / kept_us * all_us;
	}
	waiter->lock.held_queue_ns = queue;
	waiter->lock.held_block_ns = block;
	waiter->lock.held_ns = now - begin;
}

#endif
