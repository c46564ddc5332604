// SPDX-License-Identifier: Apache-2.0
/*
 * What the worker keeps of processes, and writes: records in, rows of a fake sink out.
 */
#include "unit.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../../signals/process/process.h"
#include "../../src/model/signal.h"

#define ROWS_MAX 64

/* A row as text: "pid start parent comm exe …", NULL as "-". */
struct fake_sink {
	struct sink sink;
	int processes, execs;
	char rows[ROWS_MAX][600];
};

static struct process_book *book;
static struct fake_sink out;

static void keep_row(struct sink *sink, const struct table *table, const struct cell *cells)
{
	struct fake_sink *fake = (struct fake_sink *)sink;
	char *text = fake->rows[fake->processes + fake->execs];
	size_t used = 0;

	assert_true(fake->processes + fake->execs < ROWS_MAX);
	for (size_t i = 0; i < table->width; i++) {
		char number[32];

		snprintf(number, sizeof(number), "%lld", (long long)cells[i].number);
		used += (size_t)snprintf(text + used, 600 - used, "%s%.*s", i ? " " : "",
					 cells[i].kind == CELL_TEXT ? (int)cells[i].length : 30,
					 cells[i].kind == CELL_TEXT	? cells[i].text
					 : cells[i].kind == CELL_NUMBER ? number
									: "-");
		assert_true(used < 600);
	}
	if (!strcmp(table->name, "processes"))
		fake->processes++;
	else
		fake->execs++;
}

static int start(void **state)
{
	(void)state;
	free(book);
	book = calloc(1, sizeof(*book));
	out = (struct fake_sink){.sink.add = keep_row};
	return book ? 0 : -1;
}

static struct rec_process record(u32 event, u32 pid, u32 parent, const char *comm)
{
	struct rec_process rec = {
		.hdr = {.ts_ns = 1000 + pid, .tgid = pid, .tid = pid, .start_ns = 10ULL * pid},
		.event = event,
		.parent = parent,
		.uid = 7,
		.pid_ns = 1,
		.mnt_ns = 2,
		.net_ns = 3,
	};

	snprintf((char *)rec.comm, sizeof(rec.comm), "%s", comm);
	return rec;
}

static void take(struct rec_process rec)
{
	signal_process.on_record(book, &rec.hdr);
}

static void take_exec(u32 pid, u32 parent, const char *exe)
{
	struct rec_process rec = record(PROCESS_EXECED, pid, parent, "new");

	snprintf((char *)rec.exe, sizeof(rec.exe), "%s", exe);
	take(rec);
}

static void flush(void)
{
	out.processes = out.execs = 0;
	signal_process.flush(book, 0, &out.sink);
}

/* As if the privileged process had found it. */
static void know_path(u64 cgroup, const char *path)
{
	book->paths[book->path_count].cgroup = cgroup;
	snprintf(book->paths[book->path_count++].path, CGROUP_PATH_BYTES, "%s", path);
}

static void life_of_a_process_is_one_row(void **state)
{
	struct rec_process end = record(PROCESS_ENDED, 4000001, 1, "new");

	(void)state;
	take(record(PROCESS_FORKED, 4000001, 1, "old"));
	take_exec(4000001, 1, "/usr/bin/new");
	flush();
	assert_int_equal(out.processes, 1);
	assert_int_equal(out.execs, 1);
	assert_string_equal(out.rows[0],
			    "4000001 40000010 1 new /usr/bin/new 7 - - - - new 1 2 3 0 - -");
	assert_string_equal(out.rows[1], "4001001 4000001 40000010 1 /usr/bin/new");
	end.exit_code = 256;
	take(end);
	flush();
	assert_int_equal(out.processes, 1);
	assert_string_equal(
		out.rows[0],
		"4000001 40000010 1 new /usr/bin/new 7 - - - - new 1 2 3 0 256 4001001");
	flush();
	assert_int_equal(out.processes + out.execs, 0);
}

static void what_did_not_change_is_not_written(void **state)
{
	(void)state;
	take(record(PROCESS_SEEN, 4000001, 1, "a"));
	flush();
	assert_int_equal(out.processes, 1);
	flush();
	assert_int_equal(out.processes, 0);
	assert_int_equal(book->known, 1);
}

static void late_row_of_the_iterator_does_not_revive(void **state)
{
	(void)state;
	take(record(PROCESS_ENDED, 4000001, 1, "a"));
	flush();
	take(record(PROCESS_SEEN, 4000001, 1, "a"));
	flush();
	assert_int_equal(out.processes, 0);
	assert_int_equal(book->known, 0);
}

static void pid_may_be_used_again(void **state)
{
	struct rec_process again = record(PROCESS_FORKED, 4000001, 1, "b");

	(void)state;
	take(record(PROCESS_FORKED, 4000001, 1, "a"));
	again.hdr.start_ns = 99;
	take(again);
	flush();
	assert_int_equal(out.processes, 2);
	assert_int_equal(book->known, 2);
}

static void child_inherits_until_it_execs(void **state)
{
	struct rec_process parent = record(PROCESS_SEEN, 4000001, 1, "sh");
	struct rec_process child = record(PROCESS_FORKED, 4000002, 4000001, "sh");

	(void)state;
	know_path(77, "/system.slice/cron.service");
	parent.cgroup = child.cgroup = 77;
	snprintf((char *)parent.exe, sizeof(parent.exe), "/bin/sh");
	take(parent);
	take(child);
	flush();
	assert_int_equal(out.processes, 2);
	assert_string_equal(out.rows[1], "4000002 40000020 4000001 sh /bin/sh 7 "
					 "/system.slice/cron.service - cron.service - "
					 "cron.service 1 2 3 0 - -");
}

static void move_is_noticed(void **state)
{
	struct rec_process rec = record(PROCESS_FORKED, 4000001, 1, "a");

	(void)state;
	know_path(77, "/a.service");
	know_path(78, "/b.service");
	rec.cgroup = 77;
	take(rec);
	flush();
	assert_non_null(strstr(out.rows[0], "/a.service"));
	rec.event = PROCESS_EXECED;
	rec.cgroup = 78;
	take(rec);
	flush();
	assert_non_null(strstr(out.rows[0], "/b.service"));
}

static void text_of_an_enemy_is_bounded(void **state)
{
	struct rec_process rec = record(PROCESS_EXECED, 4000001, 1, "");

	(void)state;
	memset(rec.comm, 'c', sizeof(rec.comm));
	memset(rec.exe, 'e', sizeof(rec.exe));
	take(rec);
	flush();
	assert_non_null(strstr(out.rows[0], " cccccccccccccccc "));
	assert_int_equal(out.execs, 1);
}

static void too_many_are_counted(void **state)
{

	(void)state;
	for (u32 i = 0; i < PROCESSES_MAX + 5; i++)
		take(record(PROCESS_FORKED, i + 1, 0, "a"));
	assert_int_equal(book->known, PROCESSES_MAX);
	assert_int_equal(book->not_kept, 5);
	for (u32 i = 0; i < EXECS_MAX + 3; i++)
		take_exec(1, 0, "/x");
	assert_int_equal(book->execs_lost, 3);
}

static void places_of_the_dead_are_used_again(void **state)
{
	(void)state;
	for (u32 round = 0; round < 3; round++) {
		for (u32 i = 1; i <= 20; i++)
			take(record(PROCESS_FORKED, 4000000 + 100 * round + i, 0, "a"));
		for (u32 i = 1; i <= 20; i++)
			take(record(PROCESS_ENDED, 4000000 + 100 * round + i, 0, "a"));
		flush();
		assert_int_equal(out.processes, 20);
		flush();
		assert_int_equal(book->known, 0);
	}
	assert_int_equal(book->high_water, 20);
}

static void most_telling_line_is_picked(void **state)
{
	char path[64];

	(void)state;
	assert_false(cgroup_pick_path("", path, sizeof(path)));
	assert_false(cgroup_pick_path("3:cpu:/\n0::/\n", path, sizeof(path)));
	assert_true(cgroup_pick_path("4:memory:/docker/abc\n3:cpu:/\n1:name=systemd:/x\n0::/\n",
				     path, sizeof(path)));
	assert_string_equal(path, "/docker/abc");
	assert_false(cgroup_pick_path("no line at all", path, sizeof(path)));
	assert_true(cgroup_pick_path("0::/ab\n1:cpu:/abcdef", path, 4)); /* the other has no room */
	assert_string_equal(path, "/ab");
}

static struct rec_process record_in(u32 pid, u64 cgroup)
{
	struct rec_process rec = record(PROCESS_SEEN, pid, 1, "one");

	rec.cgroup = cgroup;
	return rec;
}

static void cgroups_are_asked_for_once_and_taken(void **state)
{
	const struct cgroup_found found = {.id = 77, .path = "/a.slice"};
	struct cgroup_want wants[8];

	(void)state;
	take(record_in(4000001, 77));
	take(record_in(4000002, 77));
	take(record_in(4000003, 78));
	assert_int_equal(process_want_cgroups(book, false, wants, 8), 2);
	assert_int_equal(wants[0].id, 77);
	assert_int_equal(wants[0].pid, 0);
	assert_int_equal(wants[1].id, 78);
	assert_int_equal(process_want_cgroups(book, false, wants, 8), 0);
	process_take_cgroup(book, &found);
	flush();
	assert_int_equal(out.processes, 3);
	assert_non_null(strstr(out.rows[0], "/a.slice"));
	assert_non_null(strstr(out.rows[1], "/a.slice"));
	assert_null(strstr(out.rows[2], "slice"));
	assert_int_equal(process_want_cgroups(book, false, wants, 8), 0);
}

static void processes_are_asked_where_trees_are_v1(void **state)
{
	const struct cgroup_found root = {.id = 1, .path = "/"},
				  one = {.pid = 4000001, .path = "/docker/abc"},
				  other = {.pid = 4000003, .path = "/docker/abc"};
	struct cgroup_want wants[8];

	(void)state;
	take(record_in(4000001, 1));
	take(record_in(4000002, 1));
	assert_int_equal(process_want_cgroups(book, true, wants, 1), 1);
	assert_int_equal(wants[0].pid, 4000001);
	assert_int_equal(process_want_cgroups(book, true, wants, 8), 1);
	assert_int_equal(wants[0].pid, 4000002);
	assert_int_equal(wants[0].id, 1); /* the answer is not there yet */
	process_take_cgroup(book, &root);
	process_take_cgroup(book, &one);
	process_take_cgroup(book, &other);
	flush();
	assert_non_null(strstr(out.rows[0], "/docker/abc"));
	assert_null(strstr(out.rows[1], "docker"));
}

/* The record of its end was lost: it makes room when another process has its number. */
static void process_whose_number_is_used_again_has_ended(void **state)
{
	struct rec_process again = record(PROCESS_FORKED, 50, 1, "second");

	(void)state;
	take(record(PROCESS_FORKED, 50, 1, "first"));
	flush();
	again.hdr.start_ns += 5;
	take(again);
	flush();
	flush();
	assert_int_equal(book->known, 1);
	assert_int_equal(book->vanished, 1);
	assert_int_equal(process_find_pid(book, 50)->start_ns, again.hdr.start_ns);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup(life_of_a_process_is_one_row, start),
		cmocka_unit_test_setup(what_did_not_change_is_not_written, start),
		cmocka_unit_test_setup(late_row_of_the_iterator_does_not_revive, start),
		cmocka_unit_test_setup(pid_may_be_used_again, start),
		cmocka_unit_test_setup(child_inherits_until_it_execs, start),
		cmocka_unit_test_setup(move_is_noticed, start),
		cmocka_unit_test_setup(text_of_an_enemy_is_bounded, start),
		cmocka_unit_test_setup(too_many_are_counted, start),
		cmocka_unit_test_setup(places_of_the_dead_are_used_again, start),
		cmocka_unit_test_setup(process_whose_number_is_used_again_has_ended, start),
		cmocka_unit_test_setup(most_telling_line_is_picked, start),
		cmocka_unit_test_setup(cgroups_are_asked_for_once_and_taken, start),
		cmocka_unit_test_setup(processes_are_asked_where_trees_are_v1, start),
	};

	return cmocka_run_group_tests_name("process", tests, NULL, NULL);
}
