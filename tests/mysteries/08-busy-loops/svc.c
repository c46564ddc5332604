// SPDX-License-Identifier: Apache-2.0
/* svc PORT: a thread per connection, 1 ms of computing per request. */
#include <string.h>

#include "../net.h"
#include "../truth.h"

enum { REQUESTS, RUNQ_NS };

static unsigned int render_page(void)
{
	return burn_ns(1000000);
}

static void *serve(void *arg)
{
	int fd = (int)(intptr_t)arg;
	uint64_t before = runq_ns(), after;
	char text[4096];

	no_delay(fd);
	while (read(fd, text, sizeof(text)) > 0) {
		int length =
			snprintf(text, sizeof(text),
				 "HTTP/1.1 200 OK\r\nContent-Length: 8\r\n\r\n%08x", render_page());

		if (write(fd, text, (size_t)length) != length)
			break;
		after = runq_ns();
		truth_add(RUNQ_NS, after - before);
		truth_add(REQUESTS, 1);
		before = after;
	}
	close(fd);
	return NULL;
}

int main(int argc, char **argv)
{
	int listener = listening(atoi(argv[argc - 1]), 64);

	truth_start("requests", "runq_ns", NULL);
	for (;;) {
		int fd = accept(listener, NULL, NULL);

		pthread_detach(start_thread("svc-conn", serve, (void *)(intptr_t)fd));
	}
}
