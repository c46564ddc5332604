// SPDX-License-Identifier: Apache-2.0
#include "messages.h"

#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "../base/text.h"
#include "../base/utf8.h"

#define PREFIX "dwell: "

int messages_open(struct messages *messages)
{
	int fds[2], err = 0;

	if (pipe2(fds, O_CLOEXEC | O_NONBLOCK))
		return -errno;
	fflush(stderr);
	messages->fd = fds[0];
	messages->stderr_fd = fcntl(STDERR_FILENO, F_DUPFD_CLOEXEC, STDERR_FILENO + 1);
	if (messages->stderr_fd < 0 || dup2(fds[1], STDERR_FILENO) < 0)
		err = -errno;
	close(fds[1]);
	return err;
}

static void close_both(struct messages *messages)
{
	if (messages->fd >= 0)
		close(messages->fd);
	if (messages->stderr_fd >= 0)
		close(messages->stderr_fd);
	messages->fd = messages->stderr_fd = -1;
}

void messages_leave(struct messages *messages)
{
	close_both(messages);
}

int messages_fd(const struct messages *messages)
{
	return messages->fd;
}

static void keep(struct messages *messages, const char *line)
{
	text_copy(messages->kept[messages->count++ % MESSAGES_KEPT], MESSAGE_BYTES, line);
}

/* A line that is longer than can be kept is cut. */
static bool take_byte(struct messages *messages, char byte, char *ret_line, size_t size)
{
	const char *text = messages->partial;

	if (byte != '\n') {
		if (messages->length < sizeof(messages->partial) - 1)
			messages->partial[messages->length++] = byte;
		return false;
	}
	messages->partial[messages->length] = '\0';
	messages->length = 0;
	if (!strncmp(text, PREFIX, strlen(PREFIX)))
		text += strlen(PREFIX);
	keep(messages, text);
	text_copy(ret_line, size, text);
	return true;
}

bool messages_read(struct messages *messages, char *ret_line, size_t size)
{
	ssize_t got;
	char byte;

	while (messages->fd >= 0) {
		got = read(messages->fd, &byte, 1);
		if (got < 0 && errno == EINTR)
			continue;
		if (got <= 0)
			return false;
		if (take_byte(messages, byte, ret_line, size))
			return true;
	}
	return false;
}

void messages_add(struct messages *messages, const char *format, ...)
{
	char line[MESSAGE_BYTES];
	va_list args;

	va_start(args, format);
	vsnprintf(line, sizeof(line), format, args);
	va_end(args);
	keep(messages, line);
}

static void print_kept(const struct messages *messages)
{
	u64 first = messages->count > MESSAGES_KEPT ? messages->count - MESSAGES_KEPT : 0;

	if (first)
		fprintf(stderr, PREFIX "%llu earlier messages are not shown\n",
			(unsigned long long)first);
	for (u64 i = first; i < messages->count; i++) {
		char valid[MESSAGE_BYTES * 3], escaped[MESSAGE_BYTES * 4];
		const char *line = messages->kept[i % MESSAGES_KEPT];

		utf8_copy(valid, sizeof(valid), line, strlen(line));
		utf8_escape(escaped, sizeof(escaped), valid);
		fprintf(stderr, PREFIX "%s\n", escaped);
	}
}

void messages_end(struct messages *messages)
{
	char line[MESSAGE_BYTES];

	while (messages_read(messages, line, sizeof(line)))
		;
	if (messages->stderr_fd >= 0)
		dup2(messages->stderr_fd, STDERR_FILENO);
	print_kept(messages);
	close_both(messages);
}
