// SPDX-License-Identifier: Apache-2.0
#include "caller.h"

#include <errno.h>
#include <fcntl.h>
#include <stddef.h>
#include <sys/capability.h>
#include <unistd.h>

#include "cleanup.h"

static const cap_value_t over_files[] = {
	CAP_DAC_OVERRIDE, CAP_DAC_READ_SEARCH, CAP_FOWNER, CAP_CHOWN, CAP_FSETID, CAP_SYS_ADMIN,
};

int caller_begin(struct caller *caller)
{
	cap_t without;
	int err = 0;

	caller->before = NULL;
	if (geteuid() == 0)
		return 0;
	caller->before = cap_get_proc();
	without = cap_get_proc();
	if (!caller->before || !without ||
	    cap_set_flag(without, CAP_EFFECTIVE, ARRAY_SIZE(over_files), over_files, CAP_CLEAR) ||
	    cap_set_proc(without))
		err = -errno;
	if (without)
		cap_free(without);
	if (err)
		caller_end(caller);
	return err;
}

void caller_end(struct caller *caller)
{
	if (!caller->before)
		return;
	cap_set_proc(caller->before);
	cap_free(caller->before);
	caller->before = NULL;
}

int caller_open(const char *path, int flags)
{
	struct caller caller;
	int fd, err = caller_begin(&caller);

	if (err)
		return err;
	fd = open(path, flags);
	if (fd < 0)
		fd = -errno;
	caller_end(&caller);
	return fd;
}
