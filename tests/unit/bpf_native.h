/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Enough of a kernel to run the shared BPF headers in a unit test: types, maps of one entry,
 * helpers that the test steers through `fake`. Include it in place of common.bpf.h.
 */
#ifndef DWELL_TESTS_BPF_NATIVE_H
#define DWELL_TESTS_BPF_NATIVE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <linux/bpf.h>

#include "../../abi/config.h"
#include "../../abi/records.h"

#undef __always_inline
#define __always_inline			       inline __attribute__((unused))
#define __builtin_preserve_access_index(place) (place)

struct ns_common {
	unsigned int inum;
};
struct pid_namespace {
	struct ns_common ns;
};
struct upid {
	int nr;
	struct pid_namespace *ns;
};
struct pid {
	unsigned int level;
	struct upid numbers[4];
};
struct task_struct {
	int pid, tgid;
	u64 start_boottime;
	struct task_struct *group_leader;
	struct pid *thread_pid;
};

#define BPF_NO_PRESERVE_ACCESS_INDEX
#define bpf_core_field_exists(field) 1

/* What the test sets, and what the code under test did. */
static struct {
	struct task_struct *current;
	struct live_config *live; /* NULL: the look-up fails */
	u32 listed_tgid;
	u32 random;
	bool ring_is_full;
	u64 ring_waiting;
	u64 submit_flags;
	int submitted;
	struct emit_counts counts;
	u64 record[RECORD_SIZE_MAX / 8];
} fake;

#define KNOB(name, ...) static u32 name __attribute__((unused));
FROZEN_KNOBS(KNOB)
#undef KNOB

static int records, emit_counts, live_configs, filter_tgids;

static inline u64 bpf_get_current_task(void)
{
	return (u64)(uintptr_t)fake.current;
}

static inline u64 bpf_get_current_pid_tgid(void)
{
	return (u64)fake.current->tgid << 32 | (u32)fake.current->pid;
}

static inline void *bpf_map_lookup_elem(void *map, const void *key)
{
	static u8 present = 1;

	if (map == &emit_counts)
		return &fake.counts;
	if (map == &live_configs)
		return fake.live;
	return map == &filter_tgids && *(const u32 *)key == fake.listed_tgid ? &present : NULL;
}

static inline long bpf_probe_read_kernel(void *to, u32 size, const void *from)
{
	memcpy(to, from, size);
	return 0;
}

static inline void *bpf_ringbuf_reserve(void *map, u64 size, u64 flags)
{
	(void)map;
	(void)size;
	(void)flags;
	return fake.ring_is_full ? NULL : fake.record;
}

static inline u64 bpf_ringbuf_query(void *map, u64 what)
{
	(void)map;
	return what == BPF_RB_AVAIL_DATA ? fake.ring_waiting : RING_BYTES_MIN;
}

static inline void bpf_ringbuf_submit(void *record, u64 flags)
{
	(void)record;
	fake.submit_flags = flags;
	fake.submitted++;
}

static inline u32 bpf_get_smp_processor_id(void)
{
	return 3;
}

static inline u64 bpf_ktime_get_ns(void)
{
	return 1234;
}

static inline u32 bpf_get_prandom_u32(void)
{
	return fake.random;
}

#define READ_2(a, b)		      ((a)->b)
#define READ_3(a, b, c)		      ((a)->b->c)
#define READ_PICK(a, b, c, name, ...) name
#define BPF_CORE_READ(...)	      READ_PICK(__VA_ARGS__, READ_3, READ_2)(__VA_ARGS__)

#include "../../bpf/compat.bpf.h"
#include "../../bpf/filter.bpf.h"
#include "../../bpf/emit.bpf.h"
#include "../../bpf/ledger.bpf.h"
#include "../../bpf/split.bpf.h"

#endif
