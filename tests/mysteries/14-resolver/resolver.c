// SPDX-License-Identifier: Apache-2.0
/*
 * resolver SILENT ANSWERING: asks the first name server, a port of this host where nobody reads,
 * waits 300 ms, then asks the second, which answers. Both are processes of their own.
 */
#include <poll.h>
#include <string.h>
#include <sys/prctl.h>

#include "../net.h"
#include "../truth.h"

enum { TIMEOUTS, TIMEOUT_NS, ANSWERS };

#define TIMEOUT_MS 300

static void start_server(int port, int answers)
{
	struct sockaddr_in from;
	socklen_t size = sizeof(from);
	char text[512];
	int fd = bound(SOCK_DGRAM, port);

	if (fork()) {
		close(fd);
		return;
	}
	prctl(PR_SET_NAME, answers ? "ns-second" : "ns-first");
	prctl(PR_SET_PDEATHSIG, 15);
	while (!answers)
		pause();
	while (recvfrom(fd, text, sizeof(text), 0, (struct sockaddr *)&from, &size) > 0) {
		if (sendto(fd, text, 64, 0, (struct sockaddr *)&from, size) < 0)
			break;
		size = sizeof(from);
	}
	_exit(1);
}

/* Whether it answered in time */
static int ask(int port)
{
	int fd = connected(SOCK_DGRAM, port), ready;
	struct pollfd wait = {.fd = fd, .events = POLLIN};
	char text[64] = "query";
	uint64_t begin;

	if (fd < 0 || send(fd, text, sizeof(text), 0) < 0)
		abort();
	begin = now_ns();
	ready = poll(&wait, 1, TIMEOUT_MS);
	if (!ready) {
		truth_add(TIMEOUTS, 1);
		truth_add(TIMEOUT_NS, now_ns() - begin);
	} else if (recv(fd, text, sizeof(text), 0) > 0) {
		truth_add(ANSWERS, 1);
	}
	close(fd);
	return ready > 0;
}

int main(int argc, char **argv)
{
	if (argc != 3)
		return 64;
	start_server(atoi(argv[1]), 0);
	start_server(atoi(argv[2]), 1);
	truth_start("timeouts", "timeout_ns", "answers", NULL);
	for (;;) {
		if (!ask(atoi(argv[1])) && !ask(atoi(argv[2])))
			return 1;
		burn_ns(1000000);
	}
}
