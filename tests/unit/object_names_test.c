// SPDX-License-Identifier: Apache-2.0
/*
 * Names of objects on their way to the session: each file has those that its rows refer to, and
 * what no file referred to for long is forgotten, if there are many.
 */
#include "unit.h"

#include <stdio.h>
#include <string.h>

#include "../../records/object/object.h"
#include "../../src/model/signal.h"

static u64 written;

static void count_row(struct sink *sink, const struct table *table, const struct cell *cells)
{
	(void)sink;
	(void)table;
	(void)cells;
	written++;
}

static struct sink sink = {.add = count_row};

static void send_many(struct object_book *book, u64 first, u64 count)
{
	for (u64 id = first; id < first + count; id++) {
		const struct rec_object object = {.object = id, .inode = id};

		signal_object.on_record(book, &object.hdr);
	}
}

/* A file of so many windows, in the last of which a row refers to object 1. */
static void write_file(struct object_book *book, int windows)
{
	while (--windows)
		signal_object.flush(book, 0, &sink);
	signal_object.refer(book, 1);
	signal_object.renew(book, 0, &sink);
}

static bool is_known(struct object_book *book, u64 id)
{
	return recent_find(&book->entries, &id, NULL) != NULL;
}

static u64 process_of_listener(struct object_book *book, u32 pid)
{
	const struct rec_object object = {
		.object = 7, .kind = OBJECT_TCP, .is_listening = 1, .peer_pid = pid};
	const u64 id = 7;

	signal_object.on_record(book, &object.hdr);
	return ((struct object_entry *)recent_find(&book->entries, &id, NULL))->peer_pid;
}

static void listener_keeps_its_process(void **state)
{
	struct object_book book = {0};

	(void)state;
	signal_object.open(&book, NULL);
	assert_int_equal(process_of_listener(&book, 0), 0);
	assert_int_equal(process_of_listener(&book, 42), 42);
	assert_int_equal(process_of_listener(&book, 0), 42); /* somebody waits there */
	assert_int_equal(process_of_listener(&book, 43), 43);
	signal_object.release(&book);
}

static void what_rows_refer_to_is_in_each_file(void **state)
{
	struct object_book book = {0};

	(void)state;
	written = 0;
	signal_object.open(&book, NULL);
	send_many(&book, 1, OBJECTS_KEPT + 2);
	write_file(&book, FORGET_WINDOWS);
	assert_int_equal(written, OBJECTS_KEPT + 2);
	for (u64 file = 1; file < 8; file++) {
		send_many(&book, 1 + file * OBJECTS_MAX, OBJECTS_KEPT + 1);
		write_file(&book, FORGET_WINDOWS);
		assert_int_equal(written, OBJECTS_KEPT + 2 + file * (OBJECTS_KEPT + 2));
		assert_true(is_known(&book, 1));
		assert_true(recent_count(&book.entries) <= 2 * (OBJECTS_KEPT + 3));
	}
	assert_false(is_known(&book, 2));
	assert_int_equal(book.turned_away, 0);
	signal_object.release(&book);
}

static void few_are_kept_however_old(void **state)
{
	struct object_book book = {0};

	(void)state;
	signal_object.open(&book, NULL);
	send_many(&book, 1, OBJECTS_KEPT - 1);
	for (int file = 0; file < 8; file++)
		write_file(&book, FORGET_WINDOWS);
	assert_true(is_known(&book, 2));
	signal_object.release(&book);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(listener_keeps_its_process),
		cmocka_unit_test(what_rows_refer_to_is_in_each_file),
		cmocka_unit_test(few_are_kept_however_old),
	};

	return cmocka_run_group_tests_name("object_names", tests, NULL, NULL);
}
