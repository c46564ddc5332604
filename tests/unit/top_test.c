// SPDX-License-Identifier: Apache-2.0
/* dwell top without a terminal: the model of a window, the rows, their bars, and what keys do. */
#include "unit.h"

#include <locale.h>
#include <stdio.h>
#include <string.h>

#include "../../src/base/clock.h"
#include "../../src/base/text.h"
#include "../../src/top/view.h"

static struct model model;
static struct live live;
static struct view view;
static struct grid grid;

/* --- a host of a few threads --- */

static void add_process(u32 pid, const char *comm, const char *service)
{
	const u64 key[] = {pid, 1};
	struct model_process *process = hash_add(&model.processes, key);

	text_copy(process->comm, sizeof(process->comm), comm);
	text_copy(process->service, sizeof(process->service), service);
}

static void spend(u64 id, u8 state, s64 ns, bool is_end)
{
	const struct model_cause cause = {.thread = id, .state = state, .ns = ns, .count = 1};

	model_add(&model, &cause, is_end);
}

static void name_thread(u64 id, u32 pid, const char *comm)
{
	struct model_thread *thread = model_thread(&model, id);

	thread->pid = pid;
	thread->tid = (u32)id;
	thread->process_start_ns = 1;
	thread->is_told = true;
	text_copy(thread->comm, sizeof(thread->comm), comm);
}

static void begin(u64 window)
{
	model_begin_window(&model, window, window * NS_PER_S, (window + 1) * NS_PER_S);
}

/* db: 2 threads, one on disk; web: one burns; idler: silent in a poll. */
static int set_up(void **state)
{
	(void)state;
	assert_int_equal(model_init(&model), 0);
	live_init(&live);
	view_init(&view);
	grid = (struct grid){0};
	assert_int_equal(grid_init(&grid, 80, 24), 0);
	begin(0);
	spend(10, STATE_CPU, 200 * NS_PER_MS, false);
	spend(10, STATE_BLOCKED_DISK, 800 * NS_PER_MS, true);
	spend(11, STATE_RUNQ_WOKEN, 300 * NS_PER_MS, false);
	spend(11, STATE_BLOCKED_LOCK, 700 * NS_PER_MS, true);
	spend(20, STATE_CPU_USER, NS_PER_S, true);
	spend(30, STATE_BLOCKED_POLL, NS_PER_S, true);
	name_thread(10, 1, "db");
	name_thread(11, 1, "db-io");
	name_thread(20, 2, "web");
	name_thread(30, 3, "idler");
	add_process(1, "db", "database.service");
	add_process(2, "web", "");
	add_process(3, "idler", "");
	model_end_window(&model, 0);
	return 0;
}

static int tear_down(void **state)
{
	(void)state;
	view_close(&view);
	live_close(&live);
	model_free(&model);
	grid_free(&grid);
	return 0;
}

static struct rows rows_of(const struct rows_options *options)
{
	struct rows rows;

	assert_int_equal(rows_make(&model, options, &rows), 0);
	return rows;
}

/* --- rows --- */

static void a_row_is_the_sum_of_its_threads(void **state)
{
	const struct rows_options options = {.by = BY_SERVICE};
	struct rows rows = rows_of(&options);

	(void)state;
	assert_int_equal(rows.count, 3);
	assert_string_equal(rows.items[0].name, "database.service");
	assert_int_equal(rows.items[0].threads, 2);
	assert_int_equal(rows.items[0].ns[PART_CPU], 200 * NS_PER_MS);
	assert_int_equal(rows.items[0].ns[PART_RUNQ], 300 * NS_PER_MS);
	assert_int_equal(rows.items[0].blocked_ns, 1500 * NS_PER_MS);
	assert_int_equal(rows.items[0].busy_ns, 2 * NS_PER_S);
	assert_int_equal(rows.items[0].state, STATE_BLOCKED_DISK);
	assert_int_equal(rows.busiest_ns, 2 * NS_PER_S);
	assert_string_equal(rows.items[2].name, "idler");
	assert_int_equal(rows.items[2].busy_ns, 0);
	rows_free(&rows);
}

static void rows_are_sorted_by_each_column(void **state)
{
	static const struct {
		enum rows_sort sort;
		bool is_reversed;
		const char *first;
	} cases[] = {
		{SORT_BUSY, false, "database.service"},
		{SORT_BUSY, true, "idler"},
		{SORT_CPU, false, "web"},
		{SORT_RUNQ, false, "database.service"},
		{SORT_THREADS, false, "database.service"},
		{SORT_NAME, false, "database.service"},
		{SORT_NAME, true, "web"},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		const struct rows_options options = {.sort = cases[i].sort,
						     .is_reversed = cases[i].is_reversed};
		struct rows rows = rows_of(&options);

		assert_string_equal(rows.items[0].name, cases[i].first);
		rows_free(&rows);
	}
}

static void a_filter_finds_services_names_and_pids(void **state)
{
	static const struct {
		const char *filter;
		size_t count;
	} cases[] = {{"", 3}, {"DATA", 1}, {"db-io", 1}, {"web", 1}, {"3", 1}, {"nothing", 0}};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct rows_options options = {.by = BY_PROCESS};
		struct rows rows;

		text_copy(options.filter, sizeof(options.filter), cases[i].filter);
		rows = rows_of(&options);
		assert_int_equal(rows.count, cases[i].count);
		rows_free(&rows);
	}
}

static void kernel_threads_are_one_line_that_can_be_hidden(void **state)
{
	struct rows_options options = {0};
	struct rows rows;

	(void)state;
	model_thread(&model, 30)->is_kernel = true;
	rows = rows_of(&options);
	assert_int_equal(rows.count, 2);
	assert_int_equal(rows.hidden, 1);
	rows_free(&rows);
	options.has_kernel = true;
	rows = rows_of(&options);
	assert_int_equal(rows.count, 3);
	assert_string_equal(rows.items[2].name, MODEL_KERNEL);
	rows_free(&rows);
}

/* --- windows --- */

static void a_silent_thread_waits_on_as_it_did(void **state)
{
	const struct rows_options options = {.by = BY_THREAD};
	struct rows rows;

	(void)state;
	begin(1);
	spend(20, STATE_CPU_USER, NS_PER_S, true);
	model_end_window(&model, 0);
	rows = rows_of(&options);
	assert_int_equal(rows.count, 4);
	for (size_t i = 0; i < rows.count; i++)
		if (rows.items[i].number == 10)
			assert_int_equal(rows.items[i].ns[PART_DISK], NS_PER_S);
	rows_free(&rows);
}

static void a_thread_of_a_missed_window_waits_as_that_says(void **state)
{
	const struct model_cause cause = {.thread = 20, .state = STATE_BLOCKED_LOCK, .ns = 5};

	(void)state;
	begin(2);
	model_add_missed(&model, &cause, 1);
	model_end_window(&model, 0);
	assert_int_equal(model_thread(&model, 20)->ns[STATE_BLOCKED_LOCK], NS_PER_S);
	assert_int_equal(model_thread(&model, 20)->ns[STATE_CPU_USER], 0);
}

static void an_ended_thread_is_forgotten_after_its_last_window(void **state)
{
	(void)state;
	begin(1);
	spend(20, STATE_CPU_USER, NS_PER_MS, true);
	model_thread(&model, 20)->is_dead = true;
	model_end_window(&model, 0);
	assert_int_equal(model_thread(&model, 20)->ns[STATE_CPU_USER], NS_PER_MS);
	begin(2);
	model_end_window(&model, 0);
	assert_null(model_thread(&model, 20));
}

/* Its last record was lost: its process tells, or the next file, in which all that live have rows.
 */
static void a_thread_that_has_vanished_is_not_shown_for_ever(void **state)
{
	const u64 key[] = {1, 1};

	(void)state;
	((struct model_process *)hash_find(&model.processes, key))->has_ended = true;
	begin(1);
	model_end_window(&model, 0);
	begin(2);
	assert_null(model_thread(&model, 10));
	assert_non_null(model_thread(&model, 20));
	spend(20, STATE_CPU_USER, NS_PER_S, true);
	model_end_window(&model, 2);
	begin(3);
	assert_non_null(model_thread(&model, 20));
	assert_null(model_thread(&model, 30));
	model_end_window(&model, 0);
}

/* The screen was paused: the rows of the file's first window are read with those of a later one. */
static void a_thread_that_ended_during_a_pause_is_not_shown(void **state)
{
	const struct model_cause cause = {.thread = 20, .state = STATE_BLOCKED_LOCK, .ns = 5};

	(void)state;
	begin(40);
	model_add_missed(&model, &cause, 30);
	spend(10, STATE_BLOCKED_DISK, NS_PER_S, true);
	model_end_window(&model, 30);
	assert_true(model_thread(&model, 30)->is_dead);
	assert_false(model_thread(&model, 20)->is_dead);
	assert_false(model_thread(&model, 10)->is_dead);
	assert_int_equal(model_thread(&model, 20)->ns[STATE_BLOCKED_LOCK], NS_PER_S);
}

/* --- bars --- */

static u64 next_random(u64 *seed)
{
	*seed = *seed * 6364136223846793005ULL + 1442695040888963407ULL;
	return *seed >> 33;
}

static void bars_sum_up_to_their_width(void **state)
{
	u64 seed = 1;

	(void)state;
	for (int round = 0; round < 20000; round++) {
		u64 ns[PART_COUNT], sum = 0, busy = 0, whole;
		int width = (int)(next_random(&seed) % 200), cells[PART_COUNT], rest, all = 0;
		bool is_busy_only = round % 2;

		for (enum part part = 0; part < PART_COUNT; part++) {
			ns[part] = next_random(&seed) % 4 ? next_random(&seed) : 0;
			sum += ns[part];
			busy += part_kinds[part].is_busy ? ns[part] : 0;
		}
		whole = is_busy_only ? busy + next_random(&seed) : sum;
		bar_cells(ns, whole, is_busy_only, width, cells, &rest);
		for (enum part part = 0; part < PART_COUNT; part++) {
			double exact = whole ? (double)ns[part] / (double)whole * width : 0;

			all += cells[part];
			if (is_busy_only && !part_kinds[part].is_busy)
				assert_int_equal(cells[part], 0);
			else /* no part is a cell more or less than its share */
				assert_true(cells[part] > exact - 1.001 &&
					    cells[part] < exact + 1.001);
		}
		assert_int_equal(all + rest, width);
		if (!is_busy_only && sum)
			assert_int_equal(rest, 0);
	}
}

/* --- the screen --- */

static const char *line(int y)
{
	static char text[4096];
	FILE *out = fmemopen(text, sizeof(text), "w");
	struct grid one = {.width = grid.width,
			   .height = 1,
			   .cells = grid.cells + (size_t)y * (size_t)grid.width};

	grid_write(&one, 1, out);
	fclose(out);
	return text;
}

static bool has_line(const char *part)
{
	for (int y = 0; y < grid.height; y++)
		if (strstr(line(y), part))
			return true;
	return false;
}

static void draw(void)
{
	view_draw(&view, &model, &live, &grid);
}

static void press(int key)
{
	assert_int_equal(view_press(&view, &model, &live, key), VIEW_STAY);
	draw();
}

static void a_hostile_name_cannot_move_the_cursor(void **state)
{
	(void)state;
	setlocale(LC_CTYPE, "C.UTF-8");
	name_thread(20, 2, "\033[2J\xe4\xb8\xad");
	add_process(2, "\033[2J\xe4\xb8\xad", "");
	draw();
	assert_true(has_line("\\x1b[2J\xe4\xb8\xad "));
	for (int i = 0; i < grid.width * grid.height; i++)
		assert_true(!grid.cells[i].character || grid.cells[i].character >= L' ');
	grid.is_ascii = true;
	draw();
	assert_true(has_line("\\x1b[2J? "));
}

static void keys_sort_filter_open_and_go_back(void **state)
{
	(void)state;
	draw();
	assert_true(strstr(line(4), "database.servic") == line(4));
	press('c');
	assert_true(strstr(line(4), "web") == line(4));
	assert_true(has_line("vCPU%"));
	press('R');
	assert_true(has_line("^CPU%"));
	press('R');
	press('/');
	press('d');
	press('b');
	press(VIEW_KEY_BACK);
	press('a');
	press(VIEW_KEY_ENTER);
	assert_true(strstr(line(4), "database.servic") == line(4));
	assert_string_equal(line(5), "\n");
	press(VIEW_KEY_ENTER);
	assert_true(has_line("service database.service"));
	assert_true(has_line("db-io"));
	press(VIEW_KEY_ENTER);
	assert_true(has_line("thread db"));
	press(VIEW_KEY_ESCAPE);
	press(VIEW_KEY_BACK);
	assert_true(has_line("SERVICE"));
	assert_int_equal(view_press(&view, &model, &live, 's'), VIEW_SAVE);
	assert_int_equal(view_press(&view, &model, &live, 'h'), VIEW_PAGE);
	assert_int_equal(view_press(&view, &model, &live, 'q'), VIEW_QUIT);
}

static void backspace_removes_one_character_of_a_filter(void **state)
{
	(void)state;
	press('/');
	press(0xe9); /* two bytes */
	press('a');
	assert_string_equal(view.options.filter, "\xc3\xa9"
						 "a");
	press(VIEW_KEY_BACK);
	assert_string_equal(view.options.filter, "\xc3\xa9");
	press(0x1f4c8); /* four */
	assert_string_equal(view.options.filter, "\xc3\xa9\xf0\x9f\x93\x88");
	press(VIEW_KEY_BACK);
	press(VIEW_KEY_BACK);
	press(VIEW_KEY_BACK);
	assert_string_equal(view.options.filter, "");
}

static void the_cursor_follows_its_line(void **state)
{
	(void)state;
	draw();
	press(VIEW_KEY_DOWN); /* web, by busy time */
	press('n');
	press('R');
	assert_string_equal(view.rows.items[view.table.cursor].name, "web");
	press(VIEW_KEY_END);
	assert_int_equal(view.table.cursor, 2);
	press(VIEW_KEY_PAGE_UP);
	assert_int_equal(view.table.cursor, 0);
}

static void any_size_can_be_drawn(void **state)
{
	static const int keys[] = {'i', 't', VIEW_KEY_ENTER, VIEW_KEY_ESCAPE, '?'};

	(void)state;
	for (int width = 1; width < 220; width += 13)
		for (int height = 1; height < 70; height += 7)
			for (size_t i = 0; i < sizeof(keys) / sizeof(keys[0]); i++) {
				assert_int_equal(grid_init(&grid, width, height), 0);
				press(keys[i]);
			}
	assert_int_equal(grid_init(&grid, 79, 24), 0);
	draw();
	assert_true(has_line("needs 80x24"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)
		TEST(a_row_is_the_sum_of_its_threads),
		TEST(rows_are_sorted_by_each_column),
		TEST(a_filter_finds_services_names_and_pids),
		TEST(kernel_threads_are_one_line_that_can_be_hidden),
		TEST(a_silent_thread_waits_on_as_it_did),
		TEST(a_thread_of_a_missed_window_waits_as_that_says),
		TEST(an_ended_thread_is_forgotten_after_its_last_window),
		TEST(a_thread_that_has_vanished_is_not_shown_for_ever),
		TEST(a_thread_that_ended_during_a_pause_is_not_shown),
		TEST(bars_sum_up_to_their_width),
		TEST(a_hostile_name_cannot_move_the_cursor),
		TEST(keys_sort_filter_open_and_go_back),
		TEST(backspace_removes_one_character_of_a_filter),
		TEST(the_cursor_follows_its_line),
		TEST(any_size_can_be_drawn),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
