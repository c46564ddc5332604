// SPDX-License-Identifier: Apache-2.0
/*
 * request server PORT: reads 100 bytes, answers 100 bytes.
 * request client PORT: writes the head and the body of a request apart, without TCP_NODELAY.
 */
#include <string.h>
#include <sys/prctl.h>

#include "../net.h"
#include "../truth.h"

enum { REQUESTS, WAIT_NS };

#define SIZE 100

static void serve(int port)
{
	int listener = listening(port, 8);
	char text[SIZE];

	prctl(PR_SET_NAME, "order-server");
	for (;;) {
		int fd = accept(listener, NULL, NULL);

		no_delay(fd);
		while (read_all(fd, text, SIZE) && write(fd, text, SIZE) == SIZE)
			;
		close(fd);
	}
}

static int ask(int port)
{
	int fd = connected(SOCK_STREAM, port);
	char text[SIZE] = {0};

	prctl(PR_SET_NAME, "order-client");
	truth_start("requests", "wait_ns", NULL);
	for (;;) {
		uint64_t begin = now_ns();

		if (write(fd, text, 20) != 20 || write(fd, text, SIZE - 20) != SIZE - 20)
			return 1;
		if (!read_all(fd, text, SIZE))
			return 1;
		truth_add(WAIT_NS, now_ns() - begin);
		truth_add(REQUESTS, 1);
		sleep_ns(2000000);
	}
}

int main(int argc, char **argv)
{
	if (argc != 3)
		return 64;
	if (!strcmp(argv[1], "server"))
		serve(atoi(argv[2]));
	return ask(atoi(argv[2]));
}
