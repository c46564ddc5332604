// SPDX-License-Identifier: Apache-2.0
#include "cgroup_limit_read.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "../base/cleanup.h"
#include "../base/text.h"

#define FILE_BYTES  4096
#define NS_PER_US   1000
#define V1_NO_LIMIT (1ULL << 62) /* v1 writes "none" as the largest number of pages */

void cgroup_name_file(const struct cgroup_mount *mount, const char *path, const char *file,
		      char ret_path[CGROUP_FILE_PATH_BYTES])
{
	snprintf(ret_path, CGROUP_FILE_PATH_BYTES, "%s%s/%s", mount->at,
		 strcmp(path, "/") ? path : "", file);
}

static bool read_text(const struct cgroup_mount *mount, const char *path, const char *file,
		      char ret_text[FILE_BYTES])
{
	char name[CGROUP_FILE_PATH_BYTES];

	cgroup_name_file(mount, path, file, name);
	return text_read_file(name, ret_text, FILE_BYTES) > 0;
}

/* "max" and what v1 writes for it are none. */
static u64 read_limit(const struct cgroup_mount *mount, const char *path, const char *file)
{
	char text[FILE_BYTES];
	unsigned long long limit;

	if (!read_text(mount, path, file, text) || sscanf(text, "%llu", &limit) != 1 ||
	    limit >= V1_NO_LIMIT || text[0] == '-')
		return CGROUP_NO_LIMIT;
	return limit;
}

static void read_quota(const struct cgroup_mount *mount, const char *path,
		       struct cgroup_limit *limit)
{
	char text[FILE_BYTES];
	unsigned long long quota, period;

	if (mount->hierarchy) {
		limit->quota_us = read_limit(mount, path, "cpu.cfs_quota_us");
		limit->period_us = read_limit(mount, path, "cpu.cfs_period_us");
	} else if (read_text(mount, path, "cpu.max", text) &&
		   sscanf(text, "%llu %llu", &quota, &period) == 2) {
		limit->quota_us = quota;
		limit->period_us = period;
	}
	if (limit->period_us == CGROUP_NO_LIMIT || !limit->period_us)
		limit->quota_us = CGROUP_NO_LIMIT;
}

/* The number behind a word of "cpu.stat"; 0 if it is not there. */
static u64 stat_of(const char *text, const char *word)
{
	size_t length = strlen(word);

	while (text && *text) {
		if (!strncmp(text, word, length) && text[length] == ' ')
			return strtoull(text + length, NULL, 10);
		text = strchr(text, '\n');
		text += text != NULL;
	}
	return 0;
}

void cgroup_read_throttled(const struct cgroup_mount *mount, struct cgroup_limit *limit)
{
	char text[FILE_BYTES];

	/* One that was removed keeps what was read last. */
	if (!read_text(mount, limit->path, "cpu.stat", text))
		return;
	limit->throttled = stat_of(text, "nr_throttled");
	limit->throttled_us = mount->hierarchy ? stat_of(text, "throttled_time") / NS_PER_US
					       : stat_of(text, "throttled_usec");
}

void cgroup_append(char *to, size_t size, const char *more)
{
	size_t length = strlen(to);

	if (length < size)
		snprintf(to + length, size - length, "%s", more);
}

/* "7:0" is loop0; a device that has no name keeps its numbers. */
static void name_device(const char *numbers, char *ret_name, size_t size)
{
	char link[64], target[256];
	const char *slash;
	ssize_t length;

	snprintf(link, sizeof(link), "/sys/dev/block/%s", numbers);
	length = readlink(link, target, sizeof(target) - 1);
	target[length > 0 ? length : 0] = '\0';
	slash = strrchr(target, '/');
	snprintf(ret_name, size, "%s", slash ? slash + 1 : numbers);
}

static void add_rate(struct cgroup_limit *limit, const char *device, const char *key,
		     const char *value)
{
	char name[32], text[128];

	name_device(device, name, sizeof(name));
	snprintf(text, sizeof(text), "%s%s %s=%s", limit->io[0] ? "; " : "", name, key, value);
	cgroup_append(limit->io, sizeof(limit->io), text);
}

/* "7:0 rbps=max wbps=1048576 riops=max wiops=max", a line for each device. */
static void read_io_max(const struct cgroup_mount *mount, const char *path,
			struct cgroup_limit *limit)
{
	char text[FILE_BYTES], *lines, *words;

	if (!read_text(mount, path, "io.max", text))
		return;
	for (char *line = strtok_r(text, "\n", &lines); line; line = strtok_r(NULL, "\n", &lines)) {
		const char *device = strtok_r(line, " ", &words);

		for (char *word = strtok_r(NULL, " ", &words); device && word;
		     word = strtok_r(NULL, " ", &words)) {
			char *equals = strchr(word, '=');

			if (!equals || !strcmp(equals + 1, "max"))
				continue;
			*equals = '\0';
			add_rate(limit, device, word, equals + 1);
		}
	}
}

/* "7:0 1048576", a line for each device, a file for each rate. */
static void read_throttle(const struct cgroup_mount *mount, const char *path,
			  struct cgroup_limit *limit)
{
	static const char *const files[][2] = {
		{"blkio.throttle.read_bps_device", "rbps"},
		{"blkio.throttle.write_bps_device", "wbps"},
		{"blkio.throttle.read_iops_device", "riops"},
		{"blkio.throttle.write_iops_device", "wiops"},
	};

	for (size_t i = 0; i < ARRAY_SIZE(files); i++) {
		char text[FILE_BYTES], device[32], value[32], *lines;

		if (!read_text(mount, path, files[i][0], text))
			continue;
		for (char *line = strtok_r(text, "\n", &lines); line;
		     line = strtok_r(NULL, "\n", &lines))
			if (sscanf(line, "%31s %31s", device, value) == 2)
				add_rate(limit, device, files[i][1], value);
	}
}

void cgroup_read_limits(const struct cgroup_mount *mount, unsigned int resources,
			struct cgroup_limit *limit)
{
	const char *path = limit->path;

	limit->quota_us = limit->period_us = CGROUP_NO_LIMIT;
	limit->memory_high = limit->memory_max = CGROUP_NO_LIMIT;
	if (resources & 1U << CGROUP_CPU)
		read_quota(mount, path, limit);
	if (resources & 1U << CGROUP_MEMORY) {
		limit->memory_high = read_limit(mount, path, "memory.high");
		limit->memory_max = read_limit(
			mount, path, mount->hierarchy ? "memory.limit_in_bytes" : "memory.max");
	}
	if (resources & 1U << CGROUP_IO) {
		if (mount->hierarchy)
			read_throttle(mount, path, limit);
		else
			read_io_max(mount, path, limit);
	}
}

bool cgroup_has_processes(const struct cgroup_mount *mount, const char *path)
{
	char text[FILE_BYTES];

	return read_text(mount, path, "cgroup.procs", text);
}
