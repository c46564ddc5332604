// SPDX-License-Identifier: Apache-2.0
/*
 * Loaded into the Python interpreter before the C library: times how long threads wait for
 * conditions. That is how they wait for the interpreter's lock (5 ms at a time), and for another
 * one to have taken it. Without the time on a run queue; by how it ended.
 */
#include <dlfcn.h>
#include <string.h>

#include "../../truth.h"

enum { SIGNALS, SIGNALLED_NS, TIMEOUTS, TIMEOUT_NS };

typedef int (*timed_wait)(pthread_cond_t *, pthread_mutex_t *, const struct timespec *);
typedef int (*plain_wait)(pthread_cond_t *, pthread_mutex_t *);

int pthread_cond_timedwait(pthread_cond_t *condition, pthread_mutex_t *mutex,
			   const struct timespec *until)
{
	static timed_wait real;
	struct wait_clock wait;
	int err;

	if (!real)
		real = (timed_wait)dlsym(RTLD_NEXT, "pthread_cond_timedwait");
	wait = wait_begin();
	err = real(condition, mutex, until);
	truth_add(err ? TIMEOUT_NS : SIGNALLED_NS, wait_end(&wait));
	truth_add(err ? TIMEOUTS : SIGNALS, 1);
	return err;
}

int pthread_cond_wait(pthread_cond_t *condition, pthread_mutex_t *mutex)
{
	static plain_wait real;
	struct wait_clock wait;
	int err;

	if (!real)
		real = (plain_wait)dlsym(RTLD_NEXT, "pthread_cond_wait");
	wait = wait_begin();
	err = real(condition, mutex);
	truth_add(SIGNALLED_NS, wait_end(&wait));
	truth_add(SIGNALS, 1);
	return err;
}

__attribute__((constructor)) static void start(void)
{
	const char *path = getenv("TRUTH");
	char own[4096];

	if (!path)
		return;
	snprintf(own, sizeof(own), "%.*s-gil.log", (int)strlen(path) - 4, path);
	setenv("TRUTH", own, 1);
	truth_start("signals", "signalled_ns", "timeouts", "timeout_ns", NULL);
	setenv("TRUTH", path, 1);
}
