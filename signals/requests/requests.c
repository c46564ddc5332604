// SPDX-License-Identifier: Apache-2.0
#include "requests.h"

#include "../../src/base/cleanup.h"
#include "../../src/model/signal.h"
#include "series.h"

static void open_book(void *state, const struct services *services)
{
	(void)services;
	request_book_open(state);
}

static void release_book(void *state)
{
	request_book_free(state);
}

static void on_record(void *state, const struct rec_hdr *record)
{
	request_book_add(state, (const struct rec_requests *)record);
}

static void flush(void *state, u64 window, struct sink *sink)
{
	request_book_write(state, window, sink);
}

#define MAPS                                                                                       \
	{                                                                                          \
		PROBE_ACCOUNTS, PROBE_SERIES, "listeners", "object_ids", "request_tcp",            \
			"request_unix", "request_empty", "request_passed", "request_rates"         \
	}

static const struct probe probes[] = {
	{.program = "requests_ready", .is_rare = true, .is_optional = true, .maps = MAPS},
	{.program = "requests_receive", .is_rare = true, .is_optional = true, .maps = MAPS},
	{.program = "requests_receive_copy",
	 .fallback_of = "requests_receive",
	 .is_rare = true,
	 .maps = MAPS},
	{.program = "requests_send", .is_rare = true, .is_optional = true, .maps = MAPS},
	{.program = "requests_send_begin",
	 .fallback_of = "requests_send",
	 .kind = PROBE_KPROBE,
	 .function = "tcp_sendmsg",
	 .is_rare = true,
	 .maps = MAPS},
	{.program = "requests_close", .is_rare = true, .maps = MAPS},
	{.program = "requests_begin",
	 .kind = PROBE_ITER,
	 .run = RUN_AT_START,
	 .iterates = "request_passed",
	 .is_rare = true,
	 .maps = MAPS},
	{.program = "requests_begin_unix",
	 .kind = PROBE_ITER,
	 .run = RUN_AT_START,
	 .iterates = "request_unix",
	 .is_rare = true,
	 .maps = MAPS},
	{.program = "requests_tcp_rows",
	 .kind = PROBE_ITER,
	 .run = RUN_EACH_WINDOW,
	 .iterates = "request_tcp",
	 .is_rare = true,
	 .maps = MAPS},
	{.program = "requests_unix_rows",
	 .kind = PROBE_ITER,
	 .run = RUN_EACH_WINDOW,
	 .iterates = "request_unix",
	 .is_rare = true,
	 .maps = MAPS},
};

static const struct series_kind kinds[] = {
#define KIND(NAME, name, unit, about) {name, unit, about},
	REQUEST_KINDS(KIND)
#undef KIND
};

static const struct signal_view view = {
	.kinds = kinds,
	.kind_count = ARRAY_SIZE(kinds),
	.object = {.name = "listener", .kind = FIELD_OBJECT},
	.share = 256,
	.cost = COST_PER_EVENT,
	.price = "about 1 us for each request",
};

static const struct signal_loss losses[] = {
	{"endpoint_no_place", "requests of endpoints beyond the limit: in \"(other)\"",
	 offsetof(struct request_book, endpoints_folded)},
	{"request_not_kept", "requests beyond those that a window keeps: counted only",
	 offsetof(struct request_book, not_kept)},
	{"server_no_place",
	 "requests of servers beyond the limit: their protocol is not remembered",
	 offsetof(struct request_book, servers_lost)},
	{"request_refused", "requests without memory for them, or whose record made no sense",
	 offsetof(struct request_book, no_memory)},
};

const struct signal signal_requests = {
	.about = "requests that servers answer: how many, how slow, and what their time went to",
	.probes = probes,
	.probe_count = ARRAY_SIZE(probes),
	.state_size = sizeof(struct request_book),
	.open = open_book,
	.release = release_book,
	.on_record = on_record,
	.tables = request_tables,
	.table_count = REQUEST_TABLES,
	.flush = flush,
	.losses = losses,
	.loss_count = ARRAY_SIZE(losses),
	.view = &view,
};
