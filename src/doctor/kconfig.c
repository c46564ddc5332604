// SPDX-License-Identifier: Apache-2.0
#include "kconfig.h"

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>
#include <zlib.h>

#include "../base/cleanup.h"

#define LINES_MAX 100000 /* a configuration has some 12,000 */

int kconfig_open(const char *release)
{
	static const char *const places[] = {
		"/proc/config.gz",
		"/boot/config-%s",
		"/lib/modules/%s/config",
	};

	for (size_t i = 0; i < ARRAY_SIZE(places); i++) {
		char path[256];
		int fd;

#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wformat-nonliteral"
		snprintf(path, sizeof(path), places[i], release);
#pragma GCC diagnostic pop
		fd = open(path, O_RDONLY | O_CLOEXEC);
		if (fd >= 0)
			return fd;
	}
	return -ENOENT;
}

/* "CONFIG_X=y" or "# CONFIG_X is not set": the name's start and length, and the value. */
static bool parse_line(const char *line, const char **ret_name, size_t *ret_length, char *ret_value)
{
	bool is_comment = !strncmp(line, "# CONFIG_", 9);
	const char *name = line + (is_comment ? 9 : 7);
	size_t length;

	if (!is_comment && strncmp(line, "CONFIG_", 7))
		return false;
	length = strcspn(name, is_comment ? " " : "=");
	if (!name[length] || length >= KCONFIG_NAME_MAX)
		return false;
	*ret_name = name;
	*ret_length = length;
	if (is_comment)
		*ret_value = 'n';
	else
		*ret_value = name[length + 1] == 'm' ? 'm' : 'y';
	return true;
}

static void answer(const char *names, size_t names_size, const char *name, size_t length,
		   char value, char *answers)
{
	for (size_t at = 0, i = 0; at < names_size; i++) {
		size_t asked = strnlen(names + at, names_size - at);

		if (asked == length && !memcmp(names + at, name, length))
			answers[i] = value;
		at += asked + 1;
	}
}

static size_t count_names(const char *names, size_t size)
{
	size_t count = 0;

	for (size_t at = 0; at < size; at += strnlen(names + at, size - at) + 1)
		count++;
	return count;
}

ssize_t kconfig_job(int fd, const void *request, size_t request_size, void *reply,
		    size_t reply_size)
{
	size_t count = count_names(request, request_size), understood = 0;
	char line[512];
	gzFile file;
	int own;

	if (count > reply_size)
		return -EMSGSIZE;
	own = fcntl(fd, F_DUPFD_CLOEXEC, 0);
	file = own < 0 ? NULL : gzdopen(own, "r"); /* reads plain text just as well */
	if (!file) {
		if (own >= 0)
			close(own);
		return -EBADF;
	}
	memset(reply, 'n', count); /* a name that is not there cannot be chosen */
	for (size_t i = 0; i < LINES_MAX && gzgets(file, line, sizeof(line)); i++) {
		const char *name;
		size_t length;
		char value;

		if (!parse_line(line, &name, &length, &value))
			continue;
		understood++;
		answer(request, request_size, name, length, value, reply);
	}
	gzclose(file);
	return understood ? (ssize_t)count : -EBADMSG;
}
