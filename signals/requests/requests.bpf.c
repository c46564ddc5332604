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

/* --- data comes --- */

SEC("?tp_btf/sk_data_ready")
int BPF_PROG(requests_ready, const struct sock *socket)
{
	struct sock *sk = (struct sock *)socket;
	u32 family = family_of_interest(sk);
	struct request_sock *entry;

	if (!family)
		return 0;
	entry = sock_of(sk, family, 0, 0);
	if (entry && !entry->ready_ns)
		entry->ready_ns = bpf_ktime_get_ns();
	return 0;
}

/* --- it is read --- */

static __always_inline void own_sock(struct request_sock *entry, const struct ledger_task *account)
{
	entry->tgid = account->tgid;
	entry->start_ns = account->start_ns;
	entry->tid = account->tid;
}

static __always_inline void begin_turn(struct request_sock *entry, struct ledger_task *account,
				       u64 address, u64 bytes, u64 now)
{
	u64 ready_ns = entry->ready_ns;

	own_sock(entry, account);
	choose(entry, now);
	entry->turn++;
	entry->began_ns = ready_ns && ready_ns < now ? ready_ns : now;
	entry->begin_ns = now;
	entry->end_ns = entry->received = entry->sent = 0;
	note_open(account, address, entry->turn);
	entry->flags = account->request.is_loop ? REQUEST_IS_LOOP : 0;
	if (!entry->is_measured)
		return;
	entry->poll_from = account->poll_ns;
	entry->poll_ns = entry->poll_own = 0;
	__builtin_memset(entry->own, 0, sizeof(entry->own));
	entry->answer_length = 0;
	entry->request_length = copy_payload(entry->request, REQUEST_BYTES_MAX, bytes);
	context_measure(account, now);
}

/* The address of a Unix socket that was closed is another's now: no hook told. */
static __always_inline void renew_unix(struct request_sock *entry, struct sock *sk)
{
	u64 socket = (u64)BPF_CORE_READ(sk, sk_socket);

	if (entry->socket == socket)
		return;
	if (entry->socket)
		end_sock(entry, (u64)sk, REQUEST_END_CLOSED);
	entry->socket = socket;
	entry->id = object_mix(bpf_ktime_get_ns(), bpf_get_prandom_u32());
}

static __always_inline int received(struct sock *sk, struct request_sock *entry, u64 bytes)
{
	struct ledger_task *account = account_of_current();
	u64 address = (u64)sk, now;

	if (!account) {
		entry->is_other = 1;
		return 0;
	}
	now = bpf_ktime_get_ns();
	if (entry->family == FAMILY_UNIX)
		renew_unix(entry, sk);
	context_leave(account, now);
	if (entry->begin_ns && entry->end_ns) {
		entry->pending = (u32)bytes;
		end_turn(entry, address, REQUEST_END_NEXT, now);
		entry->pending = 0;
	}
	if (!entry->begin_ns)
		begin_turn(entry, account, address, bytes, now);
	if (entry->tid != account->tid)
		entry->flags |= REQUEST_IS_HANDED_OVER;
	else
		context_enter(account, entry, address);
	entry->received += bytes;
	entry->in.in_turns += bytes;
	/* What is left there came when the rest did. */
	if (entry->family == FAMILY_UNIX || !has_unread(sk))
		entry->ready_ns = 0;
	return 0;
}

SEC("?tp_btf/sock_recv_length")
int BPF_PROG(requests_receive, struct sock *sk, int result, int flags)
{
	u32 family = family_of_interest(sk);
	struct request_sock *entry;

	if (result <= 0 || (flags & MSG_PEEK_FLAG) || !family)
		return 0;
	entry = sock_of(sk, family, (u64)result, 0);
	return entry ? received(sk, entry, (u64)result) : 0;
}

/* --- it is answered --- */

static __always_inline void answer(struct request_sock *entry, struct ledger_task *account,
				   u64 address, u64 bytes)
{
	u64 now = bpf_ktime_get_ns();

	if (!entry->sent && entry->is_measured)
		entry->answer_length = copy_payload(entry->answer, ANSWER_BYTES_MAX, bytes);
	if (entry->tid != account->tid) {
		entry->flags |= REQUEST_IS_HANDED_OVER;
	} else {
		context_answer(account, entry, address, now);
		entry->poll_ns = account->poll_ns - entry->poll_from;
		if (account->request.is_loop)
			entry->flags |= REQUEST_IS_LOOP;
	}
	entry->flags |= REQUEST_IS_ANSWERED;
	entry->end_ns = now;
	entry->sent += bytes;
	entry->out.in_turns += bytes;
}

static __always_inline int sent(struct sock *sk, struct request_sock *entry, u64 bytes)
{
	struct ledger_task *account = account_of_current();

	if (!account) {
		entry->is_other = 1;
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
	struct request_sock *entry;

	if (result <= 0 || !family)
		return 0;
	entry = sock_of(sk, family, 0, (u64)result);
	return entry ? sent(sk, entry, (u64)result) : 0;
}

/* --- before 6.3 there are no such tracepoints --- */

/* After data was copied to who reads: how far, the socket says. */
SEC("?tp_btf/tcp_rcv_space_adjust")
int BPF_PROG(requests_receive_copy, struct sock *sk)
{
	u32 family = family_of_interest(sk), read_seq, bytes;
	struct request_sock *entry;

	if (!family)
		return 0;
	entry = sock_of(sk, family, 1, 0); /* what was read before this call is from before */
	if (!entry)
		return 0;
	read_seq = BPF_CORE_READ((struct tcp_sock *)sk, copied_seq);
	bytes = read_seq - entry->read_seq;
	if (!entry->tgid && !bytes)
		bytes = 1; /* it is new: its first read begins a turn */
	entry->read_seq = read_seq;
	return bytes && bytes < 1U << 31 ? received(sk, entry, bytes) : 0;
}

SEC("?kprobe")
int requests_send_begin(struct pt_regs *ctx)
{
	struct sock *sk = (struct sock *)PT_REGS_PARM1(ctx);
	u64 bytes = PT_REGS_PARM3(ctx);
	struct request_sock *entry = sock_of(sk, FAMILY_INET, 0, 0);

	return entry && bytes ? sent(sk, entry, bytes) : 0;
}

/* --- it closes --- */

static __always_inline u32 end_of(int error)
{
	if (error == ERROR_RESET || error == ERROR_PIPE)
		return REQUEST_END_RESET;
	return error == ERROR_TIMEOUT ? REQUEST_END_TIMEOUT : REQUEST_END_CLOSED;
}

SEC("?tp_btf/tcp_destroy_sock")
int BPF_PROG(requests_close, struct sock *sk)
{
	u64 address = (u64)sk;
	struct request_sock *entry = bpf_map_lookup_elem(&request_tcp, &address);

	clear_passed(address);
	if (!entry)
		return 0;
	if (!entry->is_other)
		end_sock(entry, address, end_of(sk->sk_err));
	bpf_map_delete_elem(&request_tcp, &address);
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
	struct request_sock *entry = ctx->value;
	u64 *address = ctx->key;

	if (address && entry && !entry->is_other && is_last())
		end_sock(entry, *address, REQUEST_END_RECORDING);
	return 0;
}

/* Those that were closed since the last window are told now: no hook did. */
SEC("?iter/bpf_map_elem")
int requests_unix_rows(struct bpf_iter__bpf_map_elem *ctx)
{
	struct request_sock *entry = ctx->value;
	u64 *address = ctx->key;
	struct sock *sk;

	if (!address || !entry || entry->is_other || !entry->socket)
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
