/* SPDX-License-Identifier: Apache-2.0 OR GPL-2.0-only */
/*
 * Every record that crosses from the kernel to user space, and the counters beside them.
 * Fixed-width integers only. Both compilers refuse a record with hidden padding.
 */
#ifndef DWELL_ABI_RECORDS_H
#define DWELL_ABI_RECORDS_H

#include "ids.h"
#include "ledger.h"
#include "series.h"
#include "types.h"
#include "unwind.h"

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
 * the thread dies, and written by the task iterator for those that live. hdr.tid, thread_start_ns
 * and begin_ns are its identity: a thread that an exec makes the leader begins anew.
 */
struct rec_ledger {
	struct rec_hdr hdr;
	u64 thread_start_ns;	  /* CLOCK_BOOTTIME */
	u64 begin_ns;		  /* its start, or when it was first followed; CLOCK_MONOTONIC */
	u64 end_ns;		  /* its last switch, or when this was read; CLOCK_MONOTONIC */
	u64 ns[STATE_LIMIT];	  /* time in each state */
	u32 entries[STATE_LIMIT]; /* how often each was entered */
	u64 voluntary;		  /* switches that it chose, by our count ... */
	u64 involuntary;	  /* ... and that it did not */
	u64 kernel_voluntary;	  /* the same by the kernel's own, since begin_ns */
	u64 kernel_involuntary;
	u64 kernel_exec_ns;  /* on-CPU time by the kernel's own count, since begin_ns */
	u64 kernel_delay_ns; /* run-queue wait by the kernel's own count, and what has passed of one
				that lasts; 0: not kept there */
	u32 missed;	     /* switches that never reached us */
	u32 flags;	     /* enum ledger_flags */
	u32 threads;	     /* 1; of a LEDGER_SUM so many, and begin_ns is 0 */
	u32 unnamed;	     /* waits that found no place among causes */
	u32 open_state;	     /* enum ledger_state at end_ns. A thread that waits, and of which no
				row comes, still waits so */
	u32 inner_tid;	     /* as its own pid namespace numbers it, and so holders of its locks */
	u8 comm[COMM_BYTES]; /* its name at end_ns, not always ended by NUL */
	struct ledger_cause causes[CAUSES_MAX];

	/*
	 * A wait is named by how it ends. One that lasts has a provisional name, in `open`, with
	 * its time so far; open_since_ns tells it from others, 0: none. How the last one ended that
	 * an earlier row told as open is in `settled`; settled_since_ns says which one that is.
	 */
	u64 open_since_ns;
	u64 settled_since_ns;
	struct ledger_cause open;
	struct ledger_cause settled;

	u64 rivals_ns; /* of its time in the run queue, what is known of who ran instead */
	struct ledger_rival rivals[RIVALS_MAX]; /* those with most of it; the rest is nobody's */
	struct ledger_turns turns;
	u64 chains_ns; /* of all chains, those that have no entry too */
	struct ledger_chain chains[LEDGER_CHAINS];
};

/* The system calls of a thread under Tier B, since it is so followed; identity as rec_ledger. */
struct rec_calls {
	struct rec_hdr hdr;
	u64 thread_start_ns;
	u64 begin_ns;
	u64 is_last;	  /* 1: the thread is about to end */
	u64 recent;	  /* calls since the row before; 0 in a last word */
	u64 faults_begun; /* = ended + failed + 1 if one is under way */
	u64 faults_ended;
	u64 faults_failed;	/* ended in a signal or an error */
	struct call_cost other; /* of all that found no place; its call is 0 */
	struct call_cost calls[CALLS_MAX];
};

/* What a thread waited for, sent when a cause first has it. */
struct rec_object {
	struct rec_hdr hdr;
	u64 object;	  /* its id, as causes have it: stable while the object lives */
	u64 inode;	  /* of files, pipes, sockets */
	u32 device;	  /* of files, as the kernel numbers it */
	u16 kind;	  /* enum object_kind */
	u16 family;	  /* of sockets: AF_INET, AF_INET6, ... */
	u16 port;	  /* of sockets: the peer's, or the own of a listening one; host order */
	u16 is_listening; /* of sockets */
	u32 peer_pid;	/* of UNIX sockets the peer, of listening ones the own process; 0: not known
			 */
	u8 address[16]; /* of sockets, network order; IPv4 in the first four */
	u32 is_cut;	/* of files: the beginning of the path is missing */
	u32 name_at;	/* where the name begins, below NAME_BYTES */

	/* Of files: the end of the path; ended by NUL. The second half is room for the verifier. */
	u8 name[2 * NAME_BYTES];
};

enum process_event { PROCESS_SEEN, PROCESS_FORKED, PROCESS_EXECED, PROCESS_ENDED };

/* A process that is followed: seen at the start, made, become another program, or ended. */
struct rec_process {
	struct rec_hdr hdr;
	u32 event;     /* enum process_event */
	u32 parent;    /* tgid of the parent; 0: none, or not visible */
	u32 uid;       /* real uid, of the initial user namespace */
	s32 exit_code; /* of PROCESS_ENDED: as wait(2) gives it */
	u64 cgroup;    /* id in the v2 hierarchy; 0: none */
	u32 pid_ns;    /* inode numbers of its namespaces */
	u32 mnt_ns;
	u32 net_ns;
	u32 is_kernel;	     /* 1: a thread of the kernel's own */
	u8 comm[COMM_BYTES]; /* not always ended by NUL */
	u8 exe[PATH_BYTES];  /* of PROCESS_EXECED: the file, as given to execve; of PROCESS_SEEN:
				its path; ended by NUL */
};

/* What one CPU did since the capture began, up to end_ns; written with the task iterator's rows. */
struct rec_cpu {
	struct rec_hdr hdr; /* hdr.cpu is not the CPU that this is about */
	u64 begin_ns;
	u64 end_ns;
	u64 ns[CPU_USE_COUNT]; /* their sum is end_ns - begin_ns */
	u64 queue_ns;	       /* threads that got this CPU had waited so long for it */
	u64 switches;
	u32 missed;
	u32 cpu;
};

enum sample_mode { MODE_USER, MODE_KERNEL };

/* One moment of a thread: what it did, and how much time this one stands for. */
struct rec_sample {
	struct rec_hdr hdr;
	u64 thread_start_ns; /* CLOCK_BOOTTIME; with hdr.tid the thread's identity */
	u64 stack;	     /* key of a rec_stack; 0: none could be taken */
	u64 waker_stack; /* of BLOCKED, likewise, where it was long enough, and the waking CPU has
			    taken no more than its share of them; 0: none */
	u64 weight_ns;	 /* what it stands for: the sampling period, or the wait over the chance
			    that it had of being taken, so that sums are unbiased */
	u64 ns;		 /* of BLOCKED: how long this wait was, run queue not included; else 0 */
	u8 kind;	 /* enum sample_kind */
	u8 state;	 /* enum ledger_state at the moment; of BLOCKED: the wait's */
	u8 mode;	 /* enum sample_mode */
	u8 stop;	 /* enum stack_stop of the stack */
	u8 is_mismatch;	 /* 1: the ledger's state does not go with the mode */
	u8 waker_kind;	 /* enum waker_kind, of BLOCKED */
	u16 unused;
	u32 waker; /* tid, of BLOCKED; 0: none */
	u32 unused2;
};

/*
 * A stack, sent when it is first seen, and again when the kernel has forgotten that it was. Only so
 * many frames are sent as there are: the record ends after them.
 */
struct rec_stack {
	struct rec_hdr hdr;
	u64 key;	  /* of the samples that have it; never zero */
	u32 generation;	  /* of the process's mappings; 0: they were not known */
	u16 kernel_count; /* of frames: these come first, innermost first ... */
	u16 user_count;	  /* ... then these, likewise */
	u8 kind;	  /* enum sample_kind that it was first seen with */
	u8 stop;	  /* enum stack_stop */
	u16 is_waker;	  /* 1: of one who wakes another; our hook in the wake-up is in it */
	u32 unused2;
	/* Kernel: return addresses, but for the innermost. User: inside the calling instruction. */
	u64 frames[KERNEL_FRAMES_MAX + USER_FRAMES_MAX];
};

struct series_bucket {
	u32 place;
	u32 count;
};

/* What a series has got since the record before: of one that got much, several records tell. */
struct rec_series {
	struct rec_hdr hdr; /* made by user space: cpu and tid are 0 */
	struct series_key key;
	u64 count;
	u64 sum;
	u64 max; /* of the values since then */
	u64 sums[SERIES_SUMS];
	u64 orphan_starts;
	u64 orphan_ends;
	u64 expired;
	u32 bucket_count;
	u32 unused;
	struct series_bucket
		buckets[SERIES_RECORD_BUCKETS]; /* only those that grew; it ends there */
};

/* How a signal uses its share of places, told when something of it has changed. */
struct rec_share {
	struct rec_hdr hdr; /* made by user space */
	u64 signal;	    /* enum signal_id */
	struct series_share share;
};

/* One event that took long, or is worth a line for another reason. */
struct rec_slow {
	struct rec_hdr hdr; /* hdr.ts_ns is its end */
	struct series_key key;
	u64 ns;
	u64 stack;		   /* key of a rec_stack; 0: none */
	u64 value[2];		   /* the signal's own: bytes asked and returned, ... */
	u64 part[SLOW_PART_COUNT]; /* of ns; all 0: not known */
};

/* The name of something that series have as a number (FIELD_LABEL), sent when it is first seen. */
struct rec_label {
	struct rec_hdr hdr;
	u64 id;	    /* as series have it */
	u64 of;	    /* another label of the signal's, to which the name is added; 0: none */
	u32 signal; /* enum signal_id */
	u32 is_cut; /* 1: it had more than fits */
	u8 name[LABEL_BYTES]; /* ended by NUL, or full. None: an error by its number, if the id is
				 below LABEL_ERRNO_MAX, else the current folder */
};

/* A disk's name, told once; and what was moved so far in a region of it, told when it has grown. */
struct rec_block {
	struct rec_hdr hdr;
	u32 device; /* as FIELD_DEVICE has it */
	u32 region; /* in units of 1 MiB from its start */
	u64 bytes;  /* at least what it is, at most over_bytes too much */
	u64 over_bytes;
	u64 requests;		  /* since it has its place among the largest; 0: only the name */
	u8 name[DISK_NAME_BYTES]; /* filled up with NUL */
};

enum tcp_direction { TCP_OUT, TCP_IN, TCP_LISTENING };

/* How a connection ended. */
enum tcp_end {
	TCP_END_NONE, /* it is open */
	TCP_END_FIN_US,
	TCP_END_FIN_PEER,
	TCP_END_RESET_US,
	TCP_END_RESET_PEER,
	TCP_END_TIMEOUT,
	TCP_END_FAILED, /* it never was established */
	TCP_END_OTHER,
	TCP_END_COUNT
};

/* A TCP connection: sent when it closes, and of those that are open when the session ends. */
struct rec_tcp {
	struct rec_hdr hdr;    /* tgid and start_ns are of the process that has it; tid is 0 */
	u64 connection;	       /* its identity */
	u64 object;	       /* as in its series */
	u64 begin_ns;	       /* 0: it was there before */
	u64 established_ns;    /* 0: never, or before */
	u64 end_ns;	       /* 0: it is open */
	u64 accept_wait_ns;    /* of TCP_IN */
	u64 reply_ns;	       /* from its first question to the answer; 0: there was none */
	u64 received_bytes;    /* payload, each byte once */
	u64 sent_bytes;	       /* likewise */
	u32 retransmits;       /* segments, by the kernel's own count */
	u32 srtt_us;	       /* smoothed round trip; 0: not known */
	u32 min_rtt_us;	       /* likewise */
	u32 congestion_window; /* segments */
	u32 segment_bytes;     /* the most that one carries */
	u32 receive_buffer;    /* bytes that it may take */
	u32 send_buffer;       /* likewise */
	u32 drops;	       /* packets that the socket refused */
	u16 family;	       /* AF_INET, AF_INET6 */
	u16 local_port;	       /* host order */
	u16 peer_port;	       /* likewise */
	u16 error;	       /* errno; 0: none */
	u8 direction;	       /* enum tcp_direction */
	u8 end;		       /* enum tcp_end */
	u16 unused;
	u32 unused2;
	u8 local[16]; /* addresses, network order; IPv4 in the first four */
	u8 peer[16];
};

/* A lock, told when it is first waited for: so that its address gets a name. */
struct rec_locks {
	struct rec_hdr hdr;
	u64 lock;	/* its id, the object of its series */
	u64 address;	/* of the futex, or in the kernel */
	u32 generation; /* of the process's mappings; 0: not known, or a lock of the kernel's */
	u32 type;	/* enum lock_type */
};

#include "request_record.h"

/* Per CPU, kept by emit.bpf.h, read by user space when it likes. */
struct emit_counts {
	u64 sent; /* records that a probe wanted to send */
	struct {
		u64 ring_full;	/* not sent for want of room, detail and event both lost */
		u64 ring_busy;	/* not sent although there was room: the lock was held */
		u64 no_storage; /* never made, for want of a place in task storage */
		u64 torn;	/* never made: it was being written each time it was read */
		u64 no_room;	/* never made, for want of a place in a map of its signal */
		u64 coalesced;	/* not sent for want of room, but counted in its bucket */
	} of[SIGNAL_LIMIT];
};

#pragma GCC diagnostic pop

/* The least that a record of this type can have; the most is its struct. */
#define RECORD_LEAST_WHOLE(type)   sizeof(type)
#define RECORD_LEAST_FRAMES(type)  __builtin_offsetof(type, frames)
#define RECORD_LEAST_BUCKETS(type) __builtin_offsetof(type, buckets)

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

/* A signal that only counts, in series, has no record: its extent is NONE. */
#define RECORD_CHECK_NONE(name)
#define RECORD_CHECK_WHOLE(name)   RECORD_CHECK(name)
#define RECORD_CHECK_FRAMES(name)  RECORD_CHECK(name)
#define RECORD_CHECK_BUCKETS(name) RECORD_CHECK(name)
#define RECORD_CHECK(name)                                                                         \
	_Static_assert(__builtin_offsetof(struct rec_##name, hdr) == 0, #name ": hdr is first");   \
	_Static_assert(sizeof(struct rec_##name) % 8 == 0, #name ": size is a multiple of 8");     \
	_Static_assert(sizeof(struct rec_##name) <= RECORD_SIZE_MAX, #name ": too large");
#define SIGNAL(id, NAME, name, version, class, extent)                                             \
	_Static_assert((id) > 0 && (id) < SIGNAL_LIMIT, #name ": id out of range");                \
	RECORD_CHECK_##extent(name)
#include "signals.def"
#undef SIGNAL

#endif
