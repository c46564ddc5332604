// SPDX-License-Identifier: Apache-2.0
#include "kernel_names.h"

#include <unistd.h>

#include "../base/clock.h"

#define AGAIN_NS      (10 * NS_PER_S) /* between two looks at all of it; in vain, twice as long */
#define AGAIN_MOST_NS (320 * NS_PER_S)
#define UNKNOWN_NS    (300 * NS_PER_S) /* that an address is believed to have no name */
#define UNKNOWN_MAX   4096

int kernel_names_open(struct kernel_names *names, int fd)
{
	kernel_names_close(names);
	names->fd = fd;
	hash_init(&names->unknown, sizeof(u64), sizeof(u64), UNKNOWN_MAX);
	return kallsyms_check(fd);
}

void kernel_names_close(struct kernel_names *names)
{
	kallsyms_close(names->kallsyms);
	hash_free(&names->unknown);
	if (names->fd >= 0)
		close(names->fd);
	*names = (struct kernel_names){.fd = -1};
}

static void read_all(struct kernel_names *names)
{
	struct kallsyms *kallsyms;

	if (!kallsyms_read(names->fd, &kallsyms)) {
		kallsyms_close(names->kallsyms);
		names->kallsyms = kallsyms;
	}
	names->read_ns = clock_now_ns();
	names->reads++;
}

const struct kallsyms *kernel_names_get(struct kernel_names *names)
{
	if (!names->read_ns && names->fd >= 0)
		read_all(names);
	return names->kallsyms;
}

/* Is it known to have no name? Not for ever: what is loaded later may be there. */
static bool is_unknown(struct kernel_names *names, u64 address)
{
	u64 now_ns = clock_now_ns();

	if (names->unknown.count == UNKNOWN_MAX || now_ns - names->unknown_ns >= UNKNOWN_NS) {
		hash_clear(&names->unknown);
		names->unknown_ns = now_ns;
	}
	return hash_find(&names->unknown, &address);
}

const struct kallsyms *kernel_names_refresh(struct kernel_names *names, u64 address)
{
	const char *part;
	u64 offset;

	if (!names->again_ns)
		names->again_ns = AGAIN_NS;
	if (names->fd < 0 || is_unknown(names, address) ||
	    clock_now_ns() - names->read_ns < names->again_ns)
		return names->kallsyms;
	read_all(names);
	if (!names->kallsyms)
		return NULL;
	if (kallsyms_find(names->kallsyms, address, &part, &offset)) {
		names->again_ns = AGAIN_NS;
		return names->kallsyms;
	}
	if (names->again_ns < AGAIN_MOST_NS)
		names->again_ns *= 2;
	hash_add(&names->unknown, &address);
	return names->kallsyms;
}
