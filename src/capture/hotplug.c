// SPDX-License-Identifier: Apache-2.0
#include "hotplug.h"

#include <errno.h>
#include <linux/netlink.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "../base/text.h"

#define KERNEL_GROUP  1	   /* the kernel's own messages; 2 are udev's */
#define MESSAGE_BYTES 4096 /* the kernel sends up to half of it */
#define CPU_MOST      65535
#define ONLINE	      "online@/devices/system/cpu/cpu"

int hotplug_open(void)
{
	const struct sockaddr_nl address = {.nl_family = AF_NETLINK, .nl_groups = KERNEL_GROUP};
	int fd = socket(AF_NETLINK, SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK,
			NETLINK_KOBJECT_UEVENT);
	int err;

	if (fd < 0)
		return -errno;
	if (!bind(fd, (const struct sockaddr *)&address, sizeof(address)))
		return fd;
	err = -errno;
	close(fd);
	return err;
}

int hotplug_parse(const char *message)
{
	u64 cpu;

	if (strncmp(message, ONLINE, strlen(ONLINE)) ||
	    text_parse_u64(message + strlen(ONLINE), 0, CPU_MOST, &cpu))
		return -1;
	return (int)cpu;
}

/* Only the kernel has port 0: another process could send us anything. */
int hotplug_next(int fd)
{
	for (;;) {
		struct sockaddr_nl from = {0};
		socklen_t length = sizeof(from);
		char message[MESSAGE_BYTES];
		ssize_t got = recvfrom(fd, message, sizeof(message) - 1, 0,
				       (struct sockaddr *)&from, &length);
		int cpu;

		if (got < 0)
			return errno == ENOBUFS ? -ENOBUFS : -EAGAIN;
		message[got] = '\0';
		cpu = from.nl_pid ? -1 : hotplug_parse(message);
		if (cpu >= 0)
			return cpu;
	}
}
