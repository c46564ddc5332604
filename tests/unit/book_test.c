// SPDX-License-Identifier: Apache-2.0
/*
 * The book and what it tells a session: whatever records come, each thread's rows sum to its wall.
 */
#include "unit.h"

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "../../signals/ledger/book.h"
#include "../../records/object/object.h"
#include "../../src/base/carry.h"
#include "../../src/base/clock.h"
#include "../../src/base/hash.h"

/* The sink adds up what it gets, by the thread's id in the session. */
#define THREADS_MAX 70000

struct tally {
	struct sink sink;
	u64 ns[THREADS_MAX], begin_ns[THREADS_MAX], end_ns[THREADS_MAX];
	u64 thread_rows;
	u32 tid[THREADS_MAX], threads[THREADS_MAX];
	bool is_dead[THREADS_MAX];
	u64 rows, highest;
	s64 last[10]; /* of the ledger row of most ns in the last flush */
	u64 by_cause_ns, rest_ns;
	u64 state_count[STATE_COUNT];
	u64 negative_rows, other_rows;
	s64 of_state[THREADS_MAX][STATE_COUNT];
	s64 first_window[STATE_COUNT]; /* what window 0 has of each */
	s64 end_state;		       /* of the last row that has the thread's end */
};

/* What a window has of a thread's cause; opens with its key. */
struct cause_row {
	u64 window, thread, state, call, object, holder;
	/* the key ends here */
	s64 ns, count;
};
#define CAUSE_KEY_BYTES __builtin_offsetof(struct cause_row, ns)

static struct tally tally;
static struct hash causes; /* struct cause_row */
static struct ledger_book *book;
static bool is_hostile; /* records lie: what a file has of a wait is not known */

static void add_cause(const struct cell *cells)
{
	const u64 key[] = {(u64)cells[0].number, (u64)cells[1].number, (u64)cells[2].number,
			   (u64)cells[3].number, (u64)cells[4].number, (u64)cells[5].number};
	struct cause_row *cause = hash_add(&causes, key);

	assert_non_null(cause);
	cause->ns += cells[8].number;
	cause->count += cells[9].number;
}

static void add(struct sink *sink, const struct table *table, const struct cell *cells)
{
	(void)sink;
	if (table == &ledger_tables[0]) {
		u64 id = (u64)cells[0].number;

		assert_true(id && id < THREADS_MAX);
		tally.begin_ns[id] = (u64)cells[5].number;
		tally.end_ns[id] = (u64)cells[6].number;
		tally.thread_rows++;
		tally.tid[id] = (u32)cells[3].number;
		tally.threads[id] = (u32)cells[10].number;
		tally.is_dead[id] = cells[9].number;
		tally.highest = id > tally.highest ? id : tally.highest;
		return;
	}
	if (table != &ledger_tables[1]) {
		tally.other_rows++;
		return;
	}
	add_cause(cells);
	tally.rows++;
	tally.negative_rows += cells[8].number < 0;
	tally.of_state[cells[1].number][cells[2].number] += cells[8].number;
	if (cells[0].number == 0)
		tally.first_window[cells[2].number] += cells[8].number;
	tally.ns[cells[1].number] += (u64)cells[8].number;
	tally.state_count[cells[2].number] += (u64)cells[9].number;
	if (cells[3].number || cells[4].number || cells[5].number)
		tally.by_cause_ns += (u64)cells[8].number;
	else
		tally.rest_ns += (u64)cells[8].number;
	if (cells[10].kind == CELL_NUMBER) {
		tally.end_ns[cells[1].number] = (u64)cells[10].number;
		tally.end_state = cells[2].number;
	}
	if (cells[8].number >= tally.last[8])
		for (int i = 0; i < 10; i++)
			tally.last[i] = cells[i].number;
}

static int start(void **state)
{
	(void)state;
	memset(&tally, 0, sizeof(tally));
	tally.sink.add = add;
	hash_init(&causes, sizeof(struct cause_row), CAUSE_KEY_BYTES, 1000000);
	book = calloc(1, sizeof(*book));
	return !book;
}

static int stop(void **state)
{
	(void)state;
	free(book);
	hash_free(&causes);
	return 0;
}

static void flush(u64 window)
{
	tally.by_cause_ns = tally.rest_ns = tally.rows = 0;
	memset(tally.last, 0, sizeof(tally.last));
	book_flush(book, window, &tally.sink);
	for (u64 id = 1; id <= tally.highest; id++) {
		assert_int_equal(tally.ns[id], tally.end_ns[id] - tally.begin_ns[id]);
		for (int i = 0; i < STATE_COUNT; i++) /* single rows may be; sums are not */
			assert_true(tally.of_state[id][i] >= 0 || is_hostile);
	}
	for (size_t i = 0; i < causes.count; i++) {
		const struct cause_row *cause = hash_item(&causes, i);

		assert_true(cause->ns >= 0 && cause->count >= 0);
	}
}

static struct rec_ledger thread(u32 tid, u64 start_ns)
{
	return (struct rec_ledger){.hdr = {.tgid = 1, .tid = tid, .start_ns = 1},
				   .thread_start_ns = start_ns,
				   .begin_ns = start_ns,
				   .end_ns = start_ns,
				   .threads = 1,
				   .comm = "test"};
}

static void spend(struct rec_ledger *row, int state, u64 ns)
{
	row->ns[state] += ns;
	row->entries[state]++;
	row->end_ns += ns;
}

static void give(const struct rec_ledger *row)
{
	book_on_record(book, &row->hdr);
}

static void parts_keep_their_sum_when_one_shrinks(void **state)
{
	u64 now[3] = {10, 20, 30}, told[3] = {0}, parts[3];

	(void)state;
	carry_parts(now, told, parts, 3);
	assert_int_equal(parts[0] + parts[1] + parts[2], 60);
	now[1] = 5; /* a wait was shorter than it had seemed ... */
	now[2] = 50;
	carry_parts(now, told, parts, 3);
	assert_int_equal(parts[1], 0);
	assert_int_equal(parts[2], 5); /* ... and what came instead is told less */
	now[1] = 25;
	carry_parts(now, told, parts, 3);
	assert_int_equal(parts[0] + parts[1] + parts[2], 20);
	assert_int_equal(told[1], 25); /* all agree again */
	assert_int_equal(told[2], 50);
}

static void difference_since_the_last_window_is_told(void **state)
{
	struct rec_ledger row = thread(7, 1000);

	(void)state;
	spend(&row, STATE_CPU, 100);
	give(&row);
	spend(&row, STATE_BLOCKED_SLEEP, 50);
	give(&row); /* the later one holds */
	flush(0);
	assert_int_equal(tally.ns[1], 150);
	assert_int_equal(tally.rows, 2);
	flush(1);
	assert_int_equal(tally.rows, 0); /* nothing new, nothing told */
	spend(&row, STATE_CPU, 30);
	give(&row);
	flush(2);
	assert_int_equal(tally.rows, 1);
	assert_int_equal(tally.ns[1], 180);
	assert_int_equal(tally.state_count[STATE_CPU], 2);
}

/* Who reads a session while it is written sees so what a silent thread waits for. */
static void end_is_told_by_the_row_of_the_wait_that_lasts(void **state)
{
	struct rec_ledger row = thread(7, 1000);

	(void)state;
	spend(&row, STATE_CPU, 100);
	spend(&row, STATE_BLOCKED_POLL, 50);
	row.open_since_ns = 1100;
	row.open = (struct ledger_cause){.state = STATE_BLOCKED_POLL, .ns = 50, .count = 1};
	give(&row);
	flush(0);
	assert_int_equal(tally.end_state, STATE_BLOCKED_POLL);
	assert_int_equal(tally.end_ns[1], row.end_ns);
	/* One that has just begun has no time yet, and a row nevertheless. */
	spend(&row, STATE_CPU, 30);
	row.open_since_ns = 1180;
	row.open = (struct ledger_cause){.state = STATE_BLOCKED_DISK};
	give(&row);
	flush(1);
	assert_int_equal(tally.end_state, STATE_BLOCKED_DISK);
	assert_int_equal(tally.end_ns[1], row.end_ns);
	assert_int_equal(tally.thread_rows, 1);
}

/* A row that is replaced costs more than one that is added. */
static void thread_itself_is_told_when_it_comes_is_renamed_and_ends(void **state)
{
	struct rec_ledger row = thread(7, 1000);

	(void)state;
	for (u64 window = 0; window < 10; window++) {
		spend(&row, STATE_CPU, 100);
		give(&row);
		flush(window);
	}
	assert_int_equal(tally.thread_rows, 1);
	row.comm[0] = 'T';
	give(&row);
	flush(10);
	assert_int_equal(tally.thread_rows, 2);
	spend(&row, STATE_CPU, 100);
	give(&row);
	flush(11);
	assert_int_equal(tally.thread_rows, 2);
	book_close(book, &tally.sink);
	book_close(book, &tally.sink); /* nothing is new */
	assert_int_equal(tally.thread_rows, 3);
	for (u64 window = 12; window < 100; window++) {
		spend(&row, STATE_CPU, 100);
		give(&row);
		flush(window);
	}
	assert_in_range(tally.thread_rows, 5, 7); /* now and then, for a writer that is killed */
	tally.thread_rows = 0;
	row.flags = LEDGER_LAST;
	give(&row);
	flush(100);
	assert_int_equal(tally.thread_rows, 1);
}

static void causes_are_told_apart_and_the_rest_has_none(void **state)
{
	struct rec_ledger row = thread(7, 1000);

	(void)state;
	spend(&row, STATE_BLOCKED_PIPE, 100);
	row.causes[0] = (struct ledger_cause){.ns = 60,
					      .count = 1,
					      .state = STATE_BLOCKED_PIPE,
					      .call = 1,
					      .object = 5,
					      .waker = 9};
	give(&row);
	flush(0);
	assert_int_equal(tally.by_cause_ns, 60);
	assert_int_equal(tally.rest_ns, 40);
	assert_int_equal(tally.last[4], 5);
	assert_int_equal(tally.last[6], 9);
	/* The same cause in another place of the record is the same cause. */
	spend(&row, STATE_BLOCKED_PIPE, 10);
	row.causes[3] = row.causes[0];
	row.causes[3].ns = 70;
	row.causes[0] = (struct ledger_cause){0};
	give(&row);
	flush(1);
	assert_int_equal(tally.by_cause_ns, 10);
	assert_int_equal(tally.rest_ns, 0);
}

/* In a container each thread has two numbers, and its locks name holders by the inner one. */
static void holders_in_a_container_are_found_at_once(void **state)
{
	enum { COUNT = 20000, INNER = 100000 };
	u64 begin_ns;

	(void)state;
	for (u32 i = 1; i <= COUNT; i++) {
		struct rec_ledger row = thread(i, 1000);

		row.inner_tid = INNER + i;
		spend(&row, STATE_BLOCKED_LOCK, i == 5 ? 200 : 100);
		for (u32 j = 0; j < 16; j++) /* each of another, and so of its own name */
			row.causes[j] = (struct ledger_cause){.ns = i == 5 && !j ? 100 : 5,
							      .count = 1,
							      .state = STATE_BLOCKED_LOCK,
							      .call = 1,
							      .object = j + 1,
							      .holder = INNER + COUNT - j};
		give(&row);
	}
	begin_ns = clock_now_ns();
	flush(0);
	/* To go through all threads for each of 320,000 causes takes a minute and more. */
	assert_true(clock_now_ns() - begin_ns < 10 * NS_PER_S);
	assert_int_equal(tally.last[8], 100);
	assert_int_equal(tally.last[5], COUNT);
}

static void cause_that_shrinks_is_carried(void **state)
{
	struct rec_ledger row = thread(7, 1000);

	(void)state;
	spend(&row, STATE_BLOCKED_PIPE, 100);
	row.causes[0] = (struct ledger_cause){
		.ns = 100, .count = 2, .state = STATE_BLOCKED_PIPE, .call = 1};
	give(&row);
	flush(0);
	spend(&row, STATE_BLOCKED_PIPE, 10);
	row.causes[0].ns = 90;
	row.causes[0].count = 1;
	give(&row);
	flush(1);
	assert_int_equal(tally.by_cause_ns, 0);
	assert_int_equal(tally.rest_ns, 10);
	spend(&row, STATE_BLOCKED_PIPE, 30);
	row.causes[0].ns = 120;
	give(&row);
	flush(2);
	assert_int_equal(tally.by_cause_ns, 20);
	assert_int_equal(tally.rest_ns, 10);
}

/* Who ran instead has no call, object or holder: it is the name of the rest as well. */
static void waker_of_a_nameless_cause_is_kept(void **state)
{
	struct rec_ledger row = thread(7, 1000);

	(void)state;
	spend(&row, STATE_RUNQ_PREEMPTED, 100);
	row.causes[0] = (struct ledger_cause){.ns = 60,
					      .count = 1,
					      .state = STATE_RUNQ_PREEMPTED,
					      .waker = 9,
					      .waker_kind = WAKER_RAN};
	give(&row);
	flush(0);
	assert_int_equal(tally.rows, 1);
	assert_int_equal(tally.last[6], 9);
	assert_int_equal(tally.last[8], 100);
}

/* Told in window 0, asleep until 5: the silence stands in 4, and what came after it in 5. */
static void silence_has_a_row_of_its_own(void **state)
{
	struct rec_ledger row = thread(7, clock_now_ns());
	u64 silent_ns;

	(void)state;
	spend(&row, STATE_BLOCKED_SLEEP, 10);
	row.open_state = STATE_BLOCKED_SLEEP;
	row.open_since_ns = row.begin_ns;
	row.open = (struct ledger_cause){
		.ns = 10, .count = 1, .state = STATE_BLOCKED_SLEEP, .call = 36};
	give(&row);
	for (u64 window = 0; window < 5; window++)
		flush(window);
	silent_ns = book->flushed_ns - row.end_ns;
	spend(&row, STATE_BLOCKED_SLEEP, silent_ns + 20);
	row.settled = row.causes[1] = row.open;
	row.settled_since_ns = row.open_since_ns;
	row.causes[1].ns = silent_ns + 30;
	row.causes[1].count = 2;
	spend(&row, STATE_CPU, 5);
	row.open_state = STATE_CPU;
	row.open_since_ns = 0;
	give(&row);
	flush(5);
	assert_int_equal(tally.rows, 3);
	assert_int_equal(tally.by_cause_ns, silent_ns + 20);
	assert_int_equal(tally.last[0], 4);
	assert_int_equal(tally.last[3], 36);
	assert_int_equal(tally.last[8], silent_ns);
}

/* Written as a poll in window 0, and ended by its peer in 5: then it was that from the beginning.
 */
static void wait_gets_the_name_by_which_it_ended(void **state)
{
	struct rec_ledger row = thread(7, clock_now_ns());
	u64 silent_ns;

	(void)state;
	spend(&row, STATE_BLOCKED_POLL, 10);
	row.open_since_ns = row.begin_ns;
	row.open =
		(struct ledger_cause){.ns = 10, .count = 1, .state = STATE_BLOCKED_POLL, .call = 8};
	give(&row);
	for (u64 window = 0; window < 5; window++)
		flush(window);
	assert_int_equal(tally.first_window[STATE_BLOCKED_POLL], 10);
	silent_ns = book->flushed_ns - row.end_ns;
	row.ns[STATE_BLOCKED_POLL] = row.entries[STATE_BLOCKED_POLL] = 0;
	spend(&row, STATE_BLOCKED_NET, silent_ns + 30);
	row.end_ns -= 10; /* which it had before */
	row.causes[3] = (struct ledger_cause){.ns = silent_ns + 30,
					      .count = 1,
					      .state = STATE_BLOCKED_NET,
					      .call = 8,
					      .object = 5};
	row.settled = row.causes[3];
	row.settled_since_ns = row.open_since_ns;
	row.open_since_ns = 0;
	give(&row);
	flush(5);
	assert_int_equal(tally.negative_rows, 1);
	assert_int_equal(tally.first_window[STATE_BLOCKED_POLL], 0);
	assert_int_equal(tally.first_window[STATE_BLOCKED_NET], 10);
	assert_int_equal(tally.of_state[1][STATE_BLOCKED_POLL], 0);
	assert_int_equal(tally.of_state[1][STATE_BLOCKED_NET], silent_ns + 30);
	assert_int_equal(tally.state_count[STATE_BLOCKED_POLL], 0);
	assert_int_equal(tally.state_count[STATE_BLOCKED_NET], 1);
}

static void reused_tid_is_another_thread(void **state)
{
	struct rec_ledger first = thread(7, 1000), second = thread(7, 5000);

	(void)state;
	spend(&first, STATE_CPU, 100);
	first.flags = LEDGER_LAST;
	give(&first);
	spend(&second, STATE_CPU, 30);
	give(&second);
	flush(0);
	assert_int_equal(tally.highest, 2);
	assert_int_equal(book->count, 1); /* the dead one has left */
	spend(&second, STATE_CPU, 30);
	give(&second);
	flush(1);
	assert_int_equal(tally.highest, 2);
	assert_int_equal(tally.ns[1] + tally.ns[2], 160);
}

static void last_word_holds(void **state)
{
	struct rec_ledger row = thread(7, 1000), early = row;

	(void)state;
	spend(&early, STATE_CPU, 50);
	spend(&row, STATE_CPU, 100);
	row.flags = LEDGER_LAST;
	give(&row);
	give(&early); /* read before, arrived after */
	flush(0);
	assert_int_equal(tally.ns[1], 100);
	assert_int_equal(book->count, 0);
}

/* Read by one CPU while another one, whose clock was read before, ends it. */
static void last_word_may_end_before_what_was_read(void **state)
{
	struct rec_ledger row = thread(7, 1000), read;

	(void)state;
	spend(&row, STATE_CPU, 100);
	spend(&row, STATE_RUNQ_PREEMPTED, 1);
	read = row;
	read.ns[STATE_RUNQ_PREEMPTED] += 5;
	read.end_ns += 5;
	read.open_state = STATE_RUNQ_PREEMPTED;
	give(&read);
	flush(0);
	row.flags = LEDGER_LAST;
	give(&row);
	flush(1);
	assert_int_equal(tally.ns[1], 106);
	assert_int_equal(tally.end_ns[1], 1106);
	assert_true(tally.is_dead[1]);
	assert_int_equal(tally.negative_rows, 0);
	assert_int_equal(book->count, 0);
}

static void sums_stand_for_lost_threads_by_process(void **state)
{
	struct rec_ledger sum = {
		.hdr = {.tgid = 3, .start_ns = 5}, .flags = LEDGER_SUM, .threads = 4};

	(void)state;
	spend(&sum, STATE_UNATTRIBUTED, 400);
	give(&sum);
	sum.hdr.start_ns = 6; /* another process with the same pid */
	sum.threads = 2;
	give(&sum);
	flush(0);
	assert_int_equal(tally.highest, 2);
	assert_int_equal(tally.threads[1] + tally.threads[2], 6);
	spend(&sum, STATE_UNATTRIBUTED, 50);
	sum.threads = 3;
	give(&sum);
	flush(1);
	assert_int_equal(tally.ns[1] + tally.ns[2], 850);
}

/* Records as a hostile or torn kernel side might send them; only ends and sums are kept true. */
static void disturb(struct rec_ledger *row)
{
	int from = rand() % STATE_COUNT, to = rand() % STATE_COUNT;
	u64 moved = row->ns[from] ? (u64)rand() % row->ns[from] : 0;
	struct ledger_cause *cause = &row->causes[rand() % CAUSES_MAX];

	row->ns[from] -= moved;
	row->ns[to] += moved;
	*cause = (struct ledger_cause){.ns = (u64)rand() % 2000,
				       .count = (u32)rand() % 5,
				       .state = (u8)(rand() % (STATE_COUNT + 2)),
				       .call = (u16)(rand() % 3),
				       .object = (u64)rand() % 3,
				       .holder = (u32)rand() % 2};
	row->open_state = (u32)rand() % (STATE_COUNT + 2);
	row->open = row->causes[rand() % CAUSES_MAX];
	row->settled = row->causes[rand() % CAUSES_MAX];
	row->open_since_ns = (u64)rand() % 3;
	row->settled_since_ns = (u64)rand() % 3;
	row->rivals_ns = (u64)rand() % 100;
	row->rivals[rand() % RIVALS_MAX].ns = (u64)rand() % 100;
	row->turns.long_count = (u64)rand() % 10;
}

static void rows_sum_to_the_wall_whatever_comes(void **state)
{
	static struct rec_ledger rows[50];

	(void)state;
	srand(3);
	for (u32 i = 0; i < 50; i++)
		rows[i] = thread(i + 1, 1000 + i);
	for (u64 round = 0; round < 2000; round++) {
		struct rec_ledger *row = &rows[rand() % 50];

		spend(row, rand() % STATE_COUNT, (u64)rand() % 1000);
		if (rand() % 2)
			disturb(row);
		if (rand() % 20 == 0)
			row->flags = LEDGER_LAST;
		give(row);
		if (row->flags & LEDGER_LAST) { /* its tid is another's now */
			*row = thread(row->hdr.tid, 2000 + round);
		}
		if (rand() % 5 == 0)
			flush(round);
	}
	flush(3000);
	assert_true(tally.highest > 100);
	assert_in_range(book->count, 1, 50);
}

static void twenty_thousand_threads_come_and_go(void **state)
{
	(void)state;
	for (u64 window = 0; window < 3; window++) {
		for (u32 i = 0; i < 20000; i++) {
			struct rec_ledger row = thread(i + 1, 1000 + window);

			spend(&row, STATE_CPU, i);
			row.flags = i % 10 ? LEDGER_LAST : 0;
			give(&row);
		}
		flush(window);
		assert_int_equal(book->count, 2000 * (window + 1));
	}
	assert_int_equal(tally.highest, 60000);
}

static int count_pages(const void *begin, const void *end)
{
	uintptr_t page = (uintptr_t)sysconf(_SC_PAGESIZE);
	int count = 0;

	for (uintptr_t at = (uintptr_t)begin & ~(page - 1); at < (uintptr_t)end; at += page) {
		unsigned char is_there;

		assert_int_equal(mincore((void *)at, page, &is_there), 0);
		count += is_there & 1;
	}
	return count;
}

static int pages_of_rows(void)
{
	return count_pages(&book->rows[0], &book->rows[LEDGER_ROWS_MAX]) +
	       count_pages(&book->written[0], &book->written[LEDGER_ROWS_MAX]);
}

/*
 * Of 10,000 threads each tenth lives on; then 10,000 others come and go. Before they are written
 * they have rows only.
 */
static void pages_of_threads_that_ended_are_given_back(void **state)
{
	const int per_row = sizeof(struct rec_ledger) + sizeof(struct ledger_written);
	int most = (int)(1000L * per_row / sysconf(_SC_PAGESIZE));
	int rows = (int)(9000L * (long)sizeof(struct rec_ledger) / sysconf(_SC_PAGESIZE));

	(void)state;
	for (u64 window = 0; window < 2; window++) {
		for (u32 i = 0; i < 10000; i++) {
			struct rec_ledger row = thread(i + 1, 1000 + window);

			spend(&row, STATE_CPU, 5);
			row.flags = window || i % 10 ? LEDGER_LAST : 0;
			give(&row);
		}
		assert_in_range(pages_of_rows(), rows, rows + 2 * most);
		flush(window);
		assert_int_equal(book->count, 1000);
		assert_in_range(pages_of_rows(), most,
				most + 6); /* begin and end of each share theirs */
	}
}

/* The next file: nothing is in it, but the ids that threads have. */
static void renew(u64 window)
{
	u64 highest = tally.highest;

	book_renew(book, window, &tally.sink);
	for (u64 id = 1; id <= tally.highest; id++)
		assert_int_equal(tally.ns[id], tally.end_ns[id] - tally.begin_ns[id]);
	memset(&tally, 0, sizeof(tally));
	tally.sink.add = add;
	tally.highest = highest;
}

static void next_file_begins_where_a_thread_ends_in_the_last(void **state)
{
	struct rec_ledger row = thread(1, 100);
	struct rec_ledger silent = thread(2, 50);
	u64 id;

	(void)state;
	row.voluntary = 7;
	spend(&row, STATE_CPU, 30);
	spend(&silent, STATE_BLOCKED_SLEEP, 80);
	give(&row);
	give(&silent);
	flush(0);
	id = tally.tid[1] == 1 ? 1 : 2;
	assert_int_equal(tally.end_ns[id], 130);
	renew(1);
	spend(&row, STATE_CPU, 5);
	spend(&row, STATE_BLOCKED_SLEEP, 15);
	give(&row);
	flush(1);
	assert_int_equal(tally.tid[id], 1);
	assert_int_equal(tally.begin_ns[id], 130);
	assert_int_equal(tally.end_ns[id], 150);
	assert_int_equal(tally.of_state[id][STATE_CPU], 5);
	assert_int_equal(tally.of_state[id][STATE_BLOCKED_SLEEP], 15);
	row.flags |= LEDGER_LAST;
	give(&row);
	flush(2);
	assert_int_equal(book->count, 1);
}

/* A wait that lasts over the end of a file: both have their part of it, and no window is renamed.
 */
static void wait_over_the_end_of_a_file_is_in_both(void **state)
{
	struct rec_ledger row = thread(1, 100);

	(void)state;
	spend(&row, STATE_BLOCKED_POLL, 40);
	row.open = (struct ledger_cause){.state = STATE_BLOCKED_POLL, .ns = 40, .count = 1};
	row.open_since_ns = 100;
	give(&row);
	flush(0);
	assert_int_equal(tally.of_state[1][STATE_BLOCKED_POLL], 40);
	renew(1);
	/* It ends under another name, of which it has been told by one 10 later. */
	row.ns[STATE_BLOCKED_POLL] = 0;
	row.entries[STATE_BLOCKED_POLL] = 0;
	row.ns[STATE_BLOCKED_LOCK] = 50;
	row.entries[STATE_BLOCKED_LOCK] = 1;
	row.end_ns += 10;
	row.open_since_ns = 0;
	row.settled_since_ns = 100;
	row.settled = (struct ledger_cause){.state = STATE_BLOCKED_LOCK, .ns = 50, .count = 1};
	give(&row);
	flush(1);
	assert_int_equal(tally.negative_rows, 0);
	assert_int_equal(tally.of_state[1][STATE_BLOCKED_LOCK], 10);
	assert_int_equal(tally.state_count[STATE_BLOCKED_LOCK], 0); /* the first file has it */
	spend(&row, STATE_BLOCKED_POLL, 3);
	give(&row);
	flush(2);
	assert_int_equal(tally.of_state[1][STATE_BLOCKED_POLL], 3);
}

static void files_sum_to_the_wall_whatever_comes(void **state)
{
	struct rec_ledger rows[8];
	u64 wall = 0, told = 0;

	(void)state;
	is_hostile = true;
	for (u32 i = 0; i < 8; i++)
		rows[i] = thread(1 + i, 1000 + i);
	for (u64 window = 0; window < 4000; window++) {
		bool ends_file = rand() % 4 == 0; /* then each is read */

		for (int i = 0; i < 8; i++)
			if (ends_file || rand() % 3) {
				spend(&rows[i], rand() % STATE_COUNT, (u64)rand() % 1000);
				if (rand() % 2)
					disturb(&rows[i]);
				give(&rows[i]);
			}
		flush(window);
		if (!ends_file)
			continue;
		for (u64 id = 1; id <= tally.highest; id++)
			told += tally.ns[id];
		renew(window + 1);
	}
	for (u64 id = 1; id <= tally.highest; id++)
		told += tally.ns[id];
	for (u64 i = 0; i < book->count; i++)
		wall += book->rows[i].end_ns - book->rows[i].begin_ns;
	assert_int_equal(told, wall);
	is_hostile = false;
}

/* Some last words are lost, in each file: these threads do not fill the book. */
static void threads_that_vanish_are_forgotten(void **state)
{
	struct rec_ledger lasting = thread(1, 100);

	(void)state;
	for (u32 file = 0; file < 50; file++) {
		for (u32 i = 0; i < 10; i++) {
			struct rec_ledger lost = thread(1000 + 10 * file + i, 200 + file);

			spend(&lost, STATE_CPU, 5);
			give(&lost);
		}
		spend(&lasting, STATE_BLOCKED_SLEEP, 50);
		give(&lasting);
		flush(3 * file);
		flush(3 * file + 1);
		spend(&lasting, STATE_BLOCKED_SLEEP, 50);
		give(&lasting);
		flush(3 * file + 2);
		assert_true(book->count <= 1 + 10 * (LEDGER_ABSENT_FILES + 1));
		renew(3 * file + 3);
	}
	assert_int_equal(book->vanished, 10 * (50 - LEDGER_ABSENT_FILES));
	give(&lasting);
	flush(1000);
	assert_int_equal(tally.ns[1] + tally.ns[11], 0); /* it was told, up to its last row */
}

/* It is read at both ends of each file, and its time between is a row of its own. */
static void wait_over_many_files_is_renamed_in_the_last_only(void **state)
{
	struct rec_ledger row = thread(1, 100);
	u64 window = 0;

	(void)state;
	row.open_since_ns = 100;
	row.entries[STATE_BLOCKED_POLL] = 1;
	for (int file = 0; file < 5; file++) {
		for (int i = 0; i < 3; i++, window += 4) {
			row.ns[STATE_BLOCKED_POLL] += 40;
			row.end_ns += 40;
			row.open = (struct ledger_cause){.state = STATE_BLOCKED_POLL,
							 .ns = row.ns[STATE_BLOCKED_POLL],
							 .count = 1};
			if (i == 1)
				continue;
			give(&row);
			flush(window);
		}
		if (file < 4)
			renew(window);
	}
	row.ns[STATE_BLOCKED_LOCK] = row.ns[STATE_BLOCKED_POLL];
	row.ns[STATE_BLOCKED_POLL] = 0;
	row.entries[STATE_BLOCKED_LOCK] = 1;
	row.entries[STATE_BLOCKED_POLL] = 0;
	row.open_since_ns = 0;
	row.settled_since_ns = 100;
	row.settled = (struct ledger_cause){
		.state = STATE_BLOCKED_LOCK, .ns = row.ns[STATE_BLOCKED_LOCK], .count = 1};
	give(&row);
	flush(window);
	assert_int_equal(tally.of_state[1][STATE_BLOCKED_POLL], 0);
	assert_int_equal(tally.of_state[1][STATE_BLOCKED_LOCK], 120);
}

static void full_book_folds_the_dead_and_lets_the_living_wait(void **state)
{
	u64 waits;

	(void)state;
	for (u32 i = 0; i < LEDGER_ROWS_MAX + 100; i++) {
		struct rec_ledger row = thread(i + 1, 1000);

		spend(&row, STATE_CPU, 10);
		row.flags = i >= LEDGER_ROWS_MAX + 50 ? LEDGER_LAST : 0;
		give(&row);
	}
	waits = book->turned_away;
	flush(0);
	assert_int_equal(waits, 50);
	assert_int_equal(book->folded, 50);
	assert_int_equal(tally.ns[tally.highest], 500); /* all of the folded, as one */
	assert_int_equal(tally.threads[tally.highest], 50);
	for (u32 i = 0; i < 100; i++) { /* room is made, and a waiting one brings all its time */
		struct rec_ledger row = thread(i + 1, 1000);

		spend(&row, STATE_CPU, 10);
		row.flags = LEDGER_LAST;
		give(&row);
	}
	flush(1);
	struct rec_ledger waiting = thread(LEDGER_ROWS_MAX + 1, 1000);

	spend(&waiting, STATE_CPU, 99);
	give(&waiting);
	flush(2);
	assert_int_equal(tally.ns[tally.highest], 99);
}

static void objects_have_names_that_people_read(void **state)
{
	const struct {
		struct rec_object object;
		const char *name;
	} cases[] = {
		{{.kind = OBJECT_FILE, .name = "/etc/hosts"}, "/etc/hosts"},
		{{.kind = OBJECT_FILE, .name = "/deep/file", .is_cut = 1}, "…/deep/file"},
		{{.kind = OBJECT_FILE, .name = "\xa4r/x", .is_cut = 1}, "…r/x"},
		{{.kind = OBJECT_FILE, .name = "\xa4r/x"}, "\xa4r/x"},
		{{.kind = OBJECT_FILE, .name = "old/new", .name_at = 3}, "/new"},
		{{.kind = OBJECT_FILE, .inode = 9, .name = "x", .name_at = NAME_BYTES}, "file:[9]"},
		{{.kind = OBJECT_PIPE, .inode = 42}, "pipe:[42]"},
		{{.kind = OBJECT_DEVICE, .name = "tty1"}, "tty1"},
		{{.kind = OBJECT_TCP, .family = 2, .port = 5432, .address = {127, 0, 0, 1}},
		 "127.0.0.1:5432"},
		{{.kind = OBJECT_TCP, .family = 2, .port = 80, .is_listening = 1},
		 "listening on 0.0.0.0:80"},
		{{.kind = OBJECT_TCP, .family = 10, .port = 80, .address = {[15] = 1}}, "[::1]:80"},
		{{.kind = OBJECT_UNIX, .inode = 9, .peer_pid = 3}, "unix:[9] of pid 3"},
		{{.kind = OBJECT_UNIX, .inode = 9}, "unix:[9]"},
		{{.kind = 999, .inode = 9}, "object:[9]"},
	};
	char name[OBJECT_NAME_BYTES];

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		object_name(&cases[i].object, name, sizeof(name));
		assert_string_equal(name, cases[i].name);
	}
}

#define BOOK_TEST(name) cmocka_unit_test_setup_teardown(name, start, stop)

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(parts_keep_their_sum_when_one_shrinks),
		BOOK_TEST(difference_since_the_last_window_is_told),
		BOOK_TEST(end_is_told_by_the_row_of_the_wait_that_lasts),
		BOOK_TEST(thread_itself_is_told_when_it_comes_is_renamed_and_ends),
		BOOK_TEST(causes_are_told_apart_and_the_rest_has_none),
		BOOK_TEST(holders_in_a_container_are_found_at_once),
		BOOK_TEST(cause_that_shrinks_is_carried),
		BOOK_TEST(waker_of_a_nameless_cause_is_kept),
		BOOK_TEST(silence_has_a_row_of_its_own),
		BOOK_TEST(wait_gets_the_name_by_which_it_ended),
		BOOK_TEST(reused_tid_is_another_thread),
		BOOK_TEST(last_word_holds),
		BOOK_TEST(last_word_may_end_before_what_was_read),
		BOOK_TEST(sums_stand_for_lost_threads_by_process),
		BOOK_TEST(rows_sum_to_the_wall_whatever_comes),
		BOOK_TEST(twenty_thousand_threads_come_and_go),
		BOOK_TEST(pages_of_threads_that_ended_are_given_back),
		BOOK_TEST(next_file_begins_where_a_thread_ends_in_the_last),
		BOOK_TEST(wait_over_the_end_of_a_file_is_in_both),
		BOOK_TEST(files_sum_to_the_wall_whatever_comes),
		BOOK_TEST(threads_that_vanish_are_forgotten),
		BOOK_TEST(wait_over_many_files_is_renamed_in_the_last_only),
		BOOK_TEST(full_book_folds_the_dead_and_lets_the_living_wait),
		cmocka_unit_test(objects_have_names_that_people_read),
	};

	return cmocka_run_group_tests_name("book", tests, NULL, NULL);
}
