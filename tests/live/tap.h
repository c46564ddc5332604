/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Results in TAP for the programs that need a kernel; main() returns tap_status().
 */
#ifndef DWELL_TESTS_TAP_H
#define DWELL_TESTS_TAP_H

#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>

static int tap_failures;

__attribute__((format(printf, 2, 3))) static inline bool tap(bool passed, const char *format, ...)
{
	va_list args;

	printf("%s - ", passed ? "ok" : "not ok");
	va_start(args, format);
	vprintf(format, args);
	va_end(args);
	putchar('\n');
	fflush(stdout);
	tap_failures += !passed;
	return passed;
}

static inline int tap_status(void)
{
	return tap_failures ? 1 : 0;
}

#endif
