// SPDX-License-Identifier: Apache-2.0
#include "perf_map.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "../base/clock.h"
#include "../base/utf8.h"
#include "line_feed.h"
#include "spans.h"

#define ENTRIES_MAX (1u << 20)
#define TEXT_MAX    (64u << 20)
#define FILE_MAX    (128u << 20)
#define NAME_SIZE   512 /* with its NUL */

#define HEAD_BYTES  64 /* of a file, by which it is known again */
#define MERGE_PART  4  /* recent names join the others when they are one in so many of them */
#define MERGE_LEAST 1024
#define REREAD_PART 20 /* a file that is rewritten again and again costs one in so many ns */

/* What tells that the lines that were read are still in the file. */
struct head {
	u64 device, inode;
	size_t size;
	char bytes[HEAD_BYTES];
};

struct perf_map {
	struct spans base; /* most of it, sorted and disjoint; */
	struct spans
		recent; /* what came since these were joined, likewise: it hides those of base */
	struct line_feed_place place;
	struct head head;
	size_t bytes_max;
	u64 refused, unfit;
	u64 reread_ns; /* a rewritten file is not read again before */
	u32 lines;
	bool is_cut; /* the file is longer than is read */
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

/* What the names take, but for room that was allocated ahead while they are read. */
static size_t used_bytes(const struct perf_map *map)
{
	return sizeof(*map) + spans_bytes(&map->base) + map->recent.count * sizeof(struct span) +
	       map->recent.text_size;
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
	if (used_bytes(map) + sizeof(span) + strlen(clean) + 1 > map->bytes_max) {
		map->unfit++;
		return 0;
	}
	err = spans_add(&map->recent, span, clean, strlen(clean));
	if (err == -E2BIG)
		map->unfit++;
	return err == -E2BIG ? 0 : err;
}

struct perf_map *perf_map_create(void)
{
	struct perf_map *map = calloc(1, sizeof(*map));

	if (map) {
		spans_init(&map->base, ENTRIES_MAX, TEXT_MAX);
		spans_init(&map->recent, ENTRIES_MAX, TEXT_MAX);
	}
	return map;
}

static int settle(struct spans *spans)
{
	int err;

	spans_sort(spans);
	err = spans_settle(spans);
	spans_trim(spans);
	return err;
}

/* Joins them when they have become many: so each name is moved a few times in all. */
static int merge(struct perf_map *map)
{
	struct spans *recent = &map->recent;
	int err = 0;

	if (recent->count < MERGE_LEAST || recent->count < map->base.count / MERGE_PART)
		return 0;
	for (size_t i = 0; i < recent->count && (!err || err == -E2BIG); i++) {
		const char *name = spans_name(recent, &recent->items[i]);

		err = spans_add(&map->base, recent->items[i], name, strlen(name));
		map->unfit += err == -E2BIG;
	}
	spans_free(recent);
	spans_init(recent, ENTRIES_MAX, TEXT_MAX);
	return err && err != -E2BIG ? err : settle(&map->base);
}

static void forget_names(struct perf_map *map)
{
	spans_free(&map->base);
	spans_free(&map->recent);
	spans_init(&map->base, ENTRIES_MAX, TEXT_MAX);
	spans_init(&map->recent, ENTRIES_MAX, TEXT_MAX);
	map->place = (struct line_feed_place){0};
	map->head = (struct head){0};
	map->lines = 0;
}

/* Of the part of the file that was read. */
static void read_head(int fd, const struct stat *stat, size_t size, struct head *ret_head)
{
	ssize_t got;

	*ret_head = (struct head){.device = stat->st_dev, .inode = stat->st_ino};
	got = pread(fd, ret_head->bytes, size < HEAD_BYTES ? size : HEAD_BYTES, 0);
	ret_head->size = got > 0 ? (size_t)got : 0;
}

/* Is it another file than before, cut, or written anew? */
static bool is_rewritten(const struct perf_map *map, int fd, const struct stat *stat)
{
	struct head head;

	if (!map->place.at)
		return false;
	read_head(fd, stat, map->head.size, &head);
	return (u64)stat->st_size < map->place.at || memcmp(&head, &map->head, sizeof(head)) != 0;
}

static int read_added(struct perf_map *map, int fd)
{
	int err = line_feed_from(fd, &map->place, FILE_MAX, take_line, map), settled;

	if (err == -EFBIG) {
		map->unfit += !map->is_cut; /* the rest of the file, as one */
		map->is_cut = true;
		err = 0;
	}
	settled = settle(&map->recent);
	if (!settled)
		settled = merge(map);
	return err ? err : settled;
}

int perf_map_update(struct perf_map *map, int fd, size_t bytes_max)
{
	u64 begin_ns = clock_now_ns();
	bool is_whole = !map->place.at;
	struct stat stat;
	int err;

	if (fstat(fd, &stat))
		return -errno;
	if (!S_ISREG(stat.st_mode))
		return -EINVAL; /* nobody waits for a pipe here */
	if (is_rewritten(map, fd, &stat)) {
		if (begin_ns < map->reread_ns)
			return -EAGAIN;
		forget_names(map);
		is_whole = true;
	}
	map->bytes_max = bytes_max;
	err = read_added(map, fd);
	read_head(fd, &stat, map->place.at < HEAD_BYTES ? (size_t)map->place.at : HEAD_BYTES,
		  &map->head);
	if (is_whole)
		map->reread_ns = begin_ns + REREAD_PART * (clock_now_ns() - begin_ns);
	return err;
}

void perf_map_close(struct perf_map *map)
{
	if (!map)
		return;
	spans_free(&map->base);
	spans_free(&map->recent);
	free(map);
}

size_t perf_map_bytes(const struct perf_map *map)
{
	return map ? sizeof(*map) + spans_bytes(&map->base) + spans_bytes(&map->recent) : 0;
}

u64 perf_map_refused(const struct perf_map *map)
{
	return map->refused + map->unfit;
}

u64 perf_map_unfit(const struct perf_map *map)
{
	return map->unfit;
}

const char *perf_map_find(const struct perf_map *map, u64 address)
{
	const struct spans *spans = &map->recent;
	const struct span *span = spans_find(spans, address);

	if (!span) {
		spans = &map->base;
		span = spans_find(spans, address);
	}
	return span ? spans_name(spans, span) : NULL;
}
