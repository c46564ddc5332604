// SPDX-License-Identifier: Apache-2.0
#include "sideband.h"

#include <errno.h>
#include <linux/perf_event.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#define RING_PAGES 16 /* of each CPU; some 500 mappings */

struct ring {
	int fd; /* -1: this CPU is off */
	struct perf_event_mmap_page *head;
};

struct sideband {
	size_t page_size;
	int epoll_fd; /* the caller's */
	u64 lost;
	size_t count;
	struct ring rings[];
};

static int open_event(int cpu)
{
	struct perf_event_attr attr = {
		.type = PERF_TYPE_SOFTWARE,
		.size = sizeof(attr),
		.config = PERF_COUNT_SW_DUMMY,
		.exclude_kernel = 1,
		.mmap = 1, /* of code; data would be mmap_data */
		/* A wake-up costs the one who maps more than the record: whoever waits looks by
		   himself. */
		.watermark = 1,
		.wakeup_watermark = (u32)(RING_PAGES * sysconf(_SC_PAGESIZE) / 4),
	};
	long fd = syscall(SYS_perf_event_open, &attr, -1, cpu, -1, PERF_FLAG_FD_CLOEXEC);

	return fd < 0 ? -errno : (int)fd;
}

static int open_ring(struct sideband *sideband, struct ring *ring, int cpu, int epoll_fd)
{
	struct epoll_event event = {.events = EPOLLIN};
	void *memory;

	ring->fd = open_event(cpu);
	if (ring->fd < 0)
		return ring->fd;
	memory = mmap(NULL, (1 + RING_PAGES) * sideband->page_size, PROT_READ | PROT_WRITE,
		      MAP_SHARED, ring->fd, 0);
	if (memory == MAP_FAILED)
		return -errno;
	ring->head = memory;
	return epoll_ctl(epoll_fd, EPOLL_CTL_ADD, ring->fd, &event) ? -errno : 0;
}

int sideband_open(int epoll_fd, struct sideband **ret_sideband)
{
	size_t count = (size_t)sysconf(_SC_NPROCESSORS_CONF);
	struct sideband *sideband = calloc(1, sizeof(*sideband) + count * sizeof(struct ring));
	int err = 0;

	if (!sideband)
		return -ENOMEM;
	sideband->page_size = (size_t)sysconf(_SC_PAGESIZE);
	sideband->count = count;
	sideband->epoll_fd = epoll_fd;
	for (size_t i = 0; i < count; i++)
		sideband->rings[i].fd = -1;
	for (size_t i = 0; i < count && !err; i++) {
		err = open_ring(sideband, &sideband->rings[i], (int)i, epoll_fd);
		if (err == -ENODEV)
			err = 0; /* this CPU is off */
	}
	if (err) {
		sideband_close(sideband);
		return err;
	}
	*ret_sideband = sideband;
	return 0;
}

static void close_ring(const struct sideband *sideband, struct ring *ring)
{
	if (ring->head)
		munmap(ring->head, (1 + RING_PAGES) * sideband->page_size);
	if (ring->fd >= 0)
		close(ring->fd);
	*ring = (struct ring){.fd = -1};
}

/* Somebody may have mapped something on it before it had its ring: the same as a lost record. */
int sideband_online(struct sideband *sideband, int cpu)
{
	struct ring *ring;
	int err;

	if (cpu < 0 || (size_t)cpu >= sideband->count)
		return -ENODEV;
	ring = &sideband->rings[cpu];
	close_ring(sideband, ring);
	sideband->lost++;
	err = open_ring(sideband, ring, cpu, sideband->epoll_fd);
	if (err)
		close_ring(sideband, ring);
	return err;
}

void sideband_close(struct sideband *sideband)
{
	if (!sideband)
		return;
	for (size_t i = 0; i < sideband->count; i++)
		close_ring(sideband, &sideband->rings[i]);
	free(sideband);
}

/* A record may go over the end of the ring. */
static void copy(const struct sideband *sideband, const struct ring *ring, u64 at, void *to,
		 size_t size)
{
	size_t ring_size = RING_PAGES * sideband->page_size, first = at & (ring_size - 1);
	const char *data = (const char *)ring->head + sideband->page_size;
	size_t fits = size < ring_size - first ? size : ring_size - first;

	memcpy(to, data + first, fits);
	memcpy((char *)to + fits, data, size - fits);
}

static void take_ring(struct sideband *sideband, struct ring *ring,
		      void (*on_mapping)(void *context, u32 pid), void *context)
{
	u64 end = __atomic_load_n(&ring->head->data_head, __ATOMIC_ACQUIRE);
	u64 at = ring->head->data_tail;

	while (at < end) {
		struct {
			struct perf_event_header header;
			u32 pid, tid;
			u64 lost; /* of PERF_RECORD_LOST, whose first field is an id */
		} record = {0};

		copy(sideband, ring, at, &record, sizeof(record));
		if (record.header.size < sizeof(record.header))
			break; /* cannot be */
		if (record.header.type == PERF_RECORD_MMAP)
			on_mapping(context, record.pid);
		else if (record.header.type == PERF_RECORD_LOST)
			sideband->lost += record.lost;
		at += record.header.size;
	}
	__atomic_store_n(&ring->head->data_tail, end, __ATOMIC_RELEASE);
}

void sideband_take(struct sideband *sideband, void (*on_mapping)(void *context, u32 pid),
		   void *context)
{
	for (size_t i = 0; i < sideband->count; i++)
		if (sideband->rings[i].head)
			take_ring(sideband, &sideband->rings[i], on_mapping, context);
}

u64 sideband_lost(const struct sideband *sideband)
{
	return sideband->lost;
}
