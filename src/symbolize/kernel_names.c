// SPDX-License-Identifier: Apache-2.0
#include "kernel_names.h"

#include <unistd.h>

#include "../base/clock.h"

#define AGAIN_NS (10 * NS_PER_S) /* between two looks at all of it */

static void *read_beside(void *context)
{
	struct kernel_names *names = context;

	if (kallsyms_read(names->fd, &names->kallsyms))
		names->kallsyms = NULL;
	return NULL;
}

static void await(struct kernel_names *names)
{
	if (names->is_being_read)
		pthread_join(names->thread, NULL);
	names->is_being_read = false;
}

int kernel_names_open(struct kernel_names *names, int fd)
{
	int err = kallsyms_check(fd);

	kernel_names_close(names);
	names->fd = fd;
	if (err)
		return err;
	names->read_ns = clock_now_ns();
	names->is_being_read = !pthread_create(&names->thread, NULL, read_beside, names);
	if (!names->is_being_read) /* too many of this user's, perhaps */
		read_beside(names);
	return 0;
}

void kernel_names_close(struct kernel_names *names)
{
	await(names);
	kallsyms_close(names->kallsyms);
	if (names->fd >= 0)
		close(names->fd);
	*names = (struct kernel_names){.fd = -1};
}

const struct kallsyms *kernel_names_get(struct kernel_names *names)
{
	await(names);
	return names->kallsyms;
}

void kernel_names_refresh(struct kernel_names *names)
{
	struct kallsyms *kallsyms;

	await(names);
	if (names->fd < 0 || clock_now_ns() - names->read_ns < AGAIN_NS)
		return;
	if (!kallsyms_read(names->fd, &kallsyms)) {
		kallsyms_close(names->kallsyms);
		names->kallsyms = kallsyms;
	}
	names->read_ns = clock_now_ns();
}
