// SPDX-License-Identifier: Apache-2.0
/*
 * Single entries of maps, and single records, of commands that know more than their options say.
 */
#include <bpf/bpf.h>
#include <errno.h>
#include <stdlib.h>

#include "../base/cleanup.h"
#include "../base/clock.h"
#include "internal.h"

#define SEND_WAIT_NS (500 * NS_PER_MS)

int capture_send(struct capture *capture, const struct rec_hdr *record)
{
	u64 patience_ns = SEND_WAIT_NS;

	if (!capture->reader)
		return -EINVAL;
	if (!rows_wait(capture, &patience_ns))
		return -EAGAIN;
	rows_send(capture, record);
	reader_wake(capture->reader);
	return 0;
}

int capture_write_entry(const struct capture *capture, const char *map, u32 key, const void *value)
{
	int fd = capture_map_fd(capture, map);

	if (fd < 0)
		return fd;
	return bpf_map_update_elem(fd, &key, value, BPF_ANY) ? -errno : 0;
}

u64 capture_read_sum(const struct capture *capture, const char *map, u32 key)
{
	int fd = capture_map_fd(capture, map), cpus = libbpf_num_possible_cpus();
	_cleanup_free_ u64 *numbers = fd < 0 || cpus <= 0 ? NULL : calloc((size_t)cpus, 8);
	u64 sum = 0;

	if (!numbers || bpf_map_lookup_elem(fd, &key, numbers))
		return 0;
	for (int cpu = 0; cpu < cpus; cpu++)
		sum += numbers[cpu];
	return sum;
}
