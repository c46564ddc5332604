// SPDX-License-Identifier: Apache-2.0
/*
 * Options of a file: what is read, what is refused; what holds in the end, and its run id; what
 * differs between two sessions.
 */
#include "unit.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../../src/config/compare.h"
#include "../../src/config/config.h"
#include "../../src/config/effective.h"
#include "../../src/config/similar.h"

/* "brand-new" is an option that no other code knows. */
static const struct option longs[] = {
	{"all", no_argument, NULL, 'a'},	   {"freq", required_argument, NULL, 'F'},
	{"kernel", optional_argument, NULL, 1},	   {"signals", required_argument, NULL, 's'},
	{"brand-new", required_argument, NULL, 2}, {"label", required_argument, NULL, 3},
	{"config", required_argument, NULL, 4},	   {0},
};

static struct config config;

static int read_text(const char *text)
{
	int err = config_parse("x.yaml", text, strlen(text), &config);

	return err ? err : config_check(&config, longs);
}

static int release(void **state)
{
	(void)state;
	config_free(&config);
	return 0;
}

static void assert_entry(size_t i, const char *key, const char *value, unsigned int line)
{
	assert_true(i < config.count);
	assert_string_equal(config.entries[i].key, key);
	if (value)
		assert_string_equal(config.entries[i].value, value);
	else
		assert_null(config.entries[i].value);
	assert_int_equal(config.entries[i].line, line);
}

static void entries_have_their_lines(void **state)
{
	(void)state;
	assert_int_equal(read_text("# run\nall: true\nfreq: 0099 # as it is\n\nsignals: [a, b]\n"
				   "label:\n  - x=1\n  - 'true'\nbrand-new: 5\nkernel: 64K\n"),
			 0);
	assert_int_equal(config.count, 8);
	assert_entry(0, "all", NULL, 2);
	assert_entry(1, "freq", "0099", 3);
	assert_entry(2, "signals", "a", 5);
	assert_entry(3, "signals", "b", 5);
	assert_entry(4, "label", "x=1", 7);
	assert_entry(5, "label", "true", 8);
	assert_entry(6, "brand-new", "5", 9);
	assert_entry(7, "kernel", "64K", 10);
}

static void false_is_not_given(void **state)
{
	(void)state;
	assert_int_equal(read_text("all: false\nkernel: false\nfreq: 1"), 0);
	assert_int_equal(config.count, 1);
	config_free(&config);
	assert_int_equal(read_text(""), 0);
	assert_int_equal(config.count, 0);
}

static void wrong_files_are_refused(void **state)
{
	static const char *const wrong[] = {
		"frequenzy: 1",
		"freq:",
		"freq: [1, 2]",
		"freq: 1\nfreq: 2",
		"signals: [a]\nsignals: [b]",
		"all: yes",
		"all: 'true'",
		"config: y.yaml",
		"command: rm",
		"- all",
		"all",
		"freq: {a: 1}",
		"signals: [[a]]",
		"all: &x true\nkernel: *x",
		"freq: !!int 5",
		"all: true\n---\nall: true",
		"brand-new: \"a\\nb\"",
		"brand-new: \"a\\0b\"",
		"brand-new: \"a\\Lb\"",
		"? [a]\n: b",
		"all: true\n  freq: 1",
		"freq: 'open",
		"brand-new: \xff",
	};

	(void)state;
	for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++) {
		if (read_text(wrong[i]) != -EINVAL)
			fail_msg("was taken: %s", wrong[i]);
		config_free(&config);
	}
}

static void size_and_number_are_bounded(void **state)
{
	size_t size = CONFIG_BYTES_MAX + 1;
	char *text = malloc(size), *at = text;

	(void)state;
	memset(text, '#', size);
	assert_int_equal(config_parse("x", text, size, &config), -EFBIG);
	assert_int_equal(config_parse("x", text, size - 1, &config), 0);
	at += sprintf(at, "label: [a");
	for (int i = 1; i < CONFIG_ENTRIES_MAX; i++)
		at += sprintf(at, ",a");
	strcpy(at, "]");
	assert_int_equal(read_text(text), 0);
	assert_int_equal(config.count, CONFIG_ENTRIES_MAX);
	config_free(&config);
	strcpy(at, ",a]");
	assert_int_equal(read_text(text), -EINVAL);
	free(text);
}

static void near_names_are_found(void **state)
{
	(void)state;
	assert_int_equal(similar_distance("frequenzy", "freq"), 1);
	assert_int_equal(similar_distance("min-blok", "min-block"), 1);
	assert_int_equal(similar_distance("siganls", "signals"), 2);
	assert_true(similar_distance("banana", "freq") == SIMILAR_NEVER);
	assert_true(similar_distance("", "freq") == SIMILAR_NEVER);
}

/* --- what holds --- */

static void same_lists_are_the_same(void **state)
{
	static struct effective one, other;
	char ids[2][RUN_ID_BYTES], third[RUN_ID_BYTES];

	(void)state;
	effective_add(&one, "freq", "49");
	effective_add(&one, "signals", "tcp,block,tcp");
	effective_add(&one, "label", "a=b");
	effective_add(&other, "freq", "49");
	effective_add(&other, "signals", "block");
	effective_add(&other, "signals", "tcp");
	assert_int_equal(one.count, 4);
	assert_int_equal(other.count, 3);
	effective_run_id(&one, "ab", "record", "", ids[0]);
	effective_run_id(&other, "ab", "record", "", ids[1]);
	assert_string_equal(ids[0], ids[1]);
	effective_run_id(&other, "cd", "record", "", third);
	assert_string_not_equal(ids[0], third);
	effective_add(&other, "brand-new", "1");
	effective_run_id(&other, "ab", "record", "", third);
	assert_string_not_equal(ids[0], third);
	effective_free(&one);
	effective_free(&other);
}

/* --- two sessions --- */

static void put(struct session_facts *facts, char kind, const char *key, const char *value)
{
	facts->bytes[facts->size++] = kind;
	strcpy(facts->bytes + facts->size, key);
	facts->size += (u32)strlen(key) + 1;
	strcpy(facts->bytes + facts->size, value);
	facts->size += (u32)strlen(value) + 1;
}

static void note(void *context, const char *text)
{
	strcat(context, text);
	strcat(context, "\n");
}

static void differences_are_named(void **state)
{
	struct session_facts *there = session_facts_make(), *here = session_facts_make();
	struct comparison comparison;
	char told[2048] = "";

	(void)state;
	put(there, FACT_META, "kernel", "6.1");
	put(here, FACT_META, "kernel", "6.12");
	put(there, FACT_META, "setting.vm.swappiness", "60");
	put(here, FACT_META, "setting.vm.swappiness", "10");
	put(there, FACT_META, "setting.only.there", "1");
	put(there, FACT_META, "note", "is not compared");
	put(there, FACT_BUILD, "/bin/a", "1111111111111111");
	put(here, FACT_BUILD, "/bin/a", "2222222222222222");
	put(there, FACT_BUILD, "/bin/b", "3333");
	put(there, FACT_BUILD, "/bin/b", "4444"); /* replaced meanwhile */
	put(here, FACT_BUILD, "/bin/b", "4444");
	put(here, FACT_BUILD, "/bin/only-here", "5555");
	put(there, FACT_HOOK, "h", "attached");
	put(here, FACT_HOOK, "h", "not attached: No such file");
	assert_int_equal(compare_facts(there, here, note, told, &comparison), 0);
	assert_string_equal(told, "kernel: 6.1 there, 6.12 here\n"
				  "build of /bin/a: 111111111111 there, 222222222222 here\n"
				  "hook h: attached there, not attached: No such file here\n"
				  "vm.swappiness: 60 there, 10 here\n");
	assert_int_equal(comparison.differences, 4);
	assert_int_equal(comparison.builds, 2);
	assert_int_equal(comparison.settings, 1);
	assert_int_equal(comparison.settings_alone, 1);
	session_facts_free(there);
	session_facts_free(here);
}

/* The process that wrote them may have been taken over. */
static void what_is_no_fact_is_left(void **state)
{
	struct session_facts *facts = session_facts_make();
	struct fact fact;
	size_t at = 0;

	(void)state;
	facts->size = ~0u;
	memset(facts->bytes, 'x', sizeof(facts->bytes));
	assert_false(session_facts_next(facts, &at, &fact));
	facts->bytes[10] = '\0';
	at = 0;
	assert_false(session_facts_next(facts, &at, &fact));
	assert_string_equal(session_facts_meta(facts, "x"), "");
	session_facts_free(facts);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_teardown(entries_have_their_lines, release),
		cmocka_unit_test_teardown(false_is_not_given, release),
		cmocka_unit_test_teardown(wrong_files_are_refused, release),
		cmocka_unit_test_teardown(size_and_number_are_bounded, release),
		cmocka_unit_test(near_names_are_found),
		cmocka_unit_test(same_lists_are_the_same),
		cmocka_unit_test(differences_are_named),
		cmocka_unit_test(what_is_no_fact_is_left),
	};

	return cmocka_run_group_tests_name("option_file", tests, NULL, NULL);
}
