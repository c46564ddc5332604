// SPDX-License-Identifier: Apache-2.0
#include "unit.h"

#include <errno.h>
#include <string.h>

#include "../../src/model/failure.h"

static void expect(const char *log, const char *excerpt, bool from_verifier)
{
	struct failure failure = {.log = strdup(log)};

	failure_excerpt(&failure);
	assert_string_equal(failure.excerpt, excerpt);
	assert_int_equal(failure.from_verifier, from_verifier);
	failure_clear(&failure);
}

static void verifier_has_the_last_word(void **state)
{
	(void)state;
	expect("libbpf: prog 'x': BPF program load failed: Invalid argument\n"
	       "libbpf: prog 'x': -- BEGIN PROG LOAD LOG --\n"
	       "0: (85) call unknown#181\n"
	       "unknown func bpf_loop#181\n"
	       "processed 1 insns (limit 1000000) max_states_per_insn 0\n"
	       "-- END PROG LOAD LOG --\n"
	       "libbpf: prog 'x': failed to load: -22\n"
	       "libbpf: failed to load object 'dwell'\n",
	       "unknown func bpf_loop#181", true);
}

static void a_shortage_is_known_from_libbpf_words(void **state)
{
	(void)state;
	assert_int_equal(
		failure_shortage_in("libbpf: loading kernel BTF '/sys/kernel/btf/vmlinux': -12\n"),
		ENOMEM);
	assert_int_equal(failure_shortage_in("libbpf: map 'x': failed to create: Too many(-24)\n"),
			 EMFILE);
	assert_int_equal(failure_shortage_in("libbpf: Error loading vmlinux BTF: -3\n"), 0);
	assert_int_equal(failure_shortage_in("libbpf: relo #1: patched -12 times\n"), 0);
	assert_int_equal(failure_shortage_in("libbpf: load of object 'x-12'\n"), 0);
	assert_int_equal(failure_shortage_in("libbpf: elf: failed to open x as ELF file: out of "
					     "memory\n"),
			 ENOMEM);
	assert_int_equal(failure_shortage_in("-"), 0);
	assert_int_equal(failure_shortage_in(""), 0);
}

static void empty_verifier_log_leaves_libbpf(void **state)
{
	(void)state;
	expect("libbpf: prog 'x': BPF program load failed: Operation not permitted\n"
	       "libbpf: prog 'x': failed to load: -1\n"
	       "libbpf: failed to load object 'dwell'\n",
	       "", false);
	expect("libbpf: prog 'x': failed to find kernel BTF type ID of 'y': -3\n"
	       "libbpf: failed to load object 'dwell'\n",
	       "prog 'x': failed to find kernel BTF type ID of 'y': -3", false);
}

static void hostile_log_is_bounded(void **state)
{
	char log[4096];

	(void)state;
	memset(log, 'a', sizeof(log) - 1);
	log[sizeof(log) - 1] = '\0';
	struct failure failure = {.log = strdup(log)};

	failure_excerpt(&failure);
	assert_int_equal(strlen(failure.excerpt), sizeof(failure.excerpt) - 1);
	failure_clear(&failure);
	expect("", "", false);
	expect("\n\n\n", "", false);
	expect("BEGIN PROG LOAD LOGEND PROG LOAD LOG", "", false);
	expect("BEGIN PROG LOAD LOG", "", false);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(verifier_has_the_last_word),
		cmocka_unit_test(a_shortage_is_known_from_libbpf_words),
		cmocka_unit_test(empty_verifier_log_leaves_libbpf),
		cmocka_unit_test(hostile_log_is_bounded),
	};

	return cmocka_run_group_tests_name("failure", tests, NULL, NULL);
}
