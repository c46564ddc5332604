// SPDX-License-Identifier: Apache-2.0 OR GPL-2.0-only
/*
 * Requests, found from the sockets: a server's socket gets data, a thread receives it, works, and
 * sends. No application says anything; nothing is written into its traffic.
 */
#include "../../bpf/common.bpf.h"

#include "turn.bpf.h"
#include "context.bpf.h"
#include "payload.bpf.h"
#include "record.bpf.h"
#include "call.bpf.h"
#include "hand_over.bpf.h"
#include "tls.bpf.h"
#include "answer.bpf.h"
#include "h2.bpf.h"

#define MSG_PEEK_FLAG 2 /* it looked, and left the data there */

enum { ERROR_PIPE = 32, ERROR_RESET = 104, ERROR_TIMEOUT = 110 };

/* The address of a Unix socket that was closed is another's now: no hook told. */
static __always_inline void renew_unix(struct turn_sock *entry, struct sock *sk)
{
	u64 socket = (u64)sk->sk_socket; /* none until it is accepted */

	if (entry->socket == socket)
		return;
	if (entry->socket) {
		end_sock(entry->address, REQUEST_END_CLOSED);
		entry->id = object_mix(bpf_ktime_get_ns(), bpf_get_prandom_u32());
		entry->begin_ns = entry->ready_ns = entry->skipped = 0;
		entry->turn = first_turn();
		entry->is_untracked = entry->tgid = 0;
	}
	entry->socket = socket;
}

static __always_inline bool is_another(const struct turn_sock *entry, u16 port, u16 peer_port)
{
	return port != entry->port || peer_port != __builtin_bswap16(entry->client_port);
}

/* It was closed while the signal was off. */
__noinline int forget_gone(u64 address)
{
	struct turn_sock *entry = bpf_map_lookup_elem(&request_tcp, &address);

	if (!entry)
		return 0;
	entry->is_gone = 1;
	end_sock(address, REQUEST_END_CLOSED);
	bpf_map_delete_elem(&request_tcp, &address);
	return 0;
}

/* PASSED_ALL: neither a server's, nor one on which a server makes calls, as most messages of a host
 * are. */
static __always_inline u32 passed_of(struct sock *sk, u32 family)
{
	return family != FAMILY_UNIX ? passed((u64)sk) : PASSED_NOT;
}

/* The socket, if it serves a process that is followed, or one that is not known yet. */
static __always_inline struct turn_sock *tracked_sock(struct sock *sk, u32 family, u32 kind,
						      u64 received, u64 sent)
{
	struct turn_sock *entry;

	if (kind != PASSED_NOT)
		return NULL;
	entry = sock_of(sk, family, received, sent);
	if (entry && family != FAMILY_UNIX &&
	    is_another(entry, sk->__sk_common.skc_num, sk->__sk_common.skc_dport)) {
		forget_gone(entry->address);
		entry = sock_of(sk, family, received, sent);
	}
	if (entry && family == FAMILY_UNIX)
		renew_unix(entry, sk);
	return entry && !entry->is_untracked ? entry : NULL;
}

/* --- data comes --- */

SEC("?tp_btf/sk_data_ready")
int BPF_PROG(requests_ready, const struct sock *socket)
{
	struct sock *sk = (struct sock *)socket;
	u32 family = family_of_interest(sk);
	struct turn_sock *entry;

	if (!family)
		return 0;
	entry = tracked_sock(sk, family, passed_of(sk, family), 0, 0);
	if (entry && !entry->ready_ns)
		entry->ready_ns = bpf_ktime_get_ns();
	return 0;
}

/* Why a connection ends, the first who notices is told: when it is destroyed, nobody knows. */
static __always_inline void note_error(struct sock *sk, int result)
{
	struct turn_sock *entry;
	struct call_sock *call;

	if (result != -ERROR_RESET && result != -ERROR_TIMEOUT && result != -ERROR_PIPE)
		return;
	entry = known_sock((u64)sk);
	if (entry) {
		entry->error = (u32)-result;
		return;
	}
	call = known_call((u64)sk);
	if (call)
		call->error = (u32)-result;
}

/* --- it is read --- */

/* What a record says of it: what was asked, and what its thread does for it. */
static __noinline int measure_turn(struct turn_sock *entry, struct ledger_task *account, u64 now)
{
	if (!entry || !account)
		return 0;
	entry->poll_from = account->poll_ns;
	entry->poll_ns = entry->poll_own = 0;
	entry->wait.ns = 0;
	__builtin_memset(entry->own, 0, sizeof(entry->own));
	entry->answer_length = 0;
	__builtin_memcpy(entry->request, entry->next, sizeof(entry->request));
	entry->request_length = (u16)entry->next_length;
	entry->is_plain = 0;
	tls_look(entry, account->tgid);
	context_measure(account, now);
	return 0;
}

/* What is asked, read once: for the shape, and for the name. */
static __always_inline void read_request(struct turn_sock *entry, u64 bytes)
{
	__builtin_memset(entry->next, 0, sizeof(entry->next));
	entry->next_length = copy_payload(entry->next, REQUEST_BYTES_MAX, bytes);
}

/* Not inlined, as find_payload() is not. */
static __noinline int begin_turn(struct turn_sock *entry, struct ledger_task *account, u64 address,
				 u64 bytes, u64 now)
{
	u64 ready_ns;

	if (!entry || !account)
		return 0;
	ready_ns = entry->ready_ns;
	own_sock(entry, account);
	entry->turn++;
	read_request(entry, bytes);
	choose(entry, address, bytes, now);
	entry->wire = entry->is_measured && bytes ? wire_of_turn(entry, address, bytes) : 0;
	entry->pool_tid = entry->is_lost = entry->tls = 0;
	entry->began_ns = ready_ns && ready_ns < now ? ready_ns : now;
	entry->begin_ns = now;
	entry->end_ns = entry->received = entry->sent = 0;
	entry->trace = (struct request_trace){};
	note_open(account, address, entry->turn);
	entry->flags = account->request.is_loop ? REQUEST_IS_LOOP : 0;
	if (!account->request.is_loop) /* it has no other one open */
		account->request.measured = 0;
	if (!entry->is_measured)
		return 0;
	return measure_turn(entry, account, now);
}

#define REQUEST_SHORT_MAX 16

/*
 * Where the first receive brought a header alone (MySQL's has 4 bytes), or one byte (a server in Go
 * waits for that while it works), what the next one brings is added.
 */
static __always_inline void add_payload(struct turn_sock *entry, u64 bytes)
{
	u64 there = entry->request_length;

	if (!entry->is_measured || entry->end_ns || !there || there > REQUEST_SHORT_MAX ||
	    entry->is_plain)
		return;
	ledger_at_most(there, REQUEST_SHORT_MAX);
	entry->request_length =
		(u16)there +
		copy_payload(entry->request + there, REQUEST_BYTES_MAX - REQUEST_SHORT_MAX, bytes);
}

static __always_inline int received(struct sock *sk, struct turn_sock *entry, u64 bytes)
{
	struct ledger_task *account = account_of_current();
	u64 address = (u64)sk, now;
	u32 next;

	if (!account) {
		leave_sock(entry, (u64)sk);
		return 0;
	}
	now = bpf_ktime_get_ns();
	forget_reply(account);
	account->request.lent_sock = 0;
	context_leave(account, now);
	next = next_seq(entry, address);
	if (is_written_to(entry, next))
		note_answered(entry->address, next - entry->answer_seq, now);
	if (!entry->begin_ns || entry->end_ns) /* who sees the next turn's number sees this */
		ledger_store_first(&entry->answer_seq, next);
	if (entry->begin_ns && entry->end_ns) {
		entry->pending = (u32)bytes;
		end_turn(entry, address, REQUEST_END_NEXT, now);
		entry->pending = 0;
	}
	if (!entry->begin_ns)
		begin_turn(entry, account, address, bytes, now);
	else
		add_payload(entry, bytes);
	if (entry->tid != account->tid) { /* two threads read it */
		entry->flags |= REQUEST_IS_HANDED_OVER;
		entry->is_lost = 1;
	} else {
		context_enter(account, entry, address);
	}
	note_read(account, address, entry->turn);
	tls_received(account, address, entry->turn);
	entry->received += bytes;
	entry->in.in_turns += bytes;
	/* What is left there was ready by now, at the latest. */
	entry->ready_ns = 0;
	if (sk->sk_receive_queue.qlen)
		entry->ready_ns = now;
	return 0;
}

SEC("?tp_btf/sock_recv_length")
int BPF_PROG(requests_receive, struct sock *sk, int result, int flags)
{
	u32 family = family_of_interest(sk), kind;
	struct turn_sock *entry;

	if (result < 0)
		note_error(sk, result);
	if (result < 0 || (flags & MSG_PEEK_FLAG) || !family)
		return 0;
	if (!result) {
		call_closed(sk, family);
		return 0;
	}
	kind = passed_of(sk, family);
	if (kind == PASSED_ALL)
		return 0;
	entry = tracked_sock(sk, family, kind, (u64)result, 0);
	if (entry && h2_is_received(entry, family, (u64)result)) {
		bpf_tail_call(ctx, &request_h2_receive, 0);
		h2_refuse(entry);
	}
	if (entry)
		return received(sk, entry, (u64)result);
	tls_received_other((u64)sk);
	return call_received(sk, family, (u64)result);
}

/* Called, where it is a connection of HTTP/2. */
SEC("?tp_btf/sock_recv_length")
int BPF_PROG(requests_h2_received, struct sock *sk, int result, int flags)
{
	u64 address = (u64)sk;
	struct turn_sock *entry = bpf_map_lookup_elem(&request_tcp, &address);

	if (!entry || !entry->h2 || result <= 0 || (flags & MSG_PEEK_FLAG))
		return 0;
	h2_message(entry, sk, (u64)result, false);
	entry->ready_ns = sk->sk_receive_queue.qlen ? bpf_ktime_get_ns() : 0;
	return 0;
}

/* --- it is answered --- */

/* So many bytes of as many as are there: before 6.3 how many is not known yet, and 0. */
static __always_inline int sent(struct sock *sk, struct turn_sock *entry, u64 bytes, u64 there)
{
	struct ledger_task *account = account_of_current();
	struct answered_turn of = {.address = (u64)sk, .begin_ns = entry->begin_ns};

	if (!account) {
		leave_sock(entry, (u64)sk);
		return 0;
	}
	of.ref.connection = entry->id;
	of.ref.turn = ledger_load_acquire(&entry->turn);
	of.is_measured = entry->is_measured;
	if (is_late(entry, account, of.address, bytes)) {
		count_sent(entry, bytes);
		pass_late(account, bpf_ktime_get_ns());
		return 0;
	}
	if (of.begin_ns) {
		answer(entry, account, &of, bytes, there);
		return 0;
	}
	if (!entry->tgid)
		own_sock(entry, account);
	entry->out.no_turn += bytes; /* a server's greeting */
	return 0;
}

SEC("?tp_btf/sock_send_length")
int BPF_PROG(requests_send, struct sock *sk, int result, int flags)
{
	u32 family = family_of_interest(sk), kind;
	struct turn_sock *entry;

	if (result < 0)
		note_error(sk, result);
	if (result <= 0 || !family)
		return 0;
	kind = passed_of(sk, family);
	if (kind == PASSED_ALL)
		return 0;
	entry = tracked_sock(sk, family, kind, 0, (u64)result);
	if (entry && entry->h2)
		bpf_tail_call(ctx, &request_h2_send, 0);
	return entry ? sent(sk, entry, (u64)result, (u64)result)
		     : call_sent(sk, family, (u64)result);
}

SEC("?tp_btf/sock_send_length")
int BPF_PROG(requests_h2_sent, struct sock *sk, int result, int flags)
{
	u64 address = (u64)sk;
	struct turn_sock *entry = bpf_map_lookup_elem(&request_tcp, &address);

	if (entry && entry->h2 && result > 0)
		h2_message(entry, sk, (u64)result, true);
	return 0;
}

/* --- who works for it --- */

SEC("?tp_btf/inet_sock_set_state")
int BPF_PROG(requests_connect, const struct sock *socket, int old_state, int new_state)
{
	struct ledger_task *account;
	struct call_sock *call;
	u64 owner_sock;
	struct turn_sock *owner;

	if (new_state != TCP_SYN_SENT)
		return 0;
	account = account_of_current();
	if (!account || !has_to_lend(account))
		return 0;
	owner = owner_of(account, &owner_sock);
	if (!owner)
		return 0;
	call = make_call((struct sock *)socket);
	if (!call)
		return 0; /* counted */
	call->opened_for_sock = owner_sock;
	call->opened_for_turn = owner->turn;
	note_doubts(call, account, owner_sock);
	note_send(account);
	return 0;
}

SEC("?tp_btf/sched_waking")
int BPF_PROG(requests_wake, struct task_struct *task)
{
	struct ledger_task *account, *woken;

	if ((u32)task->tgid != bpf_get_current_pid_tgid() >> 32)
		return 0;
	account = account_of_current();
	if (!account || !has_to_lend(account) || !is_by_thread())
		return 0;
	woken = account_of(task);
	if (woken && woken != account)
		lend(account, woken, bpf_ktime_get_ns());
	return 0;
}

#include "tls_probes.bpf.h"
#include "tls_go_probes.bpf.h"

#include "classic.bpf.h"

/* --- it closes --- */

static __always_inline u32 end_of(u32 error)
{
	if (error == ERROR_RESET || error == ERROR_PIPE)
		return REQUEST_END_RESET;
	return error == ERROR_TIMEOUT ? REQUEST_END_TIMEOUT : REQUEST_END_CLOSED;
}

SEC("?tp_btf/tcp_destroy_sock")
int BPF_PROG(requests_close, struct sock *sk)
{
	u64 address = (u64)sk;
	struct turn_sock *entry = bpf_map_lookup_elem(&request_tcp, &address);
	struct call_sock *call;

	clear_passed(address);
	if (!entry) {
		call = bpf_map_lookup_elem(&request_calls, &address);
		if (!call)
			return 0;
		outlive_connection(call, address);
		end_call(call, end_of(call->error ? call->error : (u32)sk->sk_err));
		send_unlinked(call);
		bpf_map_delete_elem(&request_calls, &address);
		return 0;
	}
	end_sock(entry->address, end_of(entry->error ? entry->error : (u32)sk->sk_err));
	bpf_map_delete_elem(&request_tcp, &address);
	return 0;
}

#include "rows.bpf.h"
