// SPDX-License-Identifier: Apache-2.0
/*
 * Requests from records: each budget closes, counts are those of the records' weights, and the
 * bytes that the kernel counted all have a place.
 */
#include "unit.h"

#include <stdlib.h>
#include <string.h>

#include "../../signals/requests/requests.h"

#define MS 1000000ULL

static struct request_book book;
static struct rec_requests record;

static int start(void **state)
{
	(void)state;
	memset(&book, 0, sizeof(book));
	request_book_open(&book, NULL);
	record = (struct rec_requests){
		.hdr = {.tgid = 10, .tid = 11, .start_ns = 5},
		.connection = 1,
		.object = 77,
		.port = 80,
		.weight = 1,
		.ready_ns = 1000 * MS,
		.begin_ns = 1002 * MS,
		.end_ns = 1012 * MS,
		.flags = REQUEST_HAS_TURN | REQUEST_IS_ANSWERED,
	};
	return 0;
}

static int end(void **state)
{
	(void)state;
	request_book_free(&book);
	return 0;
}

static void say(const char *request, const char *answer)
{
	record.request_length = (u16)strlen(request);
	memcpy(record.request, request, strlen(request));
	record.answer_length = (u16)strlen(answer);
	memcpy(record.answer, answer, strlen(answer));
	record.received = strlen(request);
}

static u64 parts(const struct request *request)
{
	u64 sum = 0;

	for (int i = 0; i < REQUEST_PART_COUNT; i++)
		sum += request->part[i];
	return sum;
}

static void budget_of_a_thread_closes(void **state)
{
	struct request request;

	(void)state;
	record.ns[STATE_CPU] = 3 * MS;
	record.ns[STATE_BLOCKED_LOCK] = 6 * MS;
	request_read(&record, &request);
	assert_int_equal(request.model, REQUEST_MODEL_THREAD);
	assert_int_equal(request.queue_ns, 2 * MS);
	assert_int_equal(request.window_ns, 10 * MS);
	assert_int_equal(request.part[REQUEST_PART_LOCK], 6 * MS);
	assert_int_equal(request.part[REQUEST_PART_UNATTRIBUTED], 1 * MS);
	assert_int_equal(parts(&request), request.window_ns);
}

/* What its thread did for others is no part of the thread's own time for it. */
static void budget_of_a_loop_names_the_rest(void **state)
{
	struct request request;

	(void)state;
	record.flags |= REQUEST_IS_LOOP;
	record.ns[STATE_CPU] = 2 * MS;
	record.poll_ns = 5 * MS;
	request_read(&record, &request);
	assert_int_equal(request.model, REQUEST_MODEL_LOOP);
	assert_int_equal(request.part[REQUEST_PART_POLL], 5 * MS);
	assert_int_equal(request.part[REQUEST_PART_LOOP_BUSY], 3 * MS);
	assert_int_equal(parts(&request), request.window_ns);
}

static void budget_that_was_handed_over_is_not_guessed(void **state)
{
	struct request request;

	(void)state;
	record.flags |= REQUEST_IS_HANDED_OVER;
	record.ns[STATE_CPU] = 2 * MS;
	request_read(&record, &request);
	assert_int_equal(request.part[REQUEST_PART_HANDED_OVER], request.window_ns);
	assert_int_equal(parts(&request), request.window_ns);
}

/* A record can say anything: each state the whole of time, an end before its begin. */
static void budget_closes_whatever_the_record_says(void **state)
{
	struct request request;

	(void)state;
	memset(record.ns, 0xff, sizeof(record.ns));
	record.poll_ns = ~0ULL;
	request_read(&record, &request);
	assert_int_equal(parts(&request), request.window_ns);
	record.end_ns = 1;
	record.ready_ns = ~0ULL;
	request_read(&record, &request);
	assert_int_equal(request.window_ns, 0);
	assert_int_equal(request.queue_ns, 0);
	assert_int_equal(parts(&request), 0);
}

/* What cannot be of this request's thread, or is more than all of its time, is none. */
static void longest_wait_is_the_requests_own(void **state)
{
	struct request request;

	(void)state;
	record.wait = (struct request_wait){
		.ns = 4 * MS, .stack = 99, .state = STATE_BLOCKED_LOCK, .stop = STOP_END};
	request_read(&record, &request);
	assert_int_equal(request.wait.ns, 4 * MS);
	assert_int_equal(request_part_of_state(request.wait.state), REQUEST_PART_LOCK);
	record.flags |= REQUEST_IS_HANDED_OVER;
	request_read(&record, &request);
	assert_int_equal(request.wait.ns, 0);
	record.flags &= ~(u32)REQUEST_IS_HANDED_OVER;
	record.wait.ns = 10 * MS + 1;
	request_read(&record, &request);
	assert_int_equal(request.wait.ns, 0);
	record.wait.ns = 4 * MS;
	record.wait.state = STATE_COUNT;
	request_read(&record, &request);
	assert_int_equal(request.wait.ns, 0);
	record.wait.state = STATE_BLOCKED_LOCK;
	record.wait.stop = STOP_COUNT;
	request_read(&record, &request);
	assert_int_equal(request.wait.ns, 0);
}

/* The session has its id, or 0: it was lost. */
static void stack_of_a_wait_has_the_id_of_the_session(void **state)
{
	struct stack_ids ids;

	(void)state;
	stack_ids_init(&ids, 16);
	assert_true(stack_ids_put(&ids, 99, 7));
	book.stack_ids = &ids;
	record.wait = (struct request_wait){.ns = 4 * MS, .stack = 99, .state = STATE_BLOCKED_NET};
	request_book_add(&book, &record);
	record.turn++;
	record.wait.stack = 98;
	request_book_add(&book, &record);
	assert_int_equal(book.kept_count, 2);
	assert_int_equal(book.kept[0].wait.stack, 7);
	assert_int_equal(book.kept[1].wait.stack, 0);
	assert_int_equal(book.kept[1].wait.ns, 4 * MS);
	stack_ids_free(&ids);
}

static struct endpoint *only_endpoint(void)
{
	assert_int_equal(book.endpoints.count, 1);
	return hash_item(&book.endpoints, 0);
}

static void weights_are_counted(void **state)
{
	struct endpoint *endpoint;

	(void)state;
	say("GET /cart/17 HTTP/1.1\r\n\r\n", "HTTP/1.1 200 OK\r\n");
	request_book_add(&book, &record);
	record.weight = 9;
	say("GET /cart/4711 HTTP/1.1\r\n\r\n", "HTTP/1.1 503 No\r\n");
	request_book_add(&book, &record);
	endpoint = only_endpoint();
	assert_string_equal(endpoint->name, "GET /cart/:id");
	assert_int_equal(endpoint->requests, 10);
	assert_int_equal(endpoint->records, 2);
	assert_int_equal(endpoint->outcomes[REQUEST_ANSWERED], 10);
	assert_int_equal(endpoint->errors, 9);
	assert_int_equal(endpoint->latency->count, 10);
	assert_int_equal(endpoint->latency_ns, 10 * 12 * MS);
}

/* Only the last of those that it stands for has no answer. */
static void connection_that_closes_unanswered_is_one(void **state)
{
	struct endpoint *endpoint;

	(void)state;
	say("GET / HTTP/1.1\r\n\r\n", "");
	record.weight = 4;
	record.flags = REQUEST_HAS_TURN;
	record.end = REQUEST_END_RESET;
	record.end_ns = 0;
	request_book_add(&book, &record);
	endpoint = only_endpoint();
	assert_int_equal(endpoint->requests, 4);
	assert_int_equal(endpoint->outcomes[REQUEST_RESET], 1);
	assert_int_equal(endpoint->outcomes[REQUEST_ANSWERED], 3);
}

/* Of a connection that many use, only some requests are measured: its end need not be one of them.
 */
static void end_of_a_connection_is_no_request(void **state)
{
	struct endpoint *endpoint;

	(void)state;
	say("Q\0\0\0\x12SELECT 1 -- aa", "");
	memcpy(record.request, "Q\0\0\0\x12SELECT 1 -- a", 19);
	record.request_length = 19;
	request_book_add(&book, &record);
	record.flags = 0;
	record.end = REQUEST_END_CLOSED;
	record.end_ns = 0;
	record.received = 5;
	record.weight = 8;
	request_book_add(&book, &record);
	assert_int_equal(book.endpoints.count, 2);
	endpoint = hash_item(&book.endpoints, 0);
	assert_string_equal(endpoint->name, "SELECT");
	assert_int_equal(endpoint->requests, 8);
	assert_int_equal(endpoint->outcomes[REQUEST_ANSWERED], 8);
	endpoint = hash_item(&book.endpoints, 1);
	assert_string_equal(endpoint->name, "(terminate)");
	assert_int_equal(endpoint->requests, 1);
}

static const struct endpoint *endpoint_at(size_t place, const char *name, u8 kind, u64 requests)
{
	const struct endpoint *endpoint = hash_item(&book.endpoints, place);

	assert_string_equal(endpoint->name, name);
	assert_int_equal(endpoint->kind, kind);
	assert_int_equal(endpoint->requests, requests);
	return endpoint;
}

/* What is on the wire and what is in it are of two protocols, of which each is remembered. */
static void requests_in_tls_have_names(void **state)
{
	const struct endpoint *endpoint;

	(void)state;
	say("\x16\3\1\2\7\1", "\x16\3\3\2\7\2");
	request_book_add(&book, &record);
	record.flags |= REQUEST_IS_TLS;
	say("GET /users/17 HTTP/1.1\r\n\r\n", "HTTP/1.1 404 No\r\n");
	record.received += 22; /* the record's own */
	request_book_add(&book, &record);
	record.flags &= ~(u32)REQUEST_IS_TLS;
	say("\x17\3\3\1\1swordfish", "\x17\3\3\1\1swordfish");
	request_book_add(&book, &record);
	assert_int_equal(book.endpoints.count, 3);
	endpoint = endpoint_at(0, "(tls handshake)", REQUEST_SETS_UP, 1);
	assert_int_equal(endpoint->protocol, PROTOCOL_TLS);
	endpoint = endpoint_at(1, "GET /users/:id", REQUEST_ASKS, 1);
	assert_int_equal(endpoint->protocol, PROTOCOL_HTTP);
	assert_int_equal(endpoint->errors, 1);
	assert_int_equal(endpoint->several, 0);
	assert_true(endpoint->is_tls);
	endpoint = endpoint_at(2, "(tls, unnamed)", REQUEST_ASKS, 1);
	assert_int_equal(endpoint->protocol, PROTOCOL_TLS);
	assert_false(endpoint->is_tls);
}

/* The library read it, and nothing came out: the end of a connection. */
static void tls_without_data_is_no_request(void **state)
{
	(void)state;
	record.flags |= REQUEST_IS_BARE;
	say("\x17\3\3\1\1swordfish", "");
	request_book_add(&book, &record);
	endpoint_at(0, "(tls, no data)", REQUEST_TELLS, 1);
}

/* A server that has nothing to say to the end of a handshake reads the first request with it. */
static void a_request_after_a_handshake_is_one(void **state)
{
	(void)state;
	say("\x14\3\3\1\1", "\x17\3\3\1\1swordfish");
	memcpy(record.request, "\x14\3\3\0\1\1\x17\3\3\0\x35", 11);
	record.request_length = 64;
	record.received = 64;
	request_book_add(&book, &record);
	record.received = 164;
	request_book_add(&book, &record);
	endpoint_at(0, "(tls handshake)", REQUEST_SETS_UP, 1);
	endpoint_at(1, "(tls, unnamed)", REQUEST_ASKS, 1);
	record.flags &= ~(u32)REQUEST_IS_ANSWERED;
	request_book_add(&book, &record);
	endpoint_at(0, "(tls handshake)", REQUEST_SETS_UP, 2);
}

static void bytes_of_the_kernel_all_have_a_place(void **state)
{
	struct endpoint *endpoint;
	u64 sum = 0;

	(void)state;
	say("GET / HTTP/1.1\r\n\r\n", "HTTP/1.1 200 OK\r\n");
	record.in = (struct request_bytes_moved){
		.kernel = 1000, .in_turns = 600, .before = 300, .unread = 70};
	record.out = (struct request_bytes_moved){.kernel = 500, .in_turns = 400, .no_turn = 100};
	request_book_add(&book, &record);
	endpoint = only_endpoint();
	for (int i = 0; i < REQUEST_BYTES_COUNT; i++)
		sum += endpoint->outside[i];
	assert_int_equal(endpoint->received + endpoint->sent + sum, endpoint->kernel);
	assert_int_equal(endpoint->outside[REQUEST_BYTES_UNSEEN], 30);
	assert_int_equal(endpoint->outside[REQUEST_BYTES_NO_TURN], 100);
}

static void many_endpoints_are_folded_and_counted(void **state)
{
	u64 requests = 0;

	(void)state;
	say("GET /a HTTP/1.1\r\n\r\n", "HTTP/1.1 200 OK\r\n");
	for (u32 i = 0; i < 2 * ENDPOINTS_MAX; i++) {
		record.hdr.tgid = 1000 + i;
		request_book_add(&book, &record);
	}
	assert_true(book.endpoints.count <= ENDPOINTS_MAX);
	for (size_t i = 0; i < book.endpoints.count; i++)
		requests += ((struct endpoint *)hash_item(&book.endpoints, i))->requests;
	assert_int_equal(requests, 2 * ENDPOINTS_MAX);
	assert_int_equal(book.endpoints_folded, 2 * ENDPOINTS_MAX + 1 - book.endpoints.count);
}

/* However many are called, those that are asked have their protocol, and so their errors. */
static void calls_leave_servers_their_slots(void **state)
{
	struct rec_requests call = record;

	(void)state;
	call.flags |= REQUEST_IS_CALL;
	call.port = 0;
	call.forward = (struct request_ref){.connection = 1, .turn = 1};
	for (u32 i = 0; i < 2 * SERVERS_MAX; i++) {
		call.connection = 1000 + i;
		request_book_add(&book, &call);
	}
	say("GET /a HTTP/1.1\r\n\r\n", "HTTP/1.1 500 No\r\n");
	request_book_add(&book, &record);
	assert_int_equal(book.endpoints.count, 1);
	assert_int_equal(((struct endpoint *)hash_item(&book.endpoints, 0))->errors, 1);
}

static void lengths_that_are_none_are_refused(void **state)
{
	(void)state;
	record.request_length = REQUEST_BYTES_MAX + 1;
	request_book_add(&book, &record);
	assert_int_equal(book.endpoints.count, 0);
	assert_int_equal(book.no_memory, 1);
}

/* The slowest of a window are kept, whenever they come. */
static void slowest_are_kept(void **state)
{
	struct endpoint *endpoint;
	u64 most = 0;

	(void)state;
	say("GET / HTTP/1.1\r\n\r\n", "HTTP/1.1 200 OK\r\n");
	for (u64 i = 0; i < 5000; i++) {
		record.end_ns = record.begin_ns + (i == 2500 ? 900 : i % 50) * MS;
		request_book_add(&book, &record);
	}
	endpoint = only_endpoint();
	assert_int_equal(endpoint->slow_count, KEPT_SLOWEST);
	assert_int_equal(endpoint->sample_count, KEPT_SAMPLE);
	for (u32 i = 0; i < endpoint->slow_count; i++) {
		u64 ns = book.kept[endpoint->slow[i]].window_ns;

		assert_true(ns >= 49 * MS);
		most = ns > most ? ns : most;
	}
	assert_int_equal(most, 900 * MS);
}

/* A header block as it stands, and the number that it has on its connection. */
static void say_block(u32 flags, u32 block, const char *bytes, size_t length)
{
	record.flags = flags | REQUEST_IS_STREAM;
	record.block = block;
	record.request_length = (u16)length;
	memcpy(record.request, bytes, length);
	request_book_add(&book, &record);
}

/* ":method GET" and ":path /a" as an entry of the table; then by it. */
static void streams_are_named_by_the_blocks_before_them(void **state)
{
	const u32 flags = REQUEST_HAS_TURN | REQUEST_IS_ANSWERED;
	const struct endpoint *endpoint;

	(void)state;
	record.weight = 0;
	say_block(REQUEST_IS_BLOCK, 1, "\x82\x44\x02/a", 5);
	assert_int_equal(book.endpoints.count, 0);
	record.weight = 1;
	record.answer[0] = 0x8d; /* 404 */
	record.answer_length = 1;
	say_block(flags, 1, "\x82\x44\x02/a", 5);
	record.weight = 3;
	say_block(flags, 1, "\x82\xbe", 2);
	endpoint = only_endpoint();
	assert_string_equal(endpoint->name, "GET /a");
	assert_int_equal(endpoint->requests, 4);
	assert_int_equal(endpoint->errors, 4);
	record.connection = 2; /* of which nothing is known */
	say_block(flags, REQUEST_BLOCK_NOT_KNOWN, "\x82\xbe", 2);
	endpoint = hash_item(&book.endpoints, 1);
	assert_string_equal(endpoint->name, "(h2, unnamed)");
}

static void streams_that_are_lost_are_counted(void **state)
{
	(void)state;
	record.weight = 0;
	record.stream = 7;
	say_block(REQUEST_IS_LOST, 0, "", 0);
	assert_int_equal(book.h2.lost, 1);
	assert_int_equal(book.h2.lost_streams, 7);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(budget_of_a_thread_closes, start, end),
		cmocka_unit_test_setup_teardown(budget_of_a_loop_names_the_rest, start, end),
		cmocka_unit_test_setup_teardown(budget_that_was_handed_over_is_not_guessed, start,
						end),
		cmocka_unit_test_setup_teardown(budget_closes_whatever_the_record_says, start, end),
		cmocka_unit_test_setup_teardown(longest_wait_is_the_requests_own, start, end),
		cmocka_unit_test_setup_teardown(stack_of_a_wait_has_the_id_of_the_session, start,
						end),
		cmocka_unit_test_setup_teardown(weights_are_counted, start, end),
		cmocka_unit_test_setup_teardown(connection_that_closes_unanswered_is_one, start,
						end),
		cmocka_unit_test_setup_teardown(end_of_a_connection_is_no_request, start, end),
		cmocka_unit_test_setup_teardown(requests_in_tls_have_names, start, end),
		cmocka_unit_test_setup_teardown(tls_without_data_is_no_request, start, end),
		cmocka_unit_test_setup_teardown(a_request_after_a_handshake_is_one, start, end),
		cmocka_unit_test_setup_teardown(bytes_of_the_kernel_all_have_a_place, start, end),
		cmocka_unit_test_setup_teardown(many_endpoints_are_folded_and_counted, start, end),
		cmocka_unit_test_setup_teardown(calls_leave_servers_their_slots, start, end),
		cmocka_unit_test_setup_teardown(lengths_that_are_none_are_refused, start, end),
		cmocka_unit_test_setup_teardown(slowest_are_kept, start, end),
		cmocka_unit_test_setup_teardown(streams_are_named_by_the_blocks_before_them, start,
						end),
		cmocka_unit_test_setup_teardown(streams_that_are_lost_are_counted, start, end),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
