// SPDX-License-Identifier: Apache-2.0
/* Stacks out of a session: sums that can be added up by hand, and sessions that lie. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../../src/base/cleanup.h"
#include "../../src/base/log.h"
#include "../../src/export/export.h"
#include "../../src/model/calltree.h"
#include "../../src/report/format.h"
#include "../../src/report/report.h"
#include "../../src/report/short_name.h"
#include "../../src/report/stacks.h"
#include "../../src/store/profile_reader.h"
#include "session.h"

static const struct profile_filter all = {0};

static void read_stacks(const struct profile_filter *filter, const char *sql,
			struct profile *ret_profile)
{
	sqlite3 *db = session("stacks");

	if (sql)
		execute(db, sql);
	assert_int_equal(profile_read(db, filter, ret_profile), 0);
	sqlite3_close(db);
}

static void sums_are_those_of_the_session(void **state)
{
	struct profile profile;

	(void)state;
	read_stacks(&all, NULL, &profile);
	assert_int_equal(profile.all.count, 215);
	assert_int_equal(profile.all.weight_ns, 7640000000);
	assert_int_equal(profile.complete, 205);
	assert_int_equal(profile.by_stop[STOP_NO_ROW], 3);
	assert_int_equal(profile.by_stop[STOP_NO_PROCESS], 1);
	assert_int_equal(profile.by_stop[STOP_TRUNCATED], 4);
	assert_int_equal(profile.by_stop[STOP_BUSY], 1);
	assert_int_equal(profile.damaged, 1);
	assert_int_equal(profile.mismatches, 1);
	assert_int_equal(profile.kernel.count, 2);
	profile_free(&profile);
}

/* A file may say what it likes: the whole is never less than a part of it. */
static void sums_do_not_turn_round(void **state)
{
	struct profile profile;

	(void)state;
	read_stacks(&all, "UPDATE samples SET weight_ns = 9223372036854775807, count = weight_ns",
		    &profile);
	assert_int_equal(profile.all.weight_ns, PROFILE_SUM_MAX);
	assert_int_equal(profile_add(PROFILE_SUM_MAX, ~0ULL), PROFILE_SUM_MAX);
	assert_int_equal(profile_add(~0ULL, 1), PROFILE_SUM_MAX);
	assert_int_equal(profile_add(3, 4), 7);
	for (size_t i = 0; i < profile.samples.count; i++) {
		const struct profile_sample *sample = hash_item(&profile.samples, i);

		assert_true(sample->weight_ns <= profile.all.weight_ns);
	}
	profile_free(&profile);
}

static void filters_take_what_they_say(void **state)
{
	static const u32 server[] = {500}, worker[] = {501};
	static const struct windows second = {.is_slice = true, .count = 1, .first = 1, .last = 1};
	static const struct {
		struct profile_filter filter;
		u64 count;
	} rows[] = {
		{{.kernel = true}, 217},
		{{.one_kind = true, .kind = SAMPLE_CPU}, 187},
		{{.one_kind = true, .kind = SAMPLE_BLOCKED}, 28},
		{{.state = "cpu"}, 187},
		{{.state = "cpu.syscall"}, 15},
		{{.state = "blocked"}, 28},
		{{.state = "blocked.lock"}, 15},
		{{.pids = server, .pid_count = 1}, 131},
		{{.tids = worker, .tid_count = 1}, 80},
		{{.windows = &second}, 64},
	};
	struct profile profile;

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		read_stacks(&rows[i].filter, NULL, &profile);
		assert_int_equal(profile.all.count, rows[i].count);
		profile_free(&profile);
	}
}

static void unknown_states_are_refused(void **state)
{
	static const char *const names[] = {"cpus", "cp", "blocked.", "blocked.locks", ""};
	sqlite3 *db = session("stacks");

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(names); i++) {
		struct profile_filter filter = {.state = names[i]};
		struct profile profile;

		assert_int_equal(profile_read(db, &filter, &profile), -EINVAL);
	}
	sqlite3_close(db);
}

/* Two samples of 1 and 3: as good as 1.6 of equal weight; a row of ten is ten. */
static void effective_samples_are_those_of_kish(void **state)
{
	struct profile_sum sum = {.count = 2, .weight_ns = 4, .squares = 1 + 9};
	struct profile profile;

	(void)state;
	assert_float_equal(profile_effective(&sum), 1.6, 1e-9);
	sum = (struct profile_sum){0};
	assert_float_equal(profile_effective(&sum), 0, 0);
	read_stacks(&(struct profile_filter){.one_kind = true}, NULL, &profile);
	assert_float_equal(profile_effective(&profile.all), 187, 1e-6);
	profile_free(&profile);
}

static const struct stack_part *part_called(const struct profile *profile, struct hash *parts,
					    const char *name)
{
	for (size_t i = 0; i < parts->count; i++) {
		const struct stack_part *part = hash_item(parts, i);

		if (!strncmp(profile_function_name(profile, part->index), name, strlen(name)))
			return part;
	}
	fail_msg("%s is not there", name);
	return NULL;
}

/*
 * Recursion counts once. Weighted: skip_space() is the caller of the innermost in 45 samples of
 * 20 ms, and the caller's caller in 6: 900 / 2 + 120 / 4.
 */
static void functions_add_up(void **state)
{
	struct stack_group group = {.kind = SAMPLE_CPU, .state = STATE_CPU_USER};
	struct report_options options = {.by = STACKS_BY_FUNCTION};
	const struct stack_part *part;
	struct profile profile;
	struct hash parts;
	double weighted;

	(void)state;
	read_stacks(&all, NULL, &profile);
	assert_int_equal(stacks_parts(&profile, &group, &options, &parts, &weighted), 0);
	part = part_called(&profile, &parts, "quicksort");
	assert_int_equal(part->self.count, 23);
	assert_int_equal(part->total.count, 23);
	assert_float_equal(part->weighted, 460e6, 1);
	part = part_called(&profile, &parts, "_PyEval_EvalFrameDefault");
	assert_int_equal(part->self.count, 9);
	assert_int_equal(part->total.count, 79);
	part = part_called(&profile, &parts, "skip_space");
	assert_int_equal(part->self.count, 0);
	assert_int_equal(part->total.count, 51);
	assert_float_equal(part->weighted, 900e6 / 2 + 120e6 / 4, 1);
	hash_free(&parts);
	profile_free(&profile);
}

static u32 child_called(const struct calltree *tree, u32 at, u32 function)
{
	for (at = calltree_node(tree, at)->first_child; at != PROFILE_NONE;
	     at = calltree_node(tree, at)->next)
		if (calltree_node(tree, at)->function == function)
			break;
	return at;
}

/* However it was found: a sample is where its steps lead. */
static void assert_is_in_tree(const struct calltree *tree, const struct profile *profile,
			      const struct profile_sample *sample)
{
	struct profile_step steps[PROFILE_STEPS_MAX];
	size_t left = profile_steps(profile, sample->stack, sample->stop, steps);
	u32 at = child_called(tree, 0, profile_process(profile, sample)->function);

	while (left && at != PROFILE_NONE)
		at = child_called(tree, at, steps[--left].function);
	assert_int_not_equal(at, PROFILE_NONE);
	assert_true(calltree_node(tree, at)->self.count >= sample->count);
}

/* At each node: what ends there, and what its children have. */
static void trees_sum_up(void **state)
{
	struct profile profile;
	struct calltree tree;

	(void)state;
	read_stacks(&all, NULL, &profile);
	assert_int_equal(calltree_init(&tree), 0);
	for (size_t i = 0; i < profile.samples.count; i++)
		calltree_add(&tree, &profile, hash_item(&profile.samples, i), true);
	assert_int_equal(calltree_sort(&tree, &profile, false), 0);
	assert_int_equal(calltree_node(&tree, 0)->sum.count, 215);
	for (size_t i = 0; i < profile.samples.count; i++)
		assert_is_in_tree(&tree, &profile, hash_item(&profile.samples, i));
	for (u32 i = 0; i < tree.nodes.count; i++) {
		const struct calltree_node *node = calltree_node(&tree, i);
		u64 count = node->self.count, weight = node->self.weight_ns, last = ~0ULL;

		for (u32 at = node->first_child; at != PROFILE_NONE;
		     at = calltree_node(&tree, at)->next) {
			count += calltree_node(&tree, at)->sum.count;
			weight += calltree_node(&tree, at)->sum.weight_ns;
			assert_true(calltree_node(&tree, at)->sum.weight_ns <= last);
			last = calltree_node(&tree, at)->sum.weight_ns;
		}
		assert_int_equal(node->sum.count, count);
		assert_int_equal(node->sum.weight_ns, weight);
	}
	calltree_free(&tree);
	profile_free(&profile);
}

/* The sum of the numbers at the ends of lines. */
static u64 folded_sum(const char *text)
{
	u64 sum = 0;

	for (const char *end = strchr(text, '\n'); end; end = strchr(end + 1, '\n')) {
		const char *number = end;

		while (number > text && number[-1] >= '0' && number[-1] <= '9')
			number--;
		assert_true(number > text && number[-1] == ' ');
		sum += strtoull(number, NULL, 10);
	}
	return sum;
}

static char *exported_all(const struct export_source *source, const char *format,
			  enum export_weight weight, size_t *ret_size)
{
	struct export_options options = {.weight = weight, .title = "a <b> & \"c\""};
	char *bytes = NULL;
	FILE *out = open_memstream(&bytes, ret_size);

	assert_int_equal(exporter_find(format)->write(source, &options, out), 0);
	fclose(out);
	return bytes;
}

static char *exported(const struct profile *profile, const char *format, enum export_weight weight,
		      size_t *ret_size)
{
	const struct export_source source = {.profile = profile};

	return exported_all(&source, format, weight, ret_size);
}

static void folded_sums_are_the_samples(void **state)
{
	struct profile profile;
	char *text;
	size_t size;

	(void)state;
	read_stacks(&all, NULL, &profile);
	text = exported(&profile, "folded", WEIGHT_DEFAULT, &size);
	assert_int_equal(folded_sum(text), 215);
	assert_non_null(strstr(text, "server;[incomplete: no row];libsecret.so.2+0x4a10 3\n"));
	assert_non_null(strstr(text, "do_syscall_64_[k];ext4_sync_file_[k] 14\n"));
	assert_non_null(strstr(text, "<b onload=\"alert(1)\">a:b & c\\x0a\\x1b[31m</b> 2\n"));
	free(text);
	text = exported(&profile, "folded", WEIGHT_NS, &size);
	assert_int_equal(folded_sum(text), 7640000000);
	free(text);
	profile_free(&profile);
}

static const char *const lies[] = {
	"UPDATE stacks SET parent = id",
	"UPDATE stacks SET parent = 214 WHERE id = 201", /* a circle of many */
	"UPDATE stacks SET depth = -1 - depth",
	"UPDATE stacks SET parent = 4242 WHERE parent != 0",
	"UPDATE stacks SET frame = 777777",
	"UPDATE stacks SET frame = NULL, parent = 'above', depth = x'00'",
	"DELETE FROM stacks",
	"DELETE FROM frames",
	"DELETE FROM modules; DELETE FROM processes; DELETE FROM threads",
	"UPDATE frames SET name = printf('%.*c', 300000, 'x') || id, file = name",
	"UPDATE frames SET name = zeroblob(100000), source = x'ff', file = 1.5, line = -9",
	"UPDATE frames SET module = 'text', address = -1, line = 9223372036854775807",
	"UPDATE frames SET name = char(0xfffe) || ']]>--><script/>' || char(0xffff, 0x202e, 0)",
	"UPDATE modules SET path = '', kind = -1, build_id = NULL",
	"UPDATE modules SET path = '/' || char(10) || printf('%.*c', 5000, '/')",
	"UPDATE processes SET comm = ';' || char(9, 10, 27); UPDATE threads SET comm = '(((;'",
	"UPDATE samples SET stack = NULL, stop = NULL, kind = NULL, state = NULL, mode = NULL",
	"UPDATE samples SET kind = 77, state = 99, stop = 1000, mode = 7, waker_kind = 300",
	"UPDATE samples SET kind = -1, state = -1, stop = -1, pid = -1, tid = -1, waker = -1",
	"UPDATE samples SET count = 0",
	"UPDATE samples SET count = -1, weight_ns = -1",
	"UPDATE samples SET count = 1 << 40, weight_ns = 9223372036854775807",
	"UPDATE samples SET count = 'many', weight_ns = x'01', mismatches = 'some'",
	"UPDATE samples SET weight_ns = 0",
	"UPDATE samples SET waker_stack = stack, waker = tid",
	"UPDATE samples SET kind = 1 - kind",
	"WITH RECURSIVE n(i) AS (SELECT 10000 UNION ALL SELECT i + 1 FROM n WHERE i < 15000) "
	"INSERT INTO stacks SELECT i, i - 1, 9, 1 FROM n; UPDATE samples SET stack = 15000",
	"WITH RECURSIVE n(i) AS (SELECT 0 UNION ALL SELECT i + 1 FROM n WHERE i < 3000) "
	"INSERT INTO inlines SELECT 7, i, 'inlined-' || i, NULL, i FROM n",
	"UPDATE inlines SET frame = 9, depth = -1, name = NULL",
	"INSERT INTO stops VALUES (13, 'new one', ''), (31, char(27), ''), (99, 'far', '');"
	"UPDATE samples SET stop = 13",
	"DROP TABLE samples",
	"DROP TABLE stacks",
	"DROP TABLE inlines; DROP TABLE modules; DROP TABLE stops",
};

static void report_every_way(sqlite3 *db)
{
	const struct report_options ways[] = {
		{0},
		{.stacks = true, .part.kernel = true},
		{.stacks = true, .by = STACKS_BY_FUNCTION, .sort = STACKS_SORT_WEIGHTED},
		{.stacks = true, .by = STACKS_BY_MODULE},
		{.why = "blocked"},
		{.why = "cpu"},
		{.json = true},
	};

	for (size_t i = 0; i < ARRAY_SIZE(ways); i++) {
		char *text = NULL;
		size_t size;
		FILE *out = open_memstream(&text, &size);

		assert_int_equal(report_print(db, &ways[i], out), 0);
		fclose(out);
		assert_null(strchr(text, '\033'));
		free(text);
	}
}

static void lies_do_no_harm(void **state)
{
	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(lies); i++) {
		sqlite3 *db = session("stacks");
		const struct session_part part = {.kernel = true};
		struct timeline timeline;
		struct profile profile;
		size_t size;
		char *text;
		u64 sum;

		execute(db, lies[i]);
		report_every_way(db);
		assert_int_equal(profile_read(db, &all, &profile), 0);
		assert_int_equal(timeline_read(db, &part, &(struct windows){0}, &timeline), 0);
		for (size_t e = 0; e < exporter_count; e++)
			free(exported_all(&(struct export_source){&profile, &timeline},
					  exporters[e].name, WEIGHT_DEFAULT, &size));
		timeline_free(&timeline);
		text = exported(&profile, "folded", WEIGHT_COUNT, &size);
		sum = size ? folded_sum(text) : 0;
		if (sum != profile.all.count)
			fail_msg("%s: folded %llu, samples %llu", lies[i], (unsigned long long)sum,
				 (unsigned long long)profile.all.count);
		free(text);
		profile_free(&profile);
		sqlite3_close(db);
	}
}

/* Of sixty calls in a row few are shown, and how many are not. */
static void long_chains_are_folded(void **state)
{
	static const struct {
		struct report_options options;
		const char *frames; /* of the calls */
		const char *expect;
	} rows[] = {
		/* 60, and 3 before and 6 after */
		{{.stacks = true}, "2 + 7 * (i % 2)", "… 51 more calls\n"},
		/* 20 before and 3 after */
		{{.why = "cpu.user"}, "2 + 7 * (i % 2)", "… 37 more calls\n"},
		{{.stacks = true}, "9", "… 59 more calls of itself\n"},
		{{.why = "cpu.user"}, "9", "  60 x\n"},
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		sqlite3 *db = session("stacks");
		_cleanup_free_ char *text = NULL;
		char sql[1024];
		size_t size;
		FILE *out = open_memstream(&text, &size);

		snprintf(sql, sizeof(sql),
			 "DELETE FROM samples WHERE kind = 0 AND stack != 207;"
			 "WITH RECURSIVE n(i) AS (SELECT 1001 UNION ALL SELECT i + 1 FROM n WHERE "
			 "i < 1060) INSERT INTO stacks SELECT i, CASE i WHEN 1001 THEN 0 ELSE "
			 "i - 1 END, %s, 1 FROM n; UPDATE samples SET stack = 1060 WHERE kind = 0",
			 rows[i].frames);
		execute(db, sql);
		assert_int_equal(report_print(db, &rows[i].options, out), 0);
		fclose(out);
		if (!strstr(text, rows[i].expect))
			fail_msg("no '%s' in: %s", rows[i].expect, text);
		sqlite3_close(db);
	}
}

static void alike_stacks_are_one(void **state)
{
	struct profile profile;
	struct hash stacks, exact;
	u64 count = 0, weight_ns = 0;

	(void)state;
	/* The same functions elsewhere: quicksort calls itself once, or not at all. */
	read_stacks(&all, NULL, &profile);
	assert_int_equal(stacks_find(&profile, &exact), 0);
	assert_int_equal(stacks_find_alike(&profile, &stacks), 0);
	assert_true(stacks.count < exact.count);
	for (size_t i = 0; i < stacks.count; i++) {
		const struct alike_stacks *alike = hash_item(&stacks, i);

		assert_true(alike->stack != 0);
		count += alike->sum.count;
		weight_ns += alike->sum.weight_ns;
		if (i)
			assert_true(alike[-1].sum.weight_ns >= alike->sum.weight_ns);
	}
	for (size_t i = 0; i < exact.count; i++) {
		const struct hot_stack *stack = hash_item(&exact, i);

		count += stack->stack ? 0 : stack->sum.count;
		weight_ns += stack->stack ? 0 : stack->sum.weight_ns;
	}
	assert_int_equal(count, profile.all.count);
	assert_int_equal(weight_ns, profile.all.weight_ns);
	hash_free(&stacks);
	hash_free(&exact);
	profile_free(&profile);
}

static void callers_begin_inside(void **state)
{
	static const struct profile_filter lock = {.state = "blocked.lock"};
	struct profile profile;
	struct calltree tree;
	const struct calltree_node *node;

	(void)state;
	read_stacks(&lock, NULL, &profile);
	assert_int_equal(calltree_init(&tree), 0);
	for (size_t i = 0; i < profile.samples.count; i++)
		calltree_add_callers(&tree, &profile, hash_item(&profile.samples, i), 2);
	assert_int_equal(calltree_sort(&tree, &profile, false), 0);
	/* Of a wait, not the kernel's. */
	node = calltree_node(&tree, calltree_node(&tree, 0)->first_child);
	assert_string_equal(profile_function_name(&profile, node->function), "pthread_mutex_lock");
	assert_int_equal(node->sum.count, 14);
	node = calltree_node(&tree, node->first_child);
	assert_string_equal(profile_function_name(&profile, node->function),
			    "serve::Worker::work()");
	assert_int_equal(node->first_child, PROFILE_NONE); /* two were asked for */
	calltree_free(&tree);
	profile_free(&profile);
}

static void names_are_shortened_where_it_hurts_least(void **state)
{
	static const struct {
		const char *name;
		int columns;
		const char *expect;
	} rows[] = {
		{"f(int)", 6, "f(int)"},
		{"a::Map<std::string, int>::put(int)", 34, "a::Map<std::string, int>::put(int)"},
		{"a::Map<std::string, int>::put(int)", 33, "a::Map<…>::put(int)"},
		{"a::Map<std::string, int>::put(int)", 18, "a::Map<…>::put(…)"},
		{"a::Map<std::string, int>::put(int)", 10, "a::Map<…>…"},
		{"<Vec<T, A> as core::ops::Drop>::drop", 35, "<Vec<…> as core::ops::Drop>::drop"},
		{"bool operator<(Key const&, Key const&)", 30, "bool operator<(…)"},
		{"ostream& operator<<<char>(ostream&)", 34, "ostream& operator<<<…>(ostream&)"},
		{"a::Ptr<Some>::operator->() const", 31, "a::Ptr<…>::operator->() const"},
		{"(anonymous namespace)::f(long long)", 30, "(anonymous namespace)::f(…)"},
		{"unbalanced<never closed(", 12, "unbalanced<…"},
		{"_json.cpython-311-x86_64.so+0x4a10", 20, "_json.cpytho…+0x4a10"},
		{"long_name", 1, "…"},
		{"long_name", 0, ""},
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		char buf[256];

		short_name(rows[i].name, rows[i].columns, buf, sizeof(buf));
		assert_string_equal(buf, rows[i].expect);
	}
}

static void what_says_nothing_new_is_left_out(void **state)
{
	struct profile_sum one = {1, 10, 100}, even = {3, 30, 300}, few = {3, 30, 602};

	(void)state;
	assert_string_equal(SAMPLES(&one), "1 sample");
	assert_string_equal(SAMPLES(&even), "3 samples");
	assert_string_equal(SAMPLES(&few), "3 samples (1.5 effective)");
	few.squares = 900;
	assert_string_equal(EFFECTIVE(&few), "1");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(sums_are_those_of_the_session),
		cmocka_unit_test(sums_do_not_turn_round),
		cmocka_unit_test(filters_take_what_they_say),
		cmocka_unit_test(unknown_states_are_refused),
		cmocka_unit_test(effective_samples_are_those_of_kish),
		cmocka_unit_test(functions_add_up),
		cmocka_unit_test(trees_sum_up),
		cmocka_unit_test(folded_sums_are_the_samples),
		cmocka_unit_test(lies_do_no_harm),
		cmocka_unit_test(long_chains_are_folded),
		cmocka_unit_test(alike_stacks_are_one),
		cmocka_unit_test(callers_begin_inside),
		cmocka_unit_test(names_are_shortened_where_it_hurts_least),
		cmocka_unit_test(what_says_nothing_new_is_left_out),
	};

	log_set_level(LOG_QUIET);
	return cmocka_run_group_tests_name("stacks", tests, NULL, NULL);
}
