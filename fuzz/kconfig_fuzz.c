// SPDX-License-Identifier: Apache-2.0
/*
 * The reader of a kernel's configuration: a file that anyone may have put there, packed or not.
 */
#include <stdint.h>
#include <sys/mman.h>
#include <unistd.h>

#include "../src/doctor/kconfig.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static const char names[] = "KPROBES\0BPF_SYSCALL\0A";
	int fd = memfd_create("kconfig", 0);
	char reply[3];

	if (fd < 0)
		return 0;
	if (write(fd, data, size) == (ssize_t)size && lseek(fd, 0, SEEK_SET) == 0)
		kconfig_job(fd, names, sizeof(names), reply, sizeof(reply));
	close(fd);
	return 0;
}
