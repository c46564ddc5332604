/* SPDX-License-Identifier: Apache-2.0 OR GPL-2.0-only */
/*
 * The end of a turn: counted in series, all of them; and its record, of all while they are few, of
 * one in N at random when they are many, and always of slow ones (--slow), of those that look
 * different from the one before on the connection, and when that closes. The records of a
 * connection stand for all of its turns: those that were skipped are of the shape of the last one.
 */
#ifndef DWELL_REQUESTS_RECORD_BPF_H
#define DWELL_REQUESTS_RECORD_BPF_H

#include "payload.bpf.h"
#include "published.bpf.h"
#include "rate.bpf.h"
#include "turn.bpf.h"

#define RECORDS_PER_SECOND	 300 /* of each CPU; a little more while it changes */
#define SHAPES_PER_SECOND	 8000 /* so many more, where requests differ from those before them */
#define BLOCKS_PER_SECOND	 4000 /* and header blocks of HTTP/2 that change its table ... */
#define ANSWER_BLOCKS_PER_SECOND 1000 /* ... of answers only while there are few of them */

static __always_inline bool is_chosen(struct request_rate *rate, u64 now)
{
	u64 second = now >> 30, one_in; /* nearly */

	if (rate->second != second) {
		rate->one_in = rate->second + 1 == second ? rate->turns / RECORDS_PER_SECOND : 0;
		rate->second = second;
		rate->turns = rate->sampled = rate->blocks = 0;
	}
	one_in = ++rate->turns / RECORDS_PER_SECOND;
	if (one_in < rate->one_in)
		one_in = rate->one_in;
	return one_in <= 1 || bpf_get_prandom_u32() % one_in == 0;
}

static __always_inline void count_in(const struct turn_sock *entry, struct request_rate *rate,
				     u32 kind, u64 ns)
{
	struct series_key key = {.signal = SIG_REQUESTS};

	key.kind = (u8)kind;
	key.tgid = entry->tgid;
	key.start_ns = entry->start_ns;
	key.object = entry->object;
	series_add(series_find_again(&key, &rate->places[kind]), ns);
}

/* In an interrupt, too, where the thread is anyone. */
static __noinline int count_turn(const struct turn_sock *entry, struct request_rate *rate, u64 now)
{
	if (!entry || !rate)
		return 0;
	if (!entry->end_ns) {
		count_in(entry, rate, REQUEST_SERIES_UNANSWERED, now - entry->began_ns);
		return 0;
	}
	count_in(entry, rate, REQUEST_SERIES_LATENCY,
		 entry->end_ns > entry->began_ns ? entry->end_ns - entry->began_ns : 0);
	return 0;
}

/* Meanwhile another thread may add to in_turns. */
static __always_inline void take_moved(struct request_bytes_moved *to,
				       struct request_bytes_moved *from)
{
	u64 in_turns = ledger_word(&from->in_turns);

	to->in_turns = in_turns;
	__sync_fetch_and_add(&from->in_turns, -in_turns);
	to->no_turn = from->no_turn;
	to->before = from->before;
	from->no_turn = from->before = 0;
}

static __always_inline void fill_kernel(struct request_bytes_moved *moved, u64 kernel,
					u64 *reported)
{
	moved->kernel = kernel - *reported;
	*reported = kernel;
}

static __always_inline u64 lesser(u64 a, u64 b)
{
	return a < b ? a : b;
}

static __always_inline u64 seen_bytes(const struct request_bytes_moved *moved)
{
	return moved->in_turns + moved->no_turn + moved->before;
}

/* Of an open connection: what is on its way, or was not seen yet, the next record has. */
static __always_inline void fill_open(struct turn_sock *entry, struct sock *sk, u64 *in, u64 *out)
{
	follow_bytes(entry, sk);
	*in = lesser(socket_received_bytes(sk), entry->moved_in) - entry->pending;
	*out = lesser(kernel_sent(sk), entry->moved_out);
}

/* Of one that is closed. A close that throws away what is unsent has cleared the counters. */
static __always_inline void fill_closed(struct rec_requests *rec, const struct turn_sock *entry,
					struct sock *sk, u64 *in, u64 *out)
{
	u64 kernel_in = socket_received_bytes(sk), kernel_out = kernel_sent(sk);

	if (kernel_in < entry->reported_in || kernel_out < entry->reported_out ||
	    !BPF_CORE_READ((struct tcp_sock *)sk, bytes_received))
		return;
	*in = kernel_in;
	*out = kernel_out;
	rec->in.unread = unread_bytes(sk);
}

/* Both ways, since the record before. Of a Unix socket, and one that has gone, what was seen. */
static __always_inline void fill_bytes(struct rec_requests *rec, struct turn_sock *entry,
				       struct sock *sk, u32 end)
{
	u64 seen_in, seen_out, in, out;

	take_moved(&rec->in, &entry->in);
	take_moved(&rec->out, &entry->out);
	in = seen_in = entry->reported_in + seen_bytes(&rec->in);
	out = seen_out = entry->reported_out + seen_bytes(&rec->out);
	if (entry->family != FAMILY_UNIX && !entry->is_gone) {
		if (end == REQUEST_END_NEXT || end == REQUEST_END_RECORDING)
			fill_open(entry, sk, &in, &out);
		else
			fill_closed(rec, entry, sk, &in, &out);
		if (entry->is_coarse) { /* those of a turn are all that are not others */
			rec->out.in_turns += out - seen_out;
		} else if (end == REQUEST_END_NEXT) {
			in = lesser(in, seen_in);
			out = lesser(out, seen_out);
		}
	}
	fill_kernel(&rec->in, in, &entry->reported_in);
	fill_kernel(&rec->out, out, &entry->reported_out);
}

static __always_inline void fill_turn(struct rec_requests *rec, const struct turn_sock *entry)
{
	rec->flags |= REQUEST_HAS_TURN;
	rec->ready_ns = entry->began_ns;
	rec->begin_ns = entry->begin_ns;
	rec->end_ns = entry->end_ns;
	fill_trace(rec, &entry->trace);
	rec->wait = entry->wait;
	rec->poll_ns = entry->poll_ns > entry->poll_own ? entry->poll_ns - entry->poll_own : 0;
	for (u32 i = 0; i < STATE_COUNT; i++)
		rec->ns[i] = entry->own[i];
	rec->answer_length = entry->answer_length;
	__builtin_memcpy(rec->answer, entry->answer, sizeof(rec->answer));
}

/* Of the last request that is measured: where this one is not, it is taken to be of its kind. */
static __always_inline void fill_text(struct rec_requests *rec, const struct turn_sock *entry)
{
	if (entry->is_plain)
		rec->flags |= REQUEST_IS_TLS;
	rec->request_length = entry->request_length;
	__builtin_memcpy(rec->request, entry->request, sizeof(rec->request));
}

__noinline int send_record(u64 address, u32 end)
{
	struct turn_sock *entry = known_sock(address);
	struct rec_requests *rec;

	if (!entry)
		return 0;
	rec = EMIT_RESERVE(REQUESTS, requests, current_task());
	if (!rec) { /* counted; the next record of the connection stands for it */
		entry->skipped += entry->begin_ns != 0;
		return 0;
	}
	EMIT_CLEAR(rec);
	rec->hdr.tgid = entry->tgid;
	rec->hdr.start_ns = entry->start_ns;
	rec->hdr.tid = entry->tid;
	rec->connection = entry->id;
	rec->turn = entry->turn;
	rec->wire = entry->wire;
	rec->client_port = entry->client_port;
	rec->object = entry->object;
	rec->port = entry->port;
	rec->end = end;
	rec->weight = entry->skipped;
	entry->skipped = 0;
	rec->flags = entry->flags & REQUEST_IS_LOOP;
	if (rec->weight) /* those without a record were answered */
		rec->flags |= REQUEST_IS_ANSWERED;
	if (entry->begin_ns) {
		rec->weight++;
		rec->flags = entry->flags;
		if (entry->tls == TLS_SEEN_BARE)
			rec->flags |= REQUEST_IS_BARE;
		rec->received = entry->received;
		rec->sent = entry->sent;
		if (entry->is_measured)
			fill_turn(rec, entry);
	}
	fill_text(rec, entry);
	fill_bytes(rec, entry, (struct sock *)address, end);
	EMIT_SUBMIT(rec);
	return 0;
}

/*
 * When it is first answered: calls are judged by it, and the request's own record, which says when
 * it was answered last, may be long in coming, or never come.
 */
static __noinline int send_trace(const struct turn_sock *entry, u64 turn, u64 now)
{
	struct rec_requests *rec = EMIT_RESERVE(REQUESTS, requests, current_task());

	if (!rec)
		return 0; /* counted */
	EMIT_CLEAR(rec);
	if (entry) {
		rec->hdr.tgid = entry->tgid;
		rec->hdr.start_ns = entry->start_ns;
		rec->hdr.tid = entry->tid;
		rec->connection = entry->id;
		rec->turn = turn;
		rec->begin_ns = entry->begin_ns;
		rec->end_ns = now;
		fill_trace(rec, &entry->trace);
	}
	rec->flags = REQUEST_IS_TRACE;
	EMIT_SUBMIT(rec);
	return 0;
}

static __always_inline bool is_slow(const struct turn_sock *entry)
{
	struct live_config *live = live_config();

	return live && live->slow_ns && entry->is_measured && entry->end_ns &&
	       entry->end_ns - entry->began_ns >= live->slow_ns;
}

/* Digits become 0: ids differ, and endpoints do not. */
static __always_inline u64 fold_digits(u64 word)
{
	const u64 each = 0x0101010101010101ULL;
	u64 from_zero = word ^ each * '0';
	u64 others = (((from_zero & each * 0x7f) + each * (0x80 - 10)) | from_zero) & each * 0x80;
	u64 digits = (~others & each * 0x80) >> 7;

	return (word & ~(digits * 0xff)) | digits * '0';
}

/*
 * The first bytes of a request, without what differs from one request to the next of its endpoint:
 * digits, and the length that a binary protocol begins with. All 0: not known.
 */
static __always_inline void make_shape(u64 shape[REQUEST_SHAPE_WORDS], const u8 *text)
{
	__builtin_memcpy(shape, text, REQUEST_SHAPE_WORDS * sizeof(u64));
	if (!(shape[0] & 0xff00))
		shape[0] &= ~0xffffffffffULL;
	for (u32 i = 0; i < REQUEST_SHAPE_WORDS; i++)
		shape[i] = fold_digits(shape[i]);
}

/* The shape of a new request; those that were skipped, and were of another, have a record now. */
static __always_inline bool is_new_shape(struct turn_sock *entry)
{
	u64 shape[REQUEST_SHAPE_WORDS], differs = 0;

	make_shape(shape, entry->next);
	for (u32 i = 0; i < REQUEST_SHAPE_WORDS; i++)
		differs |= shape[i] ^ entry->shape[i];
	differs |= entry->is_plain; /* what is sent does not show what is asked */
	if (!differs)
		return false;
	if (entry->skipped)
		send_record(entry->address, REQUEST_END_NEXT);
	for (u32 i = 0; i < REQUEST_SHAPE_WORDS; i++)
		entry->shape[i] = shape[i];
	return true;
}

/* Who asked has a record of its own, in which this one is a call. */
static __always_inline bool is_asked(const struct turn_sock *entry, u64 address, u64 bytes)
{
	struct request_common *common = request_common();
	u64 wire;

	if (!common || !common->asked || !bytes) /* of none, it would be the next one's */
		return false;
	wire = wire_of_turn(entry, address, bytes);
	if (!bpf_map_lookup_elem(&request_asked, &wire))
		return false;
	bpf_map_delete_elem(&request_asked, &wire);
	return true;
}

/* When a turn begins: whether it gets a record. With --slow, each is measured: it may be slow. */
static __always_inline void choose(struct turn_sock *entry, u64 address, u64 bytes, u64 now)
{
	struct request_rate *rate = rate_here();
	struct live_config *live = live_config();

	entry->is_sampled = 0;
	if (rate) {
		entry->is_sampled = is_chosen(rate, now);
		if (rate->sampled < SHAPES_PER_SECOND && is_new_shape(entry))
			entry->is_sampled = 1;
		if ((u32)entry->turn == 1 ||
		    (!entry->is_sampled && is_asked(entry, address, bytes)))
			entry->is_sampled = 1;
		rate->sampled += entry->is_sampled;
	}
	entry->is_measured = entry->is_sampled || (live && live->slow_ns);
}

/* The turn is over. A record is made of it, or the next one stands for it, too. */
static __always_inline void end_turn(struct turn_sock *entry, u64 address, u32 end, u64 now)
{
	struct request_rate *rate = rate_here();

	if (!rate || !entry->begin_ns)
		return;
	if (entry->end_ns || end != REQUEST_END_RECORDING) /* else it goes on */
		count_turn(entry, rate, now);
	if (entry->is_sampled || end != REQUEST_END_NEXT || is_slow(entry))
		send_record(entry->address, end);
	else
		entry->skipped++;
	if (entry->end_ns || end != REQUEST_END_RECORDING)
		entry->begin_ns =
			0; /* else it is answered in the recording's next file, if there is one */
}

static int h2_settle(struct turn_sock *entry, u32 end);

/* Nothing more comes of this connection. */
__noinline int end_sock(u64 address, u32 end)
{
	struct turn_sock *entry = known_sock(address);

	if (!entry || !entry->tgid)
		return 0; /* nobody has read it */
	if (entry->h2)
		h2_settle(entry, end);
	if (entry->begin_ns)
		end_turn(entry, address, end, bpf_ktime_get_ns());
	else
		send_record(address, end);
	return 0;
}

#endif
