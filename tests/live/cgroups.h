/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Cgroups that the live programs make for themselves, and remove again.
 */
#ifndef DWELL_TESTS_CGROUPS_H
#define DWELL_TESTS_CGROUPS_H

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

#include "../../src/base/cgroup.h"

static inline bool write_pid(const struct cgroup_mount *mount, const char *path, pid_t pid)
{
	char file[sizeof(mount->at) + CGROUP_PATH_BYTES], text[16];
	int length = snprintf(text, sizeof(text), "%d", pid);
	int fd;
	bool wrote;

	snprintf(file, sizeof(file), "%s/%s/cgroup.procs", mount->at, path);
	fd = open(file, O_WRONLY | O_CLOEXEC);
	wrote = fd >= 0 && write(fd, text, (size_t)length) == length;
	if (fd >= 0)
		close(fd);
	return wrote;
}

static inline bool make_dir(const struct cgroup_mount *mount, const char *path)
{
	char dir[sizeof(mount->at) + CGROUP_PATH_BYTES];

	snprintf(dir, sizeof(dir), "%s/%s", mount->at, path);
	return !mkdir(dir, 0755) || errno == EEXIST;
}

static inline void remove_dir(const struct cgroup_mount *mount, const char *path)
{
	char dir[sizeof(mount->at) + CGROUP_PATH_BYTES];

	snprintf(dir, sizeof(dir), "%s/%s", mount->at, path);
	rmdir(dir);
}

static inline const struct cgroup_mount *v2_of(const struct cgroup_mount *mounts, int count)
{
	for (int i = 0; i < count; i++)
		if (mounts[i].hierarchy == 0)
			return &mounts[i];
	return NULL;
}

#endif
