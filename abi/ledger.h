/* SPDX-License-Identifier: Apache-2.0 OR GPL-2.0-only */
/*
 * The parts of a thread's ledger, as the kernel side keeps them in the thread's account and as its
 * record (struct rec_ledger) has them.
 */
#ifndef DWELL_ABI_LEDGER_H
#define DWELL_ABI_LEDGER_H

#include "ids.h"
#include "types.h"

#pragma GCC diagnostic push
#pragma GCC diagnostic error "-Wpadded"

/*
 * One reason for which a thread waited, told apart by state, call, object and holder. What has no
 * place among CAUSES_MAX of them goes to one with the same state and call, but no object; where
 * there is none either, to no cause at all. So the causes of a state sum up to it at most.
 */
struct ledger_cause {
	u64 ns;	       /* a wait that lasts is in it */
	u64 object;    /* a futex's address, or the id of a rec_object; 0: none, or several */
	u64 waker_ns;  /* the weight of waker in a majority vote; at most ns */
	u32 count;     /* of waits ended; one that lasts counts where it is open */
	u32 holder;    /* tid of the thread that held the lock; 0: not known. Never the waiter */
	u32 waker;     /* tid of the one who ended most of it, or ran instead; 0: none */
	u16 call;      /* CALL_COMPAT, and 1 + number; 0: none */
	u8 state;      /* enum ledger_state; a cause that is not in use has neither ns nor count */
	u8 waker_kind; /* enum waker_kind */
};

/* A process that had the CPU while a thread waited for it; pid 0: the CPU was idle. */
struct ledger_rival {
	u64 ns;		     /* 0: the entry is free */
	u32 tid;	     /* as in rec_hdr; of the thread that was seen first */
	u32 tgid;	     /* likewise */
	u32 policy;	     /* that thread's scheduling policy, as sched(7) numbers it */
	u32 pid;	     /* tgid as the first pid namespace numbers it */
	u8 comm[COMM_BYTES]; /* not always ended by NUL */
};

/* One thing that a thread did while another one waited for it; state 0: not known. */
struct ledger_chain_part {
	u64 ns;
	u64 object;  /* as in ledger_cause */
	u32 culprit; /* tid of who held what it waited for itself, or ended that wait; 0: none */
	u16 call;    /* as in ledger_cause */
	u8 state;    /* enum ledger_state */
	u8 unused;
};

/* Waits of a thread of at least min_block_ns that one other thread ended, and what it did
 * meanwhile. */
struct ledger_chain {
	u64 ns; /* of the waits; their parts sum up to it. 0: the entry is free */
	u64 object;
	u32 culprit;	  /* tid of the one that it waited for */
	u32 culprit_tgid; /* its process */
	u8 comm[COMM_BYTES];
	u16 call;
	u8 state; /* of the waits, by how they ended */
	u8 unused[5];
	struct ledger_chain_part parts[LEDGER_CHAIN_PARTS];
};

/* The turns of an event loop: from the end of one poll to the beginning of the next. */
struct ledger_turns {
	u64 count;
	u64 long_count; /* of at least LOOP_LONG_NS */
	u64 long_ns;
	u64 max_ns;
};

#define LOOP_LONG_NS 10000000

enum ledger_flags {
	LEDGER_LAST = 1,   /* its last word: the thread died, or is no longer followed */
	LEDGER_KERNEL = 2, /* a thread of the kernel's own */
	LEDGER_SUM = 4,	   /* stands for dead threads of the process whose own records were lost */
};

/* What one system call cost a thread. */
struct call_cost {
	u64 cpu_ns;   /* on a CPU inside it; faults and interrupts meanwhile are not in it */
	u64 total_ns; /* from enter to exit, waits included */
	u32 count;    /* of those that have ended */
	u32 failed;   /* of these with an error */
	u16 call;     /* as in ledger_cause; 0: the place is free */
	u16 unused[3];
};

#pragma GCC diagnostic pop

#endif
