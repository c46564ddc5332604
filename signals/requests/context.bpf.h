/* SPDX-License-Identifier: Apache-2.0 OR GPL-2.0-only */
/*
 * For whom a thread works: for the request that it read last, until it has answered. What it does
 * meanwhile goes to that request. A thread that has several open at once is an event loop: what it
 * does after a poll is not known to be for any of them, until it reads or answers one.
 */
#ifndef DWELL_REQUESTS_CONTEXT_BPF_H
#define DWELL_REQUESTS_CONTEXT_BPF_H

#include "turn.bpf.h"

/* Is it the turn that this thread works for, and measured? */
static __always_inline bool is_measured_turn(const struct turn_sock *entry, u64 turn, u32 tid)
{
	return entry && entry->begin_ns && entry->is_measured && entry->turn == turn &&
	       entry->tid == tid;
}

/* The longest wait since the mark goes where the rest goes: to this turn, or to none. */
static __always_inline void charge_wait(struct request_watch *watch, struct turn_sock *entry)
{
	if (entry && watch->wait.ns > entry->wait.ns)
		entry->wait = watch->wait;
	watch->wait.ns = 0;
}

/*
 * As charge(), where the thread has done nothing since its mark but run: most requests of a busy
 * server are read and answered in one go. Inlined, as it is short. False: it may have waited, too.
 */
static __always_inline bool charge_run(struct ledger_task *account, struct turn_sock *entry,
				       u64 now)
{
	struct request_watch *watch = &account->request;

	if (watch->wait.ns ||
	    !ledger_mark_move_within(account, &watch->mark, now, entry ? entry->own : NULL))
		return false;
	watch->mark_ns = now;
	return true;
}

/* What the thread did since its mark goes to this turn, or, if that is NULL, to none. */
static __noinline int charge(struct ledger_task *account, struct turn_sock *entry, u64 now)
{
	struct account_mark *mark;
	u64 polled;

	if (!account)
		return 0;
	mark = &account->request.mark;
	account->request.mark_ns = now;
	polled = account->poll_ns - mark->poll_ns;
	if (!entry || (polled && account->request.is_loop)) {
		charge_wait(&account->request, NULL);
		ledger_mark_move(account, mark, now, NULL);
		return 0;
	}
	entry->poll_own += polled;
	charge_wait(&account->request, entry);
	ledger_mark_move(account, mark, now, entry->own);
	return 0;
}

/* The turn that the thread works for, and has not answered. */
static __always_inline struct turn_sock *context_of(const struct ledger_task *account)
{
	const struct request_watch *watch = &account->request;
	struct turn_sock *entry;

	if (!watch->sock || watch->is_answered)
		return NULL;
	entry = known_sock(watch->sock);
	return is_measured_turn(entry, watch->turn, account->tid) ? entry : NULL;
}

/* As charge(), of this thread. address 0: to none. */
__noinline int charge_turn(u64 address, u64 now)
{
	charge(account_of_current(), address ? known_sock(address) : NULL, now);
	return 0;
}

/* To the turn that it works for. */
__noinline int charge_context(u64 now)
{
	struct ledger_task *account = account_of_current();

	if (account)
		charge(account, context_of(account), now);
	return 0;
}

/* It was closed without an answer, and only the kernel has it still. */
static __always_inline bool is_closed_by_owner(u64 address)
{
	return !BPF_CORE_READ((struct sock *)address, sk_socket);
}

/* Does this thread have another turn open that it has not answered yet? Then it is a loop. */
static __always_inline void note_open(struct ledger_task *account, u64 address, u64 turn)
{
	struct request_watch *watch = &account->request;
	struct live_config *live = live_config();
	u64 model = live ? live->server_model : SERVER_MODEL_AUTO;
	struct turn_sock *open;

	if (watch->is_loop || model == SERVER_MODEL_THREAD)
		return;
	if (model == SERVER_MODEL_LOOP) {
		watch->is_loop = 1;
		return;
	}
	if (watch->open_sock && watch->open_sock != address) {
		open = known_sock(watch->open_sock);
		if (open && open->begin_ns && open->turn == watch->open_turn &&
		    open->tid == account->tid && !open->end_ns &&
		    !is_closed_by_owner(watch->open_sock)) {
			watch->is_loop = 1;
			open->flags |= REQUEST_IS_LOOP;
			return;
		}
	}
	watch->open_sock = address;
	watch->open_turn = turn;
}

/* Before it reads anything: up to now it worked for what it had read before. */
static __always_inline void context_leave(struct ledger_task *account, u64 now)
{
	if (account->request.measured)
		charge_context(now);
}

/* A measured turn begins: its mark is kept up until it is answered. */
static __always_inline void context_measure(struct ledger_task *account, u64 now)
{
	if (!account->request.measured++ && !charge_run(account, NULL, now))
		charge(account, NULL, now);
}

/*
 * It has read something that belongs to this turn. Who reads of several requests before it sends
 * anything takes turns by a plan of its own, as asyncio does: what it does next need not be for
 * what it read last. So it is until it waits again.
 */
static __always_inline void note_read(struct ledger_task *account, u64 address, u64 turn)
{
	struct request_watch *watch = &account->request;

	if (watch->seen_poll_ns != account->poll_ns)
		watch->is_mixed = watch->is_unused_read = 0;
	else if (watch->is_unused_read && (watch->seen_sock != address || watch->seen_turn != turn))
		watch->is_mixed = 1;
	watch->is_unused_read = 1;
	watch->is_guessed = 0;
	watch->seen_sock = address;
	watch->seen_turn = turn;
	watch->seen_poll_ns = account->poll_ns;
}

/* It has sent something: what it read has been made use of. */
static __always_inline void note_send(struct ledger_task *account)
{
	account->request.is_unused_read = 0;
}

/* What it read last says less of what it sends now. */
static __always_inline bool is_mixed(const struct ledger_task *account)
{
	const struct request_watch *watch = &account->request;

	return watch->is_loop && watch->is_mixed && watch->seen_poll_ns == account->poll_ns;
}

/* It has received: from here on it works for this turn. */
static __always_inline void context_enter(struct ledger_task *account, struct turn_sock *entry,
					  u64 address)
{
	account->request.sock = address;
	account->request.turn = entry->turn;
	account->request.is_answered = 0;
	account->request.events++;
	account->request.read_poll_ns = account->poll_ns;
}

/*
 * It has sent on a socket whose turn it serves: what it did since its mark was for that, if it
 * worked for this turn, or had answered another and has not polled since.
 */
static __always_inline void context_answer(struct ledger_task *account, struct turn_sock *entry,
					   u64 address, u64 now)
{
	struct request_watch *watch = &account->request;
	bool is_its = watch->sock == address && watch->turn == entry->turn;
	bool follows = watch->is_answered && account->poll_ns == watch->mark.poll_ns;

	if (entry->is_measured && (is_its || (follows && watch->measured))) {
		if (!charge_run(account, entry, now))
			charge_turn(entry->address, now);
	} else if (watch->measured)
		charge_context(now);
	if (entry->is_measured && !entry->end_ns && watch->measured)
		watch->measured--;
	watch->sock = address;
	watch->turn = entry->turn;
	watch->is_answered = 1;
	watch->events++;
	if (watch->open_sock == address)
		watch->open_sock = 0;
}

#endif
