/* SPDX-License-Identifier: Apache-2.0 OR GPL-2.0-only */
/*
 * For whom a thread works, as its application says itself: the trace context that it publishes
 * (abi/thread_context.h). It is read, and never written. User space says which processes have one,
 * and where; what is not as it should be is no context.
 */
#ifndef DWELL_REQUESTS_PUBLISHED_BPF_H
#define DWELL_REQUESTS_PUBLISHED_BPF_H

#include "passed.bpf.h"
#include "rate.bpf.h"

#define TRACES_PER_SECOND 2000		 /* of each CPU: calls and requests with a record for it */
#define TRACES_QUIET_NS	  10000000000ULL /* with few of them, before more are recorded again */
#define MODULES_MOST	  4096		 /* of a process, that have variables of threads */
#define DESCRIPTOR_STATIC (1 << 22)	 /* below that it is an offset, else a pointer */
#define DTV_ENTRY_BYTES	  16		 /* of glibc: a block, and what is to be freed */
#define DTV_NOT_ALLOCATED (~0ULL)

struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, THREAD_CONTEXTS_MAX);
	__type(key, u32); /* tgid */
	__type(value, struct thread_context);
} thread_contexts SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, 1);
	__type(key, u32);
	__type(value, u32); /* there is one */
} thread_contexts_any SEC(".maps");

static __always_inline bool is_anything_published(void)
{
	u32 zero = 0, *any = bpf_map_lookup_elem(&thread_contexts_any, &zero);

	return any && *any;
}

static __always_inline u64 thread_pointer(void)
{
	struct task_struct *task = current_task();

#if defined(__TARGET_ARCH_x86)
	return BPF_CORE_READ(task, thread.fsbase);
#elif defined(__TARGET_ARCH_arm64)
	return BPF_CORE_READ(task, thread.uw.tp_value);
#else
	return 0;
#endif
}

/* 0: it cannot be read. */
static __always_inline u64 user_word(u64 address)
{
	u64 word = 0;

	return bpf_probe_read_user(&word, sizeof(word), (const void *)address) ? 0 : word;
}

/* The variables of a module, for this thread; 0: it has used none of them. By glibc's way. */
static __always_inline u64 block_of_module(u64 thread, u64 module)
{
#if defined(__TARGET_ARCH_x86)
	u64 dtv = user_word(thread + 8), block;
#else
	u64 dtv = user_word(thread), block;
#endif

	if (!dtv || !module || module > MODULES_MOST || user_word(dtv - DTV_ENTRY_BYTES) < module)
		return 0;
	block = user_word(dtv + module * DTV_ENTRY_BYTES);
	return block == DTV_NOT_ALLOCATED ? 0 : block;
}

static __always_inline u64 variable_of_module(const struct thread_context *at, u64 thread,
					      u64 module, u64 offset)
{
	u64 block = at->is_glibc ? block_of_module(thread, module) : 0;

	return block ? block + offset : 0;
}

static __always_inline u64 variable_by_descriptor(const struct thread_context *at, u64 thread)
{
	u64 word = user_word(at->slot + 8);

	if (!word)
		return 0;
	if ((s64)word < DESCRIPTOR_STATIC)
		return thread + word;
	return variable_of_module(at, thread, user_word(word), user_word(word + 8));
}

/* Where this thread has the variable; 0: nowhere. */
static __noinline u64 published_variable(const struct thread_context *at)
{
	u64 thread = thread_pointer(), offset;

	if (!at || !thread)
		return 0;
	switch (at->kind) {
	case THREAD_CONTEXT_STATIC:
		return thread + (u64)at->offset;
	case THREAD_CONTEXT_SLOT:
		offset = user_word(at->slot);
		return offset ? thread + offset : 0;
	case THREAD_CONTEXT_DESCRIPTOR:
		return variable_by_descriptor(at, thread);
	case THREAD_CONTEXT_MODULE:
		return variable_of_module(at, thread, user_word(at->slot), (u64)at->offset);
	default:
		return 0;
	}
}

/* 0: this thread, of that process, publishes nothing now. */
static __noinline int read_published(u32 tgid, struct request_trace *to)
{
	struct thread_context *at = bpf_map_lookup_elem(&thread_contexts, &tgid);
	struct thread_context_record record = {};
	u64 address;

	if (!at || !to)
		return 0;
	address = published_variable(at);
	address = address ? user_word(address) : 0;
	if (!address || bpf_probe_read_user(&record, THREAD_CONTEXT_BYTES, (const void *)address) ||
	    record.is_valid != 1 || !(record.trace[0] | record.trace[1]))
		return 0;
	to->id[0] = record.trace[0];
	to->id[1] = record.trace[1];
	to->span = record.span;
	return 1;
}

static __always_inline void note_published(u32 tgid, struct request_trace *to)
{
	*to = (struct request_trace){};
	if (is_anything_published())
		read_published(tgid, to);
}

/* --- which of them are recorded --- */

static __always_inline void set_trace_mask(struct request_common *common, u64 mask, u64 now)
{
	common->trace_mask = mask;
	common->trace_mask_ns = now;
}

/* What has this trace is recorded. */
static __noinline int is_traced(const struct request_trace *trace, u64 now)
{
	struct request_common *common = request_common();
	struct request_rate *rate = rate_here();
	u64 second = now >> 30; /* nearly */

	if (!trace || !common || !rate || !(trace->id[0] | trace->id[1]))
		return 0;
	if (rate->traced_second != second) {
		if (rate->traced < TRACES_PER_SECOND / 8 && common->trace_mask &&
		    now - common->trace_mask_ns > TRACES_QUIET_NS)
			set_trace_mask(common, common->trace_mask >> 1, now);
		rate->traced_second = second;
		rate->traced = 0;
	}
	if (REQUEST_TRACE_HASH(trace) & common->trace_mask)
		return 0;
	if (++rate->traced > TRACES_PER_SECOND && common->trace_mask < REQUEST_TRACE_MASK_MAX) {
		set_trace_mask(common, common->trace_mask << 1 | 1, now);
		rate->traced = 0;
	}
	return 1;
}

static __always_inline void fill_trace(struct rec_requests *rec, const struct request_trace *trace)
{
	struct request_common *common = request_common();

	rec->trace = *trace;
	rec->trace_mask = common ? (u16)common->trace_mask : 0;
}

#endif
