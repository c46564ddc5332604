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

#define MSG_PEEK_FLAG 2 /* it looked, and left the data there */

enum { ERROR_PIPE = 32, ERROR_RESET = 104, ERROR_TIMEOUT = 110 };

/* The address of a Unix socket that was closed is another's now: no hook told. */
static __always_inline void renew_unix(struct turn_sock *entry, struct sock *sk)
{
	u64 socket = (u64)sk->sk_socket; /* none until it is accepted */

	if (entry->socket == socket)
		return;
	if (entry->socket) {
		end_sock(entry, (u64)sk, REQUEST_END_CLOSED);
		entry->id = object_mix(bpf_ktime_get_ns(), bpf_get_prandom_u32());
		entry->begin_ns = entry->ready_ns = entry->turn = entry->skipped = 0;
		entry->is_untracked = entry->tgid = 0;
	}
	entry->socket = socket;
}

/* The socket, if it serves a process that is followed, or one that is not known yet. */
static __always_inline struct turn_sock *tracked_sock(struct sock *sk, u32 family, u64 received,
						      u64 sent)
{
	struct turn_sock *entry = sock_of(sk, family, received, sent);

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
	entry = tracked_sock(sk, family, 0, 0);
	if (entry && !entry->ready_ns)
		entry->ready_ns = bpf_ktime_get_ns();
	return 0;
}

/* Why a connection ends, the first who notices is told: when it is destroyed, nobody knows. */
static __always_inline void note_error(struct sock *sk, int result)
{
	struct turn_sock *entry;

	if (result != -ERROR_RESET && result != -ERROR_TIMEOUT && result != -ERROR_PIPE)
		return;
	entry = known_sock((u64)sk);
	if (entry)
		entry->error = (u32)-result;
}

/* --- it is read --- */

static __always_inline void own_sock(struct turn_sock *entry, const struct ledger_task *account)
{
	entry->tgid = account->tgid;
	entry->start_ns = account->start_ns;
	entry->tid = account->tid;
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
	choose(entry, address, bytes, now);
	entry->turn++;
	entry->began_ns = ready_ns && ready_ns < now ? ready_ns : now;
	entry->begin_ns = now;
	entry->end_ns = entry->received = entry->sent = 0;
	note_open(account, address, entry->turn);
	entry->flags = account->request.is_loop ? REQUEST_IS_LOOP : 0;
	if (!entry->is_measured)
		return 0;
	entry->poll_from = account->poll_ns;
	entry->poll_ns = entry->poll_own = 0;
	__builtin_memset(entry->own, 0, sizeof(entry->own));
	entry->answer_length = 0;
	__builtin_memset(entry->request, 0, sizeof(entry->request));
	entry->request_length = copy_payload(entry->request, REQUEST_BYTES_MAX, bytes);
	context_measure(account, now);
	return 0;
}

#define REQUEST_SHORT_MAX 16

/*
 * Where the first receive brought a header alone (MySQL's has 4 bytes), or one byte (a server in Go
 * waits for that while it works), what the next one brings is added.
 */
static __always_inline void add_payload(struct turn_sock *entry, u64 bytes)
{
	u64 there = entry->request_length;

	if (!entry->is_measured || entry->end_ns || !there || there > REQUEST_SHORT_MAX)
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

	if (!account) {
		leave_sock(entry, (u64)sk);
		return 0;
	}
	now = bpf_ktime_get_ns();
	context_leave(account, now);
	if (entry->begin_ns && entry->end_ns) {
		entry->pending = (u32)bytes;
		end_turn(entry, address, REQUEST_END_NEXT, now);
		entry->pending = 0;
	}
	if (!entry->begin_ns)
		begin_turn(entry, account, address, bytes, now);
	else
		add_payload(entry, bytes);
	if (entry->tid != account->tid)
		entry->flags |= REQUEST_IS_HANDED_OVER;
	else
		context_enter(account, entry, address);
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
	u32 family = family_of_interest(sk);
	struct turn_sock *entry;

	if (result < 0)
		note_error(sk, result);
	if (result <= 0 || (flags & MSG_PEEK_FLAG) || !family)
		return 0;
	entry = tracked_sock(sk, family, (u64)result, 0);
	return entry ? received(sk, entry, (u64)result) : 0;
}

/* --- it is answered --- */

#define CONTINUE_LEAST 25 /* "HTTP/1.1 100 Continue" and two ends of lines ... */
#define CONTINUE_MOST  48 /* ... and, from a JDK, "Content-Length: 0" */
#define CONTINUE_HEAD  16

/* "Go on": the request's body is still to come, and its answer. Only what has its length is looked
 * at.
 */
static __always_inline bool is_continue(u64 bytes)
{
	u8 head[CONTINUE_HEAD] = {};

	return bytes >= CONTINUE_LEAST && bytes <= CONTINUE_MOST &&
	       copy_payload(head, CONTINUE_HEAD, bytes) == CONTINUE_HEAD && head[0] == 'H' &&
	       head[5] == '1' && head[7] == '1' && head[8] == ' ' && head[9] == '1' &&
	       head[10] == '0' && head[11] == '0' && head[12] == ' ';
}

static __always_inline void answer(struct turn_sock *entry, struct ledger_task *account,
				   u64 address, u64 bytes)
{
	u64 now = bpf_ktime_get_ns();

	if (!entry->sent && is_continue(bytes)) {
		entry->out.in_turns += bytes;
		return;
	}
	if (!entry->sent && entry->is_measured)
		entry->answer_length = copy_payload(entry->answer, ANSWER_BYTES_MAX, bytes);
	if (entry->tid != account->tid) {
		entry->flags |= REQUEST_IS_HANDED_OVER;
	} else {
		context_answer(account, entry, address, now);
		if (account->poll_ns > entry->poll_from) /* else its account began anew */
			entry->poll_ns = account->poll_ns - entry->poll_from;
		if (account->request.is_loop)
			entry->flags |= REQUEST_IS_LOOP;
	}
	entry->flags |= REQUEST_IS_ANSWERED;
	entry->end_ns = now;
	entry->sent += bytes;
	entry->out.in_turns += bytes;
}

static __always_inline int sent(struct sock *sk, struct turn_sock *entry, u64 bytes)
{
	struct ledger_task *account = account_of_current();

	if (!account) {
		leave_sock(entry, (u64)sk);
		return 0;
	}
	if (entry->begin_ns) {
		answer(entry, account, (u64)sk, bytes);
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
	u32 family = family_of_interest(sk);
	struct turn_sock *entry;

	if (result < 0)
		note_error(sk, result);
	if (result <= 0 || !family)
		return 0;
	entry = tracked_sock(sk, family, 0, (u64)result);
	return entry ? sent(sk, entry, (u64)result) : 0;
}

/* --- before 6.3 there are no such tracepoints --- */

/* A new one: what it has sent nothing for yet is its first request, all of it. */
static __always_inline u32 first_bytes(struct turn_sock *entry)
{
	if (entry->tgid || !entry->moved_in)
		return 0;
	if (entry->moved_out)
		return 1; /* of what was read before the rest */
	entry->in.before = 0;
	return (u32)entry->moved_in;
}

/* After data was copied to who reads: how far, the socket says. */
SEC("?tp_btf/tcp_rcv_space_adjust")
int BPF_PROG(requests_receive_copy, struct sock *sk)
{
	u32 family = family_of_interest(sk), read_seq, bytes;
	struct turn_sock *entry;

	if (!family || family == FAMILY_UNIX)
		return 0;
	entry = sock_of(sk, family, 1, 0);
	if (!entry)
		return 0;
	read_seq = BPF_CORE_READ((struct tcp_sock *)sk, copied_seq);
	bytes = read_seq - entry->read_seq;
	if (!bytes)
		bytes = first_bytes(entry);
	entry->read_seq = read_seq;
	return bytes && bytes < 1U << 31 ? received(sk, entry, bytes) : 0;
}

/* How much of it will be taken is not known yet. */
SEC("?kprobe")
int requests_send_begin(struct pt_regs *ctx)
{
	struct sock *sk = (struct sock *)PT_REGS_PARM1(ctx);
	struct turn_sock *entry = sock_of(sk, FAMILY_INET, 0, 0);

	if (!entry || !PT_REGS_PARM3(ctx))
		return 0;
	entry->is_coarse = 1;
	return sent(sk, entry, 0);
}

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

	clear_passed(address);
	if (!entry)
		return 0;
	end_sock(entry, address, end_of(entry->error ? entry->error : (u32)sk->sk_err));
	bpf_map_delete_elem(&request_tcp, &address);
	return 0;
}

/* --- at the start: before it, nobody was followed, and no listener known --- */

SEC("?iter/bpf_map_elem")
int requests_begin(struct bpf_iter__bpf_map_elem *ctx)
{
	u64 *passed = ctx->value;

	if (passed)
		*passed = 0;
	return 0;
}

SEC("?iter/bpf_map_elem")
int requests_begin_unix(struct bpf_iter__bpf_map_elem *ctx)
{
	struct turn_sock *entry = ctx->value;

	if (entry)
		entry->is_untracked = 0;
	return 0;
}

/* --- at the end of each window --- */

static __always_inline bool is_last(void)
{
	struct live_config *live = live_config();

	return live && live->all_rows == ALL_ROWS_LAST;
}

SEC("?iter/bpf_map_elem")
int requests_tcp_rows(struct bpf_iter__bpf_map_elem *ctx)
{
	struct turn_sock *entry = ctx->value;
	u64 *address = ctx->key;

	if (address && entry && is_last())
		end_sock(entry, *address, REQUEST_END_RECORDING);
	return 0;
}

/* Those that were closed since the last window are told now: no hook did. */
SEC("?iter/bpf_map_elem")
int requests_unix_rows(struct bpf_iter__bpf_map_elem *ctx)
{
	struct turn_sock *entry = ctx->value;
	u64 *address = ctx->key;
	struct sock *sk;

	if (!address || !entry || entry->is_untracked || !entry->socket)
		return 0;
	sk = (struct sock *)*address;
	if ((u64)BPF_CORE_READ(sk, sk_socket) != entry->socket) {
		end_sock(entry, *address, REQUEST_END_CLOSED);
		entry->socket = 0; /* once */
	} else if (is_last()) {
		end_sock(entry, *address, REQUEST_END_RECORDING);
	}
	return 0;
}
