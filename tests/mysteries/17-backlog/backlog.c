// SPDX-License-Identifier: Apache-2.0
/*
 * backlog server PORT: a queue of four connections; takes one, works 30 ms on it, takes the next.
 * backlog client PORT: twelve threads connect, ask, and connect again.
 */
#include <string.h>
#include <sys/prctl.h>

#include "../net.h"
#include "../truth.h"

enum { CONNECTIONS, CONNECT_NS, SLOW_CONNECTS };

static void serve(int port)
{
	int listener = listening(port, 4);
	char text[16];

	prctl(PR_SET_NAME, "backlog-server");
	for (;;) {
		int fd = accept(listener, NULL, NULL);

		if (read(fd, text, sizeof(text)) > 0) {
			sleep_ns(30000000);
			if (write(fd, text, 1) != 1)
				perror("write");
		}
		close(fd);
	}
}

static void *ask(void *arg)
{
	int port = (int)(intptr_t)arg;

	for (;;) {
		uint64_t begin = now_ns(), took;
		int fd = connected(SOCK_STREAM, port);
		char byte = 'x';

		took = now_ns() - begin;
		truth_add(CONNECTIONS, 1);
		truth_add(CONNECT_NS, took);
		truth_add(SLOW_CONNECTS, took > 900000000);
		if (fd < 0)
			continue;
		if (write(fd, &byte, 1) == 1 && read(fd, &byte, 1) < 0)
			perror("read");
		close(fd);
	}
	return NULL;
}

int main(int argc, char **argv)
{
	if (argc != 3)
		return 64;
	if (!strcmp(argv[1], "server"))
		serve(atoi(argv[2]));
	prctl(PR_SET_NAME, "backlog-client");
	truth_start("connections", "connect_ns", "slow_connects", NULL);
	for (int i = 0; i < 12; i++)
		start_thread("client", ask, (void *)(intptr_t)atoi(argv[2]));
	pause();
	return 0;
}
