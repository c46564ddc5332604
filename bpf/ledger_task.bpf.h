/* SPDX-License-Identifier: Apache-2.0 OR GPL-2.0-only */
/*
 * A thread's account: what is in it, and how it is written while others read. Compiled for the host
 * too, as ledger.bpf.h is.
 *
 * One writer: only what happens on the thread's own CPU, in its own context, writes its account. A
 * reader on another CPU looks at seq: odd, or changed while it copied, means try again. Causes are
 * many, and have a word of their own: under Tier B seq changes with each system call, too often to
 * copy all of it meanwhile.
 */
#ifndef DWELL_LEDGER_TASK_BPF_H
#define DWELL_LEDGER_TASK_BPF_H

#include "verifier.bpf.h"
#include "order.bpf.h"

enum account_flags {
	ACCOUNT_SPLIT = 1,  /* Tier B: its time on a CPU is split */
	ACCOUNT_KERNEL = 2, /* a thread of the kernel's own */
};

/* What a reader has seen of an account: its own words, no part of the account. */
struct ledger_told {
	u64 end_ns; /* 0: nothing */
	u64 exec_ns;
	u64 delay_ns;
	u64 ns[STATE_LIMIT];
	u32 entries[STATE_LIMIT];
};

/*
 * One time that a thread was off its CPUs: when it came back, what it had waited for, and how long
 * it had run in all by then. So whoever waited for this thread finds what it did meanwhile.
 */
struct lock_absence {
	u64 back_ns;
	u64 cpu_ns;
	u64 object;
	u32 queue_us;
	u32 block_us;
	u32 culprit; /* tid of the thread that held what it waited for, or ended the wait; 0: none
		      */
	u16 call;    /* as in ledger_cause */
	u8 state;    /* enum ledger_state of what it was blocked for */
	u8 unused;
};

#define ABSENCES_MAX 16 /* the last ones are kept; a power of two */

/*
 * An account at one moment. What the thread did between two moments is the difference of two marks:
 * its states sum to the time between them, exactly.
 */
struct account_mark {
	u64 ns[STATE_COUNT];
	u64 poll_ns;
	u64 at_ns; /* when it was set; 0: other than by ledger_mark_move(), or never */
	u32 seq;   /* the account's then: another one means that something was charged since */
	u32 unused;
};

#define TLS_OUT_MAX 64 /* as ANSWER_BYTES_MAX */

/* Of a thread, what it does in a TLS library: signals/requests/tls.bpf.h. */
struct tls_watch {
	u64 ssl;      /* the connection, as the library has it, whose function is under way */
	u64 to;	      /* where that puts what it reads ... */
	u64 count_to; /* ... and how much it is; 0: its result says it */
	u64 sock;     /* of the server, on which it received within the function; 0: none */
	u64 turn;
	u64 last_sock; /* on which it received outside of one, since its last poll; 0: none */
	u64 last_turn;
	u64 poll_ns; /* of the account, then */
	u64 out_ssl; /* for which it wrote last, not sent yet as far as is known; 0: none */
	u32 out_length;
	u32 function;	 /* under way: enum tls_function + 1; 0: none */
	u32 is_several;	 /* it has received on others than last_sock, too */
	u32 is_received; /* it receives within functions: what it reads outside is not for them */
	u8 out[TLS_OUT_MAX];
};

/* For the signal of requests: nobody else's business. */
struct request_watch {
	u64 sock;      /* address of the socket for which the thread works, as far as is known; 0 */
	u64 turn;      /* of that socket */
	u64 open_sock; /* address of a socket that it has read and not answered yet; 0: none known
			*/
	u64 open_turn;
	u32 is_answered;   /* what it worked for has been sent */
	u32 is_loop;	   /* it has had two requests open at once */
	u32 measured;	   /* requests that need the mark: not answered yet; 0: it is not kept up */
	u8 is_unused_read; /* what it read last has not led to a send yet */
	u8 is_mixed;	   /* since it last waited, it has read of two requests before it sent */
	u8 is_guessed; /* for whom it works is known by a call's answer, whose owner is a guess */
	u8 spare;
	u32 events; /* so many requests it has read or answered */
	u32 unused;
	u64 seen_sock;		  /* of whose request it has read last ... */
	u64 seen_turn;		  /* ... and which one */
	u64 seen_poll_ns;	  /* as read_poll_ns, of any read */
	u64 read_poll_ns;	  /* poll_ns when it last read what it works for */
	u64 mark_ns;		  /* when the mark was set */
	struct account_mark mark; /* when it last read or answered something */
	struct request_wait wait; /* the longest since then, left by who takes stacks of waits */

	/* A call's answer that it read, and has not made use of in a way that shows. */
	u64 reply_sock; /* address of the client's socket; 0: none */
	u64 reply_turn;
	u64 reply_poll_ns;
	u64 reply_closed;   /* identity of its connection, if that was closed since; else 0 */
	u64 reply_begin_ns; /* of the call on it */

	/* Left by a thread that woke it while working for this turn: it may be handed over. */
	u64 lent_sock; /* 0: none */
	u64 lent_turn;
	u64 lent_ns;	  /* when; the mark is of when this thread fell asleep. 0: there is none */
	u64 lent_wait_ns; /* and so long it had slept by then */

	struct tls_watch tls;
};

/* For the signal of locks: nobody else's business. */
struct lock_watch {
	u64 object; /* the lock that it waited for last ... */
	u64 got_ns; /* ... and when that was over */

	/* Of who ended its wait for a lock, left by that one: what it had done meanwhile. */
	u64 held_ns; /* 0: not known */
	u64 held_queue_ns;
	u64 held_block_ns;

	/* A lock of the kernel's that it waits for. */
	u64 kernel_lock; /* 0: none */
	u64 kernel_ns;	 /* since when */
	u64 kernel_type; /* enum lock_type */

	u64 absence_count; /* ever */
	struct lock_absence absences[ABSENCES_MAX];
};

/*
 * A wait that is over, for signals that count waits: the thread was blocked, or waited for a CPU,
 * or first the one and then the other.
 */
struct ledger_over {
	u64 block_ns; /* 0: it was not blocked */
	u64 queue_ns; /* 0: it did not wait for a CPU */
	u64 back_ns;  /* when it got its CPU */

	/* What it was blocked for. */
	u64 object;
	u32 holder;
	u32 lock;	 /* enum lock_type; 0: no lock */
	u32 block_state; /* enum ledger_state, by how it ended */

	u32 queue_state; /* likewise */
	u64 unseen;	 /* enum ledger_unseen */
};

/* Nobody saw it begin, and so its length is not known: what the kernel's own counts tell of it. */
enum ledger_unseen {
	UNSEEN_NOT = 0,
	UNSEEN_QUEUED,
	UNSEEN_BLOCKED, /* and waited for a CPU then */
};

/* What each switch needs stands together at the front: a thread that moves brings its account
 * along. */
struct ledger_task {
	u32 seq;	/* odd while it is being written */
	u32 waits_seq;	/* likewise, but only for causes, which change with switches alone */
	u32 state;	/* enum ledger_state, since last_ns */
	u64 begin_ns;	/* 0: not followed */
	u64 last_ns;	/* when the state was entered */
	u64 wake_ns;	/* when it was woken from it; 0: not yet */
	u32 waker;	/* by whom */
	u32 waker_kind; /* enum waker_kind: from where */
	u32 cause;	/* 1 + place of the last block's cause; 0: none */
	u32 wake_state; /* enum ledger_state of a wait that this wake-up ends, if only its end tells
			 */
	u64 wake_object;   /* the socket or file behind the wake-up; 0: not known */
	u64 wake_since_ns; /* since when what ended the wait had existed: the request of a disk; the
			      waker's hold of the lock; 0: not known */
	u32 has_chain;	   /* 1: chain below is of the wait under way */
	u32 wake_holder;   /* the waker, as its own pid namespace numbers it; 0: not known */
	u32 resume;	   /* its state on a CPU, the last or the next one */
	u32 flags;	   /* enum account_flags, from its opening on */
	u32 read_seq;	   /* the reader's own: seq when it last read */
	u32 is_left;	   /* the reader's own: it has told that the thread is no longer followed */
	u32 torn_reads;	   /* the reader's own: attempts in a row that found it being written */

	/* Set by others, each a word of its own. */
	u32 is_unwanted;      /* its next switch closes the account */
	u32 is_split_no_more; /* Tier B is switched off for it, for now */
	u32 is_closed;	      /* it may be opened anew */

	/* The block that ended when the thread last got a CPU, for who takes its stack. */
	u64 block_ns;	 /* how long it was; 0: it was not blocked, or its stack is taken */
	u64 waker_stack; /* key of the stack of the one who ended it; 0: none was taken */
	u64 out_weight;	 /* where stacks are taken when the block begins: it stands for so many ...
			  */
	u64 out_stack;	 /* ... and this is its key; 0: none was taken */
	u64 out_stop;	 /* enum stack_stop */

	/* What the block under way is for; unlike causes, which are few, it is always so. */
	u64 blocker; /* the kernel's lock that it is about to sleep for; 0: none. Its lowest bits
			say what kind it is, as the kernel's own word for it does */
	u64 wait_object;
	u32 wait_holder;
	u32 wait_lock;	       /* enum lock_type; 0: no lock */
	u32 wait_call;	       /* as ledger_cause has it */
	u32 wait_ends;	       /* enum wait_ends */
	u32 wait_net_state;    /* enum ledger_state if a packet ends it; 0: not known */
	u32 wait_is_held_back; /* what it sent before had not left when it began */

	struct ledger_over over; /* the last wait */

	/*
	 * From 7.0 on, a program at a system call can be preempted while it writes here. What it
	 * missed meanwhile is left to the thread's next update.
	 */
	u64 away_since_ns; /* when it was; 0: it is not */
	u64 away_from_ns;  /* when the first of these began that are not in ns yet; 0: none */
	u64 away_ns;	   /* how long they were, together */
	u64 away_count;

	u64 nvcsw;   /* the kernel's count at the last switch: it advances iff it blocks */
	u64 exec_ns; /* the kernel's count of its run time, at the last switch */
	u64 voluntary;
	u64 involuntary;
	u32 missed;
	u32 unnamed;
	u64 rivals_ns;	 /* of its time in the run queue, what rivals and their like had */
	u64 poll_end_ns; /* when its last poll ended; 0: none did */
	u64 poll_ns;	 /* how long it was blocked in polls of several files, in all */

	struct lock_watch lock; /* its first words, too, are looked at with each wait */
	u64 ns[STATE_LIMIT];
	u32 entries[STATE_LIMIT];
	u64 cause_keys[CAUSES_MAX]; /* of causes, to find them; 0: the place is free */
	struct ledger_cause causes[CAUSES_MAX];
	struct ledger_rival rivals[RIVALS_MAX];
	struct ledger_turns turns;
	struct ledger_chain chain; /* of the wait under way, left by the one who ends it */
	u64 chains_ns;
	struct ledger_chain chains[LEDGER_CHAINS];

	/* Who it is, noted when it was first followed: an exec may change what the task says. */
	u32 tgid, tid, inner_tid;
	u64 start_ns, thread_start_ns;

	/* The kernel's own counts when it was first followed. */
	u64 nvcsw_before;
	u64 nivcsw_before;
	u64 exec_before_ns;
	u64 delay_before_ns;

	/* Tier B. */
	u64 call_ns;	  /* when the system call under way began; 0: none */
	u64 call_cpu_ns;  /* and what ns[STATE_CPU_SYSCALL] was then */
	u64 call_done_ns; /* how long the one took that ended last, for signals that count them:
			     at least 1; 0: its beginning was not seen */
	u32 call;	  /* as ledger_cause has it; also of the one that ended last */
	u32 call_open;	  /* one whose end was not seen, for them to count, and to clear; 0: none */
	u64 fault_ns; /* when the last page fault began, for those that count them, and clear it */
	u32 fault_from; /* the state that the page fault under way interrupted */
	u32 in_fault;	/* 1: one is under way */
	u64 faults_begun;
	u64 faults_ended;
	u64 faults_failed;

	struct ledger_told told;
	struct request_watch request;

	/* Waits for one futex that timed out, one right after the other: whoever gets it then has
	 * waited for it all the time. */
	u64 retry_object;
	u64 retry_ns;
	u64 retry_end_ns;

	/* How the last wait ended that a reader had told as open. */
	u64 settled_since_ns; /* 0: none was */
	struct ledger_cause settled;
};

/* What a thread is about to wait for; who holds it is known for locks only. */
#define BLOCKER_TYPE   3ULL /* the lowest bits of a blocker: what kind of lock it is */
#define BLOCKER_MUTEX  0
#define BLOCKER_SEM    1 /* or another one that has no owner */
#define BLOCKER_READER 2
#define BLOCKER_WRITER 3

struct wait {
	u64 object;
	u32 state; /* enum ledger_state */
	u32 holder;
	u32 call;
	u32 lock;	  /* enum lock_type; 0: it is for no lock */
	u32 is_woken;	  /* already: the wake-up came before the switch was seen */
	u32 is_resumed;	  /* a signal had interrupted it: it is for what the last one was for */
	u32 ends;	  /* enum wait_ends */
	u32 net_state;	  /* enum ledger_state if a packet ends it; 0: not known */
	u32 is_held_back; /* what it sent before has not left yet (Nagle) */
};

/* How much the beginning of a wait says of what it is for. */
enum wait_ends {
	ENDS_AS_BEGUN, /* all: its state is known */
	ENDS_IN_TIME,  /* its state is known, unless its own timeout ends it */
	ENDS_BY_FUTEX, /* nothing: a futex that is no lock serves every purpose */
	ENDS_BY_POLL,  /* likewise: a poll */
};

/* What a wake-up leaves behind for the thread that it wakes. */
struct wake {
	u64 object;
	u64 since_ns;
	u32 waker;
	u32 kind; /* enum waker_kind */
	u32 state;
	u32 holder;
};

/* What interrupts took from those who ran on this CPU, ever growing; and what of it they know. */
struct ledger_stolen {
	u64 irq_ns;
	u64 softirq_ns;
	u64 irq_taken_ns; /* by the account of the thread that runs */
	u64 softirq_taken_ns;
};

static __always_inline u64 ledger_slot(u64 state)
{
	ledger_bound(state, STATE_LIMIT - 1);
	return state;
}

static __always_inline void ledger_open_write(struct ledger_task *account)
{
	ledger_seq_open(&account->seq);
}

static __always_inline void ledger_close_write(struct ledger_task *account)
{
	ledger_seq_close(&account->seq);
}

static __always_inline void ledger_open_waits(struct ledger_task *account)
{
	ledger_seq_open(&account->waits_seq);
	ledger_open_write(account);
}

static __always_inline void ledger_close_waits(struct ledger_task *account)
{
	ledger_close_write(account);
	ledger_seq_close(&account->waits_seq);
}

static __always_inline bool ledger_is_on_cpu(const struct ledger_task *account)
{
	return account->state >= STATE_CPU && account->state <= STATE_CPU_SOFTIRQ;
}

static __always_inline bool ledger_is_split(const struct ledger_task *account)
{
	return (account->flags & ACCOUNT_SPLIT) && !account->is_split_no_more;
}

static __always_inline u64 ledger_cpu_ns(const struct ledger_task *account)
{
	u64 sum = 0;

	for (u32 i = STATE_CPU; i <= STATE_CPU_SOFTIRQ; i++)
		sum += account->ns[i];
	return sum;
}

static __always_inline bool ledger_is_blocked(u32 state)
{
	return state >= STATE_BLOCKED_LOCK;
}

#endif
