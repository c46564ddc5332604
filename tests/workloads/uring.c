// SPDX-License-Identifier: Apache-2.0
/*
 * io_uring by its system calls alone: a wait for it has one call, io_uring_enter, whatever is
 * waited for.
 */
#include <errno.h>
#include <fcntl.h>
#include <linux/io_uring.h>
#include <linux/time_types.h>
#include <stdatomic.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "oracle.h"

#define FILE_BYTES  (8 << 20)
#define PIECE_BYTES (128 << 10)

struct ring {
	int fd;
	_Atomic unsigned *sq_tail, *cq_head;
	unsigned *sq_mask, *sq_array, *cq_mask;
	struct io_uring_sqe *sqes;
	struct io_uring_cqe *cqes;
};

static void *map_ring(int fd, size_t size, off_t what)
{
	void *memory = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED, fd, what);

	must(memory != MAP_FAILED, "map the ring");
	return memory;
}

static void open_ring(struct ring *ring)
{
	struct io_uring_params params = {0};
	char *sq, *cq;

	ring->fd = (int)syscall(SYS_io_uring_setup, 4, &params);
	if (ring->fd < 0 && (errno == ENOSYS || errno == EPERM))
		skip(errno == EPERM ? "io_uring is forbidden here" : "no io_uring in this kernel");
	must(ring->fd >= 0, "io_uring_setup");
	sq = map_ring(ring->fd, params.sq_off.array + params.sq_entries * sizeof(unsigned),
		      IORING_OFF_SQ_RING);
	cq = map_ring(ring->fd,
		      params.cq_off.cqes + params.cq_entries * sizeof(struct io_uring_cqe),
		      IORING_OFF_CQ_RING);
	ring->sqes = map_ring(ring->fd, params.sq_entries * sizeof(struct io_uring_sqe),
			      IORING_OFF_SQES);
	ring->sq_tail = (void *)(sq + params.sq_off.tail);
	ring->sq_mask = (void *)(sq + params.sq_off.ring_mask);
	ring->sq_array = (void *)(sq + params.sq_off.array);
	ring->cq_head = (void *)(cq + params.cq_off.head);
	ring->cq_mask = (void *)(cq + params.cq_off.ring_mask);
	ring->cqes = (void *)(cq + params.cq_off.cqes);
}

/* Submits one operation and waits for its result; returns for how long it was blocked. */
static long long wait_for(struct ring *ring, const struct io_uring_sqe *operation, int *ret_result)
{
	unsigned tail = atomic_load(ring->sq_tail), slot = tail & *ring->sq_mask, head;
	long long start, awake, waited;

	ring->sqes[slot] = *operation;
	ring->sq_array[slot] = slot;
	atomic_store(ring->sq_tail, tail + 1);
	start = now(), awake = thread_cpu() + thread_delay();
	must(syscall(SYS_io_uring_enter, ring->fd, 1, 1, IORING_ENTER_GETEVENTS, NULL, 0) == 1,
	     "io_uring_enter");
	waited = (now() - start) - (thread_cpu() + thread_delay() - awake);
	head = atomic_load(ring->cq_head);
	*ret_result = ring->cqes[head & *ring->cq_mask].res;
	atomic_store(ring->cq_head, head + 1);
	return waited;
}

static long long wait_for_timers(struct ring *ring)
{
	struct __kernel_timespec nap = {.tv_nsec = 20 * MS};
	struct io_uring_sqe timer = {.opcode = IORING_OP_TIMEOUT, .fd = -1, .len = 1};
	long long waited = 0;
	int result;

	timer.addr = (unsigned long)&nap;
	for (int i = 0; i < 20; i++) {
		waited += wait_for(ring, &timer, &result);
		must(result == -ETIME, "let a timer run out");
	}
	return waited;
}

static long long wait_for_reads(struct ring *ring)
{
	static char data[PIECE_BYTES] __attribute__((aligned(4096)));
	struct io_uring_sqe read = {.opcode = IORING_OP_READ, .len = PIECE_BYTES};
	long long waited = 0;
	int result;

	read.fd = scratch_file(FILE_BYTES);
	read.addr = (unsigned long)data;
	must(!fsync(read.fd), "fsync");
	posix_fadvise(read.fd, 0, 0, POSIX_FADV_DONTNEED);
	for (; read.off < FILE_BYTES; read.off += PIECE_BYTES) {
		waited += wait_for(ring, &read, &result);
		must(result == PIECE_BYTES, "read by io_uring");
	}
	return waited;
}

/* call.io_uring_enter: for how long it was blocked in that call. */
void do_uring(void)
{
	struct ring ring;

	open_ring(&ring);
	truth("call.io_uring_enter", wait_for_timers(&ring) + wait_for_reads(&ring));
}
