// SPDX-License-Identifier: Apache-2.0
#include "line_feed.h"

#include <errno.h>
#include <stdbool.h>
#include <string.h>
#include <unistd.h>

#define BUFFER_SIZE (64u << 10)

struct feed {
	line_feed_fn take;
	void *context;
	bool is_inside; /* of a line whose beginning was handed over already */
};

static int hand_over(struct feed *feed, const char *line, size_t length)
{
	return feed->take(feed->context, line, length > LINE_FEED_MAX ? LINE_FEED_MAX : length);
}

/* The whole lines in the buffer: *ret_taken bytes. */
static int take_lines(struct feed *feed, const char *buffer, size_t size, size_t *ret_taken)
{
	const char *line = buffer, *end = buffer + size, *newline;
	int err = 0;

	while (!err && line < end && (newline = memchr(line, '\n', (size_t)(end - line)))) {
		if (!feed->is_inside)
			err = hand_over(feed, line, (size_t)(newline - line));
		feed->is_inside = false;
		line = newline + 1;
	}
	*ret_taken = (size_t)(line - buffer);
	if (err || *ret_taken || size < BUFFER_SIZE)
		return err;
	if (!feed->is_inside) /* a line longer than the buffer */
		err = hand_over(feed, buffer, size);
	feed->is_inside = true;
	*ret_taken = size;
	return err;
}

int line_feed(int fd, u64 bytes_max, line_feed_fn take, void *context)
{
	struct line_feed_place place = {0};

	return line_feed_from(fd, &place, bytes_max, take, context);
}

static int read_on(int fd, struct feed *feed, struct line_feed_place *place, u64 bytes_max)
{
	char buffer[BUFFER_SIZE];
	size_t filled = 0, taken;

	/* By offsets, so that the same descriptor can be read again. */
	for (u64 at = place->at;;) {
		ssize_t size = pread(fd, buffer + filled, sizeof(buffer) - filled, (off_t)at);
		int err;

		if (size < 0 && errno == EINTR)
			continue;
		if (size < 0)
			return -errno;
		if (!size)
			return 0;
		if (at >= bytes_max)
			return -EFBIG;
		at += (u64)size;
		filled += (size_t)size;
		err = take_lines(feed, buffer, filled, &taken);
		place->at += taken;
		if (err)
			return err;
		filled -= taken;
		memmove(buffer, buffer + taken, filled);
	}
}

int line_feed_from(int fd, struct line_feed_place *place, u64 bytes_max, line_feed_fn take,
		   void *context)
{
	struct feed feed = {.take = take, .context = context, .is_inside = place->is_inside};
	int err = read_on(fd, &feed, place, bytes_max);

	place->is_inside = feed.is_inside;
	return err;
}
