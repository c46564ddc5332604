/* SPDX-License-Identifier: Apache-2.0 OR GPL-2.0-only */
/*
 * What programs that can run in NMI use in place of what others use. An NMI falls into anything,
 * also into a program that holds the lock of a ring buffer or of a hash map. Who then waits for
 * that lock stalls its CPU (for up to 250 ms on kernels 6.15 to 6.18). So these have ring buffers
 * of their own, and share with others only maps whose access takes no lock: arrays, and
 * task storage that is looked up but never created. tests/unit/nmi_test.c reads all objects and
 * fails if one shares anything else.
 *
 * A look-up in task storage may take a lock when it finds its entry by the slow way, to note it for
 * the fast one. The kernel does not wait for it here: whatever takes that lock on a CPU first
 * raises that CPU's bpf_task_storage_busy, and a look-up that finds it raised takes none.
 */
#ifndef DWELL_NMI_BPF_H
#define DWELL_NMI_BPF_H

#define NMI_ASKS_MAX 1024

/* When user space was last asked for a process, by a hash of it: another may take the entry. */
struct nmi_ask {
	u64 asked_ns;
	u32 tgid;
	u32 unused;
};

struct nmi_asks_map {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, NMI_ASKS_MAX);
	__type(key, u32);
	__type(value, struct nmi_ask);
};

struct unwind_ranges_map {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, UNWIND_RANGES_MAX);
	__type(key, u32);
	__type(value, struct unwind_range);
};

extern struct nmi_asks_map nmi_asks SEC(".maps");
extern struct unwind_ranges_map unwind_ranges SEC(".maps");

/*
 * The ring buffer of a program's records. is_nmi is known when it is compiled: each program has
 * one.
 */
static __always_inline void *records_ring(bool is_nmi)
{
	return is_nmi ? (void *)&records_nmi : (void *)&records;
}

/* --- where processes' mappings are: a copy of unwind_processes without a lock --- */

static __always_inline struct unwind_range *unwind_range_in(u32 tgid, u32 way)
{
	u32 place = unwind_range_place(tgid, way);

	return bpf_map_lookup_elem(&unwind_ranges, &place);
}

static __always_inline struct unwind_range *unwind_range_of(u32 tgid)
{
	for (u32 way = 0; way < UNWIND_RANGE_WAYS; way++) {
		struct unwind_range *range = unwind_range_in(tgid, way);

		if (range && ledger_load_acquire(&range->tgid) == tgid)
			return range;
	}
	return NULL;
}

/* Two that write one entry at once may mix it: mappings of another generation are not used. */
static __always_inline void unwind_range_write(struct unwind_range *range, u32 tgid,
					       const struct unwind_process *process)
{
	ledger_store_first(&range->tgid, 0);
	range->first = process->first;
	range->count = process->count;
	range->generation = process->generation;
	ledger_store_release(&range->tgid, tgid);
}

/* The entry that it has, or one that is free, or else another's. */
static __always_inline void unwind_range_set(u32 tgid, const struct unwind_process *process)
{
	struct unwind_range *range = unwind_range_of(tgid);

	for (u32 way = 0; way < UNWIND_RANGE_WAYS && !range; way++) {
		range = unwind_range_in(tgid, way);
		if (range && range->tgid)
			range = NULL;
	}
	if (!range)
		range = unwind_range_in(tgid, process->generation % UNWIND_RANGE_WAYS);
	if (range)
		unwind_range_write(range, tgid, process);
}

static __always_inline void unwind_range_forget(u32 tgid)
{
	struct unwind_range *range = unwind_range_of(tgid);

	if (range)
		ledger_store_release(&range->tgid, 0);
}

#endif
