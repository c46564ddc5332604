// SPDX-License-Identifier: Apache-2.0
/*
 * Waits of one kind each: a timer, a pipe, a peer, a poll.
 */
#include <arpa/inet.h>
#include <linux/futex.h>
#include <netinet/in.h>
#include <pthread.h>
#include <stdatomic.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "oracle.h"

void do_sleep(void)
{
	long long start = now();

	for (int i = 0; i < 20; i++)
		sleep_ms(20);
	truth("blocked.sleep", now() - start);
}

/* A reader that waits 20 ms for each of 20 bytes. */
void do_pipe(void)
{
	long long waited = 0;
	int fds[2];
	char byte;

	must(!pipe(fds), "pipe");
	if (fork() == 0) {
		for (int i = 0; i < 20; i++) {
			sleep_ms(20);
			if (write(fds[1], "x", 1) != 1)
				_exit(1);
		}
		_exit(0);
	}
	for (int i = 0; i < 20; i++) {
		long long start = now();

		must(read(fds[0], &byte, 1) == 1, "read");
		waited += now() - start;
	}
	wait(NULL);
	truth("blocked.pipe", waited);
}

static atomic_int is_signalled;

static void *signal_after_seconds(void *unused)
{
	(void)unused;
	sleep_ms(3000);
	atomic_store(&is_signalled, 1);
	syscall(SYS_futex, &is_signalled, FUTEX_WAKE_PRIVATE, 1, NULL, NULL, 0);
	return NULL;
}

/* A futex that is asked again whenever 20 ms are over, for seconds; then a second of work. */
void do_retries(void)
{
	const struct timespec patience = {.tv_nsec = 20 * MS};
	long long cpu;
	pthread_t thread;

	must(!pthread_create(&thread, NULL, signal_after_seconds, NULL), "pthread_create");
	while (!atomic_load(&is_signalled))
		syscall(SYS_futex, &is_signalled, FUTEX_WAIT_PRIVATE, 0, &patience, NULL, 0);
	for (cpu = thread_cpu(); thread_cpu() < cpu + 1000 * MS;)
		;
	pthread_join(thread, NULL);
	truth("cpu", thread_cpu());
}

static void pass_on(int from, int to, int times)
{
	char byte;

	for (int i = 0; i < times; i++)
		must(read(from, &byte, 1) == 1 && write(to, &byte, 1) == 1, "pass a byte on");
}

/* rounds: how often the byte came back. */
void do_pingpong(void)
{
	enum { ROUNDS = 100000 };
	long long begin = now();
	int there[2], back[2];

	must(!pipe(there) && !pipe(back), "pipe");
	if (fork() == 0) {
		pass_on(there[0], back[1], ROUNDS);
		_exit(0);
	}
	must(write(there[1], "x", 1) == 1, "write");
	pass_on(back[0], there[1], ROUNDS - 1);
	wait(NULL);
	truth("rounds", ROUNDS);
	truth("took", now() - begin);
}

/* A peer that answers 20 ms late. */
static void serve(int listener)
{
	int sock = accept(listener, NULL, NULL);
	char byte;

	while (recv(sock, &byte, 1, 0) == 1) {
		sleep_ms(20);
		if (send(sock, &byte, 1, 0) != 1)
			break;
	}
	_exit(0);
}

void do_tcp(void)
{
	struct sockaddr_in address = {.sin_family = AF_INET,
				      .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
	int listener = socket(AF_INET, SOCK_STREAM, 0), sock = socket(AF_INET, SOCK_STREAM, 0);
	socklen_t size = sizeof(address);
	long long waited = 0;
	char byte = 0;

	must(!bind(listener, (void *)&address, size) && !listen(listener, 1) &&
		     !getsockname(listener, (void *)&address, &size),
	     "listen");
	if (fork() == 0) {
		close(sock); /* or its end would never be seen */
		serve(listener);
	}
	must(!connect(sock, (void *)&address, size), "connect");
	for (int i = 0; i < 20; i++) {
		long long start;

		must(send(sock, &byte, 1, 0) == 1, "send");
		start = now();
		must(recv(sock, &byte, 1, 0) == 1, "recv");
		waited += now() - start;
	}
	close(sock);
	wait(NULL);
	truth("blocked.net", waited);
}

void do_epoll(void)
{
	struct epoll_event event;
	int epoll = epoll_create1(0);
	long long start = now();

	for (int i = 0; i < 20; i++)
		epoll_wait(epoll, &event, 1, 20);
	truth("blocked.sleep", now() - start); /* its own timeout ends each */
}
