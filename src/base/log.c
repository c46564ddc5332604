// SPDX-License-Identifier: Apache-2.0
#include "log.h"

#include <stdio.h>

/* The state that is the process's and not a session's: how much it talks, and of what place. */
static enum log_level current_level = LOG_NORMAL;
static const char *current_place;

void log_set_level(enum log_level level)
{
	current_level = level;
}

void log_set_place(const char *place)
{
	current_place = place;
}

enum log_level log_level(void)
{
	return current_level;
}

static void print(enum log_level least, const char *format, va_list args)
{
	if (current_level < least)
		return;
	fputs("dwell: ", stderr);
	if (current_place)
		fprintf(stderr, "%s: ", current_place);
	vfprintf(stderr, format, args);
	fputc('\n', stderr);
}

#define DEFINE_LOG(name, least)                                                                    \
	void name(const char *format, ...)                                                         \
	{                                                                                          \
		va_list args;                                                                      \
                                                                                                   \
		va_start(args, format);                                                            \
		print(least, format, args);                                                        \
		va_end(args);                                                                      \
	}

DEFINE_LOG(log_error, LOG_QUIET)
DEFINE_LOG(log_info, LOG_NORMAL)
DEFINE_LOG(log_verbose, LOG_VERBOSE)
