// SPDX-License-Identifier: Apache-2.0
#include "figures.h"

#include <inttypes.h>
#include <stdio.h>

#include "cleanup.h"

void figure_three_digits(double value, const char *unit, char buf[FIGURE_BYTES])
{
	snprintf(buf, FIGURE_BYTES, "%.*f %s",
		 value < 9.995	 ? 2
		 : value < 99.95 ? 1
				 : 0,
		 value, unit);
}

const char *figure_time(u64 ns, char buf[FIGURE_BYTES])
{
	static const struct {
		double ns;
		const char *unit;
	} units[] = {{1e9, "s"}, {1e6, "ms"}, {1e3, "us"}};

	for (size_t i = 0; i < ARRAY_SIZE(units); i++)
		if ((double)ns >= units[i].ns * 0.9995) {
			figure_three_digits((double)ns / units[i].ns, units[i].unit, buf);
			return buf;
		}
	snprintf(buf, FIGURE_BYTES, "%" PRIu64 " ns", (uint64_t)ns);
	return buf;
}

const char *figure_number(u64 number, char buf[FIGURE_BYTES])
{
	char digits[FIGURE_BYTES];
	int length = snprintf(digits, sizeof(digits), "%" PRIu64, (uint64_t)number), at = 0;

	for (int i = 0; i < length; i++) {
		if (i && (length - i) % 3 == 0)
			buf[at++] = ',';
		buf[at++] = digits[i];
	}
	buf[at] = '\0';
	return buf;
}
