// SPDX-License-Identifier: Apache-2.0
#include "tcp.h"

#include <arpa/inet.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>

#include "../../src/base/cleanup.h"
#include "../../src/model/signal.h"
#include "kinds.h"

#define PLACE_BYTES (INET6_ADDRSTRLEN + sizeof("[]:65535"))
#define NS_PER_US   1000ULL

/* --- the session --- */

static const char *const end_names[TCP_END_COUNT] = {
	[TCP_END_NONE] = "-",
	[TCP_END_FIN_US] = "closed by us",
	[TCP_END_FIN_PEER] = "closed by peer",
	[TCP_END_RESET_US] = "reset by us",
	[TCP_END_RESET_PEER] = "reset by peer",
	[TCP_END_TIMEOUT] = "timed out",
	[TCP_END_FAILED] = "not made",
	[TCP_END_OTHER] = "by an error",
};

/* A later row of a connection replaces the one before: one that was open has closed. */
static const struct table tables[] = {
	{.name = "connections",
	 .about = "TCP connection (-s tcp) that closed, or was open at the end",
	 .columns = "id INTEGER PRIMARY KEY, window INTEGER, pid INTEGER, start_ns INTEGER, "
		    "direction TEXT, object INTEGER, local TEXT, peer TEXT, begin_ns INTEGER, "
		    "end_ns INTEGER, connect_ns INTEGER, accept_wait_ns INTEGER, "
		    "lifetime_ns INTEGER, reply_ns INTEGER, sent_bytes INTEGER, "
		    "received_bytes INTEGER, retransmits INTEGER, rtt_ns INTEGER, "
		    "min_rtt_ns INTEGER, cwnd INTEGER, mss_bytes INTEGER, "
		    "receive_buffer_bytes INTEGER, send_buffer_bytes INTEGER, drops INTEGER, "
		    "ended TEXT, error INTEGER",
	 .width = 26,
	 .object_columns = 1U << 5},
};

static void on_record(void *state, const struct rec_hdr *record)
{
	struct connection_book *book = state;

	if (book->count == CONNECTIONS_MAX)
		book->turned_away++;
	else
		book->rows[book->count++] = *(const struct rec_tcp *)record;
}

/* 127.0.0.1:5432 or [::1]:80 */
static void name_place(const struct rec_tcp *row, const u8 *address, u16 port, char *to)
{
	bool is_v6 = row->family == AF_INET6;
	char text[INET6_ADDRSTRLEN] = "?";

	inet_ntop(is_v6 ? AF_INET6 : AF_INET, address, text, sizeof(text));
	snprintf(to, PLACE_BYTES, is_v6 ? "[%s]:%u" : "%s:%u", text, port);
}

/* What is not known is NULL. */
static struct cell known(bool is_known, u64 number)
{
	return is_known ? cell_number(number) : (struct cell){.kind = CELL_NULL};
}

static u64 span(u64 begin_ns, u64 end_ns)
{
	return end_ns > begin_ns ? end_ns - begin_ns : 0;
}

static void write_row(const struct rec_tcp *row, u64 window, struct sink *sink)
{
	const char *end = row->end_ns && row->end < TCP_END_COUNT ? end_names[row->end] : "";
	const char *direction = row->direction == TCP_OUT ? "out" : "in";
	u64 until_ns = row->end_ns ? row->end_ns : row->hdr.ts_ns;
	bool is_made = row->begin_ns && row->established_ns;
	char local[PLACE_BYTES], peer[PLACE_BYTES];

	name_place(row, row->local, row->local_port, local);
	name_place(row, row->peer, row->peer_port, peer);
	const struct cell cells[] = {
		cell_number(row->connection),
		cell_number(window),
		cell_number(row->hdr.tgid),
		cell_number(row->hdr.start_ns),
		cell_text(direction, strlen(direction)),
		cell_number(row->object),
		cell_text(local, sizeof(local)),
		cell_text(peer, sizeof(peer)),
		known(row->begin_ns, row->begin_ns),
		known(row->end_ns, row->end_ns),
		known(is_made && row->direction == TCP_OUT,
		      span(row->begin_ns, row->established_ns)),
		known(row->accept_wait_ns, row->accept_wait_ns),
		known(is_made, span(row->established_ns, until_ns)),
		known(row->reply_ns, row->reply_ns),
		cell_number(row->sent_bytes),
		cell_number(row->received_bytes),
		cell_number(row->retransmits),
		known(row->srtt_us, row->srtt_us * NS_PER_US),
		known(row->min_rtt_us && row->min_rtt_us != ~0U, row->min_rtt_us * NS_PER_US),
		cell_number(row->congestion_window),
		cell_number(row->segment_bytes),
		cell_number(row->receive_buffer),
		cell_number(row->send_buffer),
		cell_number(row->drops),
		cell_text(end, strlen(end)),
		cell_number(row->error),
	};

	_Static_assert(ARRAY_SIZE(cells) == 26, "as many as the table has columns");
	sink->add(sink, &tables[0], cells);
}

static void flush(void *state, u64 window, struct sink *sink)
{
	struct connection_book *book = state;

	for (u64 i = 0; i < book->count; i++)
		write_row(&book->rows[i], window, sink);
	book->count = 0;
}

/* --- the report --- */

static const struct series_kind kinds[] = {
#define KIND(NAME, name, unit, about) {name, unit, about},
	TCP_KINDS(KIND)
#undef KIND
};

static const struct signal_list lists[] = {
	{.name = "connections",
	 .about = "those with most retransmits, then those that lived longest",
	 .table = "connections",
	 .columns = "pid, direction, local, peer, lifetime_ns, connect_ns, reply_ns, sent_bytes, "
		    "received_bytes, retransmits, rtt_ns, coalesce(ended, 'open') AS ended, error",
	 .order = "retransmits DESC, lifetime_ns DESC",
	 .shown = 10},
	{.name = "sockets",
	 .about = "connections: window, buffers and drops",
	 .table = "connections",
	 .columns = "pid, local, peer, cwnd, mss_bytes, min_rtt_ns, send_buffer_bytes, "
		    "receive_buffer_bytes, drops, accept_wait_ns",
	 .order = "retransmits DESC, lifetime_ns DESC",
	 .shown = 5},
};

#define MAPS                                                                                       \
	{                                                                                          \
		PROBE_ACCOUNTS, PROBE_SERIES, PROBE_SLOW, "object_ids", "tcp_conns",               \
			"tcp_listens", "tcp_settled", "tcp_places"                                 \
	}

static const struct probe_place accept_calls[] = {
	{.name = "accept", .function = "syscalls:sys_exit_accept"},
	{.name = "accept4", .function = "syscalls:sys_exit_accept4"},
};

static const struct probe probes[] = {
	{.program = "tcp_state", .is_rare = true, .maps = MAPS},
	{.program = "tcp_state_soft", .is_rare = true, .maps = MAPS},
	{.program = "tcp_destroy", .is_rare = true, .maps = MAPS},
	{.program = "tcp_retransmit", .is_rare = true, .maps = MAPS},
	{.program = "tcp_accept",
	 .kind = PROBE_KRETPROBE,
	 .function = "inet_csk_accept",
	 .is_rare = true,
	 .is_optional = true,
	 .maps = MAPS},
	{.program = "tcp_accept_call",
	 .kind = PROBE_TRACEPOINT,
	 .places = accept_calls,
	 .place_count = ARRAY_SIZE(accept_calls),
	 .fallback_of = "tcp_accept",
	 .is_rare = true,
	 .is_optional = true,
	 .maps = MAPS},
	{.program = "tcp_accept_exit",
	 .fallback_of = "tcp_accept_call",
	 .is_optional = true,
	 .maps = MAPS},
	{.program = "tcp_send", .is_rare = true, .is_optional = true, .maps = MAPS},
	{.program = "tcp_send_begin",
	 .fallback_of = "tcp_send",
	 .kind = PROBE_KPROBE,
	 .function = "tcp_sendmsg",
	 .is_rare = true,
	 .is_optional = true,
	 .maps = MAPS},
	{.program = "tcp_receive", .is_rare = true, .is_optional = true, .maps = MAPS},
	{.program = "tcp_receive_copy",
	 .fallback_of = "tcp_receive",
	 .is_rare = true,
	 .is_optional = true,
	 .maps = MAPS},
	{.program = "tcp_seed",
	 .kind = PROBE_ITER,
	 .run = RUN_AT_START,
	 .is_rare = true,
	 .maps = MAPS},
	{.program = "tcp_rows",
	 .kind = PROBE_ITER,
	 .run = RUN_EACH_WINDOW,
	 .iterates = "tcp_conns",
	 .is_rare = true,
	 .maps = MAPS},
};

static const struct signal_view view = {
	.kinds = kinds,
	.kind_count = ARRAY_SIZE(kinds),
	.detail = {.name = "error", .kind = FIELD_ERRNO},
	.object = {.name = "peer", .kind = FIELD_OBJECT},
	.more = {.name = "end",
		 .kind = FIELD_NAME,
		 .names = end_names,
		 .name_count = ARRAY_SIZE(end_names)},
	.value_names = {"retransmits"},
	.share = 512,
	.cost = COST_CHEAP,
	.price = "about 1.5 us per connection on each side, 50 ns per send and receive",
	.lists = lists,
	.list_count = ARRAY_SIZE(lists),
	.judge = tcp_judge,
};

static const struct signal_loss losses[] = {
	{"connection_no_place",
	 "connections beyond the limit per window: counted in their series, not listed",
	 offsetof(struct connection_book, turned_away)},
};

const struct signal signal_tcp = {
	.about = "TCP connections: connect, accept, reply and retransmit times, and why they ended",
	.probes = probes,
	.probe_count = ARRAY_SIZE(probes),
	.state_size = sizeof(struct connection_book),
	.on_record = on_record,
	.tables = tables,
	.table_count = ARRAY_SIZE(tables),
	.flush = flush,
	.losses = losses,
	.loss_count = ARRAY_SIZE(losses),
	.view = &view,
};
