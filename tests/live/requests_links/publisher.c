// SPDX-License-Identifier: Apache-2.0
/*
 * publisher UPSTREAM_PORT PORT [LIBRARY]: a server that mixes its requests, so that nothing in the
 * kernel shows which call is of which: one thread reads all requests, and answers them; four others
 * make the calls, on connections to the upstream that they all share; between the steps requests
 * wait in one queue for a random time, and no thread waits for any one of them. A request makes two
 * calls, one after the other.
 *
 * It publishes a trace context for each request around each step, as OpenTelemetry's OTEP 4947 has
 * it: a pointer that is a variable of the thread. That variable is the executable's, or
 * (CONTEXT_IN_LIBRARY) that of a library that is loaded while it runs.
 */
#include <dlfcn.h>
#include <errno.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#include "context.h"

#define CALLERS		4
#define UPSTREAMS	16
#define CONNECTIONS_MAX 1024
#define CALLS		2
#define WAIT_US		3000 /* at most, between two steps */
#define REQUEST_BYTES	1024

static const char answer_text[] = "HTTP/1.1 200 OK\r\nContent-Length: 6\r\n\r\nhello\n";

struct request {
	int client;
	int calls;
	uint64_t due_ns;
	struct trace_context context;
	char path[64];
	struct request *next;
};

/* What waits for its next step; connections of the upstream that nobody uses, the last one first.
 */
static struct {
	pthread_mutex_t lock;
	pthread_cond_t changed;
	struct request *calling, *answering;
	int free_upstreams[UPSTREAMS];
	int free_count;
} shared = {.lock = PTHREAD_MUTEX_INITIALIZER, .changed = PTHREAD_COND_INITIALIZER};

static __thread uint64_t random_state;

#ifdef CONTEXT_IN_LIBRARY
static void (*publish)(struct trace_context *context);
#else
#define publish publish_context
#endif

static void fail(const char *what)
{
	perror(what);
	exit(1);
}

static uint64_t now_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec;
}

static uint64_t random_number(void)
{
	if (!random_state)
		random_state = now_ns() ^ (uintptr_t)&random_state;
	random_state ^= random_state << 13;
	random_state ^= random_state >> 7;
	random_state ^= random_state << 17;
	return random_state;
}

static void send_all(int there, const char *text, size_t size)
{
	if (send(there, text, size, MSG_NOSIGNAL) != (ssize_t)size)
		fail("send");
}

/* --- the queue --- */

static void put(struct request **queue, struct request *request)
{
	request->due_ns = now_ns() + random_number() % (WAIT_US * 1000);
	request->next = *queue;
	*queue = request;
}

/* One whose time has come; else when the first one's does. */
static struct request *take_due(struct request **queue, uint64_t *ret_due_ns)
{
	uint64_t now = now_ns();

	*ret_due_ns = now + 10000000;
	for (struct request **at = queue; *at; at = &(*at)->next) {
		struct request *request = *at;

		if (request->due_ns <= now) {
			*at = request->next;
			return request;
		}
		if (request->due_ns < *ret_due_ns)
			*ret_due_ns = request->due_ns;
	}
	return NULL;
}

/* --- calls --- */

static void call(int upstream, const struct request *request)
{
	char text[256];
	size_t have = 0;
	int size = snprintf(text, sizeof(text), "GET %s?call=%d HTTP/1.1\r\nHost: up\r\n\r\n",
			    request->path, request->calls);

	send_all(upstream, text, (size_t)size);
	while (have < 6 || memcmp(text + have - 6, "hello\n", 6) != 0) {
		ssize_t got = recv(upstream, text + have, sizeof(text) - have, 0);

		if (got <= 0)
			fail("recv from the upstream");
		have += (size_t)got;
	}
}

static struct request *next_to_call(int *ret_upstream)
{
	pthread_mutex_lock(&shared.lock);
	for (;;) {
		struct request *request = NULL;
		uint64_t due_ns = now_ns() + 10000000;
		struct timespec until;

		if (shared.free_count)
			request = take_due(&shared.calling, &due_ns);
		if (request) {
			*ret_upstream = shared.free_upstreams[--shared.free_count];
			pthread_mutex_unlock(&shared.lock);
			return request;
		}
		until.tv_sec = (time_t)(due_ns / 1000000000);
		until.tv_nsec = (long)(due_ns % 1000000000);
		pthread_cond_clockwait(&shared.changed, &shared.lock, CLOCK_MONOTONIC, &until);
	}
}

static void *make_calls(void *unused)
{
	(void)unused;
	for (;;) {
		int upstream;
		struct request *request = next_to_call(&upstream);

		publish(&request->context);
		call(upstream, request);
		publish(NULL);
		request->calls++;
		pthread_mutex_lock(&shared.lock);
		shared.free_upstreams[shared.free_count++] = upstream;
		put(request->calls < CALLS ? &shared.calling : &shared.answering, request);
		pthread_mutex_unlock(&shared.lock);
		pthread_cond_signal(&shared.changed);
	}
	return NULL;
}

/* --- requests --- */

/* 0: the client closed the connection. A request comes whole, in one piece. */
static int read_request(int client)
{
	static uint64_t last_span;
	struct request *request = calloc(1, sizeof(*request));
	char text[REQUEST_BYTES];
	ssize_t got = recv(client, text, sizeof(text) - 1, 0);

	if (got <= 0) {
		free(request);
		return 0;
	}
	text[got] = '\0';
	if (!request || sscanf(text, "GET %63s", request->path) != 1)
		fail("a request that is none");
	request->client = client;
	for (size_t i = 0; i < sizeof(request->context.trace_id); i++)
		request->context.trace_id[i] = (uint8_t)random_number();
	last_span++;
	memcpy(request->context.span_id, &last_span, sizeof(last_span));
	request->context.valid = 1;
	pthread_mutex_lock(&shared.lock);
	put(&shared.calling, request);
	pthread_mutex_unlock(&shared.lock);
	pthread_cond_signal(&shared.changed);
	return 1;
}

/* Those that are due: how long none of the others is, in ms. */
static int answer_all(void)
{
	uint64_t due_ns, now;

	for (;;) {
		struct request *request;

		pthread_mutex_lock(&shared.lock);
		request = take_due(&shared.answering, &due_ns);
		pthread_mutex_unlock(&shared.lock);
		if (!request)
			break;
		publish(&request->context);
		send_all(request->client, answer_text, sizeof(answer_text) - 1);
		publish(NULL);
		free(request);
	}
	now = now_ns();
	return due_ns > now ? (int)((due_ns - now) / 1000000) : 0;
}

static int dial(int port)
{
	struct sockaddr_in address = {.sin_family = AF_INET, .sin_port = htons((uint16_t)port)};
	int there = socket(AF_INET, SOCK_STREAM, 0), one = 1;

	address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
	setsockopt(there, IPPROTO_TCP, TCP_NODELAY, &one, sizeof(one));
	if (connect(there, (struct sockaddr *)&address, sizeof(address)))
		fail("connect");
	return there;
}

static int listen_at(int port)
{
	struct sockaddr_in address = {.sin_family = AF_INET, .sin_port = htons((uint16_t)port)};
	int own = socket(AF_INET, SOCK_STREAM, 0), one = 1;

	address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
	setsockopt(own, SOL_SOCKET, SO_REUSEADDR, &one, sizeof(one));
	if (bind(own, (struct sockaddr *)&address, sizeof(address)) || listen(own, 256))
		fail("listen");
	return own;
}

#ifdef CONTEXT_IN_LIBRARY
static void load(const char *path)
{
	void *library = dlopen(path, RTLD_NOW | RTLD_LOCAL);

	if (library)
		publish = (void (*)(struct trace_context *))dlsym(library, "publish_context");
	else
		fprintf(stderr, "%s\n", dlerror());
}
#endif

int main(int argc, char **argv)
{
	struct pollfd polled[CONNECTIONS_MAX] = {{.events = POLLIN}};
	int count = 1;

#ifdef CONTEXT_IN_LIBRARY
	if (argc == 4)
		load(argv[3]);
	if (!publish)
		return 2;
#endif
	if (argc < 3)
		return 2;
	for (int i = 0; i < UPSTREAMS; i++)
		shared.free_upstreams[shared.free_count++] = dial(atoi(argv[1]));
	for (int i = 0; i < CALLERS; i++) {
		pthread_t thread;

		if (pthread_create(&thread, NULL, make_calls, NULL))
			fail("pthread_create");
	}
	polled[0].fd = listen_at(atoi(argv[2]));
	for (;;) {
		int ms = answer_all();

		if (poll(polled, (nfds_t)count, ms < 1 ? 1 : ms) < 0 && errno != EINTR)
			fail("poll");
		if (polled[0].revents && count < CONNECTIONS_MAX) {
			polled[count] =
				(struct pollfd){accept(polled[0].fd, NULL, NULL), POLLIN, 0};
			count++;
		}
		for (int i = 1; i < count; i++)
			if (polled[i].revents && !read_request(polled[i].fd)) {
				close(polled[i].fd);
				polled[i--] = polled[--count];
			}
	}
}
