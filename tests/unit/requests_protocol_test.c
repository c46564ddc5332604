// SPDX-License-Identifier: Apache-2.0
#include "requests_protocol.h"

#include "../../src/base/cleanup.h"

#define BYTES(text) text, sizeof(text) - 1
#define ASKS	    REQUEST_ASKS
#define SETS_UP	    REQUEST_SETS_UP
#define TELLS	    REQUEST_TELLS

struct sample {
	u32 known, id;
	const char *bytes;
	size_t size;
	enum request_kind kind;
	const char *endpoint;
	u64 length;
};

static void check_samples(const struct sample *samples, size_t count)
{
	for (size_t i = 0; i < count; i++) {
		const struct sample *sample = &samples[i];
		struct request_text text;
		u32 id = protocol_of_request((const u8 *)sample->bytes, sample->size, sample->known,
					     &text);

		if (id != sample->id || strcmp(text.endpoint, sample->endpoint) ||
		    text.kind != sample->kind || text.length != sample->length)
			fail_msg("%zu: protocol %u, kind %u, '%s', %llu bytes; expected '%s'", i,
				 id, text.kind, text.endpoint, (unsigned long long)text.length,
				 sample->endpoint);
		assert_prefixes_harmless(sample->bytes, sample->size);
	}
}

#define HTTP(text, endpoint, length)                                                               \
	{                                                                                          \
		PROTOCOL_UNKNOWN, PROTOCOL_HTTP, BYTES(text), ASKS, endpoint, length               \
	}
#define NONE(text)                                                                                 \
	{                                                                                          \
		PROTOCOL_UNKNOWN, PROTOCOL_UNKNOWN, BYTES(text), ASKS, "", 0                       \
	}

static const struct sample http[] = {
	HTTP("GET /users/42/orders?key=swordfish HTTP/1.1\r\nCookie: swordfish\r\n\r\n",
	     "GET /users/:id/orders", 66),
	HTTP("POST /login HTTP/1.1\r\nContent-Length:  9 \r\n\r\nswordfish", "POST /login", 54),
	HTTP("POST /a HTTP/1.1\r\nContent-Length: 1000000\r\n\r\nswordfish", "POST /a", 1000045),
	HTTP("POST /a HTTP/1.1\r\ncontent-length: 18446744073709551615\r\n\r\n", "POST /a", 0),
	HTTP("POST /a HTTP/1.1\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\n", "POST /a", 0),
	HTTP("POST /a HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n", "POST /a", 0),
	HTTP("POST /a HTTP/1.1\r\n\r\n", "POST /a", 0),
	HTTP("DELETE /a HTTP/1.0\r\n\r\n", "DELETE /a", 22),
	HTTP("GET / HTTP/1.1\r\nAuthorization: swordfish", "GET /", 0),
	HTTP("GET http://swordfish@host:80/a/b?swordfish HTTP/1.1\r\n\r\n", "GET /a/b", 55),
	HTTP("GET https://swordfish HTTP/1.1\r\n\r\n", "GET /", 34),
	HTTP("CONNECT swordfish:443 HTTP/1.1\r\n\r\n", "CONNECT", 0),
	HTTP("OPTIONS * HTTP/1.1\r\n\r\n", "OPTIONS *", 22),
	HTTP("PROPFIND /dav/ HTTP/1.1\r\n", "PROPFIND /dav/", 0),
	HTTP("GET /users/swordfish", "GET /users/...", 0),
	HTTP("GET /users?swordfish", "GET /users", 0),
	HTTP("GET http://swordfish", "GET /...", 0),
	NONE("GET swordfish HTTP/1.1\r\n\r\n"),
	NONE("GET * HTTP/1.1\r\n\r\n"),
	NONE("GET /swordfish\r\n"),
	NONE("GET / HTTP/2.0\r\n\r\n"),
	NONE("GET / HTTP/1.x\r\n\r\n"),
	NONE("GETS / HTTP/1.1\r\n\r\n"),
	NONE("get / HTTP/1.1\r\n\r\n"),
	NONE("GET "),
	NONE("CONNECT swordfish"),
	NONE("HTTP/1.1 200 OK\r\n\r\n"),
};

static void http_request_is_method_and_template(void **state)
{
	(void)state;
	check_samples(http, ARRAY_SIZE(http));
}

/* The trace that the text is of: its first byte; 0: of none. */
static u8 trace_of(const char *text, size_t length)
{
	static const u8 none[TRACE_BYTES];
	struct request_text found;

	memset(&found, 0, sizeof(found));
	assert_int_equal(protocol_of_request((const u8 *)text, length, 0, &found), PROTOCOL_HTTP);
	if (found.trace[0])
		assert_int_equal(found.trace[TRACE_BYTES - 1], 0x36);
	else
		assert_memory_equal(found.trace, none, sizeof(none));
	return found.trace[0];
}
#define TRACE_OF(headers)                                                                          \
	trace_of("GET / HTTP/1.1\r\n" headers, sizeof("GET / HTTP/1.1\r\n" headers) - 1)
#define TRACE "4bf92f3577b34da6a3ce929d0e0e4736"

static void http_header_names_the_trace(void **state)
{
	(void)state;
	assert_int_equal(TRACE_OF("traceparent: 00-" TRACE "-00f067aa0ba902b7-01\r\n\r\n"), 0x4b);
	assert_int_equal(
		TRACE_OF("Host: a\r\nTraceParent:00-" TRACE "-00f067aa0ba902b7-00\r\nA: b"), 0x4b);
	assert_int_equal(
		TRACE_OF("Host: a\r\n\r\ntraceparent: 00-" TRACE "-00f067aa0ba902b7-01\r\n"),
		0); /* in its body */
	assert_int_equal(TRACE_OF("traceparent: 00-" TRACE "-00f067aa0ba902b7-01"), 0); /* cut */
	assert_int_equal(TRACE_OF("traceparent: 00-" TRACE "-00f067aa0ba902b7-0\r\n\r\n"), 0);
	assert_int_equal(TRACE_OF("traceparent: 01-" TRACE "-00f067aa0ba902b7-01\r\n\r\n"), 0);
	assert_int_equal(TRACE_OF("traceparent: 00-" TRACE "_00f067aa0ba902b7-01\r\n\r\n"), 0);
	assert_int_equal(
		TRACE_OF("traceparent: 00-4BF92F3577B34DA6A3CE929D0E0E4736-00f067aa0ba902b7-01"
			 "\r\n\r\n"),
		0);
	assert_int_equal(
		TRACE_OF("traceparent: 00-00000000000000000000000000000000-00f067aa0ba902b7-01"
			 "\r\n\r\n"),
		0);
	assert_int_equal(TRACE_OF("Host: a\r\n\r\n"), 0);
}

static void http_path_has_no_values(void **state)
{
	static const char *const paths[][2] = {
		{"/api/v1.24/list-users/", "/api/v1.24/list-users/"},
		{"/apis/v1alpha1/OAuth2Callback", "/apis/v1alpha1/OAuth2Callback"},
		{"/static/logo.png", "/static/logo.png"},
		{"//a///b", "/a/b"},
		{"/a/b/c/d/e/f", "/a/b/c/d/e/f"},
		{"/a/b/c/d/e/f/swordfish", "/a/b/c/d/e/f/..."},
		{"/u/0", "/u/:id"},
		{"/u/123e4567-e89b-12d3-a456-426614174000", "/u/:id"},
		{"/u/abcdefab-cdef-abcd-efab-cdefabcdefab", "/u/:id"},
		{"/u/3f2a9b1c", "/u/:id"},
		{"/u/swordfish-2024", "/u/:id"},
		{"/u/dQw4w9WgXcQ", "/u/:id"},
		{"/u/sWoRdFiSh", "/u/:id"},
		{"/u/42-swordfish", "/u/:id"},
		{"/u/swordfish@example.com", "/u/:id"},
		{"/u/%73wordfish", "/u/:id"},
		{"/u/name=swordfish", "/u/:id"},
		{"/u/swordfish\xc3\xa9", "/u/:id"},
		{"/u/swordfishswordfishswordfish1", "/u/:id"},
		{"/u/swordfish-swordfish-swordfish-swordfish-swordfish", "/u/:id"},
		{"/u/app.3f2a9b1c.js", "/u/:id"},
		{"/u/17.json", "/u/:id"},
		{"/cart;jsessionid=swordfish/pay#swordfish", "/cart/pay"},
	};
	struct request_text text;
	char line[256];

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(paths); i++) {
		int length = snprintf(line, sizeof(line), "GET %s HTTP/1.1\r\n", paths[i][0]);

		assert_int_equal(protocol_of_request((u8 *)line, (size_t)length, 0, &text),
				 PROTOCOL_HTTP);
		assert_string_equal(text.endpoint + strlen("GET "), paths[i][1]);
		assert_prefixes_harmless(line, (size_t)length);
	}
}

static void long_endpoint_is_cut(void **state)
{
	static const char segment[] = "/a-segment-of-a-path-which-is-a-long-one";
	char line[256];
	struct request_text text;
	int length =
		snprintf(line, sizeof(line), "GET %s%s%s HTTP/1.1\r\n", segment, segment, segment);

	(void)state;
	assert_int_equal(protocol_of_request((u8 *)line, (size_t)length, 0, &text), PROTOCOL_HTTP);
	assert_int_equal(strlen(text.endpoint), ENDPOINT_BYTES - 1);
	assert_string_equal(text.endpoint + ENDPOINT_BYTES - 4, "...");
}

#define REDIS(text, kind, endpoint, length)                                                        \
	{                                                                                          \
		PROTOCOL_UNKNOWN, PROTOCOL_REDIS, BYTES(text), kind, endpoint, length              \
	}
#define REDIS_KNOWN(text, kind, endpoint, length)                                                  \
	{                                                                                          \
		PROTOCOL_REDIS, PROTOCOL_REDIS, BYTES(text), kind, endpoint, length                \
	}
#define REDIS_NOT(text)                                                                            \
	{                                                                                          \
		PROTOCOL_REDIS, PROTOCOL_UNKNOWN, BYTES(text), ASKS, "", 0                         \
	}
#define UNKNOWN "(unknown command)"

static const struct sample redis[] = {
	REDIS("*2\r\n$3\r\nget\r\n$9\r\nswordfish\r\n", ASKS, "GET", 28),
	REDIS("*3\r\n$3\r\nSET\r\n$1\r\nk\r\n$1000000\r\nswordfish", ASKS, "SET", 1000032),
	REDIS("*3\r\n$3\r\nSET\r\n$100\r\nswordfish", ASKS, "SET", 0),
	REDIS("*2\r\n$4\r\nAUTH\r\n$9\r\nswordfish\r\n", SETS_UP, "AUTH", 29),
	REDIS("*2\r\n$5\r\nHELLO\r\n$1\r\n3\r\n", SETS_UP, "HELLO", 22),
	REDIS("*3\r\n$6\r\nconfig\r\n$3\r\nget\r\n$9\r\nswordfish\r\n", ASKS, "CONFIG GET", 40),
	REDIS("*2\r\n$6\r\nCONFIG\r\n$9\r\nswordfish\r\n", ASKS, "CONFIG", 31),
	REDIS("*4\r\n$6\r\nCLIENT\r\n$7\r\nSETINFO\r\n$8\r\nLIB-NAME\r\n$2\r\nab\r\n", ASKS,
	      "CLIENT SETINFO", 51),
	REDIS("*2\r\n$9\r\nFT.SEARCH\r\n$9\r\nswordfish\r\n", ASKS, "FT.SEARCH", 34),
	REDIS("*1\r\n$4\r\nPING\r\n*1\r\n$4\r\nPING\r\n", ASKS, "PING", 14),
	REDIS("*2\r\n$9\r\nsword", ASKS, UNKNOWN, 0),
	REDIS_KNOWN("*1\r\n$9\r\n1swordfish\r\n", ASKS, UNKNOWN, 0),
	REDIS_KNOWN("*1\r\n$10\r\nswordfish1\r\n", ASKS, UNKNOWN, 21),
	REDIS_KNOWN("*1\r\n$21\r\nswordfishswordfishsss\r\n", ASKS, UNKNOWN, 32),
	REDIS_KNOWN("*0\r\n", ASKS, UNKNOWN, 0),
	REDIS_KNOWN("PING\r\n", ASKS, "PING", 6),
	REDIS_KNOWN("auth swordfish\n", SETS_UP, "AUTH", 15),
	REDIS_NOT("swordfish is the rest of a value\r\n"),
	REDIS_NOT("GET"),
	NONE("PING\r\n"),
	NONE("*1\r\n$10\r\nswordfish1\r\n"),
	NONE("*1\r\n$-1\r\n"),
	NONE("*99999999999999999999\r\n$4\r\nPING\r\n"),
	NONE("*1\r\n$4\r\nPINGPONG\r\n"),
};

static void redis_request_is_its_command(void **state)
{
	(void)state;
	check_samples(redis, ARRAY_SIZE(redis));
}

#define MIXED(known, id, text, kind, endpoint, length)                                             \
	{                                                                                          \
		PROTOCOL_##known, PROTOCOL_##id, BYTES(text), kind, endpoint, length               \
	}

/* A TLS record, and a client's next HTTP/2 frame, look alike to nobody. */
static const struct sample others[] = {
	MIXED(UNKNOWN, HTTP2, "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n", SETS_UP, "(h2 set-up)", 0),
	MIXED(HTTP, HTTP2, "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n", SETS_UP, "(h2 set-up)", 0),
	MIXED(HTTP2, HTTP2, "\0\0\x9\1\5\0\0\0\1swordfish", ASKS, "(h2, unnamed)", 0),
	MIXED(UNKNOWN, UNKNOWN, "\0\0\x9\1\5\0\0\0\1swordfish", ASKS, "", 0),
	MIXED(HTTP2, UNKNOWN, "\0\0\x9\1\5\0\0\0\0swordfish", ASKS, "", 0),
	MIXED(HTTP2, UNKNOWN, "\0\0\x9\x20\5\0\0\0\1swordfish", ASKS, "", 0),
	MIXED(HTTP2, HTTP2, "\0\0\4\x8\0\0\0\0\1\0\0\1\0", TELLS, "(h2 control)", 0),
	MIXED(HTTP2, HTTP2, "\0\0\0\4\1\0\0\0\0\0\0\x8\7\0\0\0\0\0\0\0\0\1\0\0\0\0", TELLS,
	      "(h2 control)", 0),
	MIXED(HTTP2, HTTP2, "\0\0\0\4\1\0\0\0\0\0\0\x9\1\5\0\0\0\1swordfish", ASKS, "(h2, unnamed)",
	      0),
	MIXED(HTTP2, HTTP2, "\0\0\x8\7\0\0\0\0\0\0\0\0\1", ASKS, "(h2, unnamed)", 0), /* cut */
	MIXED(UNKNOWN, UNKNOWN, "PRI * HTTP/2.1\r\n\r\nSM\r\n\r\n", ASKS, "", 0),
	MIXED(UNKNOWN, TLS, "\x16\3\1\2\0\1swordfish", SETS_UP, "(tls handshake)", 0),
	MIXED(UNKNOWN, TLS, "\x17\3\3\0\x20swordfish", ASKS, "(tls, unnamed)", 0),
	MIXED(UNKNOWN, TLS, "\x15\3\3\0\2\1\0", TELLS, "(tls alert)", 0),
	MIXED(UNKNOWN, TLS, "\x14\3\3\0\1\1", SETS_UP, "(tls handshake)", 0),
	/* From 1.3 on an alert says that it is data: by its length, alone. */
	MIXED(UNKNOWN, TLS,
	      "\x17\3\3\0\x13"
	      "nineteen bytes of it",
	      ASKS, "(tls, unnamed)", 0),
	MIXED(UNKNOWN, TLS,
	      "\x17\3\3\0\x13"
	      "nineteen bytes of i",
	      TELLS, "(tls alert)", 0),
	MIXED(TLS, UNKNOWN, "\x17\3\3\x48\1swordfish", ASKS, "", 0),
	MIXED(TLS, UNKNOWN, "\x17\2\3\0\1swordfish", ASKS, "", 0),
	MIXED(TLS, UNKNOWN, "\x17\3\3\0", ASKS, "", 0),
	MIXED(TLS, HTTP, "GET / HTTP/1.1\r\n\r\n", ASKS, "GET /", 18),
	MIXED(MYSQL, HTTP, "GET / HTTP/1.1\r\n\r\n", ASKS, "GET /", 18),
	MIXED(COUNT, HTTP, "GET / HTTP/1.1\r\n\r\n", ASKS, "GET /", 18),
	MIXED(UNKNOWN, UNKNOWN, "", ASKS, "", 0),
};

static void other_protocols_are_recognised(void **state)
{
	(void)state;
	check_samples(others, ARRAY_SIZE(others));
}

/* Record after record: a type, its length, and what is in it. */
static size_t add_record(u8 *bytes, size_t at, u8 type, u16 length)
{
	const u8 header[] = {type, 3, 3, (u8)(length >> 8), (u8)length};

	memcpy(bytes + at, header, sizeof(header));
	memset(bytes + at + sizeof(header), 'x', length);
	return at + sizeof(header) + length;
}

static u64 set_up_bytes(const u8 *bytes, size_t length)
{
	struct request_text text;

	assert_int_equal(protocol_of_request(bytes, length, PROTOCOL_UNKNOWN, &text), PROTOCOL_TLS);
	assert_int_equal(text.kind, REQUEST_SETS_UP);
	return text.set_up_bytes;
}

/* What follows it in one turn is a request. */
static void end_of_a_handshake_is_known(void **state)
{
	u8 bytes[1024];
	size_t end;

	(void)state;
	end = add_record(bytes, 0, 0x16, 300); /* a client says hello */
	assert_int_equal(set_up_bytes(bytes, end), 0);
	end = add_record(bytes, 0, 0x14, 1); /* 1.3 */
	assert_int_equal(set_up_bytes(bytes, end), 0);
	end = add_record(bytes, end, 0x17, 53);
	assert_int_equal(set_up_bytes(bytes, end), end);
	assert_int_equal(set_up_bytes(bytes, add_record(bytes, end, 0x17, 53)), end);
	end = add_record(bytes, 0, 0x14, 1); /* 1.3, with a client's certificate first */
	end = add_record(bytes, end, 0x17, 500);
	end = add_record(bytes, end, 0x17, 69);
	assert_int_equal(set_up_bytes(bytes, end), end);
	assert_int_equal(set_up_bytes(bytes, 192), 0); /* that is not seen */
	end = add_record(bytes, 0, 0x16, 37);	       /* 1.2 */
	end = add_record(bytes, end, 0x14, 1);
	end = add_record(bytes, end, 0x16, 40);
	assert_int_equal(set_up_bytes(bytes, end), end);
}

/* "GET /k HTTP/1.1" is what redis-cli sends for a typing error, or a browser at the wrong port. */
static void known_protocol_is_asked_first(void **state)
{
	static const char line[] = "GET /k HTTP/1.1\r\n";
	struct request_text text;

	(void)state;
	assert_int_equal(
		protocol_of_request((const u8 *)line, sizeof(line) - 1, PROTOCOL_REDIS, &text),
		PROTOCOL_REDIS);
	assert_string_equal(text.endpoint, "GET");
	assert_int_equal(
		protocol_of_request((const u8 *)line, sizeof(line) - 1, PROTOCOL_MYSQL, &text),
		PROTOCOL_HTTP);
}

static void protocols_have_names(void **state)
{
	(void)state;
	assert_null(protocol_by_id(PROTOCOL_UNKNOWN));
	assert_null(protocol_by_id(PROTOCOL_COUNT));
	assert_null(protocol_by_id(~0U));
	assert_string_equal(protocol_by_id(PROTOCOL_HTTP)->name, "http");
	assert_string_equal(protocol_by_id(PROTOCOL_TLS)->name, "tls");
}

#define ANSWER(id, text, is_error, status)                                                         \
	{                                                                                          \
		PROTOCOL_##id, BYTES(text), true, is_error, status                                 \
	}
#define NO_ANSWER(id, text)                                                                        \
	{                                                                                          \
		PROTOCOL_##id, BYTES(text), false, false, ""                                       \
	}

static const struct {
	u32 id;
	const char *bytes;
	size_t size;
	bool is_answer, is_error;
	const char *status;
} answers[] = {
	ANSWER(HTTP, "HTTP/1.1 200 swordfish\r\n", false, "200"),
	ANSWER(HTTP, "HTTP/1.0 404", true, "404"),
	ANSWER(HTTP, "HTTP/1.1 503\r\n", true, "503"),
	NO_ANSWER(HTTP, "HTTP/1.1 2000 \r\n"),
	NO_ANSWER(HTTP, "HTTP/1.1 20"),
	NO_ANSWER(HTTP, "HTTP/1.1 020 \r\n"),
	NO_ANSWER(HTTP, "HTTP/2.0 200 OK\r\n"),
	ANSWER(REDIS, "-ERR unknown command 'swordfish'\r\n", true, "ERR"),
	ANSWER(REDIS, "-WRONGTYPE Operation\r\n", true, "WRONGTYPE"),
	ANSWER(REDIS, "-swordfish\r\n", true, "ERR"),
	ANSWER(REDIS, "-SWORDFISHSWORDFISH \r\n", true, "ERR"),
	ANSWER(REDIS, "-SWORDFISH", true, "ERR"), /* cut: not a code yet */
	ANSWER(REDIS, "!9\r\nNOPERM x\r\n", true, "NOPERM"),
	ANSWER(REDIS, "+swordfish\r\n", false, "OK"),
	ANSWER(REDIS, "$-1\r\n", false, "OK"),
	ANSWER(REDIS, "%1\r\n", false, "OK"),
	NO_ANSWER(REDIS, "$swordfish"),
	NO_ANSWER(REDIS, "swordfish"),
	NO_ANSWER(REDIS, ""),
	ANSWER(POSTGRESQL, "E\0\0\0\x25SERROR\0VERROR\0C42P01\0Mswordfish\0\0", true, "42P01"),
	ANSWER(POSTGRESQL,
	       "1\0\0\0\4"
	       "2\0\0\0\4"
	       "E\0\0\0\x1fSERROR\0C57014\0",
	       true, "57014"),
	ANSWER(POSTGRESQL, "E\0\0\0\x25SERROR\0C42P", true, ""),
	ANSWER(POSTGRESQL, "E\0\0\0\x25SERROR\0Cfish!\0", true, ""),
	ANSWER(POSTGRESQL, "T\0\0\0\x25swordfish", false, "OK"),
	ANSWER(POSTGRESQL, "R\0\0\0\x8\0\0\0\0Z\0\0\0\5I", false, "OK"),
	ANSWER(POSTGRESQL, "S", false, "OK"),
	NO_ANSWER(POSTGRESQL, "T\0\0\0\1swordfish"),
	NO_ANSWER(POSTGRESQL, "swordfish"),
	ANSWER(MYSQL, "\x10\0\0\1\xff\x28\4#42000swordfish", true, "1064"),
	ANSWER(MYSQL, "\x10\0\0\1\xff\x28", true, ""),
	ANSWER(MYSQL, "\x07\0\0\1\0\0\0\2\0\0\0", false, "OK"),
	ANSWER(MYSQL, "\1\0\0\1\3", false, "OK"),
	ANSWER(MYSQL, "\x20\0\0\1\xff\xff\xff\1\1\1swordfish", false, ""),
	NO_ANSWER(MYSQL, "\0\0\0\1\3"),
	NO_ANSWER(MYSQL, "\1\0\0\1"),
	ANSWER(HTTP2, "\0\0\x9\1\5\0\0\0\1swordfish", false, ""),
	NO_ANSWER(HTTP2, "HTTP/1.1 400 swordfish"),
	ANSWER(TLS, "\x16\3\3\0\x20swordfish", false, ""),
	NO_ANSWER(TLS, "HTTP/1.1 400 swordfish"),
};

static void answer_has_its_status(void **state)
{
	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(answers); i++) {
		struct answer_text text = {.is_error = true};
		bool is_answer =
			protocol_by_id(answers[i].id)
				->answer((const u8 *)answers[i].bytes, answers[i].size, &text);

		if (is_answer != answers[i].is_answer ||
		    (is_answer && (text.is_error != answers[i].is_error ||
				   strcmp(text.status, answers[i].status))))
			fail_msg("%zu: %d, '%s'", i, is_answer, text.status);
		if (!strncmp(answers[i].bytes, "-SWORDFISH", 10))
			continue; /* shows that a code has an end */
		assert_prefixes_harmless(answers[i].bytes, answers[i].size);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(http_request_is_method_and_template),
		cmocka_unit_test(http_header_names_the_trace),
		cmocka_unit_test(http_path_has_no_values),
		cmocka_unit_test(long_endpoint_is_cut),
		cmocka_unit_test(redis_request_is_its_command),
		cmocka_unit_test(other_protocols_are_recognised),
		cmocka_unit_test(end_of_a_handshake_is_known),
		cmocka_unit_test(known_protocol_is_asked_first),
		cmocka_unit_test(protocols_have_names),
		cmocka_unit_test(answer_has_its_status),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
