/* SPDX-License-Identifier: Apache-2.0 OR GPL-2.0-only */
/*
 * What is in TLS, as the hooks of sockets see it. Within a function of the library, a receive tells
 * which server's turn the function is about: no structure of the library is looked into. Where a
 * program receives on its own and gives the library what it got (memory BIOs: node, asyncio), it is
 * the one socket that the thread has received on since its last poll, and if there were several,
 * none: a wrong name is worse than none. The probes of the library are in tls_probes.bpf.h.
 */
#ifndef DWELL_REQUESTS_TLS_BPF_H
#define DWELL_REQUESTS_TLS_BPF_H

#include "passed.bpf.h"
#include "payload.bpf.h"
#include "tls.h"
#include "tls_go.bpf.h"
#include "turn.bpf.h"

_Static_assert(TLS_OUT_MAX == ANSWER_BYTES_MAX, "what is written last becomes an answer");

#define TLS_HEADER	 5
#define TLS_FIRST_TYPE	 0x14
#define TLS_TYPES	 4
#define TLS_TYPE_ALERT	 0x15
#define TLS_TYPE_SHAKE	 0x16
#define TLS_TYPE_DATA	 0x17
#define TLS_MAJOR	 3
#define TLS_ALERT_LENGTH 19 /* from 1.3 on: of a record that says it is data */
#define TLS_ALERT_MOST	 64

static __always_inline bool tls_is_record(const u8 *bytes, u32 length)
{
	return length >= 3 && (u8)(bytes[0] - TLS_FIRST_TYPE) < TLS_TYPES && bytes[1] == TLS_MAJOR;
}

/* How often it was seen that a server speaks TLS: then probes of its library are attached. */
struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, 1);
	__type(key, u32);
	__type(value, u64);
} request_tls_asked SEC(".maps");

static __always_inline void tls_ask(u32 tgid)
{
	struct request_common *common = request_common();
	u32 zero = 0;
	u64 *asked = bpf_map_lookup_elem(&request_tls_asked, &zero);

	if (common)
		common->has_tls = 1;
	if (asked)
		*asked = 1;
	ask_for_files(tgid);
}

/* A server that speaks TLS: its files are looked at, whether one of them is such a library. */
static __always_inline void tls_look(struct turn_sock *entry, u32 tgid)
{
	if (tls_is_record(entry->request, entry->request_length))
		tls_ask(tgid);
}

static __always_inline bool has_tls(void)
{
	struct request_common *common = request_common();

	return common && common->has_tls;
}

static __always_inline bool has_go(void)
{
	struct request_common *common = request_common();

	return common && common->has_go;
}

/* --- a thread receives --- */

static __always_inline void tls_note_last(struct ledger_task *account, u64 address, u64 turn)
{
	struct tls_watch *tls = &account->request.tls;

	if (tls->poll_ns != account->poll_ns) {
		tls->poll_ns = account->poll_ns;
		tls->last_sock = tls->is_several = 0;
	}
	if (tls->last_sock && tls->last_sock != address)
		tls->is_several = 1;
	tls->last_sock = address;
	tls->last_turn = turn;
}

static __always_inline void tls_received(struct ledger_task *account, u64 address, u64 turn)
{
	struct tls_watch *tls = &account->request.tls;

	if (!has_tls() || (has_go() && go_received(account->tgid, address, turn)))
		return;
	if (!tls->function) {
		tls_note_last(account, address, turn);
		return;
	}
	tls->sock = address;
	tls->turn = turn;
	tls->is_received = 1;
}

/* On a socket that serves nobody: what the library reads next may be of that. */
static __always_inline void tls_received_other(u64 address)
{
	struct ledger_task *account;

	if (!has_tls())
		return;
	account = account_of_current();
	if (!account || (has_go() && go_received(account->tgid, address, 0)))
		return;
	if (!account->request.tls.function)
		tls_note_last(account, address, 0);
	else
		account->request.tls.sock = address; /* whose turn is none */
}

/* --- it sends --- */

static __always_inline bool tls_is_out_of(const struct turn_sock *entry,
					  const struct tls_watch *tls)
{
	return entry->tls == TLS_SEEN_PLAIN && tls->out_ssl && tls->out_ssl == entry->tls_ssl;
}

static __always_inline void tls_answer(struct turn_sock *entry, struct ledger_task *account)
{
	struct tls_watch *tls = &account->request.tls;

	entry->answer_length = 0;
	if (!entry->is_measured || !tls_is_out_of(entry, tls))
		return;
	__builtin_memcpy(entry->answer, tls->out, sizeof(entry->answer));
	entry->answer_length = tls->out_length < TLS_OUT_MAX ? (u16)tls->out_length : TLS_OUT_MAX;
	tls->out_ssl = 0;
}

/* As is_continue(), of what is in the records. */
static __always_inline bool tls_is_continue(const struct turn_sock *entry,
					    struct ledger_task *account)
{
	struct tls_watch *tls = &account->request.tls;
	const u8 *out = tls->out;

	if (!tls_is_out_of(entry, tls) || tls->out_length < 25 || tls->out_length > 48 ||
	    out[0] != 'H' || out[5] != '1' || out[7] != '1' || out[8] != ' ' || out[9] != '1' ||
	    out[10] != '0' || out[11] != '0' || out[12] != ' ')
		return false;
	tls->out_ssl = 0;
	return true;
}

/*
 * The server closes the TLS of a connection whose request it has answered, maybe long ago: that is
 * no answer.
 */
static __always_inline bool tls_is_farewell(const struct turn_sock *entry, u64 bytes)
{
	u8 head[TLS_HEADER] = {};

	if (!entry->end_ns || bytes <= TLS_HEADER || bytes > TLS_ALERT_MOST ||
	    (!entry->is_plain && !tls_is_record(entry->request, entry->request_length)) ||
	    copy_payload(head, TLS_HEADER, bytes) != TLS_HEADER || head[1] != TLS_MAJOR)
		return false;
	return head[0] == TLS_TYPE_ALERT ||
	       (head[0] == TLS_TYPE_DATA && !head[3] && head[4] == TLS_ALERT_LENGTH);
}

#endif
