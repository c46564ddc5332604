// SPDX-License-Identifier: Apache-2.0
/* Signals of a session: what is read, how it is called, and what a person and a program get of it.
 */
#include <errno.h>
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../../src/base/cleanup.h"
#include "../../src/report/digest.h"
#include "../../src/report/json.h"
#include "../../src/report/text_signals.h"
#include "../../src/report/format_value.h"
#include "golden.h"
#include "session.h"

static json_t *report_json(sqlite3 *db, struct report_options options)
{
	_cleanup_free_ char *text = NULL;
	json_error_t error;
	json_t *root;

	options.json = true;
	text = report(db, options);
	assert_non_null(text);
	root = json_loads(text, JSON_REJECT_DUPLICATES, &error);
	if (!root)
		fail_msg("line %d: %s", error.line, error.text);
	return root;
}

static json_int_t number(json_t *object, const char *key)
{
	json_t *value = json_object_get(object, key);

	if (!json_is_integer(value))
		fail_msg("%s is no integer", key);
	return json_integer_value(value);
}

static json_t *series(json_t *root, const char *signal)
{
	return json_object_get(json_object_get(root, "signals"), signal);
}

static void reports_read_as_before(void **state)
{
	static const struct {
		const char *golden;
		struct report_options options;
	} rows[] = {
		{"signals", {.session = "signals.dwell"}},
		{"signals-alone", {.signals = 1ULL << SIG_RUNQ, .histograms = true}},
		{"signals-slice",
		 {.signals = 1ULL << SIG_RUNQ | 1ULL << SIG_OFFCPU,
		  .part.kernel = true,
		  .part.from_ns = 0,
		  .part.to_ns = 1000000000}},
		{"signals-pid",
		 {.signals = 1ULL << SIG_OFFCPU, .part.pids = {2003}, .part.pid_count = 1}},
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		sqlite3 *db = session("signals");
		_cleanup_free_ char *text = report(db, rows[i].options);

		reads_as_before(rows[i].golden, text);
		sqlite3_close(db);
	}
}

/* Two windows, two numbers of one key: one series. */
static void windows_are_added_up(void **state)
{
	sqlite3 *db = session("signals");
	json_t *root = report_json(db, (struct report_options){.histograms = true});
	json_t *rows = series(root, "runq"), *row = json_array_get(rows, 0);
	json_t *unmatched;

	(void)state;
	assert_int_equal(json_array_size(rows), 16); /* 12 shells, 3 others, and "other" */
	assert_int_equal(number(row, "pid"), 500);
	assert_string_equal(json_string_value(json_object_get(row, "comm")), "server");
	assert_string_equal(json_string_value(json_object_get(row, "state")), "runq.woken");
	assert_int_equal(number(row, "count"), 4440);
	assert_int_equal(number(row, "sum_ns"), 11160000000);
	assert_int_equal(number(row, "max_ns"), 15300000);
	assert_int_equal(number(row, "p50_ns"),
			 hist_percentile(&(struct hist){.count = 1, .buckets = {[283] = 1}}, 0.5));
	assert_int_equal(json_array_size(json_object_get(row, "buckets")), 13);
	row = json_array_get(series(root, "offcpu"), 1);
	unmatched = json_object_get(row, "unmatched");
	assert_int_equal(number(row, "count"), 120);
	assert_int_equal(number(unmatched, "orphan_start"), 2);
	assert_int_equal(number(unmatched, "orphan_end"), 3);
	assert_int_equal(number(unmatched, "expired"), 1);
	assert_null(json_object_get(json_object_get(root, "signals"), "nosuch"));
	assert_int_equal(json_array_size(json_object_get(root, "slow")), 3);
	json_decref(root);
	sqlite3_close(db);
}

static void series_are_those_that_are_asked_for(void **state)
{
	sqlite3 *db = session("signals");
	json_t *root;

	(void)state;
	root = report_json(db, (struct report_options){.part.pids = {900}, .part.pid_count = 1});
	assert_int_equal(json_array_size(series(root, "runq")), 1);
	assert_int_equal(json_array_size(series(root, "offcpu")), 0);
	json_decref(root);
	root = report_json(db, (struct report_options){.part.kernel = true});
	assert_int_equal(json_array_size(series(root, "runq")), 17);
	json_decref(root);
	root = report_json(
		db, (struct report_options){.part.from_ns = 1000000000, .part.to_ns = ~0ULL});
	assert_int_equal(number(json_array_get(series(root, "runq"), 0), "count"), 740);
	json_decref(root);
	root = report_json(db, (struct report_options){.signals = 1ULL << SIG_OFFCPU});
	assert_null(series(root, "runq"));
	json_decref(root);
	sqlite3_close(db);
}

/* More series than are shown are in the sum of all. */
static void too_many_series_are_counted(void **state)
{
	sqlite3 *db = session("signals");
	const struct report_options options = {.json = true};
	struct digest digest;
	const struct measured *of;

	(void)state;
	execute(db,
		"DELETE FROM series; DELETE FROM series_values;"
		"INSERT INTO series WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n "
		"WHERE i < 1500) SELECT i, 'runq', 'wait', i, 1, 7, 0, 0 FROM n;"
		"INSERT INTO series_values SELECT 0, id, 1, 1000 + id, 1000 + id, 0, 0, 0, 0, 0, "
		"'161:1' "
		"FROM series");
	assert_int_equal(digest_read(db, &options, &digest), 0);
	of = &digest.signals.of[0];
	assert_int_equal(of->id, SIG_RUNQ);
	assert_int_equal(of->row_count, SIGNALS_ROWS_KIND);
	assert_int_equal(of->measures[0].left_out, 1500 - SIGNALS_ROWS_KIND);
	assert_int_equal(of->measures[0].all.count, 1500);
	assert_int_equal(of->rows[0]->hist.sum, 2500);
	assert_int_equal(of->measures[0].all.sum, 1500 * 1000 + 1500 * 1501 / 2);
	digest_free(&digest);
	sqlite3_close(db);
}

/* Counts that are as large as a file can say: nothing turns round. */
static void hostile_counts_do_no_harm(void **state)
{
	sqlite3 *db = session("signals");
	_cleanup_free_ char *text = NULL;
	json_t *root;

	(void)state;
	execute(db,
		"UPDATE series_values SET count = 9223372036854775807, sum = 9223372036854775807,"
		"max = -5, buckets = '5:4611686018427387904 600:4611686018427387904';"
		"UPDATE slow SET ns = -1, tid = -1, cpu_ns = 9223372036854775807;"
		"UPDATE shares SET folded = 'x', lost = -1");
	root = report_json(db, (struct report_options){.histograms = true});
	assert_true(number(json_array_get(series(root, "runq"), 0), "sum_ns") > 0);
	json_decref(root);
	text = report(db, (struct report_options){.signals = ~0ULL, .histograms = true});
	assert_non_null(text);
	sqlite3_close(db);
}

/* --- what the fields of a key are called --- */

static void fields_are_named_by_their_kind(void **state)
{
	static const char *const words[] = {"read", "write"};
	static const struct {
		struct series_field field;
		u64 value;
		const char *name;
	} rows[] = {
		{{"op", FIELD_NONE, NULL, 0}, 1, ""},
		{{"op", FIELD_NUMBER, NULL, 0}, 17, "17"},
		{{"op", FIELD_NAME, words, 2}, 1, "write"},
		{{"op", FIELD_NAME, words, 2}, 2, "2"},
		{{"call", FIELD_SYSCALL, NULL, 0}, 9999, "syscall 9998"},
		{{"state", FIELD_STATE, NULL, 0}, STATE_BLOCKED_LOCK, "blocked.lock"},
		{{"state", FIELD_STATE, NULL, 0}, 9999, "9999"},
		{{"file", FIELD_OBJECT, NULL, 0}, 7001, "/var/lib/server/journal"},
		{{"file", FIELD_OBJECT, NULL, 0}, 0, ""},
		{{"file", FIELD_OBJECT, NULL, 0}, 0xabc, "0xabc"},
		{{"device", FIELD_DEVICE, NULL, 0}, 8 << 20, "sda"}, /* it has a label */
		{{"device", FIELD_DEVICE, NULL, 0}, 259 << 20 | 3, "259:3"},
		{{"size", FIELD_SIZE, NULL, 0}, 9, "<= 512 B"},
		{{"size", FIELD_SIZE, NULL, 0}, 12, "<= 4 KiB"},
		{{"size", FIELD_SIZE, NULL, 0}, 63, "<= 8 EiB"},
		{{"size", FIELD_SIZE, NULL, 0}, 64, "64"},
		{{"address", FIELD_ADDRESS, NULL, 0}, 0x7f00, "0x7f00"},
		{{"stack", FIELD_STACK, NULL, 0},
		 102,
		 "serve::Parser<std::map<std::string, "
		 "std::vector<serve::Value>>>::parse(std::string_view) "
		 "< main"},
		{{"stack", FIELD_STACK, NULL, 0}, 0, ""},
		{{"errno", FIELD_ERRNO, NULL, 0}, 0, "ok"},
		{{"errno", FIELD_ERRNO, NULL, 0}, ENOENT, "ENOENT"},
		{{"errno", FIELD_ERRNO, NULL, 0}, 4000, "error 4000"},
		{{"cpu", FIELD_CPU, NULL, 0}, 3, "3"},
		{{"label", FIELD_LABEL, NULL, 0}, 1, "#1"}, /* another signal's */
	};
	sqlite3 *db = session("signals");
	const struct report_options options = {0};
	struct digest digest;

	(void)state;
	assert_int_equal(digest_read(db, &options, &digest), 0);
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		char name[SIGNALS_NAME_BYTES];

		series_field_text(&digest, &digest.signals.of[0], &rows[i].field, rows[i].value,
				  name, sizeof(name));
		assert_string_equal(name, rows[i].name);
	}
	digest_free(&digest);
	sqlite3_close(db);
}

/* --- a signal that there is not, with all that one can have --- */

static const char *const ops[] = {"read", "write"};
static const struct series_kind kinds[] = {
	{"time", UNIT_NS, "from when it was asked for until it was there"},
	{"bytes", UNIT_BYTES, "that were asked for"},
	{"depth", UNIT_COUNT, NULL},
};
static const struct signal_list lists[] = {
	{.name = "peers",
	 .about = "who was spoken to",
	 .table = "peers",
	 .columns = "pid, peer AS peer_object, sum(took) AS took_ns, size AS size_bytes, "
		    "from_stack, max(ts) AS ts_ns, note, 0.5 AS ratio, 501 AS holder, 502 AS tid, "
		    "NULL AS empty",
	 .order = "took_ns DESC",
	 .group = "peer",
	 .shown = 2},
};
static const struct signal_view view = {
	.kinds = kinds,
	.kind_count = ARRAY_SIZE(kinds),
	.detail = {.name = "op", .kind = FIELD_NAME, .names = ops, .name_count = 2},
	.object = {.name = "file", .kind = FIELD_OBJECT},
	.more = {.name = "stack", .kind = FIELD_STACK},
	.value_names = {"asked_bytes", "left"},
	.cost = COST_PER_EVENT,
	.price = "some 0.2 us each",
	.lists = lists,
	.list_count = ARRAY_SIZE(lists),
};
static const struct signal fake = {.about = "what is made up for this test", .view = &view};

static struct series_row *fake_row(u8 kind, u16 detail, u64 object, u64 more, u64 value)
{
	struct series_row *row = calloc(1, sizeof(*row));

	row->key = (struct series_key){
		.signal = SIG_RUNQ, .kind = kind, .detail = detail, .object = object, .more = more};
	row->detail_name = row->object_name = "";
	row->process = "";
	for (int i = 0; i < 100; i++)
		hist_add(&row->hist, value + value * (u64)i / 10);
	return row;
}

static void fill_fake(struct measured *of)
{
	*of = (struct measured){
		.id = SIG_RUNQ,
		.name = "fake",
		.signal = &fake,
		.view = &view,
		.measures = calloc(ARRAY_SIZE(kinds), sizeof(struct measure)),
		.lists = calloc(ARRAY_SIZE(lists), sizeof(struct list_rows)),
		.rows = calloc(4, sizeof(struct series_row *)),
		.row_count = 4,
		.slow = calloc(1, sizeof(struct slow_row)),
		.slow_count = 1,
	};
	of->rows[0] = fake_row(0, 1, 7001, (u64)-104, 150000);
	of->rows[1] = fake_row(0, 0, (u64)-7002, 0, 1000);
	of->rows[2] = fake_row(1, 0, 7001, 102, 4096);
	of->rows[3] = fake_row(2, 0, SERIES_OTHER, 0, 1);
	of->rows[3]->process = of->rows[3]->detail_name = of->rows[3]->object_name = "(other)";
	for (size_t i = 0; i < 4; i++) {
		struct measure *measure = &of->measures[of->rows[i]->key.kind];

		hist_merge(&measure->all, &of->rows[i]->hist);
		measure->uses[FIELD_AT_OBJECT] = true;
	}
	of->slow[0] = (struct slow_row){
		.key = of->rows[0]->key,
		.ts_ns = 1500000000,
		.ns = 20000000,
		.stack = (u64)-104,
		.tid = 501,
		.value = {4096, 512},
		.part = {[SLOW_PART_CPU] = 2000000, [SLOW_PART_DISK] = 18000000},
	};
}

/* Their names are nobody's. */
static void free_fake(struct digest *digest)
{
	struct measured *of = &digest->signals.of[0];

	signals_free_alike(of);
	signals_free_lists(of);
	for (size_t i = 0; i < of->row_count; i++)
		free(of->rows[i]);
	free(of->rows);
	free(of->measures);
	free(of->slow);
	free(of->lists);
	digest->signals.count = 0;
}

static void fake_session(sqlite3 *db)
{
	execute(db, "CREATE TABLE peers (pid, peer, took, size, from_stack, ts, note);"
		    "INSERT INTO peers VALUES (500, 7001, 5000000, 4096, -104, 1500000000, 'a'),"
		    "(500, 7001, 6000000, 4096, -104, 1600000000, 'a'),"
		    "(900, -7002, 1000, 1, 0, 5, 'b' || char(27)), (500, 3, 1, 1, 0, 5, NULL)");
}

static void all_that_a_signal_can_have_is_shown(void **state)
{
	sqlite3 *db = session("signals");
	struct report_options options = {0};
	_cleanup_free_ char *text = NULL;
	struct digest digest;
	size_t size;
	struct page page = {.out = open_memstream(&text, &size), .columns = 80};

	(void)state;
	fake_session(db);
	assert_int_equal(digest_read(db, &options, &digest), 0);
	signals_free(&digest.signals);
	digest.signals = (struct signals){.of = calloc(1, sizeof(struct measured)), .count = 1};
	hash_init(&digest.signals.labels, sizeof(struct label_row), 2 * sizeof(u64), 1);
	fill_fake(&digest.signals.of[0]);
	assert_int_equal(signals_read_lists(db, &digest), 0);
	assert_int_equal(digest.signals.of[0].lists[0].row_count, 3);
	assert_int_equal(signals_find_alike(&digest, &digest.signals.of[0]), 0);
	signals_judge(&digest);
	text_signals(&digest, &page);
	options.signals = 1;
	text_signals(&digest, &page);
	fclose(page.out);
	reads_as_before("signals-fake", text);
	free_fake(&digest);
	digest_free(&digest);
	sqlite3_close(db);
}

static void lists_are_json_too(void **state)
{
	sqlite3 *db = session("signals");
	const struct report_options options = {
		.json = true, .part.pids = {500}, .part.pid_count = 1};
	_cleanup_free_ char *text = NULL;
	struct digest digest;
	json_t *root, *rows, *row;
	size_t size;
	FILE *out = open_memstream(&text, &size);

	(void)state;
	fake_session(db);
	assert_int_equal(digest_read(db, &options, &digest), 0);
	signals_free(&digest.signals);
	digest.signals = (struct signals){.of = calloc(1, sizeof(struct measured)), .count = 1};
	hash_init(&digest.signals.labels, sizeof(struct label_row), 2 * sizeof(u64), 1);
	fill_fake(&digest.signals.of[0]);
	assert_int_equal(signals_read_lists(db, &digest), 0);
	assert_int_equal(report_print_json(&digest, out), 0);
	fclose(out);
	root = json_loads(text, JSON_REJECT_DUPLICATES, NULL);
	assert_non_null(root);
	rows = json_object_get(json_object_get(json_object_get(root, "lists"), "fake"), "peers");
	assert_int_equal(json_array_size(rows), 2); /* of the process that was asked for */
	row = json_array_get(rows, 0);
	assert_int_equal(number(row, "took_ns"), 11000000);
	assert_string_equal(json_string_value(json_object_get(row, "peer_object")),
			    "/var/lib/server/journal");
	assert_string_equal(json_string_value(json_object_get(row, "peer_object_id")), "0x1b59");
	assert_int_equal(strncmp(json_string_value(json_object_get(row, "from_stack")),
				 "io_schedule < evil", 18),
			 0);
	row = json_array_get(series(root, "fake"), 2);
	assert_int_equal(number(row, "p50_bytes"),
			 hist_percentile(&digest.signals.of[0].rows[2]->hist, 0.5));
	row = json_array_get(json_object_get(root, "slow"), 0);
	assert_int_equal(number(row, "asked_bytes"), 4096);
	assert_int_equal(number(json_object_get(row, "parts"), "disk_ns"), 18000000);
	json_decref(root);
	free_fake(&digest);
	digest_free(&digest);
	sqlite3_close(db);
}

static void values_have_three_digits(void **state)
{
	static const struct {
		enum series_unit unit;
		u64 value;
		const char *text;
	} rows[] = {
		{UNIT_NS, 0, "0 ns"},
		{UNIT_NS, 999, "999 ns"},
		{UNIT_NS, 1000, "1.00 us"},
		{UNIT_NS, 99949, "99.9 us"},
		{UNIT_NS, 99951, "100 us"},
		{UNIT_NS, 999499, "999 us"},
		{UNIT_NS, 999500, "1.00 ms"},
		{UNIT_NS, 14000000, "14.0 ms"},
		{UNIT_NS, 3600000000000, "3600 s"},
		{UNIT_BYTES, 1023, "1023 B"},
		{UNIT_BYTES, 1024, "1.00 KiB"},
		{UNIT_BYTES, 3ULL << 40, "3.00 TiB"},
		{UNIT_COUNT, 9999999, "9,999,999"},
		{UNIT_COUNT, 10000000, "10.0 M"},
		{UNIT_COUNT, 1000000000, "1.00 G"},
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++)
		assert_string_equal(VALUE(rows[i].unit, rows[i].value), rows[i].text);
}

static void long_names_lose_their_middle(void **state)
{
	char text[64];

	(void)state;
	format_middle("/var/lib/postgresql/base/2619", 12, text, sizeof(text));
	assert_string_equal(text, "/va…ase/2619");
	format_middle("short", 12, text, sizeof(text));
	assert_string_equal(text, "short");
	format_middle("äöüäöüäöü", 4, text, sizeof(text));
	assert_string_equal(text, "ä…öü");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(reports_read_as_before),
		cmocka_unit_test(windows_are_added_up),
		cmocka_unit_test(series_are_those_that_are_asked_for),
		cmocka_unit_test(too_many_series_are_counted),
		cmocka_unit_test(hostile_counts_do_no_harm),
		cmocka_unit_test(fields_are_named_by_their_kind),
		cmocka_unit_test(all_that_a_signal_can_have_is_shown),
		cmocka_unit_test(lists_are_json_too),
		cmocka_unit_test(values_have_three_digits),
		cmocka_unit_test(long_names_lose_their_middle),
	};

	return cmocka_run_group_tests_name("signals", tests, NULL, NULL);
}
