// SPDX-License-Identifier: Apache-2.0
#include "perf_map.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "../base/utf8.h"
#include "line_feed.h"
#include "spans.h"

#define ENTRIES_MAX (1u << 20)
#define TEXT_MAX    (64u << 20)
#define FILE_MAX    (128u << 20)
#define NAME_SIZE   512 /* with its NUL */

struct perf_map {
	struct spans spans;
	u64 refused;
	u32 lines;
};

/* A hexadecimal number, with or without 0x, and the one space behind it: what follows, or NULL. */
static const char *take_number(const char *at, const char *end, u64 *ret_value)
{
	const char *first;
	u64 value = 0;

	if (end - at > 2 && at[0] == '0' && (at[1] == 'x' || at[1] == 'X'))
		at += 2;
	for (first = at; at < end; at++) {
		u8 letter = (u8)*at | 0x20, digit;

		if (*at >= '0' && *at <= '9')
			digit = (u8)(*at - '0');
		else if (letter >= 'a' && letter <= 'f')
			digit = (u8)(letter - 'a' + 10);
		else
			break;
		if (value >> 60)
			return NULL;
		value = value << 4 | digit;
	}
	if (at == first || at == end || *at != ' ')
		return NULL;
	*ret_value = value;
	return at + 1;
}

static int take_line(void *context, const char *line, size_t length)
{
	struct perf_map *map = context;
	const char *end = line + length, *name;
	char raw[NAME_SIZE], clean[NAME_SIZE];
	struct span span = {.order = ++map->lines};
	u64 size = 0;
	int err;

	name = take_number(line, end, &span.begin);
	if (name)
		name = take_number(name, end, &size);
	if (!name || !size || name == end) {
		map->refused++;
		return 0;
	}
	span.size = size > 0xffffffff ? 0xffffffff : (u32)size;
	utf8_copy(raw, sizeof(raw), name, (size_t)(end - name));
	utf8_escape(clean, sizeof(clean), raw);
	err = spans_add(&map->spans, span, clean, strlen(clean));
	return err == -E2BIG ? 0 : err; /* counted there */
}

int perf_map_read(int fd, struct perf_map **ret_map)
{
	struct perf_map *map;
	struct stat stat;
	int err;

	if (fstat(fd, &stat))
		return -errno;
	if (!S_ISREG(stat.st_mode))
		return -EINVAL; /* nobody waits for a pipe here */
	map = calloc(1, sizeof(*map));
	if (!map)
		return -ENOMEM;
	spans_init(&map->spans, ENTRIES_MAX, TEXT_MAX);
	err = line_feed(fd, FILE_MAX, take_line, map);
	if (err == -EFBIG) {
		map->refused++; /* the rest of the file, as one */
		err = 0;
	}
	spans_sort(&map->spans);
	if (!err)
		err = spans_settle(&map->spans);
	if (err) {
		perf_map_close(map);
		return err;
	}
	spans_trim(&map->spans);
	*ret_map = map;
	return 0;
}

void perf_map_close(struct perf_map *map)
{
	if (!map)
		return;
	spans_free(&map->spans);
	free(map);
}

size_t perf_map_bytes(const struct perf_map *map)
{
	return map ? sizeof(*map) + spans_bytes(&map->spans) : 0;
}

u64 perf_map_refused(const struct perf_map *map)
{
	return map->refused + map->spans.refused;
}

const char *perf_map_find(const struct perf_map *map, u64 address)
{
	const struct span *span = spans_find(&map->spans, address);

	return span ? spans_name(&map->spans, span) : NULL;
}
