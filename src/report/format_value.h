/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A value of a series for a person: three digits, since its error is more than the fourth. Owns
 * nothing. Called by those who print series.
 */
#ifndef DWELL_REPORT_FORMAT_VALUE_H
#define DWELL_REPORT_FORMAT_VALUE_H

#include "../model/view.h"
#include "format.h"

#define VALUE(unit, value) format_value(unit, value, (char[FORMAT_BYTES]){0})

/* 210 us, 1.23 ms; 512 B, 4.00 KiB; 1,234, 12.3 M */
const char *format_value(enum series_unit unit, u64 value, char *buf);

/* What the values of a unit are wide, at most. */
int value_columns(enum series_unit unit);

/* At most so many columns of it, with … in its middle where it was cut; escaped. */
void format_middle(const char *text, int columns, char *buf, size_t size);

#endif
