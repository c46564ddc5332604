// SPDX-License-Identifier: Apache-2.0
/*
 * What is kept of libbpf's messages: who failed, and the shortage that is behind it.
 */
#include "unit.h"

#include <bpf/libbpf.h>
#include <errno.h>
#include <stdarg.h>

#include "../../src/capture/bpflog.h"

/* As libbpf says it, after a call that left this errno. */
static void say(libbpf_print_fn_t print, int last_errno, enum libbpf_print_level level,
		const char *format, ...)
{
	va_list args;

	va_start(args, format);
	errno = last_errno;
	print(level, format, args);
	va_end(args);
}

static libbpf_print_fn_t begin(struct bpflog *log)
{
	bpflog_begin(log);
	return libbpf_set_print(NULL);
}

static void a_trial_that_failed_in_silence_is_known(void **state)
{
	struct bpflog log = {0};
	libbpf_print_fn_t print = begin(&log);

	(void)state;
	assert_int_equal(errno, 0); /* what was before is not libbpf's */
	say(print, ENOENT, LIBBPF_DEBUG, "looking for %s\n", "it");
	assert_int_equal(log.trial_shortage, 0);
	say(print, EMFILE, LIBBPF_DEBUG, "Kernel doesn't support BTF, skipping uploading it.\n");
	say(print, EINVAL, LIBBPF_WARN, "map '%s': failed to create: %s(%d)\n", "x", "Invalid",
	    -22);
	bpflog_end();
	assert_int_equal(log.trial_shortage, EMFILE);
	assert_int_equal(log.shortage, 0);
	assert_string_equal(log.map, "x");
	begin(&log);
	assert_int_equal(log.trial_shortage, 0);
	bpflog_end();
	bpflog_free(&log);
}

static void a_message_names_its_shortage(void **state)
{
	struct bpflog log = {0};
	libbpf_print_fn_t print = begin(&log);

	(void)state;
	say(print, ENOMEM, LIBBPF_WARN, "map '%s': failed to create: %s(%d)\n", "x", "Cannot", -12);
	bpflog_end();
	assert_int_equal(log.shortage, ENOMEM);
	assert_string_equal(log.map, "x");
	bpflog_free(&log);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_trial_that_failed_in_silence_is_known),
		cmocka_unit_test(a_message_names_its_shortage),
	};

	return cmocka_run_group_tests_name("bpflog", tests, NULL, NULL);
}
