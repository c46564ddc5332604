// SPDX-License-Identifier: Apache-2.0
#include "proc_maps.h"

#include <errno.h>
#include <string.h>
#include <sys/types.h>
#include <unistd.h>

#define BUFFER_SIZE (32u << 10) /* a path has 4096 bytes at most, of which each may take four */
#define BYTES_MAX   (64u << 20) /* of the whole file: 65,530 mappings are usual as most */

/* What is left of a line. */
struct cursor {
	const char *at, *end;
};

static bool take_char(struct cursor *cursor, char c)
{
	if (cursor->at == cursor->end || *cursor->at != c)
		return false;
	cursor->at++;
	return true;
}

static int digit(char c)
{
	if (c >= '0' && c <= '9')
		return c - '0';
	return c >= 'a' && c <= 'f' ? c - 'a' + 10 : 16;
}

static bool take_number(struct cursor *cursor, u32 base, u64 *ret_value)
{
	const char *first = cursor->at;
	u64 value = 0;

	while (cursor->at < cursor->end && digit(*cursor->at) < (int)base) {
		if (__builtin_mul_overflow(value, base, &value) ||
		    __builtin_add_overflow(value, (u64)digit(*cursor->at), &value))
			return false;
		cursor->at++;
	}
	*ret_value = value;
	return cursor->at > first;
}

static bool take_small(struct cursor *cursor, u32 *ret_value)
{
	u64 value;

	if (!take_number(cursor, 16, &value) || value > 0xffffffff)
		return false;
	*ret_value = (u32)value;
	return true;
}

static bool is(const struct cursor *rest, const char *text)
{
	size_t length = strlen(text);

	return (size_t)(rest->end - rest->at) == length && !memcmp(rest->at, text, length);
}

static void cut_end(struct cursor *rest, const char *end, bool *ret_was_there)
{
	size_t length = strlen(end);

	*ret_was_there =
		(size_t)(rest->end - rest->at) > length && !memcmp(rest->end - length, end, length);
	if (*ret_was_there)
		rest->end -= length;
}

static void keep_path(struct cursor rest, char *ret_path)
{
	if (rest.end - rest.at >= MAPS_PATH_BYTES) {
		rest.at = rest.end - (MAPS_PATH_BYTES - 1);
		/* not from the middle of a character on */
		for (int i = 0; i < 3 && (*rest.at & 0xc0) == 0x80; i++)
			rest.at++;
	}
	memcpy(ret_path, rest.at, (size_t)(rest.end - rest.at));
	ret_path[rest.end - rest.at] = '\0';
}

bool proc_maps_parse(const char *line, size_t length, struct proc_mapping *ret_mapping)
{
	struct cursor rest = {line, line + length};
	struct proc_mapping mapping = {0};
	const char *modes;

	if (!take_number(&rest, 16, &mapping.begin) || !take_char(&rest, '-') ||
	    !take_number(&rest, 16, &mapping.end) || !take_char(&rest, ' ') ||
	    mapping.begin >= mapping.end)
		return false;
	modes = rest.at;
	if (rest.end - rest.at < 4 || modes[2] != 'x')
		return false;
	rest.at += 4;
	if (!take_char(&rest, ' ') || !take_number(&rest, 16, &mapping.offset) ||
	    !take_char(&rest, ' ') || !take_small(&rest, &mapping.major) ||
	    !take_char(&rest, ':') || !take_small(&rest, &mapping.minor) ||
	    !take_char(&rest, ' ') || !take_number(&rest, 10, &mapping.inode) ||
	    (rest.at < rest.end && *rest.at != ' ') ||
	    memchr(rest.at, '\0', (size_t)(rest.end - rest.at)))
		return false;
	while (take_char(&rest, ' '))
		;
	if (is(&rest, "[vsyscall]"))
		return false; /* no file has it, and nobody is found in it */
	if (mapping.inode)
		cut_end(&rest, " (deleted)", &mapping.is_deleted);
	else
		mapping.is_vdso = is(&rest, "[vdso]");
	if (mapping.inode || mapping.is_vdso)
		keep_path(rest, mapping.path);
	*ret_mapping = mapping;
	return true;
}

struct reading {
	struct proc_mapping *mappings;
	size_t max, count;
	bool is_inside; /* of a line of which the beginning did not fit */
};

/* The whole lines in the buffer: how many bytes they are. */
static size_t take_lines(struct reading *reading, const char *buffer, size_t size)
{
	const char *line = buffer, *end = buffer + size, *newline;

	while (line < end && (newline = memchr(line, '\n', (size_t)(end - line)))) {
		struct proc_mapping mapping;

		if (!reading->is_inside &&
		    proc_maps_parse(line, (size_t)(newline - line), &mapping)) {
			if (reading->count < reading->max)
				reading->mappings[reading->count] = mapping;
			reading->count++;
		}
		reading->is_inside = false;
		line = newline + 1;
	}
	return (size_t)(line - buffer);
}

ssize_t proc_maps_read(int fd, struct proc_mapping *ret_mappings, size_t max)
{
	struct reading reading = {.mappings = ret_mappings, .max = max};
	char buffer[BUFFER_SIZE];
	size_t filled = 0;

	/* By offsets, so that the same descriptor can be read again. */
	for (off_t at = 0; at < (off_t)BYTES_MAX;) {
		ssize_t size = pread(fd, buffer + filled, sizeof(buffer) - filled, at);
		size_t taken;

		if (size < 0 && errno == EINTR)
			continue;
		if (size < 0)
			return -errno;
		if (!size)
			break;
		at += size;
		filled += (size_t)size;
		taken = take_lines(&reading, buffer, filled);
		if (!taken && filled == sizeof(buffer)) {
			reading.is_inside = true;
			taken = filled;
		}
		filled -= taken;
		memmove(buffer, buffer + taken, filled);
	}
	return (ssize_t)reading.count;
}
