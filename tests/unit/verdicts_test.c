// SPDX-License-Identifier: Apache-2.0
/*
 * What is remembered of a refusal: the verifier's word, for the form of the programs that it was
 * about; nothing that may pass.
 */
#include "unit.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../../src/base/text.h"
#include "../../src/capture/internal.h"

static char folder[] = "/tmp/dwell-verdicts-XXXXXX";

static const struct probe probes[] = {
	{.program = "by_verifier"}, {.program = "by_libbpf"},	 {.program = "not_named"},
	{.program = "no_memory"},   {.program = "at_attaching"},
};

#define PROBE_COUNT (sizeof(probes) / sizeof(probes[0]))

static const struct failure failures[PROBE_COUNT] = {
	{.gate = GATE_LOAD, .err = EACCES, .from_verifier = true, .is_named = true},
	{.gate = GATE_LOAD, .err = EINVAL, .is_named = true},
	{.gate = GATE_LOAD, .err = EINVAL, .from_verifier = true},
	{.gate = GATE_LOAD, .err = ENOMEM, .from_verifier = true, .is_named = true},
	{.gate = GATE_ATTACH, .err = EINVAL, .from_verifier = true, .is_named = true},
};

static void make(struct capture *capture, struct capture_probe *room)
{
	*capture = (struct capture){
		.config = {.probe_count = PROBE_COUNT, .verdict_dir = folder},
		.probes = room,
		.has_task_storage = true,
	};
	for (size_t i = 0; i < PROBE_COUNT; i++)
		room[i] = (struct capture_probe){.spec = &probes[i]};
}

static size_t remembered(const struct capture *capture)
{
	size_t count = 0;

	for (size_t i = 0; i < PROBE_COUNT; i++)
		count += capture->probes[i].failure.from_cache;
	return count;
}

static void only_the_verifiers_word_is_kept(void **state)
{
	struct capture_probe room[PROBE_COUNT];
	struct capture capture;

	(void)state;
	make(&capture, room);
	for (size_t i = 0; i < PROBE_COUNT; i++) {
		room[i].failure = failures[i];
		text_copy(room[i].failure.excerpt, sizeof(room[i].failure.excerpt), "no");
	}
	verdicts_write(&capture);
	make(&capture, room);
	verdicts_read(&capture);
	assert_int_equal(remembered(&capture), 1);
	assert_int_equal(room[0].failure.err, EACCES);
	assert_true(room[0].failure.from_verifier);
}

static void another_form_is_asked_again(void **state)
{
	struct capture_probe room[PROBE_COUNT];
	struct capture capture;

	(void)state;
	make(&capture, room);
	capture.has_task_storage = false;
	verdicts_read(&capture);
	assert_int_equal(remembered(&capture), 0);
	capture.has_task_storage = true;
	capture.has_task_regs = true;
	verdicts_read(&capture);
	assert_int_equal(remembered(&capture), 0);
}

static int make_folder(void **state)
{
	(void)state;
	return !mkdtemp(folder);
}

static int remove_folder(void **state)
{
	char command[64];

	(void)state;
	snprintf(command, sizeof(command), "rm -r %s", folder);
	return system(command);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(only_the_verifiers_word_is_kept),
		cmocka_unit_test(another_form_is_asked_again),
	};

	return cmocka_run_group_tests_name("verdicts", tests, make_folder, remove_folder);
}
