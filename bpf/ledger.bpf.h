/* SPDX-License-Identifier: Apache-2.0 OR GPL-2.0-only */
/*
 * The ledger's core: what one thread's transitions do to its account. No hook and no clock is
 * read here, so that it can be compiled for the host and tested there.
 *
 * One writer: only what happens on the thread's own CPU, in its own context, writes its account.
 * A wake-up leaves its time, and the next switch-in splits the wait there; an interrupt leaves
 * its length per CPU, and the thread's next update takes it up. A reader on another CPU looks at
 * seq: odd, or changed while it copied, means try again. Causes are many, and have a word of their
 * own: under Tier B seq changes with each system call, too often to copy all of it meanwhile.
 */
#ifndef DWELL_LEDGER_BPF_H
#define DWELL_LEDGER_BPF_H

/*
 * Places among an account's causes: those told apart fully, from where their hash says onwards, so
 * that few are looked at; classes of them; and one for each state of the run queue.
 */
#define CAUSES_HASHED 16 /* places at which a look begins, a power of two */
#define CAUSES_CLASS  26 /* the first of the classes */
#define CAUSES_QUEUE  29

_Static_assert(CAUSES_QUEUE + STATE_RUNQ_THROTTLED - STATE_RUNQ_WOKEN == CAUSES_MAX - 1,
	       "each state of the run queue has its own place");

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

/* One time that a thread was off its CPUs: when it came back, and what it had waited for, in us. */
struct lock_absence {
	u64 back_ns;
	u32 queue_us;
	u32 block_us;
};

#define ABSENCES_MAX 16 /* the last ones are kept; a power of two */

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
	u32 resume;	/* its state on a CPU, the last or the next one */
	u32 flags;	/* enum account_flags, from its opening on */
	u32 read_seq;	/* the reader's own: seq when it last read */
	u32 is_left;	/* the reader's own: it has told that the thread is no longer followed */

	/* Set by others, each a word of its own. */
	u32 is_unwanted;      /* its next switch closes the account */
	u32 is_split_no_more; /* Tier B was switched off for it */
	u32 is_closed;	      /* it may be opened anew */

	/* The last block, for who takes its stack when the thread runs again, and clears it then.
	 */
	u64 block_ns;	 /* how long it was; 0: none since */
	u64 waker_stack; /* key of the stack of the one who ended it; 0: none was taken */
	u32 block_state; /* enum ledger_state */
	u32 out_weight;	 /* where stacks are taken when the block begins: it stands for so many ...
			  */
	u64 out_stack;	 /* ... and this is its key; 0: none was taken */
	u64 out_stop;	 /* enum stack_stop */

	/* What the last block was for; unlike causes, which are few, it is always so. */
	u64 wait_object;
	u32 wait_holder;
	u32 wait_lock; /* enum lock_type; 0: no lock */

	/* What it waited for before it got its CPU, for signals that count waits: 0: not so. */
	u64 in_block_ns; /* in block_state */
	u64 in_queue_ns;
	u64 in_queue_state; /* enum ledger_state */

	u64 nvcsw;   /* the kernel's count at the last switch: it advances iff it blocks */
	u64 exec_ns; /* the kernel's count of its run time, at the last switch */
	u64 voluntary;
	u64 involuntary;
	u64 ns[STATE_LIMIT];
	u32 entries[STATE_LIMIT];
	struct ledger_cause causes[CAUSES_MAX];
	u32 missed;
	u32 unnamed;

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

	struct lock_watch lock;
	struct ledger_told told;
};

/* What a thread is about to wait for; who holds it is known for locks only. */
struct wait {
	u64 object;
	u32 state; /* enum ledger_state */
	u32 holder;
	u32 call;
	u32 lock;	/* enum lock_type; 0: it is for no lock */
	u32 is_woken;	/* already: the wake-up came before the switch was seen */
	u32 is_resumed; /* a signal had interrupted it: it is for what the last one was for */
};

/* What interrupts took from those who ran on this CPU, ever growing; and what of it they know. */
struct ledger_stolen {
	u64 irq_ns;
	u64 softirq_ns;
	u64 irq_taken_ns; /* by the account of the thread that runs */
	u64 softirq_taken_ns;
};

#define ledger_barrier() __asm__ volatile("" ::: "memory")
#define ledger_barrier_value(value)                                                                \
	__asm__ volatile(""                                                                        \
			 : "+r"(value)) /* the compiler forgets it                                 \
					 */

/* An index, bounded where every verifier sees it: older ones lose track otherwise. */
#ifdef __bpf__
#define ledger_bound(index, mask) __asm__ volatile("%0 &= %1" : "+r"(index) : "i"(mask))
#define ledger_at_most(value, limit)                                                               \
	__asm__ volatile("if %0 <= %1 goto +1\n%0 = %1" : "+r"(value) : "i"(limit))
#else
#define ledger_at_most(value, limit) ((value) = (value) < (limit) ? (value) : (limit))
#define ledger_bound(index, mask)    ((index) &= (mask))
#endif

/*
 * The verifier remembers what each path may have left in a word, and goes through all that follows
 * once for each. So it is made to forget: loading takes a fraction of the time.
 */
static __always_inline u64 ledger_forget(u64 known, u64 unknown)
{
#ifdef __bpf__
	__asm__ volatile("%0 += %1\n%0 -= %1" : "+r"(known) : "r"(unknown));
#else
	(void)unknown;
#endif
	return known;
}

static __always_inline u64 ledger_slot(u64 state)
{
	ledger_bound(state, STATE_LIMIT - 1);
	return state;
}

static __always_inline struct ledger_cause *ledger_cause_at(struct ledger_task *account, u64 place)
{
	ledger_bound(place, CAUSES_MAX - 1);
	return &account->causes[place];
}

static __always_inline void ledger_open_write(struct ledger_task *account)
{
	account->seq++;
	ledger_barrier();
}

static __always_inline void ledger_close_write(struct ledger_task *account)
{
	ledger_barrier();
	account->seq++;
}

static __always_inline void ledger_open_waits(struct ledger_task *account)
{
	account->waits_seq++;
	ledger_open_write(account);
}

static __always_inline void ledger_close_waits(struct ledger_task *account)
{
	ledger_close_write(account);
	account->waits_seq++;
}

static __always_inline void ledger_begin(struct ledger_task *account, u32 state, u32 resume,
					 u64 now)
{
	account->state = state;
	account->last_ns = now;
	account->resume = resume;
	account->entries[ledger_slot(state)] = 1;
	ledger_barrier();
	account->begin_ns = now;
}

/* Time up to now goes to a state. A clock that is behind last_ns moves nothing. */
static __always_inline u64 ledger_charge(struct ledger_task *account, u32 state, u64 now)
{
	u64 passed = now - account->last_ns;

	if (now <= account->last_ns)
		return 0;
	account->ns[ledger_slot(state)] += passed;
	account->last_ns = now;
	return passed;
}

static __always_inline void ledger_enter(struct ledger_task *account, u32 state)
{
	account->state = state;
	account->entries[ledger_slot(state)]++;
}

static __always_inline bool ledger_is_on_cpu(const struct ledger_task *account)
{
	return account->state >= STATE_CPU && account->state <= STATE_CPU_SOFTIRQ;
}

static __always_inline bool ledger_is_split(const struct ledger_task *account)
{
	return (account->flags & ACCOUNT_SPLIT) && !account->is_split_no_more;
}

static __always_inline bool ledger_is_blocked(u32 state)
{
	return state >= STATE_BLOCKED_LOCK;
}

static __always_inline u64 ledger_take(struct ledger_task *account, u32 state, u64 wanted, u64 left)
{
	u64 taken = wanted < left ? wanted : left;

	if (taken) {
		account->ns[state] += taken;
		account->entries[state]++;
	}
	return taken;
}

/* Time on a CPU goes to a state, but for what interrupts took of it. */
static __always_inline void ledger_charge_cpu(struct ledger_task *account, u32 state,
					      struct ledger_stolen *stolen, u64 now)
{
	u64 left = now - account->last_ns;

	if (now <= account->last_ns)
		return;
	if (stolen) {
		u64 irq_ns = stolen->irq_ns, softirq_ns = stolen->softirq_ns;

		left -= ledger_take(account, STATE_CPU_IRQ, irq_ns - stolen->irq_taken_ns, left);
		left -= ledger_take(account, STATE_CPU_SOFTIRQ,
				    softirq_ns - stolen->softirq_taken_ns, left);
		stolen->irq_taken_ns = irq_ns;
		stolen->softirq_taken_ns = softirq_ns;
	}
	account->ns[ledger_slot(state)] += left;
	account->last_ns = now;
}

static __always_inline bool ledger_cause_is(const struct ledger_cause *cause,
					    const struct wait *wait, u64 object, u32 holder)
{
	return cause->count && cause->object == object && cause->state == wait->state &&
	       cause->call == wait->call && cause->holder == holder;
}

/* Whether a cause has this place, or can have it: then it is written there. */
static __always_inline bool ledger_cause_fits(struct ledger_cause *cause, const struct wait *wait,
					      u64 object, u32 holder)
{
	if (ledger_cause_is(cause, wait, object, holder))
		return true;
	if (cause->count)
		return false;
	cause->object = object;
	cause->holder = holder;
	cause->state = (u8)wait->state;
	cause->call = (u16)wait->call;
	return true;
}

/* 1 + place, or 0. */
static __always_inline u32 ledger_find_exact(struct ledger_task *account, const struct wait *wait)
{
	u64 mixed = (wait->object ^ wait->holder ^ wait->call) * 0x9e3779b97f4a7c15ULL;
	u32 first = (mixed >> 40) & (CAUSES_HASHED - 1);

	for (u32 i = 0; i <= CAUSES_CLASS - CAUSES_HASHED; i++)
		if (ledger_cause_fits(ledger_cause_at(account, first + i), wait, wait->object,
				      wait->holder))
			return first + i + 1;
	return 0;
}

static __always_inline u32 ledger_find_class(struct ledger_task *account, const struct wait *wait)
{
	for (u32 i = CAUSES_CLASS; i < CAUSES_QUEUE; i++)
		if (ledger_cause_fits(&account->causes[i], wait, 0, 0))
			return i + 1;
	return 0;
}

/* The run queue's causes have their places: what differs is who ran instead. */
static __always_inline void ledger_name_queue(struct ledger_task *account, u32 state)
{
	struct ledger_cause *cause =
		ledger_cause_at(account, CAUSES_QUEUE + state - STATE_RUNQ_WOKEN);

	cause->state = (u8)state;
	cause->count++;
}

/* Opens the cause of a block that begins; true if it was not known before. */
static __always_inline bool ledger_name_block(struct ledger_task *account, const struct wait *wait)
{
	struct ledger_cause *cause;
	u32 place = account->cause;

	/* Most threads wait for the same thing again and again. */
	if (!place ||
	    !ledger_cause_is(ledger_cause_at(account, place - 1), wait, wait->object, wait->holder))
		place = ledger_find_exact(account, wait);
	if (!place)
		place = ledger_find_class(account, wait);
	place = ledger_forget(place, account->begin_ns);
	account->cause = place;
	if (!place) {
		account->unnamed++;
		return false;
	}
	cause = ledger_cause_at(account, place - 1);
	return cause->count++ == 0;
}

/* Boyer and Moore's vote, weighted by time: who has more than half of it, is left. */
static __always_inline void ledger_vote(struct ledger_cause *cause, u32 waker, u32 kind, u64 ns)
{
	if (cause->waker == waker && cause->waker_kind == kind) {
		cause->waker_ns += ns;
	} else if (cause->waker_ns >= ns) {
		cause->waker_ns -= ns;
	} else {
		cause->waker = waker;
		cause->waker_kind = (u8)kind;
		cause->waker_ns = ns - cause->waker_ns;
	}
}

/* 1 + place of the cause of the wait under way. */
static __always_inline u32 ledger_place(u32 state, u32 block_cause)
{
	return ledger_is_blocked(state) ? block_cause : CAUSES_QUEUE + state - STATE_RUNQ_WOKEN + 1;
}

/* The wait under way lasted so long, and so it ended. */
static __always_inline void ledger_end_cause(struct ledger_task *account, u64 ns, u32 waker,
					     u32 kind)
{
	u32 place = ledger_place(account->state, account->cause);
	struct ledger_cause *cause;

	if (!place)
		return;
	cause = ledger_cause_at(account, place - 1);
	cause->ns += ns;
	ledger_vote(cause, waker, kind, ns);
}

/*
 * A block ends where the thread was woken; from there on it waited for a CPU, because of ran, the
 * thread that had it, or what kind says.
 */
static __always_inline void ledger_end_wait(struct ledger_task *account, u32 ran, u32 kind, u64 now)
{
	u64 woken = account->wake_ns;
	u64 passed;

	if (ledger_is_blocked(account->state)) {
		passed = ledger_charge(account, account->state, woken && woken < now ? woken : now);
		ledger_end_cause(account, passed, account->waker, account->waker_kind);
		account->block_ns = passed;
		/* One that was over before it began is one nevertheless, for who counts them. */
		account->in_block_ns = passed ? passed : 1;
		account->block_state = account->state;
		if (!woken)
			return;
		ledger_enter(account, STATE_RUNQ_WOKEN);
		ledger_name_queue(account, STATE_RUNQ_WOKEN);
	}
	passed = ledger_charge(account, account->state, now);
	ledger_end_cause(account, passed, ran, kind);
	account->in_queue_ns = passed;
	account->in_queue_state = account->state;
}

/*
 * Not every switch reaches us. Which one did not, the state tells; when it must have been, the
 * kernel's own count of the thread's run time: exec_ns is that count now.
 */
static __always_inline u64 ledger_ran_ns(const struct ledger_task *account, u64 exec_ns, u64 now)
{
	u64 ran = exec_ns - account->exec_ns;
	u64 gap = now > account->last_ns ? now - account->last_ns : 0;

	return ran < gap ? ran : gap;
}

/* Up to now it was on a CPU, whether its coming there was seen or not. */
static __always_inline void ledger_end_run(struct ledger_task *account,
					   struct ledger_stolen *stolen, u64 exec_ns, u64 now)
{
	if (!ledger_is_on_cpu(account)) {
		/* Its switch-in was missed. What it ran since, it ran last. */
		account->missed++;
		ledger_end_wait(account, 0, WAKER_NONE, now - ledger_ran_ns(account, exec_ns, now));
		ledger_enter(account, account->resume);
	}
	ledger_charge_cpu(account, account->state, stolen, now);
}

/* What a block is for, for signals that count waits. */
static __always_inline void ledger_note_wait(struct ledger_task *account, const struct wait *wait)
{
	account->wait_object = wait->object;
	account->wait_holder = wait->holder;
	account->wait_lock = wait->lock;
}

/* Leaves its CPU to wait; true if this is a cause not known before. */
static __always_inline bool ledger_switch_out(struct ledger_task *account, const struct wait *wait,
					      struct ledger_stolen *stolen, u64 exec_ns, u64 now)
{
	bool is_new = false;

	ledger_open_waits(account);
	ledger_end_run(account, stolen, exec_ns, now);
	/* Tier B may have been switched off for it meanwhile. */
	account->resume = ledger_is_split(account) ? account->state : (u32)STATE_CPU;
	if (!wait->is_woken)
		account->wake_ns = 0; /* of something before */
	account->waker_stack = 0;     /* likewise: nobody takes one before the state below */
	account->lock.held_ns = 0;    /* likewise */
	ledger_note_wait(account, wait);
	account->exec_ns = exec_ns;
	ledger_enter(account, wait->state);
	if (ledger_is_blocked(wait->state))
		is_new = ledger_name_block(account, wait);
	else
		ledger_name_queue(account, wait->state);
	ledger_close_waits(account);
	return is_new;
}

/* Leaves its CPU for good. */
static __always_inline void ledger_finish(struct ledger_task *account, struct ledger_stolen *stolen,
					  u64 exec_ns, u64 now)
{
	ledger_open_waits(account);
	ledger_end_run(account, stolen, exec_ns, now);
	ledger_close_waits(account);
}

/* Gets a CPU, which ran had before. */
static __always_inline void ledger_switch_in(struct ledger_task *account, u32 ran, u32 kind,
					     u64 exec_ns, u64 now)
{
	ledger_open_waits(account);
	account->in_block_ns = account->in_queue_ns = 0;
	if (ledger_is_on_cpu(account)) {
		/* Its switch-out was missed. It ran first; what it waited for is not known. */
		account->missed++;
		ledger_charge(account, account->state,
			      account->last_ns + ledger_ran_ns(account, exec_ns, now));
		ledger_charge(account, STATE_UNATTRIBUTED, now);
		account->exec_ns = exec_ns;
	} else {
		ledger_end_wait(account, ran, kind, now);
	}
	ledger_enter(account, account->resume);
	ledger_close_waits(account);
}

/* Another CPU's doing: only the time and who it was are left; the account is not touched. */
static __always_inline void ledger_wake(struct ledger_task *account, u32 waker, u32 kind, u64 now)
{
	if (account->wake_ns)
		return;
	account->waker = waker;
	account->waker_kind = kind;
	account->wake_ns = now;
}

#endif
