// SPDX-License-Identifier: Apache-2.0
/*
 * A server of one thread per connection, whose endpoints spend a known time on one thing each, and
 * a client that times them; both in one process. Each endpoint is told by its own clock:
 *
 *   asked PATH N          requests that the client sent there, and had answered
 *   latency PATH ns       from before its send until after its receive, all of them
 *   spent PATH ns         what the server measured around the one thing
 *   received, sent N      bytes, as the server counted them
 */
#include <arpa/inet.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "oracle.h"

enum {
	SLEEP_MS = 20,
	BURN_MS = 10,
	LOCK_MS = 15,
	ROUNDS = 40,
	FRESH = 25, /* requests on a connection of their own each */
};

struct endpoint {
	const char *path, *target;
	void (*spend)(long long *spent);
	long long asked, latency, spent;
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_barrier_t is_held;
static long long received, sent;
static int listener;
static struct sockaddr_in place;

static void spend_sleep(long long *spent)
{
	long long start = now();

	sleep_ms(SLEEP_MS);
	*spent += now() - start;
}

static void spend_burn(long long *spent)
{
	long long start = thread_cpu();

	while (thread_cpu() - start < BURN_MS * MS)
		;
	*spent += thread_cpu() - start;
}

/* The one that holds it is known: it is held when the server asks for it. */
static void *hold(void *unused)
{
	pthread_mutex_lock(&lock);
	pthread_barrier_wait(&is_held);
	sleep_ms(LOCK_MS);
	pthread_mutex_unlock(&lock);
	return unused;
}

static void spend_lock(long long *spent)
{
	pthread_t holder;
	long long start;

	pthread_create(&holder, NULL, hold, NULL);
	pthread_barrier_wait(&is_held);
	start = now();
	pthread_mutex_lock(&lock);
	*spent += now() - start;
	pthread_mutex_unlock(&lock);
	pthread_join(holder, NULL);
}

static void spend_nothing(long long *spent)
{
	(void)spent;
}

/* The targets have ids and secrets that must not be kept. */
static struct endpoint endpoints[] = {
	{"/sleep/:id", "/sleep/4711?token=hunter2secret", spend_sleep, 0, 0, 0},
	{"/burn", "/burn", spend_burn, 0, 0, 0},
	{"/lock/:id", "/lock/3f2504e0-4f89-11d3-9a0c-0305e82c3301", spend_lock, 0, 0, 0},
	{"/ping", "/ping", spend_nothing, 0, 0, 0},
};
#define ENDPOINTS (sizeof(endpoints) / sizeof(endpoints[0]))

static struct endpoint *asked_for(const char *request)
{
	for (size_t i = 0; i < ENDPOINTS; i++) {
		size_t length = strlen(endpoints[i].target);

		if (!strncmp(request + strlen("GET "), endpoints[i].target, length) &&
		    request[strlen("GET ") + length] == ' ')
			return &endpoints[i];
	}
	return NULL;
}

static void *serve(void *connection)
{
	static const char answer[] = "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok";
	int fd = (int)(long)connection;
	char request[1024];
	ssize_t length;

	while ((length = recv(fd, request, sizeof(request) - 1, 0)) > 0) {
		struct endpoint *endpoint;

		request[length] = '\0';
		endpoint = asked_for(request);
		if (!endpoint)
			break;
		received += length;
		endpoint->spend(&endpoint->spent);
		sent += (long long)sizeof(answer) - 1;
		must(send(fd, answer, sizeof(answer) - 1, 0) == sizeof(answer) - 1, "send");
	}
	close(fd);
	return NULL;
}

static void *serve_all(void *unused)
{
	for (;;) {
		int fd = accept(listener, NULL, NULL);
		pthread_t thread;

		if (fd < 0)
			return unused;
		pthread_create(&thread, NULL, serve, (void *)(long)fd);
		pthread_detach(thread);
	}
}

static int call(void)
{
	int fd = socket(AF_INET, SOCK_STREAM, 0), one = 1;

	must(!connect(fd, (struct sockaddr *)&place, sizeof(place)), "connect");
	setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &one, sizeof(one));
	return fd;
}

static void ask(int fd, struct endpoint *endpoint)
{
	char request[512], answer[256];
	int length = snprintf(request, sizeof(request),
			      "GET %s HTTP/1.1\r\nHost: shop\r\nCookie: sid=hunter2secret\r\n\r\n",
			      endpoint->target);
	long long start = now();

	must(send(fd, request, (size_t)length, 0) == length, "send");
	must(recv(fd, answer, sizeof(answer), 0) > 0, "recv");
	endpoint->latency += now() - start;
	endpoint->asked++;
}

static void listen_here(void)
{
	socklen_t size = sizeof(place);
	pthread_t thread;

	place = (struct sockaddr_in){.sin_family = AF_INET,
				     .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
	listener = socket(AF_INET, SOCK_STREAM, 0);
	must(!bind(listener, (struct sockaddr *)&place, sizeof(place)), "bind");
	must(!listen(listener, 64), "listen");
	must(!getsockname(listener, (struct sockaddr *)&place, &size), "getsockname");
	pthread_create(&thread, NULL, serve_all, NULL);
	pthread_detach(thread);
}

static void tell(const char *what, const struct endpoint *endpoint, long long value)
{
	char key[64];

	snprintf(key, sizeof(key), "%s %s", what, endpoint->path);
	truth(key, value);
}

void do_requests(void)
{
	int fd;

	pthread_barrier_init(&is_held, NULL, 2);
	listen_here();
	fd = call();
	for (int i = 0; i < ROUNDS; i++)
		for (size_t at = 0; at < ENDPOINTS; at++)
			ask(fd, &endpoints[at]);
	close(fd);
	for (int i = 0; i < FRESH; i++) {
		fd = call();
		ask(fd, &endpoints[ENDPOINTS - 1]);
		close(fd);
	}
	sleep_ms(50); /* the server sees the last one close */
	for (size_t at = 0; at < ENDPOINTS; at++) {
		tell("asked", &endpoints[at], endpoints[at].asked);
		tell("latency", &endpoints[at], endpoints[at].latency);
		tell("spent", &endpoints[at], endpoints[at].spent);
	}
	truth("received", received);
	truth("sent", sent);
}
