// SPDX-License-Identifier: Apache-2.0
#include "blocked_read.h"

#include <fcntl.h>
#include <stdio.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/sysmacros.h>

#include "text.h"

bool blocked_read_may_hang(u64 dev)
{
	return !major(dev);
}

static u64 device_of(pid_t pid, unsigned long long fd)
{
	struct statx file;
	char path[64];

	snprintf(path, sizeof(path), "/proc/%d/fd/%llu", pid, fd);
	if (statx(AT_FDCWD, path, AT_STATX_DONT_SYNC, STATX_TYPE, &file) || !S_ISREG(file.stx_mode))
		return 0;
	return makedev(file.stx_dev_major, file.stx_dev_minor);
}

/* "17 0x5 0x7ffd... 0x40 0x1000 0x0 0x0 0x7ffd... 0x7f31...", or "running". */
struct blocked_read blocked_read_of(pid_t pid)
{
	struct blocked_read found = {0};
	unsigned long long args[6];
	char path[32], text[256];
	long call;

	snprintf(path, sizeof(path), "/proc/%d/syscall", pid);
	if (text_read_file(path, text, sizeof(text)) < 0 ||
	    sscanf(text, "%ld %llx %llx %llx %llx %llx %llx", &call, &args[0], &args[1], &args[2],
		   &args[3], &args[4], &args[5]) != 7 ||
	    (call != SYS_pread64 && call != SYS_read))
		return found;
	found.dev = device_of(pid, args[0]);
	if (!blocked_read_may_hang(found.dev))
		found.dev = 0;
	found.position = args[1] ^ args[3] << 1;
	return found;
}
