// SPDX-License-Identifier: Apache-2.0
#include "text.h"

#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cleanup.h"
#include "clock.h"

/* Digits up to end; strtoull alone would take signs, spaces and "0x". */
static int parse_span(const char *text, const char *end, u64 *ret_value)
{
	u64 value = 0;

	if (text == end)
		return -EINVAL;
	for (; text < end; text++) {
		if (!isdigit((unsigned char)*text))
			return -EINVAL;
		if (__builtin_mul_overflow(value, 10, &value) ||
		    __builtin_add_overflow(value, (u64)(*text - '0'), &value))
			return -ERANGE;
	}
	*ret_value = value;
	return 0;
}

static int parse_ranged(const char *text, const char *end, u64 least, u64 most, u64 *ret_value)
{
	u64 value;
	int err = parse_span(text, end, &value);

	if (err)
		return err;
	if (value < least || value > most)
		return -ERANGE;
	*ret_value = value;
	return 0;
}

int text_parse_u64(const char *text, u64 least, u64 most, u64 *ret_value)
{
	return parse_ranged(text, text + strlen(text), least, most, ret_value);
}

/* What one of a unit is, in nanoseconds; 0: there is no such unit. */
static u64 unit_ns(const char *unit)
{
	static const struct {
		const char *name;
		u64 ns;
	} units[] = {{"ns", 1},
		     {"us", 1000},
		     {"ms", 1000000},
		     {"s", NS_PER_S},
		     {"m", 60 * NS_PER_S},
		     {"min", 60 * NS_PER_S},
		     {"h", 3600 * NS_PER_S}};

	for (size_t i = 0; i < ARRAY_SIZE(units); i++)
		if (!strcmp(unit, units[i].name))
			return units[i].ns;
	return 0;
}

/* The digits after a decimal point, each a tenth of the one before; past the ninth they are below
 * a nanosecond of a second, and are dropped. */
static int parse_fraction(const char *digits, const char *end, u64 unit, u64 *ret_ns)
{
	u64 scale = 1, value = 0;

	if (digits == end)
		return -EINVAL;
	for (; digits < end && scale < NS_PER_S; digits++, scale *= 10)
		value = value * 10 + (u64)(*digits - '0');
	*ret_ns = (u64)((unsigned __int128)value * unit / scale);
	return 0;
}

static int parse_time(const char *text, bool is_bare_allowed, u64 *ret_ns)
{
	const char *point = text + strspn(text, "0123456789"), *unit = point;
	u64 ns, whole, fraction = 0;
	int err;

	if (*point == '.')
		unit = point + 1 + strspn(point + 1, "0123456789");
	ns = !*unit && is_bare_allowed ? NS_PER_S : unit_ns(unit);
	err = ns ? parse_span(text, point, &whole) : -EINVAL;
	if (!err && *point == '.')
		err = parse_fraction(point + 1, unit, ns, &fraction);
	if (err)
		return err;
	if (__builtin_mul_overflow(whole, ns, &whole) ||
	    __builtin_add_overflow(whole, fraction, ret_ns))
		return -ERANGE;
	return 0;
}

static int parse_time_ranged(const char *text, bool is_bare_allowed, u64 least_ns, u64 most_ns,
			     u64 *ret_ns)
{
	u64 ns;
	int err = parse_time(text, is_bare_allowed, &ns);

	if (err)
		return err;
	if (ns < least_ns || ns > most_ns)
		return -ERANGE;
	*ret_ns = ns;
	return 0;
}

int text_parse_duration(const char *text, u64 least_ns, u64 most_ns, u64 *ret_ns)
{
	return parse_time_ranged(text, false, least_ns, most_ns, ret_ns);
}

int text_parse_seconds(const char *text, u64 least_ns, u64 most_ns, u64 *ret_ns)
{
	return parse_time_ranged(text, true, least_ns, most_ns, ret_ns);
}

int text_parse_size(const char *text, u64 least, u64 most, u64 *ret_bytes)
{
	static const char units[] = "KMG";
	const char *end = text + strspn(text, "0123456789");
	const char *unit = *end ? strchr(units, *end) : NULL;
	u64 value;
	int err = (*end && (!unit || end[1])) ? -EINVAL : parse_span(text, end, &value);

	if (err)
		return err;
	if (unit && __builtin_mul_overflow(value, 1ULL << 10 * (unit - units + 1), &value))
		return -ERANGE;
	if (value < least || value > most)
		return -ERANGE;
	*ret_bytes = value;
	return 0;
}

int text_parse_list(const char *text, u64 least, u64 most, u32 *values, size_t max,
		    size_t *ret_count)
{
	size_t count = 0;

	for (;;) {
		const char *end = text + strcspn(text, ",");
		u64 value;
		int err = parse_ranged(text, end, least, most, &value);

		if (err)
			return err;
		if (count == max)
			return -E2BIG;
		values[count++] = (u32)value;
		if (!*end)
			break;
		text = end + 1;
	}
	*ret_count = count;
	return 0;
}

bool text_is_symbol(const char *text)
{
	size_t length = strnlen(text, SYMBOL_LENGTH_MAX + 1);

	if (length == 0 || length > SYMBOL_LENGTH_MAX)
		return false;
	for (; *text; text++)
		if (!isalnum((unsigned char)*text) && !strchr("_.$@:~<>*", *text))
			return false;
	return true;
}

int text_read_file(const char *path, char *buf, size_t size)
{
	_cleanup_close_ int fd = open(path, O_RDONLY | O_CLOEXEC);
	size_t length = 0;

	if (fd < 0)
		return -errno;
	while (length < size - 1) {
		ssize_t got = read(fd, buf + length, size - 1 - length);

		if (got < 0)
			return -errno;
		if (got == 0)
			break;
		length += (size_t)got;
	}
	while (length && isspace((unsigned char)buf[length - 1]))
		length--;
	buf[length] = '\0';
	return (int)length;
}

int text_read_number(const char *path, s64 *ret_value)
{
	char buf[32], *end;
	int length = text_read_file(path, buf, sizeof(buf));

	if (length < 0)
		return length;
	errno = 0;
	*ret_value = strtoll(buf, &end, 10);
	return end == buf || *end || errno ? -EINVAL : 0;
}

void text_copy(char *to, size_t size, const char *from)
{
	snprintf(to, size, "%s", from);
}
