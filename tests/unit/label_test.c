// SPDX-License-Identifier: Apache-2.0
/*
 * Labels on their way to the session: each is written once, and more may come than are kept.
 */
#include "unit.h"

#include <stdio.h>
#include <string.h>

#include "../../records/label/label.h"
#include "../../src/model/signal.h"

static u64 written;
static char last[128];

static void count_row(struct sink *sink, const struct table *table, const struct cell *cells)
{
	(void)sink;
	(void)table;
	written++;
	snprintf(last, sizeof(last), "%.*s", (int)cells[2].length, cells[2].text);
}

static struct sink sink = {.add = count_row};

static void send(struct label_book *book, u64 id, u64 of, const char *name)
{
	struct rec_label label = {.id = LABEL_ERRNO_MAX + id, .signal = SIG_FUNC};

	label.of = of ? LABEL_ERRNO_MAX + of : 0;
	snprintf((char *)label.name, sizeof(label.name), "%s", name);
	signal_label.on_record(book, &label.hdr);
}

static void more_labels_come_than_are_kept(void **state)
{
	struct label_book book = {0};

	(void)state;
	signal_label.open(&book, NULL);
	send(&book, 1, 0, "PQexec");
	send(&book, 2, 1, "worker-1");
	for (u64 window = 0; window < 8; window++) {
		for (u64 i = 0; i < LABEL_BOOK_MAX / 2; i++)
			send(&book, 10 + window * LABEL_BOOK_MAX + i, 0, "name");
		signal_label.flush(&book, window, &sink);
	}
	assert_int_equal(written, 2 + 8 * (LABEL_BOOK_MAX / 2));
	assert_int_equal(book.turned_away, 0);
	/* one that others are named by is still there */
	send(&book, 3, 1, "worker-2");
	signal_label.flush(&book, 9, &sink);
	assert_string_equal(last, "PQexec [worker-2]");
	signal_label.release(&book);
}

static void more_in_one_window_are_counted(void **state)
{
	struct label_book book = {0};

	(void)state;
	signal_label.open(&book, NULL);
	for (u64 i = 0; i < LABEL_BOOK_MAX + 5; i++)
		send(&book, 10 + i, 0, "name");
	assert_int_equal(book.turned_away, 5);
	signal_label.release(&book);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(more_labels_come_than_are_kept),
		cmocka_unit_test(more_in_one_window_are_counted),
	};

	return cmocka_run_group_tests_name("label", tests, NULL, NULL);
}
