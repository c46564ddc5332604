// SPDX-License-Identifier: Apache-2.0
/*
 * late PORT REQUESTS: a server of two threads, and its client. One thread asks, and reads the
 * request at the server's end; the other one answers it. They spin, on two CPUs: often the next
 * request is read before the call that has sent the answer returns. It prints how many requests
 * were answered.
 */
#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

enum { SECONDS_MAX = 60 };

static const char request[] = "GET /items/4711 HTTP/1.1\r\nHost: here\r\n\r\n";
static const char answer[] = "HTTP/1.1 200 OK\r\nContent-Length: 6\r\n\r\nhello\n";
static int server = -1, client = -1;
static atomic_long asked;
static atomic_bool is_over;

static void die(const char *what)
{
	perror(what);
	exit(1);
}

/* Both ends of one connection. */
static void connect_to_self(int port)
{
	struct sockaddr_in at = {.sin_family = AF_INET,
				 .sin_port = htons(port),
				 .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
	int listener = socket(AF_INET, SOCK_STREAM, 0), yes = 1;

	client = socket(AF_INET, SOCK_STREAM, 0);
	if (setsockopt(listener, SOL_SOCKET, SO_REUSEADDR, &yes, sizeof(yes)) ||
	    bind(listener, (struct sockaddr *)&at, sizeof(at)) || listen(listener, 1) ||
	    connect(client, (struct sockaddr *)&at, sizeof(at)))
		die("a connection");
	server = accept(listener, NULL, NULL);
	if (server < 0 || setsockopt(client, IPPROTO_TCP, TCP_NODELAY, &yes, sizeof(yes)) ||
	    setsockopt(server, IPPROTO_TCP, TCP_NODELAY, &yes, sizeof(yes)))
		die("accept");
}

static void send_all(int to, const char *text, size_t length)
{
	if (send(to, text, length, 0) != (ssize_t)length)
		die("a send");
}

static void receive(int from, size_t bytes)
{
	char buffer[256];

	while (bytes) {
		ssize_t got = recv(from, buffer, bytes, MSG_DONTWAIT);

		if (got == 0 || (got < 0 && errno != EAGAIN))
			die("a receive");
		bytes -= got > 0 ? (size_t)got : 0;
	}
}

static void *answer_asked(void *unused)
{
	for (long answered = 0; !is_over;) {
		if (asked == answered)
			continue;
		answered++;
		send_all(server, answer, sizeof(answer) - 1);
	}
	return unused;
}

static void ask_and_read(void)
{
	send_all(client, request, sizeof(request) - 1);
	receive(server, sizeof(request) - 1);
	asked++;
	receive(client, sizeof(answer) - 1);
}

int main(int argc, char **argv)
{
	long requests = argc > 2 ? atol(argv[2]) : 0, i;
	time_t end = time(NULL) + SECONDS_MAX;
	pthread_t thread;

	connect_to_self(argc > 2 ? atoi(argv[1]) : 0);
	if (pthread_create(&thread, NULL, answer_asked, NULL))
		die("a thread");
	for (i = 0; i < requests && time(NULL) < end; i++)
		ask_and_read();
	is_over = true;
	pthread_join(thread, NULL);
	printf("%ld\n", i);
	return 0;
}
