// SPDX-License-Identifier: Apache-2.0
/* poller: looks for work on a pipe that nobody writes to, each millisecond. */
#include <poll.h>

#include "../truth.h"

enum { POLLS, POLL_NS, CPU_NS };

int main(void)
{
	struct pollfd wait = {.events = POLLIN};
	int ends[2];

	if (pipe(ends))
		return 1;
	wait.fd = ends[0];
	truth_start("polls", "poll_ns", "cpu_ns", NULL);
	for (;;) {
		uint64_t begin = now_ns(), cpu = cpu_ns();

		if (poll(&wait, 1, 1) == 0)
			truth_add(POLLS, 1);
		burn_ns(50000);
		truth_add(POLL_NS, now_ns() - begin);
		truth_add(CPU_NS, cpu_ns() - cpu);
	}
}
