// SPDX-License-Identifier: Apache-2.0
/*
 * TCP connections whose times, bytes and ends are known; packets.
 */
#include <arpa/inet.h>
#include <errno.h>
#include <netinet/tcp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "oracle.h"

static int listen_at(struct sockaddr_in *address, int backlog)
{
	int listener = socket(AF_INET, SOCK_STREAM, 0), one = 1;
	socklen_t size = sizeof(*address);

	address->sin_family = AF_INET;
	setsockopt(listener, SOL_SOCKET, SO_REUSEADDR, &one, sizeof(one));
	must(!bind(listener, (void *)address, size) && !listen(listener, backlog) &&
		     !getsockname(listener, (void *)address, &size),
	     "listen");
	return listener;
}

static int listen_on_loopback(struct sockaddr_in *address, int backlog)
{
	address->sin_addr.s_addr = htonl(INADDR_LOOPBACK);
	address->sin_port = 0;
	return listen_at(address, backlog);
}

static bool send_all(int sock, size_t size)
{
	static const char bytes[65536];

	while (size) {
		ssize_t sent = send(sock, bytes, size < sizeof(bytes) ? size : sizeof(bytes),
				    MSG_NOSIGNAL);

		if (sent <= 0)
			return false;
		size -= (size_t)sent;
	}
	return true;
}

static size_t receive_all(int sock, size_t size)
{
	static char bytes[65536];
	size_t got = 0;

	while (got < size) {
		size_t rest = size - got;
		ssize_t now_got = recv(sock, bytes, rest < sizeof(bytes) ? rest : sizeof(bytes), 0);

		if (now_got <= 0)
			break;
		got += (size_t)now_got;
	}
	return got;
}

/*
 * Where a time is told, so is for how long we waited for a CPU meanwhile, as KEY.delayed: so much
 * later we may have looked at the clock than it happened.
 */

enum { CONNECTIONS = 20, QUESTION_BYTES = 1000, ANSWER_BYTES = 3000 };

static void answer_late(int listener)
{
	for (int i = 0; i < CONNECTIONS; i++) {
		int sock = accept(listener, NULL, NULL);

		if (receive_all(sock, QUESTION_BYTES) == QUESTION_BYTES) {
			sleep_ms(20);
			send_all(sock, ANSWER_BYTES);
		}
		receive_all(sock, 1); /* until it closes */
		close(sock);
	}
	_exit(0);
}

void do_tcp_reply(void)
{
	struct sockaddr_in address = {0};
	int listener = listen_on_loopback(&address, CONNECTIONS);
	long long connected = 0, waited = 0, lived = 0, connect_delay = 0, wait_delay = 0;

	if (fork() == 0)
		answer_late(listener);
	for (int i = 0; i < CONNECTIONS; i++) {
		int sock = socket(AF_INET, SOCK_STREAM, 0);
		long long delay = thread_delay(), start = now(), asked, made;

		must(!connect(sock, (void *)&address, sizeof(address)), "connect");
		made = now();
		connected += made - start;
		connect_delay += thread_delay() - delay;
		delay = thread_delay();
		must(send_all(sock, QUESTION_BYTES), "send");
		asked = now();
		must(receive_all(sock, 1) == 1, "recv");
		waited += now() - asked;
		wait_delay += thread_delay() - delay;
		must(receive_all(sock, ANSWER_BYTES - 1) == ANSWER_BYTES - 1, "recv");
		close(sock);
		lived += now() - made;
	}
	wait(NULL);
	truth("connections", CONNECTIONS);
	truth("connect", connected);
	truth("connect.delayed", connect_delay);
	truth("first_reply", waited);
	truth("first_reply.delayed", wait_delay);
	truth("lifetime", lived);
	truth("sent", (long long)CONNECTIONS * QUESTION_BYTES);
	truth("received", (long long)CONNECTIONS * ANSWER_BYTES);
}

/* A server that comes late to those who wait. */
void do_tcp_queue(void)
{
	struct sockaddr_in address = {0};
	int listener = listen_on_loopback(&address, CONNECTIONS), socks[CONNECTIONS];
	long long made[CONNECTIONS], waited = 0, delay = thread_delay();

	for (int i = 0; i < CONNECTIONS; i++) {
		socks[i] = socket(AF_INET, SOCK_STREAM, 0);
		must(!connect(socks[i], (void *)&address, sizeof(address)), "connect");
		made[i] = now();
	}
	for (int i = 0; i < CONNECTIONS; i++) {
		int sock;

		sleep_ms(5);
		sock = accept(listener, NULL, NULL);
		waited += now() - made[i];
		close(sock);
	}
	for (int i = 0; i < CONNECTIONS; i++)
		close(socks[i]);
	truth("accept_wait", waited);
	truth("accept_wait.delayed", thread_delay() - delay);
}

/* Each way in which a connection can end, and not be made. */
void do_tcp_ends(void)
{
	struct linger at_once = {.l_onoff = 1};
	struct sockaddr_in address = {0}, nobody = {0};
	int listener = listen_on_loopback(&address, CONNECTIONS);
	int closed = listen_on_loopback(&nobody, 1), refused = 0;

	close(closed);
	for (int i = 0; i < 3; i++) { /* we reset it */
		int sock = socket(AF_INET, SOCK_STREAM, 0), peer;

		must(!connect(sock, (void *)&address, sizeof(address)), "connect");
		peer = accept(listener, NULL, NULL);
		setsockopt(sock, SOL_SOCKET, SO_LINGER, &at_once, sizeof(at_once));
		close(sock);
		receive_all(peer, 1);
		close(peer);
	}
	for (int i = 0; i < 5; i++) {
		int sock = socket(AF_INET, SOCK_STREAM, 0);

		refused += connect(sock, (void *)&nobody, sizeof(nobody)) && errno == ECONNREFUSED;
		close(sock);
	}
	truth("reset", 3);
	truth("refused", refused);
}

/* More who call than a listener's queue has room for: the last one gives up. */
void do_tcp_overflow(void)
{
	enum { QUEUE = 1, CALLS = QUEUE + 1 };
	struct sockaddr_in address = {0};
	int listener = listen_on_loopback(&address, QUEUE), tries = 1;
	int sock, err, socks[CALLS];
	long long start, delay;

	for (int i = 0; i < CALLS; i++) { /* the kernel lets one more in */
		socks[i] = socket(AF_INET, SOCK_STREAM, 0);
		must(!connect(socks[i], (void *)&address, sizeof(address)), "connect");
	}
	sock = socket(AF_INET, SOCK_STREAM, 0);
	setsockopt(sock, IPPROTO_TCP, TCP_SYNCNT, &tries, sizeof(tries));
	delay = thread_delay();
	start = now();
	err = connect(sock, (void *)&address, sizeof(address)) ? errno : 0;
	truth("connect_failed", now() - start);
	truth("connect_failed.delayed", thread_delay() - delay);
	truth("errno", err);
	for (int i = 0; i < CALLS; i++)
		close(socks[i]);
	close(sock);
	close(listener);
}

/* Many connections, one after the other. */
void do_tcp_churn(void)
{
	enum { COUNT = 20000 };
	struct linger at_once = {.l_onoff = 1}; /* or there would be no ports left */
	struct sockaddr_in address = {0};
	int listener = listen_on_loopback(&address, CONNECTIONS);
	long long start = now();

	for (int i = 0; i < COUNT; i++) {
		int sock = socket(AF_INET, SOCK_STREAM, 0), peer;

		must(!connect(sock, (void *)&address, sizeof(address)), "connect");
		peer = accept(listener, NULL, NULL);
		setsockopt(sock, SOL_SOCKET, SO_LINGER, &at_once, sizeof(at_once));
		close(sock);
		close(peer);
	}
	truth("connections", COUNT);
	truth("took", now() - start);
}

/* A server and its client on a network that loses packets: two programs, at 10.77.0.1. */
enum { TRANSFERS = 4, TRANSFER_BYTES = 2 << 20 };

static struct sockaddr_in lossy_server(void)
{
	return (struct sockaddr_in){.sin_family = AF_INET,
				    .sin_addr.s_addr = htonl(0x0a4d0001),
				    .sin_port = htons(7077)};
}

void do_tcp_give(void)
{
	struct sockaddr_in address = lossy_server();
	int listener = listen_at(&address, TRANSFERS);

	for (int i = 0; i < TRANSFERS; i++) {
		int sock = accept(listener, NULL, NULL);

		must(receive_all(sock, 1) == 1 && send_all(sock, TRANSFER_BYTES), "send");
		receive_all(sock, 1); /* until it closes */
		close(sock);
	}
	truth("sent", (long long)TRANSFERS * TRANSFER_BYTES);
}

void do_tcp_take(void)
{
	struct sockaddr_in address = lossy_server();

	for (int i = 0; i < TRANSFERS; i++) {
		int sock = socket(AF_INET, SOCK_STREAM, 0);

		must(!connect(sock, (void *)&address, sizeof(address)), "connect");
		must(send_all(sock, 1), "send");
		must(receive_all(sock, TRANSFER_BYTES) == TRANSFER_BYTES, "recv");
		close(sock);
	}
	truth("received", (long long)TRANSFERS * TRANSFER_BYTES);
}

/* Connections that are all open at a time; a process may not have so many files. */
enum { HOLDERS = 4, HELD = 6250 };

static void hold_many(void)
{
	struct sockaddr_in address = {0};
	int listener = listen_on_loopback(&address, CONNECTIONS);

	for (int i = 0; i < HELD; i++) {
		int sock = socket(AF_INET, SOCK_STREAM, 0);

		must(sock >= 0, "socket");
		must(!connect(sock, (void *)&address, sizeof(address)), "connect");
		must(accept(listener, NULL, NULL) >= 0, "accept");
	}
	sleep_ms(3000);
}

void do_tcp_many(void)
{
	int status, held = 0;

	for (int i = 0; i < HOLDERS; i++) {
		if (fork() == 0) {
			hold_many();
			_exit(0);
		}
	}
	while (wait(&status) > 0)
		held += status == 0;
	truth("connections", (long long)held * HELD);
}

/* One that talks to itself, until it is killed. */
void do_tcp_open(void)
{
	struct sockaddr_in address = {0};
	int listener = listen_on_loopback(&address, 1), sock = socket(AF_INET, SOCK_STREAM, 0),
	    peer;

	must(!connect(sock, (void *)&address, sizeof(address)), "connect");
	peer = accept(listener, NULL, NULL);
	while (send_all(sock, QUESTION_BYTES) && receive_all(peer, QUESTION_BYTES))
		sleep_ms(20);
}

/* How often this kind of soft interrupt has run, on all CPUs. */
static long long softirqs(const char *name)
{
	FILE *file = fopen("/proc/softirqs", "r");
	char line[8192], *at, *end;
	long long sum = 0;

	while (file && fgets(line, sizeof(line), file)) {
		at = strstr(line, name);
		if (!at)
			continue;
		for (at += strlen(name); (void)strtoll(at, &end, 10), end != at; at = end)
			sum += strtoll(at, NULL, 10);
	}
	if (file)
		fclose(file);
	return sum;
}

/* Datagrams to itself, one after the other. */
void do_udp_self(void)
{
	enum { DATAGRAMS = 2000 };
	struct sockaddr_in address = {.sin_family = AF_INET,
				      .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
	int sock = socket(AF_INET, SOCK_DGRAM, 0);
	long long runs = softirqs("NET_RX:"), timers = softirqs(" TIMER:"), took = 0;
	socklen_t size = sizeof(address);
	char byte = 0;

	must(!bind(sock, (void *)&address, size) && !getsockname(sock, (void *)&address, &size),
	     "bind");
	for (int i = 0; i < DATAGRAMS; i++) {
		long long start = now();

		must(sendto(sock, &byte, 1, 0, (void *)&address, size) == 1, "send");
		must(recv(sock, &byte, 1, 0) == 1, "recv");
		took += now() - start;
		if (i % 100 == 0)
			sleep_ms(5); /* timers run, too */
	}
	truth("datagrams", DATAGRAMS);
	truth("took", took);
	truth("net_rx", softirqs("NET_RX:") - runs);
	truth("timer", softirqs(" TIMER:") - timers);
}
