/* SPDX-License-Identifier: Apache-2.0 OR GPL-2.0-only */
/*
 * Every record that crosses from the kernel to user space, and the counters beside them.
 * Fixed-width integers only. Both compilers refuse a record with hidden padding.
 */
#ifndef DWELL_ABI_RECORDS_H
#define DWELL_ABI_RECORDS_H

#include "types.h"

#define SIGNAL_LIMIT	32 /* ids are below this */
#define RECORD_SIZE_MAX 4096

enum signal_id {
#define SIGNAL(id, NAME, ...) SIG_##NAME = id,
#include "signals.def"
#undef SIGNAL
};

enum signal_version {
#define SIGNAL(id, NAME, name, version, ...) SIG_VERSION_##NAME = version,
#include "signals.def"
#undef SIGNAL
};

enum drop_class { DROP_SAMPLE, DROP_HISTOGRAM, DROP_PAIR };

enum signal_drop_class {
#define SIGNAL(id, NAME, name, version, class) SIG_DROP_##NAME = DROP_##class,
#include "signals.def"
#undef SIGNAL
};

enum ledger_state {
#define STATE(NAME, ...) STATE_##NAME,
#include "states.def"
#undef STATE
	STATE_COUNT
};

#define STATE_LIMIT 32 /* room for states to come, so that the layout stays */
#define COMM_BYTES  16 /* the kernel's TASK_COMM_LEN */

_Static_assert((int)STATE_COUNT <= STATE_LIMIT, "raise STATE_LIMIT, and the ledger's version");

#pragma GCC diagnostic push
#pragma GCC diagnostic error "-Wpadded"

/*
 * Opens every record. A stream is sorted by (cpu, ts_ns, seq); records of different CPUs
 * have no order beyond what ts_ns says.
 */
struct rec_hdr {
	u16 type;     /* enum signal_id; never zero */
	u16 version;  /* of the record's layout, from signals.def; never zero */
	u16 size;     /* whole record in bytes, a multiple of 8 */
	u16 cpu;      /* where the event happened; zero is CPU 0 */
	u64 ts_ns;    /* CLOCK_MONOTONIC of the event, nanoseconds; never zero */
	u64 seq;      /* this CPU's count of records sent, this one included, lost ones too.
			 Two records share a number if one interrupted the other while it
			 was taken: it orders, and losses are counted apart. Never zero */
	u32 tgid;     /* process, as dwell's pid namespace numbers it; zero: not visible there */
	u32 tid;      /* thread, likewise */
	u64 start_ns; /* start of the process, CLOCK_BOOTTIME nanoseconds, as /proc has it
			 in ticks; with tgid the identity of a process. Zero: boot-time task */
};

/* The canary proves that a hook delivers: nothing but fixed content. */
struct rec_canary {
	struct rec_hdr hdr;
	u64 token; /* live knob canary_token at the time of the event */
	u64 value; /* what the probe found; its doctor row says what to expect */
};

/*
 * The whole ledger of one thread, up to end_ns: the sum of ns[] is end_ns - begin_ns. Sent when
 * the thread dies, and written by the task iterator for those that live.
 */
struct rec_ledger {
	struct rec_hdr hdr;
	u64 thread_start_ns;	  /* with hdr.tid the thread's identity; CLOCK_BOOTTIME */
	u64 begin_ns;		  /* its start, or when it was first followed; CLOCK_MONOTONIC */
	u64 end_ns;		  /* its last switch, or when this was read; CLOCK_MONOTONIC */
	u64 ns[STATE_LIMIT];	  /* time in each state */
	u32 entries[STATE_LIMIT]; /* how often each was entered */
	u64 voluntary;		  /* switches that it chose, by our count ... */
	u64 involuntary;	  /* ... and that it did not */
	u64 kernel_voluntary;	  /* the same by the kernel's own, since begin_ns */
	u64 kernel_involuntary;
	u64 kernel_exec_ns;  /* on-CPU time by the kernel's own count, since begin_ns */
	u64 kernel_delay_ns; /* run-queue wait by the kernel's own count; 0: not kept there */
	u32 missed;	     /* switches that never reached us; their time is unattributed */
	u32 is_dead;	     /* 1: this is its last word */
	u8 comm[COMM_BYTES]; /* its name at end_ns, not always ended by NUL */
};

/* Per CPU, kept by emit.bpf.h, read by user space when it likes. */
struct emit_counts {
	u64 sent; /* records that a probe wanted to send */
	struct {
		u64 ring_full;	/* not sent for want of room, detail and event both lost */
		u64 ring_busy;	/* not sent although there was room: the lock was held */
		u64 no_storage; /* never made, for want of a place in task storage */
		u64 torn;	/* never made: it was being written each time it was read */
		u64 coalesced;	/* not sent for want of room, but counted in its bucket */
	} of[SIGNAL_LIMIT];
};

#pragma GCC diagnostic pop

/* Two rows with one id do not compile: two cases with one value. */
static inline int signal_is_known(int type)
{
	switch (type) {
#define SIGNAL(id, ...) case id:
#include "signals.def"
#undef SIGNAL
		return 1;
	}
	return 0;
}

#define SIGNAL(id, NAME, name, ...)                                                                \
	_Static_assert((id) > 0 && (id) < SIGNAL_LIMIT, #name ": id out of range");                \
	_Static_assert(__builtin_offsetof(struct rec_##name, hdr) == 0, #name ": hdr is first");   \
	_Static_assert(sizeof(struct rec_##name) % 8 == 0, #name ": size is a multiple of 8");     \
	_Static_assert(sizeof(struct rec_##name) <= RECORD_SIZE_MAX, #name ": too large");
#include "signals.def"
#undef SIGNAL

#endif
