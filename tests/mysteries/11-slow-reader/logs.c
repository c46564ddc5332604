// SPDX-License-Identifier: Apache-2.0
/*
 * logs: an application that writes log lines of 1 KB to a pipe, and "collector", a process of its
 * own, that reads 4 KB of them and then sleeps 5 ms.
 */
#include <string.h>
#include <sys/prctl.h>

#include "../truth.h"

enum { LINES, WRITE_NS, READS, SLEEP_NS };

static void collect(int fd)
{
	char text[4096];

	prctl(PR_SET_NAME, "collector");
	while (read(fd, text, sizeof(text)) > 0)
		sleep_ns(5000000);
	_exit(0);
}

int main(void)
{
	char line[1024];
	int ends[2];

	memset(line, 'x', sizeof(line));
	if (pipe(ends))
		return 1;
	if (!fork()) {
		close(ends[1]);
		collect(ends[0]);
	}
	close(ends[0]);
	truth_start("lines", "write_ns", NULL);
	for (;;) {
		struct wait_clock wait = wait_begin();

		if (write(ends[1], line, sizeof(line)) != sizeof(line))
			return 1;
		truth_add(WRITE_NS, wait_end(&wait));
		truth_add(LINES, 1);
		burn_ns(100000);
	}
}
