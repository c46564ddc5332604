/* SPDX-License-Identifier: Apache-2.0 OR GPL-2.0-only */
/*
 * Tier B: how the time on a CPU is split. Like the ledger's core it reads no hook and no clock, and
 * is also compiled for the host. All of it happens in the thread's own context.
 *
 * A page fault that ends in a signal or an error has no end event: what comes after it tells, so
 * that begun = ended + failed.
 */
#ifndef DWELL_SPLIT_BPF_H
#define DWELL_SPLIT_BPF_H

/* From one way of being on a CPU to another. Where its switch-in was missed, it waits for that. */
static __always_inline void split_turn(struct ledger_task *account, u32 state,
				       struct ledger_stolen *stolen, u64 now)
{
	ledger_open_write(account);
	if (ledger_is_on_cpu(account)) {
		ledger_charge_cpu(account, account->state, stolen, now);
		ledger_enter(account, state);
	}
	account->resume = state;
	ledger_close_write(account);
}

static __always_inline void split_end_fault_badly(struct ledger_task *account)
{
	account->faults_failed += account->in_fault;
	account->in_fault = 0;
}

/* It was taken out of Tier B: from here on its time on a CPU is one, as with others. */
static __always_inline void split_leave(struct ledger_task *account, struct ledger_stolen *stolen,
					u64 now)
{
	split_end_fault_badly(account);
	split_turn(account, STATE_CPU, stolen, now);
	account->call_ns = 0;
}

static __always_inline void split_call_begin(struct ledger_task *account, u32 call,
					     struct ledger_stolen *stolen, u64 now)
{
	split_end_fault_badly(account);
	split_turn(account, STATE_CPU_SYSCALL, stolen, now);
	if (account->call_ns)
		account->call_open = account->call;
	account->call = call;
	account->call_cpu_ns = account->ns[STATE_CPU_SYSCALL];
	account->call_ns = now;
}

/* It goes on in the given state. True if the call's beginning was seen, and so its cost is known.
 */
static __always_inline bool split_call_end(struct ledger_task *account, u32 state,
					   struct ledger_stolen *stolen, u64 now,
					   struct call_cost *ret_cost)
{
	u64 began = account->call_ns;

	split_end_fault_badly(account);
	split_turn(account, state, stolen, now);
	account->call_done_ns = 0;
	if (!began)
		return false;
	account->call_ns = 0;
	account->call_done_ns = now > began ? now - began : 1;
	ret_cost->call = (u16)account->call;
	ret_cost->cpu_ns = account->ns[STATE_CPU_SYSCALL] - account->call_cpu_ns;
	ret_cost->total_ns = now - began;
	return true;
}

static __always_inline void split_fault_begin(struct ledger_task *account,
					      struct ledger_stolen *stolen, u64 now)
{
	if (!account->in_fault)
		account->fault_from = account->resume;
	split_end_fault_badly(account);
	account->faults_begun++;
	account->in_fault = 1;
	account->fault_ns = now;
	split_turn(account, STATE_CPU_FAULT, stolen, now);
}

static __always_inline void split_fault_end(struct ledger_task *account,
					    struct ledger_stolen *stolen, u64 now)
{
	if (!account->in_fault)
		return;
	account->in_fault = 0;
	account->faults_ended++;
	split_turn(account, account->fault_from, stolen, now);
}

/* A signal is delivered on the way back to the thread's own code. */
static __always_inline void split_signal(struct ledger_task *account, struct ledger_stolen *stolen,
					 u64 now)
{
	split_end_fault_badly(account);
	split_turn(account, STATE_CPU_USER, stolen, now);
}

/* The place of a system call among a thread's, made if there is room; else that of all others. */
static __always_inline struct call_cost *split_cost_of(struct call_cost *calls,
						       struct call_cost *other, u32 call)
{
	for (u32 i = 0; i < CALL_PROBES; i++) {
		u64 place = call + i;
		struct call_cost *cost;

		ledger_bound(place, CALLS_MAX - 1);
		cost = &calls[place];
		if (!cost->call)
			cost->call = (u16)call;
		if (cost->call == (u16)call)
			return cost;
	}
	return other;
}

static __always_inline void split_add_cost(struct call_cost *sum, const struct call_cost *one)
{
	sum->cpu_ns += one->cpu_ns;
	sum->total_ns += one->total_ns;
	sum->count++;
	sum->failed += one->failed;
}

#endif
