// SPDX-License-Identifier: Apache-2.0
#include "descriptors.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <unistd.h>

#include "cleanup.h"

/* The process's, not a session's: what it was started with. */
static struct rlimit started_with;

void descriptors_raise(void)
{
	struct rlimit raised;

	if (getrlimit(RLIMIT_NOFILE, &started_with))
		return;
	raised = started_with;
	raised.rlim_cur = raised.rlim_max;
	setrlimit(RLIMIT_NOFILE, &raised);
}

void descriptors_restore(void)
{
	if (started_with.rlim_max)
		setrlimit(RLIMIT_NOFILE, &started_with);
}

u64 descriptors_limit(void)
{
	struct rlimit limit;

	return getrlimit(RLIMIT_NOFILE, &limit) ? 0 : limit.rlim_cur;
}

/* To try is exact, needs no /proc, and takes a microsecond each. */
int descriptors_need(size_t count)
{
	_cleanup_free_ int *fds = calloc(count + 1, sizeof(*fds));
	size_t opened = 0;
	int err = 0;

	if (!fds)
		return -ENOMEM;
	while (opened < count && !err) {
		fds[opened] = open("/dev/null", O_RDONLY | O_CLOEXEC);
		if (fds[opened] >= 0)
			opened++;
		else
			err = -errno;
	}
	while (opened > 0)
		close(fds[--opened]);
	return err == -EMFILE || err == -ENFILE ? err : 0;
}

const char *descriptors_advice(int err)
{
	if (err == EMFILE)
		return "raise the limit of open files: ulimit -n 1024";
	if (err == ENFILE)
		return "raise the host's limit of open files: sysctl fs.file-max";
	if (err == ETIMEDOUT)
		return "a process of dwell's got no CPU for seconds; try again on a less busy host";
	return "see ulimit -u and the free memory";
}
