// SPDX-License-Identifier: Apache-2.0
/*
 * pricing PORT: four workers read prices under a lock; "refresher" asks for new ones over TCP while
 * it holds that lock. The peer, "rates", is a process of its own and takes 20 ms to answer.
 */
#include <string.h>
#include <sys/prctl.h>

#include "../net.h"
#include "../truth.h"

enum { WAITS, WAIT_NS, CALLS, CALL_NS, HELD_NS };

static pthread_mutex_t prices_lock = PTHREAD_MUTEX_INITIALIZER;
static int port;

static void serve(int listener)
{
	char byte;

	prctl(PR_SET_NAME, "rates");
	prctl(PR_SET_PDEATHSIG, 15);
	for (;;) {
		int fd = accept(listener, NULL, NULL);

		no_delay(fd);
		while (read(fd, &byte, 1) == 1) {
			sleep_ns(20000000);
			if (write(fd, &byte, 1) != 1)
				break;
		}
		close(fd);
	}
}

static void lock_prices(void)
{
	uint64_t queue, begin, waited, queued;

	if (!pthread_mutex_trylock(&prices_lock))
		return;
	queue = runq_ns();
	begin = now_ns();
	pthread_mutex_lock(&prices_lock);
	waited = now_ns() - begin;
	queued = runq_ns() - queue;
	truth_add(WAITS, 1);
	truth_add(WAIT_NS, waited > queued ? waited - queued : 0);
}

static void *refresh(void *arg)
{
	int fd = connected(SOCK_STREAM, port);
	char byte = 'x';

	no_delay(fd);
	for (;;) {
		uint64_t begin, held;

		pthread_mutex_lock(&prices_lock);
		held = begin = now_ns();
		if (write(fd, &byte, 1) != 1 || read(fd, &byte, 1) != 1)
			abort();
		truth_add(CALL_NS, now_ns() - begin);
		truth_add(CALLS, 1);
		truth_add(HELD_NS, now_ns() - held);
		pthread_mutex_unlock(&prices_lock);
		sleep_ns(20000000);
	}
	return arg;
}

static void *work(void *arg)
{
	for (;;) {
		lock_prices();
		burn_ns(20000);
		pthread_mutex_unlock(&prices_lock);
		sleep_ns(1000000);
	}
	return arg;
}

int main(int argc, char **argv)
{
	int listener;

	port = atoi(argv[argc - 1]);
	listener = listening(port, 4);
	if (!fork())
		serve(listener);
	close(listener);
	truth_start("waits", "wait_ns", "calls", "call_ns", "held_ns", NULL);
	start_thread("refresher", refresh, NULL);
	for (int i = 1; i <= 4; i++) {
		char name[16];

		snprintf(name, sizeof(name), "worker-%d", i);
		start_thread(name, work, NULL);
	}
	pause();
	return 0;
}
