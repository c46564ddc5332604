// SPDX-License-Identifier: Apache-2.0
/*
 * Waits for a disk. A call that waits for one also runs for a while; only the rest is the wait.
 */
#include <fcntl.h>
#include <stdio.h>
#include <unistd.h>

#include "oracle.h"

#define FILE_BYTES  (16 << 20)
#define PIECE_BYTES (64 << 10)
#define PIECES	    (FILE_BYTES / PIECE_BYTES)

struct waits {
	long long ns;
	int blocked;
};

struct moment {
	long long wall, awake;
	long blocks;
};

static struct moment here(void)
{
	return (struct moment){now(), thread_cpu() + thread_delay(), thread_blocks()};
}

/* What passed since then was a wait, if it blocked; but for what it ran and waited for a CPU. */
static void add_wait(struct waits *waits, struct moment start)
{
	struct moment end = here();

	if (end.blocks == start.blocks)
		return;
	waits->ns += (end.wall - start.wall) - (end.awake - start.awake);
	waits->blocked++;
}

/* Those that count, and others of the same state that there were on the way. */
static void tell(const struct waits *waits, int calls, const char *what, const struct waits *others)
{
	char why[120];

	if (waits->blocked * 2 < calls) {
		snprintf(why, sizeof(why), "%s: only %d of %d calls waited for the disk here", what,
			 waits->blocked, calls);
		skip(why);
	}
	truth("blocked.disk", waits->ns + others->ns);
}

void do_fdatasync(void)
{
	static const char data[65536];
	struct waits waits = {0}, end = {0};
	int fd = scratch_file(0);
	struct moment begin;

	for (int i = 0; i < 30; i++) {
		struct moment start;

		must(write(fd, data, sizeof(data)) == sizeof(data), "write");
		start = here();
		must(!fdatasync(fd), "fdatasync");
		add_wait(&waits, start);
	}
	begin = here();
	close(fd); /* which frees its blocks */
	add_wait(&end, begin);
	tell(&waits, 30, "fdatasync", &end);
}

void do_coldread(void)
{
	static char data[PIECE_BYTES] __attribute__((aligned(4096)));
	struct waits waits = {0}, writes = {0};
	struct moment begin = here();
	int fd = scratch_file(FILE_BYTES);

	must(!fsync(fd), "fsync");
	add_wait(&writes, begin);
	posix_fadvise(fd, 0, 0, POSIX_FADV_DONTNEED);
	posix_fadvise(fd, 0, 0, POSIX_FADV_RANDOM); /* nothing is read ahead: each read waits */
	for (int i = 0; i < PIECES; i++) {
		/* 7 and the number of pieces have no divisor in common: each comes once */
		off_t at = (off_t)(i * 7 % PIECES) * PIECE_BYTES;
		struct moment start = here();

		must(pread(fd, data, sizeof(data), at) == sizeof(data), "pread");
		add_wait(&waits, start);
	}
	begin = here();
	close(fd); /* which frees its blocks */
	add_wait(&writes, begin);
	tell(&waits, PIECES, "cold reads", &writes);
}
