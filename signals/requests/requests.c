// SPDX-License-Identifier: Apache-2.0
#include "requests.h"

#include "../../src/base/cleanup.h"
#include "../../src/model/signal.h"
#include "series.h"
#include "tls.h"
#include "tls_libraries.h"

static void open_book(void *state, const struct services *services)
{
	request_book_open(state, services->stack_ids);
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

static void close_book(void *state, struct sink *sink)
{
	request_book_end(state, sink);
}

static void renew_book(void *state, u64 window, struct sink *sink)
{
	(void)window;
	request_book_end(state, sink);
}

#define MAPS                                                                                       \
	{                                                                                          \
		PROBE_ACCOUNTS, PROBE_SERIES, "listeners", "object_ids", "request_tcp",            \
			"request_unix", "request_empty", "request_passed", "request_rates",        \
			"request_serving", "request_commons", "request_calls",                     \
			"request_calls_unix", "request_call_empty", "request_asked",               \
			"unwind_processes", "unwind_requests", "request_h2", "request_streams",    \
			"request_h2_empty", "request_h2_receive", "request_h2_send",               \
			"request_tls_asked", "request_go_calls", "thread_contexts",                \
			"thread_contexts_any"                                                      \
	}

#define TLS_MAPS                                                                                   \
	{                                                                                          \
		PROBE_ACCOUNTS, PROBE_SERIES, PROBE_UNWIND, "listeners", "object_ids",             \
			"request_tcp", "request_unix", "request_empty", "request_passed",          \
			"request_rates", "request_serving", "request_commons", "request_calls",    \
			"request_calls_unix", "request_call_empty", "request_asked",               \
			"request_tls", "request_tls_calls", "request_tls_asked",                   \
			"request_go_calls", "thread_contexts", "thread_contexts_any"               \
	}

/* Both ends by one program where the kernel has that, else by two. The cookie is the function. */
#define TLS_BOTH(NAME, name)                                                                       \
	{.program = "requests_tls_both",                                                           \
	 .kind = PROBE_UPROBE_SESSION,                                                             \
	 .is_optional = true,                                                                      \
	 .is_rare = true,                                                                          \
	 .is_deferred = true,                                                                      \
	 .function = #name,                                                                        \
	 .cookie = TLS_BY_##NAME,                                                                  \
	 .maps = TLS_MAPS},
#define TLS_BEGIN(name, suffix, NAME)                                                              \
	{                                                                                          \
		.program = "requests_tls_" #suffix, .kind = PROBE_UPROBE, .is_optional = true,     \
		.is_rare = true, .is_deferred = true, .fallback_of = "requests_tls_both",          \
		.function = name, .cookie = TLS_BY_##NAME, .maps = TLS_MAPS                        \
	}

/* In a Go program: where a function begins, or at each instruction with which it returns. */
#define TLS_GO(suffix, name, NAME, ends)                                                           \
	{                                                                                          \
		.program = "requests_go_" #suffix, .kind = PROBE_UPROBE, .is_optional = true,      \
		.is_rare = true, .is_deferred = true, .is_go = true, .at_returns = ends,           \
		.function = "crypto/tls.(*Conn)." name, .cookie = TLS_BY_GO_##NAME,                \
		.maps = TLS_MAPS                                                                   \
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
	{.program = "requests_h2_received",
	 .is_rare = true,
	 .is_optional = true,
	 .called_by = "requests_receive",
	 .call_array = "request_h2_receive",
	 .maps = MAPS},
	{.program = "requests_h2_sent",
	 .is_rare = true,
	 .is_optional = true,
	 .called_by = "requests_send",
	 .call_array = "request_h2_send",
	 .maps = MAPS},
	{.program = "requests_close", .is_rare = true, .maps = MAPS},
	{.program = "requests_connect", .is_rare = true, .is_optional = true, .maps = MAPS},
	{.program = "requests_wake", .is_rare = true, .is_optional = true, .maps = MAPS},
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
	{.program = "requests_stream_rows",
	 .kind = PROBE_ITER,
	 .run = RUN_EACH_WINDOW,
	 .iterates = "request_streams",
	 .is_rare = true,
	 .is_optional = true,
	 .maps = MAPS},
	{.program = "requests_h2_rows",
	 .kind = PROBE_ITER,
	 .run = RUN_EACH_WINDOW,
	 .iterates = "request_h2",
	 .is_rare = true,
	 .is_optional = true,
	 .maps = MAPS},
	{.program = "requests_call_rows",
	 .kind = PROBE_ITER,
	 .run = RUN_EACH_WINDOW,
	 .iterates = "request_calls",
	 .is_rare = true,
	 .maps = MAPS},
	{.program = "requests_unix_call_rows",
	 .kind = PROBE_ITER,
	 .run = RUN_EACH_WINDOW,
	 .iterates = "request_calls_unix",
	 .is_rare = true,
	 .maps = MAPS},
	TLS_FUNCTIONS(TLS_BOTH)
	/* First, as an end without a beginning is passed over. */
	{.program = "requests_tls_end",
	 .kind = PROBE_URETPROBE,
	 .is_optional = true,
	 .is_rare = true,
	 .is_deferred = true,
	 .fallback_of = "requests_tls_both",
	 .function = "SSL_read:SSL_read_ex:SSL_do_handshake",
	 .maps = TLS_MAPS},
	TLS_BEGIN("SSL_read", read, READ),
	TLS_BEGIN("SSL_read_ex", read_ex, READ_EX),
	TLS_BEGIN("SSL_do_handshake", handshake, HANDSHAKE),
	TLS_BEGIN("SSL_write", write, WRITE),
	TLS_BEGIN("SSL_write_ex", write_ex, WRITE_EX),
	TLS_GO(read_end, "Read", READ, true),
	TLS_GO(handshake_end, "handshakeContext", HANDSHAKE, true),
	TLS_GO(read, "Read", READ, false),
	TLS_GO(handshake, "handshakeContext", HANDSHAKE, false),
	TLS_GO(write, "Write", WRITE, false),
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
	{"call_no_place",
	 "calls, or requests that answer them: more than wait at a time, or than 64 of a request",
	 offsetof(struct request_book, links.lost)},
	{"h2_lost", "connections of HTTP/2 of which track was lost: turns count there from then on",
	 offsetof(struct request_book, h2.lost)},
	{"h2_stream_lost", "streams that were open on these: their requests are missing",
	 offsetof(struct request_book, h2.lost_streams)},
	{"h2_no_place", "connections of HTTP/2 beyond the limit: their endpoints may be unnamed",
	 offsetof(struct request_book, h2.not_kept)},
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
	.close = close_book,
	.renew = renew_book,
	.deferred = &request_tls_deferred,
	.losses = losses,
	.loss_count = ARRAY_SIZE(losses),
	.view = &view,
};
