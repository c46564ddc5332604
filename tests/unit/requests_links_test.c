// SPDX-License-Identifier: Apache-2.0
/*
 * Calls from records: whose they are by two witnesses, when these are believed, and that a wrong
 * link is worse than none.
 */
#include "unit.h"

#include <stdlib.h>
#include <string.h>

#include "../../signals/requests/requests.h"

#define MS    1000000ULL
#define TURNS 60

enum { FRONT = 10, PEER = 20 }; /* processes */
enum { CLIENT = 1, UPSTREAM = 2 };

static struct request_book book;
static u64 calls[REQUEST_GRADE_COUNT], children, refused, unlinked, checked, wrong;
static s64 owner_of_last;

static const char *const grades[] = {"published", "confirmed", "backward", "forward"};

static void on_row(struct sink *sink, const struct table *table, const struct cell *cells)
{
	(void)sink;
	if (table == &request_tables[REQUEST_TABLE_CALLS]) {
		for (u32 i = 0; i < REQUEST_GRADE_COUNT; i++)
			calls[i] += strlen(grades[i]) == cells[3].length &&
				    !memcmp(cells[3].text, grades[i], cells[3].length);
		owner_of_last = cells[2].number;
	}
	if (table == &request_tables[REQUEST_TABLE_LINKS]) {
		refused += (u64)cells[7].number;
		unlinked += (u64)cells[8].number;
		checked += (u64)cells[10].number;
		wrong += (u64)cells[11].number;
	}
	if (table == &request_tables[REQUEST_TABLE_KEPT])
		children += cells[9].number == (s64)request_call_id(1001); /* its parent */
}

static struct sink sink = {.add = on_row};

static int start(void **state)
{
	(void)state;
	memset(&book, 0, sizeof(book));
	memset(calls, 0, sizeof(calls));
	children = refused = unlinked = checked = wrong = 0;
	owner_of_last = 0;
	request_book_open(&book, NULL);
	return 0;
}

static int end(void **state)
{
	(void)state;
	request_book_free(&book);
	return 0;
}

/* A request of the front: a turn of its client's connection. */
static void ask(u64 turn)
{
	struct rec_requests record = {
		.hdr = {.tgid = FRONT, .tid = FRONT, .start_ns = 5},
		.connection = CLIENT,
		.turn = turn,
		.port = 80,
		.weight = 1,
		.ready_ns = 1000 * MS,
		.begin_ns = 1000 * MS,
		.end_ns = 1010 * MS,
		.flags = REQUEST_HAS_TURN | REQUEST_IS_ANSWERED,
	};

	request_book_add(&book, &record);
}

/* A call of the front's. The witnesses name turns of the client's connection; 0: none. */
static struct rec_requests call(u64 turn, u64 forward, u64 backward, u32 flags)
{
	struct rec_requests record = {
		.hdr = {.tgid = FRONT, .tid = FRONT, .start_ns = 5},
		.connection = UPSTREAM,
		.turn = turn,
		.wire = 1000 + turn,
		.port = 81,
		.weight = 1,
		.begin_ns = 1002 * MS,
		.ready_ns = 1005 * MS,
		.end_ns = 1005 * MS,
		.flags = REQUEST_HAS_TURN | REQUEST_IS_CALL | REQUEST_IS_ANSWERED | flags,
	};

	if (forward)
		record.forward = (struct request_ref){.connection = CLIENT, .turn = forward};
	if (backward)
		record.backward = (struct request_ref){.connection = CLIENT, .turn = backward};
	return record;
}

static void add(struct rec_requests record)
{
	request_book_add(&book, &record);
}

/* What the peer says of the same turn. */
static void answer(u64 turn)
{
	struct rec_requests record = call(turn, 0, 0, 0);

	record.hdr.tgid = PEER;
	record.connection = UPSTREAM + 1;
	record.ready_ns = record.begin_ns = 1003 * MS;
	record.end_ns = 1004 * MS;
	record.flags &= ~(u32)REQUEST_IS_CALL;
	request_book_add(&book, &record);
}

/* Two windows: calls are judged one after they came. */
static void write_all(void)
{
	request_book_write(&book, 1, &sink);
	request_book_write(&book, 2, &sink);
	request_book_end(&book, &sink);
}

static void both_witnesses_confirm(void **state)
{
	(void)state;
	ask(1);
	add(call(1, 1, 1, 0));
	write_all();
	assert_int_equal(calls[REQUEST_GRADE_CONFIRMED], 1);
	assert_int_equal(owner_of_last, request_id(CLIENT, 1));
}

/* The kernel counts them, and tells how many of a connection there were. */
static void calls_without_a_witness_are_counted(void **state)
{
	struct rec_requests record = call(3, 0, 0, 0);

	(void)state;
	ask(1);
	add(call(1, 1, 1, 0));
	record.weight = 7;
	add(record);
	write_all();
	assert_int_equal(calls[REQUEST_GRADE_CONFIRMED], 1);
	assert_int_equal(unlinked, 7);
}

/* Also where the process makes no others, and in each window. */
static void calls_without_a_witness_are_counted_whenever_they_come(void **state)
{
	struct rec_requests record = call(3, 0, 0, 0);

	(void)state;
	for (u64 window = 0; window < 5; window++) {
		request_book_write(&book, window, &sink);
		add(record);
	}
	request_book_end(&book, &sink);
	assert_int_equal(unlinked, 5);
}

/* At the end of a file it had one witness alone; the next file has its whole record. */
static void call_under_way_at_the_end_of_a_file_is_judged_again(void **state)
{
	struct rec_requests record = call(1, 1, 0, REQUEST_IS_LOOP);

	(void)state;
	ask(1);
	record.flags &= ~(u32)REQUEST_IS_ANSWERED;
	record.end = REQUEST_END_RECORDING;
	add(record);
	request_book_write(&book, 0, &sink);
	request_book_end(&book, &sink);
	assert_int_equal(refused, 1);
	ask(1);
	add(call(1, 1, 1, REQUEST_IS_LOOP));
	write_all();
	assert_int_equal(calls[REQUEST_GRADE_CONFIRMED], 1);
	assert_int_equal(owner_of_last, request_id(CLIENT, 1));
}

static void request_that_answers_a_call_is_kept(void **state)
{
	(void)state;
	ask(1);
	add(call(1, 1, 1, 0));
	for (u64 turn = 1; turn <= 10 * KEPT_SAMPLE; turn++)
		answer(turn); /* most are of a call that nobody knows, and few of these are kept */
	write_all();
	assert_int_equal(children, 1);
}

static void calls_of_requests_that_were_not_kept_have_no_row(void **state)
{
	(void)state;
	ask(1);
	add(call(1, 2, 2, 0));
	write_all();
	assert_int_equal(calls[REQUEST_GRADE_CONFIRMED], 0);
}

/* Who answers after it has read the answer knows better than who was woken. */
static void answer_decides_where_the_thread_was_woken(void **state)
{
	(void)state;
	for (u64 turn = 1; turn <= 20; turn++) {
		ask(turn);
		add(call(turn, turn % 20 + 1, turn,
			 REQUEST_FORWARD_IS_DOUBTFUL | REQUEST_IS_FURTHER));
	}
	write_all();
	assert_int_equal(calls[REQUEST_GRADE_BACKWARD], 20);
	assert_int_equal(owner_of_last, request_id(CLIENT, 20));
}

static void one_conflict_in_fifty_is_too_much(void **state)
{
	(void)state;
	for (u64 turn = 1; turn <= 30; turn++) {
		ask(turn);
		add(call(turn, turn, turn == 3 ? 4 : turn, 0));
	}
	write_all();
	assert_int_equal(calls[REQUEST_GRADE_CONFIRMED], 0);
	assert_int_equal(refused, 30);
}

/* An event loop that works by a plan of its own does so always. */
static void loop_in_doubt_is_not_believed_elsewhere(void **state)
{
	(void)state;
	for (u64 turn = 1; turn <= 30; turn++) {
		ask(turn);
		add(call(turn, turn, turn, REQUEST_IS_LOOP));
	}
	add(call(31, 7, 8, REQUEST_IS_LOOP | REQUEST_FORWARD_IS_DOUBTFUL));
	write_all();
	assert_int_equal(calls[REQUEST_GRADE_CONFIRMED], 0);
}

static void one_witness_needs_a_record(void **state)
{
	(void)state;
	ask(1);
	add(call(1, 1, 0, 0));
	write_all();
	assert_int_equal(calls[REQUEST_GRADE_FORWARD], 0);
	assert_int_equal(refused, 1);
}

static void one_witness_is_believed_where_both_agree_always(void **state)
{
	(void)state;
	for (u64 turn = 1; turn <= 20; turn++) {
		ask(turn);
		add(call(2 * turn, turn, turn, 0));
		add(call(2 * turn + 1, turn, 0, 0));
	}
	write_all();
	assert_int_equal(calls[REQUEST_GRADE_CONFIRMED], 20);
	assert_int_equal(calls[REQUEST_GRADE_FORWARD], 20);
}

/* A timer's calls in an event loop: sent after a request was read, never answered for anybody. */
static void what_a_loop_sends_needs_both_witnesses(void **state)
{
	(void)state;
	for (u64 turn = 1; turn <= 30; turn++) {
		ask(turn);
		add(call(3 * turn, turn, turn, REQUEST_IS_LOOP));
		add(call(3 * turn + 1, turn, 0, REQUEST_IS_LOOP | REQUEST_IS_FURTHER));
		add(call(3 * turn + 2, turn, 0, REQUEST_IS_LOOP));
	}
	write_all();
	assert_int_equal(calls[REQUEST_GRADE_CONFIRMED], 30);
	assert_int_equal(calls[REQUEST_GRADE_FORWARD], 0);
}

/* Its first calls, from before it had two requests open at once, are a loop's, too. */
static void what_is_a_loop_later_was_one_before(void **state)
{
	(void)state;
	for (u64 turn = 1; turn <= 30; turn++) {
		ask(turn);
		add(call(2 * turn, turn, turn, turn > 20 ? REQUEST_IS_LOOP : 0));
		add(call(2 * turn + 1, turn, 0, turn > 20 ? REQUEST_IS_LOOP : 0));
	}
	write_all();
	assert_int_equal(calls[REQUEST_GRADE_CONFIRMED], 30);
	assert_int_equal(calls[REQUEST_GRADE_FORWARD], 0);
}

static void witness_after_the_end_counts(void **state)
{
	struct rec_requests late;

	(void)state;
	ask(1);
	add(call(1, 1, 0, 0));
	late = call(1, 0, 1, REQUEST_IS_WITNESS);
	add(late);
	write_all();
	assert_int_equal(calls[REQUEST_GRADE_CONFIRMED], 1);
}

/* Its answer was read, and right then one was sent that is of the same request. */
static void call_before_a_confirmed_one_is_confirmed(void **state)
{
	struct rec_requests second = call(2, 1, 1, 0);

	(void)state;
	ask(1);
	add(call(1, 1, 0, 0));
	second.previous = (struct request_ref){.connection = UPSTREAM, .turn = 1};
	add(second);
	write_all();
	assert_int_equal(calls[REQUEST_GRADE_CONFIRMED], 2);
}

/* What is confirmed in doubt only makes no other call surer than itself. */
static void call_before_a_doubtful_one_is_in_doubt(void **state)
{
	struct rec_requests second =
		call(2, 1, 1, REQUEST_FORWARD_IS_DOUBTFUL | REQUEST_BACKWARD_IS_DOUBTFUL);

	(void)state;
	ask(1);
	add(call(1, 1, 0, REQUEST_FORWARD_IS_DOUBTFUL));
	second.previous = (struct request_ref){.connection = UPSTREAM, .turn = 1};
	add(second);
	write_all();
	assert_int_equal(calls[REQUEST_GRADE_CONFIRMED], 0);
	assert_int_equal(refused, 2);
}

static void calls_of_a_request_have_a_limit(void **state)
{
	(void)state;
	ask(1);
	for (u64 turn = 1; turn <= TURNS + CALLS_OF_REQUEST; turn++)
		add(call(turn, 1, 1, 0));
	write_all();
	assert_int_equal(calls[REQUEST_GRADE_CONFIRMED], CALLS_OF_REQUEST);
	assert_int_equal(book.links.lost, TURNS);
}

static void calls_that_wait_have_a_limit(void **state)
{
	(void)state;
	for (u64 turn = 1; turn <= WAITING_CALLS_MAX + TURNS; turn++)
		add(call(turn, turn, turn, 0));
	assert_int_equal(book.links.lost, TURNS);
}

/* --- what the application publishes --- */

static void publish(struct rec_requests *record, u64 trace, u64 span)
{
	record->trace = (struct request_trace){.id = {7, trace}, .span = span};
}

/* A request of the front, as ask() has it, with its trace. */
static void ask_of(u64 turn, u64 trace, u64 span)
{
	struct rec_requests record = {
		.hdr = {.tgid = FRONT, .tid = FRONT, .start_ns = 5},
		.connection = CLIENT,
		.turn = turn,
		.begin_ns = 1000 * MS,
		.flags = REQUEST_IS_TRACE,
	};

	publish(&record, trace, span);
	request_book_add(&book, &record);
	ask(turn);
}

static struct rec_requests call_of(u64 turn, u64 trace, u64 span, u64 forward, u64 backward)
{
	struct rec_requests record = call(turn, forward, backward, 0);

	publish(&record, trace, span);
	return record;
}

static void application_names_the_request(void **state)
{
	(void)state;
	ask_of(1, 100, 1);
	ask_of(2, 200, 2);
	add(call_of(1, 200, 50, 0, 0));
	write_all();
	assert_int_equal(calls[REQUEST_GRADE_PUBLISHED], 1);
	assert_int_equal(owner_of_last, request_id(CLIENT, 2));
	assert_int_equal(checked, 0);
}

static void application_overrules_the_witnesses(void **state)
{
	(void)state;
	for (u64 turn = 1; turn <= 30; turn++) {
		ask_of(turn, turn, turn);
		add(call_of(turn, turn, turn, turn == 3 ? 4 : turn, turn == 3 ? 4 : turn));
	}
	write_all();
	assert_int_equal(calls[REQUEST_GRADE_PUBLISHED], 30);
	assert_int_equal(checked, 30);
	assert_int_equal(wrong, 1);
	assert_int_equal(refused, 0);
}

/* What they were wrong in is known: elsewhere they are not believed, either. */
static void witnesses_that_were_wrong_are_not_believed(void **state)
{
	(void)state;
	for (u64 turn = 1; turn <= 30; turn++) {
		ask_of(turn, turn, turn);
		add(call_of(turn, turn, turn, turn == 3 ? 4 : turn, turn == 3 ? 4 : turn));
	}
	ask(31);
	add(call(31, 31, 31, 0));
	write_all();
	assert_int_equal(calls[REQUEST_GRADE_CONFIRMED], 0);
	assert_int_equal(refused, 1);
}

/* One trace asks the same service twice at once. */
static void one_of_several_is_not_guessed(void **state)
{
	(void)state;
	ask_of(1, 100, 1);
	ask_of(2, 100, 2);
	ask(3);
	add(call_of(1, 100, 50, 0, 0)); /* by a span of its own */
	add(call_of(2, 100, 50, 3, 3)); /* the witnesses name none of them */
	add(call_of(3, 100, 50, 2, 2));
	add(call_of(4, 100, 1, 0, 0)); /* by the request's span */
	write_all();
	assert_int_equal(calls[REQUEST_GRADE_CONFIRMED], 1);
	assert_int_equal(calls[REQUEST_GRADE_PUBLISHED], 1);
	assert_int_equal(owner_of_last, request_id(CLIENT, 1));
	assert_int_equal(refused, 1);
}

static void request_has_to_enclose_its_call(void **state)
{
	struct rec_requests record;

	(void)state;
	ask(1);
	record = call(1, 0, 0, 0);
	record.connection = CLIENT;
	record.flags = REQUEST_IS_TRACE;
	record.begin_ns = 1003 * MS; /* the call began before */
	publish(&record, 100, 1);
	add(record);
	add(call_of(1, 100, 1, 0, 0));
	write_all();
	assert_int_equal(calls[REQUEST_GRADE_PUBLISHED], 0);
}

/* Of a trace that is not recorded, another request may be missing. */
static void trace_that_was_left_out_proves_nothing(void **state)
{
	const struct request_trace left_out = {.id = {7, 100}};
	struct rec_requests other;

	(void)state;
	assert_true(REQUEST_TRACE_HASH(&left_out) & REQUEST_TRACE_MASK_MAX);
	ask_of(1, 100, 1);
	other = call_of(9, 101, 9, 0, 0);
	other.trace_mask = REQUEST_TRACE_MASK_MAX;
	add(other);
	add(call_of(1, 100, 50, 0, 0));
	add(call_of(2, 100, 1, 0, 0)); /* by its span it is that one even so */
	write_all();
	assert_int_equal(calls[REQUEST_GRADE_PUBLISHED], 1);
}

/* Of a trace that comes again and again, those that made room may have been under way. */
static void request_that_made_room_is_not_forgotten(void **state)
{
	(void)state;
	for (u64 turn = 1; turn <= 5; turn++)
		ask_of(turn, 100, turn);
	ask_of(6, 200, 6);
	add(call_of(1, 100, 50, 0, 0));
	add(call_of(2, 200, 50, 0, 0));
	write_all();
	assert_int_equal(calls[REQUEST_GRADE_PUBLISHED], 1);
	assert_int_equal(owner_of_last, request_id(CLIENT, 6));
}

static void trace_is_written_as_people_write_it(void **state)
{
	static const u8 bytes[16] = {0x4b, 0xf9, 0x2f, 0x35, 0x77, 0xb3, 0x4d, 0xa6,
				     0xa3, 0xce, 0x92, 0x9d, 0x0e, 0x0e, 0x47, 0x36};
	struct request_trace trace = {.span = 1};
	char text[TRACE_TEXT_BYTES];

	(void)state;
	assert_int_equal(request_trace_text(&trace, text), 0);
	memcpy(trace.id, bytes, sizeof(bytes));
	assert_int_equal(request_trace_text(&trace, text), 32);
	assert_string_equal(text, "4bf92f3577b34da6a3ce929d0e0e4736");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(both_witnesses_confirm, start, end),
		cmocka_unit_test_setup_teardown(calls_without_a_witness_are_counted, start, end),
		cmocka_unit_test_setup_teardown(
			calls_without_a_witness_are_counted_whenever_they_come, start, end),
		cmocka_unit_test_setup_teardown(call_under_way_at_the_end_of_a_file_is_judged_again,
						start, end),
		cmocka_unit_test_setup_teardown(request_that_answers_a_call_is_kept, start, end),
		cmocka_unit_test_setup_teardown(calls_of_requests_that_were_not_kept_have_no_row,
						start, end),
		cmocka_unit_test_setup_teardown(answer_decides_where_the_thread_was_woken, start,
						end),
		cmocka_unit_test_setup_teardown(one_conflict_in_fifty_is_too_much, start, end),
		cmocka_unit_test_setup_teardown(loop_in_doubt_is_not_believed_elsewhere, start,
						end),
		cmocka_unit_test_setup_teardown(one_witness_needs_a_record, start, end),
		cmocka_unit_test_setup_teardown(one_witness_is_believed_where_both_agree_always,
						start, end),
		cmocka_unit_test_setup_teardown(what_a_loop_sends_needs_both_witnesses, start, end),
		cmocka_unit_test_setup_teardown(what_is_a_loop_later_was_one_before, start, end),
		cmocka_unit_test_setup_teardown(witness_after_the_end_counts, start, end),
		cmocka_unit_test_setup_teardown(call_before_a_confirmed_one_is_confirmed, start,
						end),
		cmocka_unit_test_setup_teardown(call_before_a_doubtful_one_is_in_doubt, start, end),
		cmocka_unit_test_setup_teardown(calls_of_a_request_have_a_limit, start, end),
		cmocka_unit_test_setup_teardown(calls_that_wait_have_a_limit, start, end),
		cmocka_unit_test_setup_teardown(application_names_the_request, start, end),
		cmocka_unit_test_setup_teardown(application_overrules_the_witnesses, start, end),
		cmocka_unit_test_setup_teardown(witnesses_that_were_wrong_are_not_believed, start,
						end),
		cmocka_unit_test_setup_teardown(one_of_several_is_not_guessed, start, end),
		cmocka_unit_test_setup_teardown(request_has_to_enclose_its_call, start, end),
		cmocka_unit_test_setup_teardown(trace_that_was_left_out_proves_nothing, start, end),
		cmocka_unit_test_setup_teardown(request_that_made_room_is_not_forgotten, start,
						end),
		cmocka_unit_test_setup_teardown(trace_is_written_as_people_write_it, start, end),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
