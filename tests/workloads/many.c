// SPDX-License-Identifier: Apache-2.0
/*
 * More of everything than a profiler has places for: files, connections, locks, threads. What is
 * counted of each must still be all.
 */
#include <arpa/inet.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include "oracle.h"

#define FILES	    100000
#define FOLDERS	    100
#define CONNECTIONS 50000
#define LOCKS	    5000
#define THREADS	    10000

/* files.written: writes, one to each file. In a folder in the memory, if there is one. */
void do_many_files(void)
{
	char folder[] = "/dev/shm/dwell-many-XXXXXX", path[64];

	must(mkdtemp(folder), "make a folder in /dev/shm");
	must(!chdir(folder), "go there");
	for (int i = 0; i < FILES; i++) {
		int fd;

		snprintf(path, sizeof(path), "%d", i % FOLDERS);
		if (i < FOLDERS)
			must(!mkdir(path, 0700), "make a folder");
		snprintf(path, sizeof(path), "%d/%d", i % FOLDERS, i);
		fd = open(path, O_WRONLY | O_CREAT, 0600);
		must(fd >= 0 && write(fd, "x", 1) == 1, "write a file");
		close(fd);
	}
	for (int i = 0; i < FILES; i++) {
		snprintf(path, sizeof(path), "%d/%d", i % FOLDERS, i);
		unlink(path);
	}
	for (int i = 0; i < FOLDERS; i++) {
		snprintf(path, sizeof(path), "%d", i);
		rmdir(path);
	}
	must(!chdir("/") && !rmdir(folder), "remove the folder");
	truth("files.written", FILES);
}

static int listener;

static void *serve(void *unused)
{
	char byte;

	for (int i = 0; i < CONNECTIONS; i++) {
		int fd = accept(listener, NULL, NULL);

		must(fd >= 0 && read(fd, &byte, 1) == 1 && write(fd, &byte, 1) == 1, "serve");
		close(fd);
	}
	return unused;
}

/* connections: made, each with a byte there and one back. They are reset: no port stays taken. */
void do_many_connections(void)
{
	const struct linger at_once = {.l_onoff = 1};
	struct sockaddr_in address = {.sin_family = AF_INET};
	socklen_t size = sizeof(address);
	pthread_t server;
	char byte = 'x';

	address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
	listener = socket(AF_INET, SOCK_STREAM, 0);
	must(!bind(listener, (struct sockaddr *)&address, size) && !listen(listener, 64) &&
		     !getsockname(listener, (struct sockaddr *)&address, &size),
	     "listen");
	must(!pthread_create(&server, NULL, serve, NULL), "create a thread");
	for (int i = 0; i < CONNECTIONS; i++) {
		int fd = socket(AF_INET, SOCK_STREAM, 0);

		must(!connect(fd, (struct sockaddr *)&address, size), "connect");
		must(write(fd, &byte, 1) == 1 && read(fd, &byte, 1) == 1, "be served");
		setsockopt(fd, SOL_SOCKET, SO_LINGER, &at_once, sizeof(at_once));
		close(fd);
	}
	pthread_join(server, NULL);
	truth("connections", CONNECTIONS);
}

static pthread_mutex_t locks[LOCKS];
static _Atomic int turn = -1, waiting = -1;
static long waits;

/* Waits for each lock once, when it is held, unless it came too late for that. */
static void *contend(void *unused)
{
	for (int i = 0; i < LOCKS; i++) {
		while (turn < i)
			sched_yield();
		long blocks = thread_blocks();

		waiting = i;
		pthread_mutex_lock(&locks[i]);
		waits += thread_blocks() - blocks;
		pthread_mutex_unlock(&locks[i]);
	}
	return unused;
}

/* lock.waits: how often a thread waited for one of them. */
void do_many_locks(void)
{
	pthread_t other;

	for (int i = 0; i < LOCKS; i++)
		pthread_mutex_init(&locks[i], NULL);
	must(!pthread_create(&other, NULL, contend, NULL), "create a thread");
	for (int i = 0; i < LOCKS; i++) {
		pthread_mutex_lock(&locks[i]);
		turn = i;
		while (waiting < i)
			sched_yield();
		usleep(100);
		pthread_mutex_unlock(&locks[i]);
	}
	pthread_join(other, NULL);
	truth("lock.waits", waits);
}

static void *nap(void *unused)
{
	sleep_ms(200);
	return unused;
}

/* threads: made, each of which slept once. */
void do_many_threads(void)
{
	static pthread_t threads[THREADS];
	pthread_attr_t small;

	pthread_attr_init(&small);
	pthread_attr_setstacksize(&small, 65536);
	for (int i = 0; i < THREADS; i++)
		must(!pthread_create(&threads[i], &small, nap, NULL), "create a thread");
	for (int i = 0; i < THREADS; i++)
		pthread_join(threads[i], NULL);
	truth("threads", THREADS);
}

void do_many(void)
{
	do_many_files();
	do_many_connections();
	do_many_locks();
	do_many_threads();
}
