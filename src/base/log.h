/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Messages for people, on stderr. Data never goes this way.
 * Owns the verbosity. Called by every layer above.
 */
#ifndef DWELL_BASE_LOG_H
#define DWELL_BASE_LOG_H

#include <stdarg.h>

/* Silent: another process tells the same. */
enum log_level { LOG_SILENT, LOG_QUIET, LOG_NORMAL, LOG_VERBOSE };

void log_set_level(enum log_level level);
enum log_level log_level(void);

/* What follows is about this place, "run.yaml:7", until it is NULL again. The text is the caller's.
 */
void log_set_place(const char *place);

/* What was tried, why it failed, what to do. Shown even with -q. */
void log_error(const char *format, ...) __attribute__((format(printf, 1, 2)));
void log_info(const char *format, ...) __attribute__((format(printf, 1, 2)));
void log_verbose(const char *format, ...) __attribute__((format(printf, 1, 2)));

#endif
