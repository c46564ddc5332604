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
	{.program = "no_memory"},   {.program = "at_attaching"}, {.program = "no_map"},
};

#define PROBE_COUNT (sizeof(probes) / sizeof(probes[0]))

static const struct failure failures[PROBE_COUNT] = {
	{.gate = GATE_LOAD, .err = EACCES, .from_verifier = true, .is_named = true},
	{.gate = GATE_LOAD, .err = EINVAL, .is_named = true},
	{.gate = GATE_LOAD, .err = EINVAL, .from_verifier = true},
	{.gate = GATE_LOAD, .err = ENOMEM, .from_verifier = true, .is_named = true},
	{.gate = GATE_ATTACH, .err = EINVAL, .from_verifier = true, .is_named = true},
	/* What libbpf says after a shortage of descriptors made it leave a map out. */
	{.gate = GATE_LOAD,
	 .err = EINVAL,
	 .from_verifier = true,
	 .is_named = true,
	 .excerpt = "BPF map 'dwell.rodata' is referenced but wasn't created"},
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

/* One capture: reads what is known, meets its failures or none, and writes. */
static void meet(bool is_refused)
{
	struct capture_probe room[PROBE_COUNT];
	struct capture capture;

	make(&capture, room);
	verdicts_read(&capture);
	for (size_t i = 0; i < PROBE_COUNT && is_refused; i++) {
		if (room[i].failure.from_cache)
			continue;
		room[i].failure = failures[i];
		if (!room[i].failure.excerpt[0])
			text_copy(room[i].failure.excerpt, sizeof(room[i].failure.excerpt), "no");
	}
	verdicts_write(&capture);
}

static void a_refusal_is_believed_when_met_twice(void **state)
{
	struct capture_probe room[PROBE_COUNT];
	struct capture capture;

	(void)state;
	meet(true);
	make(&capture, room);
	verdicts_read(&capture);
	assert_int_equal(remembered(&capture), 0);
	meet(false); /* it was a shortage */
	meet(true);
	make(&capture, room);
	verdicts_read(&capture);
	assert_int_equal(remembered(&capture), 0);
	meet(true);
	make(&capture, room);
	verdicts_read(&capture);
	assert_int_equal(remembered(&capture), 1);
}

static void only_the_verifiers_word_is_kept(void **state)
{
	struct capture_probe room[PROBE_COUNT];
	struct capture capture;

	(void)state;
	meet(true);
	meet(true);
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
		cmocka_unit_test(a_refusal_is_believed_when_met_twice),
		cmocka_unit_test(only_the_verifiers_word_is_kept),
		cmocka_unit_test(another_form_is_asked_again),
	};

	return cmocka_run_group_tests_name("verdicts", tests, make_folder, remove_folder);
}
