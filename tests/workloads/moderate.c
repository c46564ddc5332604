// SPDX-License-Identifier: Apache-2.0
/*
 * A server that has some work and is far from its limit, as most are most of the time, and its
 * clients: 4,000 requests a second over kept connections, a lock that all need for a moment, 80 new
 * connections a second, and some that have to be on the disk.
 */
#include <arpa/inet.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "oracle.h"

enum {
	CLIENTS = 8,
	REQUESTS_PER_SECOND = 4000,
	REQUESTS_PER_CONNECTION = 50,
	REQUESTS_PER_WRITE = 40,
	QUESTION = 100,
	ANSWER = 1000,
	PAGE = 4096,
};

static struct sockaddr_in server_address;
static int listener, file;
static pthread_mutex_t shared = PTHREAD_MUTEX_INITIALIZER;
static atomic_long requests;
static atomic_bool is_over;

static void burn(long long ns)
{
	long long end = now() + ns;

	while (now() < end)
		;
}

static bool serve_request(int sock)
{
	static char page[PAGE];
	char bytes[ANSWER] = {0};
	long number = atomic_fetch_add(&requests, 1);

	if (recv(sock, bytes, QUESTION, MSG_WAITALL) != QUESTION)
		return false;
	pthread_mutex_lock(&shared);
	burn(10 * US);
	pthread_mutex_unlock(&shared);
	burn(30 * US);
	if (number % REQUESTS_PER_WRITE == 0)
		must(pwrite(file, page, PAGE, 0) == PAGE && !fdatasync(file), "write");
	return send(sock, bytes, ANSWER, MSG_NOSIGNAL) == ANSWER;
}

static void *serve(void *unused)
{
	(void)unused;
	for (;;) {
		int sock = accept(listener, NULL, NULL);

		while (serve_request(sock))
			;
		close(sock);
	}
	return NULL;
}

static void serve_all(void)
{
	pthread_t thread;

	prctl(PR_SET_PDEATHSIG, SIGKILL);
	file = scratch_file(PAGE);
	for (int i = 0; i < CLIENTS; i++)
		must(!pthread_create(&thread, NULL, serve, NULL), "thread");
	for (;;)
		pause();
}

static void wait_until(long long ns)
{
	struct timespec at = {.tv_sec = ns / (1000 * MS), .tv_nsec = ns % (1000 * MS)};

	clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &at, NULL);
}

/* One after the other, at its pace; who is late does not make up for it. */
static void *ask(void *unused)
{
	const long long pace = 1000 * MS * CLIENTS / REQUESTS_PER_SECOND;
	long long next = now();
	char bytes[ANSWER] = {0};

	(void)unused;
	while (!is_over) {
		int sock = socket(AF_INET, SOCK_STREAM, 0);

		must(!connect(sock, (void *)&server_address, sizeof(server_address)), "connect");
		for (int i = 0; i < REQUESTS_PER_CONNECTION && !is_over; i++) {
			must(send(sock, bytes, QUESTION, MSG_NOSIGNAL) == QUESTION, "send");
			must(recv(sock, bytes, ANSWER, MSG_WAITALL) == ANSWER, "recv");
			atomic_fetch_add(&requests, 1);
			next = next + pace > now() ? next + pace : now();
			wait_until(next);
		}
		close(sock);
	}
	return NULL;
}

/* Until it is asked to end. */
void do_moderate(void)
{
	socklen_t size = sizeof(server_address);
	pthread_t threads[CLIENTS];
	sigset_t end;
	int signal, server;

	sigemptyset(&end);
	sigaddset(&end, SIGTERM);
	sigaddset(&end, SIGINT);
	pthread_sigmask(SIG_BLOCK, &end, NULL);
	server_address.sin_family = AF_INET;
	server_address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
	listener = socket(AF_INET, SOCK_STREAM, 0);
	must(!bind(listener, (void *)&server_address, size) && !listen(listener, CLIENTS) &&
		     !getsockname(listener, (void *)&server_address, &size),
	     "listen");
	server = fork();
	must(server >= 0, "fork");
	if (server == 0)
		serve_all();
	for (int i = 0; i < CLIENTS; i++)
		must(!pthread_create(&threads[i], NULL, ask, NULL), "thread");
	sigwait(&end, &signal);
	is_over = true;
	for (int i = 0; i < CLIENTS; i++)
		pthread_join(threads[i], NULL);
	kill(server, SIGKILL);
	waitpid(server, NULL, 0);
	truth("requests", requests);
}
