// SPDX-License-Identifier: Apache-2.0
#include "format_value.h"

#include <inttypes.h>

#include "../base/cleanup.h"
#include "../base/figures.h"
#include "../base/utf8.h"

#define MILLIONS 10000000 /* from here on numbers are told in these */

static void format_size(u64 bytes, char *buf)
{
	static const char *const units[] = {"B", "KiB", "MiB", "GiB", "TiB", "PiB", "EiB"};
	double value = (double)bytes;
	size_t unit = 0;

	for (; value >= 1023.5 && unit + 1 < ARRAY_SIZE(units); unit++)
		value /= 1024;
	if (unit)
		figure_three_digits(value, units[unit], buf);
	else
		snprintf(buf, FORMAT_BYTES, "%" PRIu64 " B", (uint64_t)bytes);
}

static void format_count(u64 count, char *buf)
{
	static const char *const units[] = {"M", "G", "T", "P", "E"};
	double value = (double)count / 1e6;
	size_t unit = 0;

	if (count < MILLIONS) {
		figure_number(count, buf);
		return;
	}
	for (; value >= 999.5 && unit + 1 < ARRAY_SIZE(units); unit++)
		value /= 1000;
	figure_three_digits(value, units[unit], buf);
}

const char *format_value(enum series_unit unit, u64 value, char *buf)
{
	if (unit == UNIT_NS)
		figure_time(value, buf);
	else if (unit == UNIT_BYTES)
		format_size(value, buf);
	else
		format_count(value, buf);
	return buf;
}

int value_columns(enum series_unit unit)
{
	return unit == UNIT_NS ? 7 : unit == UNIT_BYTES ? 8 : 9;
}

/* Where so many characters from the start, or to the end, begin. */
static size_t place_of(const char *text, size_t columns)
{
	size_t at = 0;

	for (; text[at]; at++)
		if (((unsigned char)text[at] & 0xc0) != 0x80 && !columns--)
			break;
	return at;
}

void format_middle(const char *text, int columns, char *buf, size_t size)
{
	char escaped[2 * PROFILE_NAME_BYTES];
	size_t have, head, tail;

	utf8_escape(escaped, sizeof(escaped), text);
	have = utf8_columns(escaped);
	if (columns < 3 || have <= (size_t)columns) {
		snprintf(buf, size, "%s",
			 have <= (size_t)(columns > 0 ? columns : 0) ? escaped : "");
		return;
	}
	/* A path's end tells more than its beginning. */
	head = (size_t)(columns - 1) / 3;
	tail = (size_t)columns - 1 - head;
	snprintf(buf, size, "%.*s…%s", (int)place_of(escaped, head), escaped,
		 escaped + place_of(escaped, have - tail));
}
