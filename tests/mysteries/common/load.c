// SPDX-License-Identifier: Apache-2.0
/*
 * load PORT CONNECTIONS PAUSE_MS PATH: HTTP requests over connections that stay open, a thread for
 * each; it counts them and how long they took.
 */
#include <string.h>

#include "../net.h"
#include "../truth.h"

enum { REQUESTS, LATENCY_NS };

static int port, pause_ms;
static const char *path;

/* The answer's head and body are read; the body's length stands in the head. */
static int read_answer(int fd)
{
	char text[8192], *body, *length;
	size_t got = 0;
	ssize_t n;

	while ((n = read(fd, text + got, sizeof(text) - 1 - got)) > 0) {
		got += (size_t)n;
		text[got] = 0;
		body = strstr(text, "\r\n\r\n");
		length = strcasestr(text, "\r\nContent-Length:");
		if (!body || !length || length > body)
			continue;
		if (got >= (size_t)(body + 4 - text) + strtoul(length + 17, NULL, 10))
			return 1;
	}
	return 0;
}

static void *connection(void *arg)
{
	char request[256];
	int length = snprintf(request, sizeof(request),
			      "GET %s HTTP/1.1\r\nHost: localhost\r\n\r\n", path);
	int fd = -1;

	for (;;) {
		uint64_t begin = now_ns();

		if (fd < 0) {
			fd = connected(SOCK_STREAM, port);
			if (fd < 0) {
				sleep_ns(10000000);
				continue;
			}
			no_delay(fd);
		}
		if (write(fd, request, (size_t)length) != length || !read_answer(fd)) {
			close(fd);
			fd = -1;
			continue;
		}
		truth_add(REQUESTS, 1);
		truth_add(LATENCY_NS, now_ns() - begin);
		truth_say("%llu !latency %llu\n", (unsigned long long)now_ns(),
			  (unsigned long long)(now_ns() - begin));
		if (pause_ms)
			sleep_ns((uint64_t)pause_ms * 1000000);
	}
	return arg;
}

int main(int argc, char **argv)
{
	if (argc != 5)
		return 64;
	port = atoi(argv[1]);
	pause_ms = atoi(argv[3]);
	path = argv[4];
	truth_start("requests", "latency_ns", NULL);
	for (int i = 0; i < atoi(argv[2]); i++)
		start_thread("load", connection, NULL);
	pause();
	return 0;
}
