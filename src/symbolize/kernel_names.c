// SPDX-License-Identifier: Apache-2.0
#include "kernel_names.h"

#include <unistd.h>

#include "../base/clock.h"

#define AGAIN_NS (10 * NS_PER_S) /* between two looks at all of it */

/* It takes a while: now, while nobody waits for tables. */
int kernel_names_open(struct kernel_names *names, int fd)
{
	int err;

	kernel_names_close(names);
	names->fd = fd;
	err = kallsyms_read(fd, &names->kallsyms);
	names->read_ns = clock_now_ns();
	return err;
}

void kernel_names_close(struct kernel_names *names)
{
	kallsyms_close(names->kallsyms);
	if (names->fd >= 0)
		close(names->fd);
	*names = (struct kernel_names){.fd = -1};
}

void kernel_names_refresh(struct kernel_names *names)
{
	struct kallsyms *kallsyms;

	if (names->fd < 0 || clock_now_ns() - names->read_ns < AGAIN_NS)
		return;
	if (!kallsyms_read(names->fd, &kallsyms)) {
		kallsyms_close(names->kallsyms);
		names->kallsyms = kallsyms;
	}
	names->read_ns = clock_now_ns();
}
