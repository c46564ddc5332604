// SPDX-License-Identifier: Apache-2.0
/*
 * A process by its number, as /proc has it.
 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "../../abi/config.h"
#include "../base/cleanup.h"
#include "../base/text.h"
#include "target_files.h"

#define THREADS_TRIED 64 /* of a process whose first one has ended */

int target_process(u32 pid)
{
	char path[32];
	int fd;

	snprintf(path, sizeof(path), "/proc/%u", pid);
	fd = open(path, O_PATH | O_DIRECTORY | O_CLOEXEC);
	return fd < 0 ? -errno : fd;
}

bool target_is_running(pid_t pid)
{
	char path[32], text[256], *state;

	snprintf(path, sizeof(path), "/proc/%d/stat", pid);
	if (text_read_file(path, text, sizeof(text)) < 0)
		return false;
	state = strrchr(text, ')'); /* a name may have one, too */
	return state && !strncmp(state, ") R", 3);
}

/* Of one that has ended there is nothing to be read; it can still be opened. */
static int open_maps(int proc_fd)
{
	int fd = proc_fd < 0 ? -1 : openat(proc_fd, "maps", O_RDONLY | O_CLOEXEC);
	char first;

	if (fd < 0)
		return -errno;
	if (pread(fd, &first, 1, 0) == 1)
		return fd;
	close(fd);
	return -ESRCH;
}

/* One of the threads that has mappings: a number is still the same thread's if it is still there.
 */
static int open_thread(int task_fd, const char *name, int *ret_maps_fd)
{
	u64 tid;
	int proc_fd, maps_fd;

	if (text_parse_u64(name, 1, PID_LIMIT, &tid))
		return -EINVAL;
	proc_fd = target_process((u32)tid);
	maps_fd = open_maps(proc_fd);
	if (maps_fd >= 0 && !faccessat(task_fd, name, F_OK, 0)) {
		*ret_maps_fd = maps_fd;
		return proc_fd;
	}
	if (maps_fd >= 0)
		close(maps_fd);
	if (proc_fd >= 0)
		close(proc_fd);
	return -ESRCH;
}

static int open_any_thread(int proc_fd, int *ret_maps_fd)
{
	int task_fd = openat(proc_fd, "task", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	DIR *dir = task_fd < 0 ? NULL : fdopendir(task_fd);
	int found = -ESRCH;

	if (!dir && task_fd >= 0)
		close(task_fd);
	for (int i = 0; dir && i < THREADS_TRIED && found < 0; i++) {
		const struct dirent *item = readdir(dir);

		if (!item)
			break;
		found = open_thread(task_fd, item->d_name, ret_maps_fd);
	}
	if (dir)
		closedir(dir);
	return found;
}

int target_process_maps(u32 pid, int *ret_maps_fd)
{
	_cleanup_close_ int proc_fd = target_process(pid);
	int maps_fd = proc_fd < 0 ? proc_fd : open_maps(proc_fd), kept = proc_fd;

	if (maps_fd == -ESRCH && proc_fd >= 0)
		return open_any_thread(proc_fd, ret_maps_fd);
	if (maps_fd < 0)
		return maps_fd;
	*ret_maps_fd = maps_fd;
	proc_fd = -1;
	return kept;
}
