/* SPDX-License-Identifier: Apache-2.0 OR GPL-2.0-only */
/*
 * The functions of OpenSSL that read and write, by uprobes: what a turn's request is, in plain.
 * Included by requests.bpf.c, whose turns these are.
 *
 * From 6.13 on one program has both ends of a call, and its word at the first decides whether there
 * is a second. Before, there are two.
 */
#ifndef DWELL_REQUESTS_TLS_PROBES_BPF_H
#define DWELL_REQUESTS_TLS_PROBES_BPF_H

#include "tls.bpf.h"

#define TLS_CONNECTIONS_MAX 8192

struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, 1);
	__type(key, u32);
	__type(value, struct tls_calls);
} request_tls_calls SEC(".maps");

/* A connection as the library has it: by its address in a process. */
struct tls_key {
	u64 ssl;
	u64 tgid;
};

struct tls_connection {
	u64 sock;
	u64 id;		 /* of its struct turn_sock; 0: it is a client's */
	u64 is_received; /* by the library itself; else by its caller */
};

struct {
	__uint(type, BPF_MAP_TYPE_LRU_HASH);
	__uint(max_entries, TLS_CONNECTIONS_MAX);
	__type(key, struct tls_key);
	__type(value, struct tls_connection);
} request_tls SEC(".maps");

static __always_inline void tls_count(u32 function)
{
	u32 zero = 0;
	struct tls_calls *calls = bpf_map_lookup_elem(&request_tls_calls, &zero);

	if (calls && function < TLS_FUNCTION_COUNT)
		__sync_fetch_and_add(&calls->calls[function], 1); /* it may be preempted */
}

/* --- it begins --- */

/* Of a process that serves: what clients read and write is not looked at. */
static __always_inline struct ledger_task *tls_account(void)
{
	struct ledger_task *account = account_of_current();
	struct request_common *common = request_common();

	if (!account || !common || !is_serving(account->tgid))
		return NULL;
	if (!common->has_tls)
		common->has_tls = 1;
	return account;
}

static __always_inline bool tls_begin_read(const struct cpu_regs *ctx, struct ledger_task *account,
					   u32 function)
{
	struct tls_watch *tls = &account->request.tls;

	if (function == TLS_BY_HANDSHAKE && tls->function)
		return false; /* BoringSSL's SSL_read calls it: it is a part of that */
	tls->ssl = REGS_ARG1(ctx);
	tls->to = function == TLS_BY_HANDSHAKE ? 0 : REGS_ARG2(ctx);
	tls->count_to = function == TLS_BY_READ_EX ? REGS_ARG4(ctx) : 0;
	tls->sock = 0;
	tls->function = function + 1;
	return true;
}

static __always_inline void tls_note_written(struct ledger_task *account, u64 ssl, u64 from,
					     u64 length)
{
	struct tls_watch *tls = &account->request.tls;

	tls->out_ssl = 0;
	if (!length || length >= 1ULL << 31)
		return;
	tls->out_length = (u32)length;
	ledger_at_most(length, TLS_OUT_MAX);
	if (!bpf_probe_read_user(tls->out, (u32)length, (void *)from))
		tls->out_ssl = ssl;
}

/* True: its end is to be waited for. */
static __always_inline bool tls_begin(const struct cpu_regs *ctx, u32 function)
{
	struct ledger_task *account;

	tls_count(function);
	account = tls_account();
	if (!account)
		return false;
	if (function != TLS_BY_WRITE && function != TLS_BY_WRITE_EX)
		return tls_begin_read(ctx, account, function);
	tls_note_written(account, REGS_ARG1(ctx), REGS_ARG2(ctx), REGS_ARG3(ctx));
	return false;
}

/* --- it ends: whose it was --- */

static __always_inline void tls_learn(const struct tls_key *key, const struct turn_sock *entry,
				      u64 address, u64 is_received)
{
	struct tls_connection *known = bpf_map_lookup_elem(&request_tls, key);
	struct tls_connection connection = {
		.sock = address, .id = entry ? entry->id : 0, .is_received = is_received};

	if (known && known->sock == address && known->id == connection.id &&
	    known->is_received == is_received)
		return;
	bpf_map_update_elem(&request_tls, key, &connection, BPF_ANY);
}

/* The connection that it was; NULL: it is not known, or is over. */
static __always_inline struct turn_sock *tls_known(const struct tls_connection *known)
{
	struct turn_sock *entry = known_sock(known->sock);

	return entry && entry->id == known->id && !is_closed_by_owner(known->sock) ? entry : NULL;
}

/* Of what the caller received, since the last poll, on one socket alone. entry NULL: a client's. */
static __always_inline struct turn_sock *tls_find_alone(const struct ledger_task *account,
							const struct tls_key *key, u64 length)
{
	const struct tls_watch *tls = &account->request.tls;
	struct turn_sock *entry = open_turn(tls->last_sock, tls->last_turn);

	if (length && (!entry || !entry->tls_ssl || entry->tls_ssl == key->ssl))
		tls_learn(key, entry, tls->last_sock, 0);
	return entry;
}

/*
 * What the caller received for it: on the socket that is known to be this connection's, or on one
 * alone. *ret_address: that socket's, also where it is a client's; 0: not known.
 */
static __always_inline struct turn_sock *tls_find_given(const struct ledger_task *account,
							const struct tls_key *key,
							const struct tls_connection *known,
							u64 length, u64 *ret_address)
{
	const struct tls_watch *tls = &account->request.tls;
	bool is_alone = tls->last_sock && !tls->is_several && tls->poll_ns == account->poll_ns;
	struct turn_sock *entry = known ? tls_known(known) : NULL;

	if (tls->is_received)
		return NULL;
	if (known && is_alone && known->sock != tls->last_sock) {
		if (length) /* its address may be another connection's by now */
			bpf_map_delete_elem(&request_tls, key);
		if (entry || !length)
			return NULL;
	} else if (entry) {
		*ret_address = known->sock;
	} else if (known && !known->id && known->sock == tls->last_sock && !tls->last_turn) {
		*ret_address = known->sock;
		return NULL;
	}
	if (!entry) {
		if (!is_alone)
			return NULL;
		*ret_address = tls->last_sock;
		entry = tls_find_alone(account, key, length);
	}
	if (!entry || !entry->begin_ns || entry->tid != account->tid ||
	    (entry->tls_ssl && entry->tls_ssl != key->ssl))
		return NULL;
	return entry;
}

static __always_inline struct turn_sock *tls_find_received(const struct tls_key *key, u64 address,
							   u64 turn)
{
	struct turn_sock *entry = open_turn(address, turn);

	if (entry)
		tls_learn(key, entry, address, 1);
	return entry;
}

/* Address of the socket; 0: not known. *ret_has_turn: of one that serves. */
static __noinline u64 tls_find(struct ledger_task *account, u64 length, bool *ret_has_turn)
{
	const struct tls_connection *known;
	const struct tls_watch *tls;
	struct turn_sock *entry;
	struct tls_key key = {};
	u64 address;

	if (!account || !ret_has_turn)
		return 0;
	tls = &account->request.tls;
	key.ssl = tls->ssl;
	key.tgid = account->tgid;
	address = tls->sock;
	if (address) {
		*ret_has_turn = tls_find_received(&key, address, tls->turn) != NULL;
		return address;
	}
	known = bpf_map_lookup_elem(&request_tls, &key);
	if (!known || !known->is_received) {
		*ret_has_turn = tls_find_given(account, &key, known, length, &address) != NULL;
		return address;
	}
	entry = tls_known(known);
	*ret_has_turn = entry && entry->begin_ns;
	return known->sock;
}

/* --- what was in it --- */

static __always_inline u64 tls_length(const struct cpu_regs *ctx, const struct tls_watch *tls)
{
	s32 result = (s32)REGS_RESULT(ctx);
	u64 length = 0;

	if (result <= 0 || !tls->to)
		return 0;
	if (!tls->count_to)
		return (u64)result;
	return bpf_probe_read_user(&length, sizeof(length), (void *)tls->count_to) ? 0 : length;
}

/*
 * A handshake that the library has answered, and what it read with it: the request begins only when
 * that is asked for.
 */
static __noinline int tls_begin_turn(struct turn_sock *entry, struct ledger_task *account,
				     u64 address)
{
	u64 now = bpf_ktime_get_ns();

	if (!entry || !account)
		return 0;
	context_leave(account, now);
	ledger_store_first(&entry->answer_seq, next_seq(entry, address));
	end_turn(entry, address, REQUEST_END_NEXT, now);
	if (!entry->begin_ns)
		begin_turn(entry, account, address, 0, now);
	if (entry->tid == account->tid)
		context_enter(account, entry, address);
	return 0;
}

/* Until now. */
static __always_inline bool tls_is_handshake(const struct turn_sock *entry)
{
	if (entry->tls != TLS_SEEN_NOT)
		return entry->tls == TLS_SEEN_BARE;
	return entry->is_measured && !entry->is_plain &&
	       tls_is_record(entry->request, entry->request_length) &&
	       entry->request[0] != TLS_TYPE_DATA;
}

/* As add_payload(), where the first piece is a header alone. */
static __always_inline int tls_add(struct turn_sock *entry, const struct tls_watch *tls, u64 length)
{
	u64 there = entry->request_length;

	if (!there || there > REQUEST_SHORT_MAX)
		return 0;
	ledger_at_most(there, REQUEST_SHORT_MAX);
	ledger_at_most(length, REQUEST_BYTES_MAX - REQUEST_SHORT_MAX);
	if (!bpf_probe_read_user(entry->request + there, (u32)length, (void *)tls->to))
		entry->request_length = (u16)(there + length);
	return 0;
}

static __noinline int tls_copy(struct turn_sock *entry, const struct ledger_task *account,
			       u64 length)
{
	const struct tls_watch *tls;

	if (!entry || !account)
		return 0;
	tls = &account->request.tls;
	if (entry->is_plain)
		return tls_add(entry, tls, length);
	__builtin_memset(entry->request, 0, sizeof(entry->request));
	entry->request_length = 0;
	ledger_at_most(length, REQUEST_BYTES_MAX);
	if (!bpf_probe_read_user(entry->request, (u32)length, (void *)tls->to))
		entry->request_length = (u16)length;
	entry->is_plain = 1;
	entry->tls_ssl = tls->ssl;
	return 0;
}

/* A function of its own to the verifier, which looks at it once: it takes no pointers. */
__noinline int tls_take(u64 address, u64 length)
{
	struct ledger_task *account = account_of_current();
	struct turn_sock *entry = known_sock(address);

	if (!account || !entry || !entry->begin_ns)
		return 0;
	if (entry->end_ns) {
		if (!tls_is_handshake(entry))
			return 0; /* several requests that came at once count as one */
		tls_begin_turn(entry, account, address);
	} else if (entry->is_measured && !entry->is_plain &&
		   !tls_is_record(entry->request, entry->request_length)) {
		return 0; /* not what it was made of */
	}
	entry->tls = TLS_SEEN_PLAIN;
	if (entry->is_measured && !entry->end_ns)
		tls_copy(entry, account, length);
	return 0;
}

/* It was read, and no data came out of it. */
static __always_inline void tls_note_bare(u64 address, bool is_handshake)
{
	struct turn_sock *entry = known_sock(address);

	if (entry && !entry->tls && (!entry->end_ns || is_handshake))
		entry->tls = TLS_SEEN_BARE;
}

static __always_inline void tls_end(const struct cpu_regs *ctx)
{
	struct ledger_task *account = account_of_current();
	bool has_turn = false, is_read;
	u64 address, length;
	struct tls_watch *tls;

	if (!account || !account->request.tls.function)
		return;
	tls = &account->request.tls;
	length = tls_length(ctx, tls);
	address = tls_find(account, length, &has_turn);
	is_read = tls->sock || (address && address == tls->last_sock);
	tls->function = 0;
	if (has_turn && length)
		tls_take(address, length);
	else if (has_turn && is_read)
		tls_note_bare(address, !tls->to);
	/* It has read all that it was given: what is received next is looked at alone. */
	if (is_read && !tls->is_several && (s32)REGS_RESULT(ctx) <= 0)
		tls->last_sock = 0;
}

/* --- from 6.13 on: both ends, or the first alone --- */

SEC("?uprobe")
int requests_tls_both(struct cpu_regs *ctx)
{
	UPROBE_BEGIN(ctx);
	if (REGS_IP(ctx) == bpf_get_func_ip(ctx))
		return !tls_begin(ctx, (u32)bpf_get_attach_cookie(ctx));
	tls_end(ctx);
	return 0;
}

/* --- before: two programs --- */

#define BEGIN(name, FUNCTION)                                                                      \
	SEC("?uprobe")                                                                             \
	int requests_tls_##name(struct cpu_regs *ctx)                                              \
	{                                                                                          \
		UPROBE_BEGIN(ctx);                                                                 \
		tls_begin(ctx, TLS_BY_##FUNCTION);                                                 \
		return 0;                                                                          \
	}

BEGIN(read, READ)
BEGIN(read_ex, READ_EX)
BEGIN(handshake, HANDSHAKE)
BEGIN(write, WRITE)
BEGIN(write_ex, WRITE_EX)

SEC("?uretprobe")
int requests_tls_end(struct cpu_regs *ctx)
{
	UPROBE_BEGIN(ctx);
	tls_end(ctx);
	return 0;
}

#endif
