/* SPDX-License-Identifier: Apache-2.0 OR GPL-2.0-only */
/*
 * Broadcasts: one call of futex() wakes several threads. All of them want to go on at once, and
 * mostly need the same lock. A thread that lets go of a mutex again and again wakes one at a time,
 * perhaps within microseconds: that is none. So the call must have asked for several, and a thread
 * whose wait began after the first was woken belongs to another call.
 */
#ifndef DWELL_LOCKS_HERD_BPF_H
#define DWELL_LOCKS_HERD_BPF_H

#define HERD_LEAST  4 /* fewer are no herd */
#define HERD_GAP_NS 1000000

struct herd {
	struct series_key key;
	u64 begin_ns; /* the first was woken */
	u64 last_ns;
	u64 count; /* 0: none */
	u64 pid;   /* of who wakes */
	u64 address;
};

struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, 1);
	__type(key, u32);
	__type(value, struct herd);
} lock_herds SEC(".maps");

static __always_inline struct herd *herd_here(void)
{
	u32 zero = 0;

	return bpf_map_lookup_elem(&lock_herds, &zero);
}

/* It is complete: the thread leaves its CPU, or wakes somebody else. True: it was one. */
static __always_inline bool herd_end(struct herd *herd)
{
	struct series_key key = herd->key;
	bool is_herd = herd->count >= HERD_LEAST;

	if (is_herd)
		series_add(series_find(&key), herd->count);
	herd->count = 0;
	return is_herd;
}

/* How many the system call under way may wake, if it is futex(): its third argument. */
static __always_inline u32 herd_wanted(void)
{
	struct cpu_regs regs;

	return regs_of_user(&regs) ? (u32)REGS_ARG3(&regs) : 0;
}

/* In the context of who wakes. A wait begins at last_ns. */
static __always_inline void herd_note(const struct ledger_task *woken, u64 lock)
{
	u32 pid = (u32)bpf_get_current_pid_tgid();
	u64 now = bpf_ktime_get_ns();
	struct herd *herd = herd_here();

	if (!herd)
		return;
	if (herd->count && (herd->key.object != lock || herd->pid != pid ||
			    now - herd->last_ns > HERD_GAP_NS || woken->last_ns > herd->begin_ns))
		herd_end(herd);
	if (herd_wanted() < HERD_LEAST)
		return;
	if (!herd->count) {
		herd->begin_ns = now;
		herd->key = (struct series_key){.signal = SIG_LOCKS,
						.kind = LOCKS_BROADCAST,
						.detail = (u16)woken->wait_lock,
						.object = lock};
		series_of(&herd->key, woken);
		herd->pid = pid;
		herd->address = woken->wait_object;
	}
	herd->last_ns = now;
	herd->count++;
}

#endif
