// SPDX-License-Identifier: Apache-2.0
/*
 * Reads and writes of the disk in $DISK, past the page cache, so that each is one request: first by
 * one thread, then by four at a time, which have to wait for each other where the disk takes one at
 * a time. These are larger, to be told apart. Lines are calls, bytes, and what all of the calls
 * took by the program's own clock.
 */
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "oracle.h"

#define READS	     60
#define READ_BYTES   4096
#define WRITES	     30
#define WRITE_BYTES  (64 << 10)
#define THREADS	     4
#define THREAD_READS 20
#define LARGE_BYTES  (16 << 10)

static int disk;

static void tell(const char *what, int calls, long long bytes, long long ns)
{
	char key[64];

	snprintf(key, sizeof(key), "%s.calls", what);
	truth(key, calls);
	snprintf(key, sizeof(key), "%s.bytes", what);
	truth(key, bytes);
	snprintf(key, sizeof(key), "%s.ns", what);
	truth(key, ns);
}

/* Not one beside the other, which would be merged. */
static off_t place(int i, size_t bytes)
{
	return (off_t)i * 2 * (off_t)bytes;
}

static void *read_many(void *arg)
{
	char *data = aligned_alloc(4096, LARGE_BYTES);
	int first = (int)(long)arg * THREAD_READS;
	long long begin;

	must(data != NULL, "memory");
	begin = now();
	for (int i = 0; i < THREAD_READS; i++)
		must(pread(disk, data, LARGE_BYTES, place(first + i, LARGE_BYTES)) == LARGE_BYTES,
		     "pread");
	begin = now() - begin;
	free(data);
	return (void *)begin;
}

static void read_at_once(void)
{
	pthread_t threads[THREADS];
	long long ns = 0;

	for (long i = 0; i < THREADS; i++)
		must(!pthread_create(&threads[i], NULL, read_many, (void *)i), "pthread_create");
	for (int i = 0; i < THREADS; i++) {
		void *took;

		pthread_join(threads[i], &took);
		ns += (long long)took;
	}
	tell("at_once", THREADS * THREAD_READS, (long long)THREADS * THREAD_READS * LARGE_BYTES,
	     ns);
}

void do_slow_disk(void)
{
	static char data[WRITE_BYTES] __attribute__((aligned(4096)));
	const char *path = getenv("DISK");
	long long begin;

	must(path != NULL, "$DISK, a disk to be written to");
	disk = open(path, O_RDWR | O_DIRECT | O_CLOEXEC);
	must(disk >= 0, path);
	begin = now();
	for (int i = 0; i < READS; i++)
		must(pread(disk, data, READ_BYTES, place(i, READ_BYTES)) == READ_BYTES, "pread");
	tell("read", READS, (long long)READS * READ_BYTES, now() - begin);
	begin = now();
	for (int i = 0; i < WRITES; i++)
		must(pwrite(disk, data, sizeof(data), place(i, sizeof(data))) == sizeof(data),
		     "pwrite");
	tell("write", WRITES, (long long)WRITES * WRITE_BYTES, now() - begin);
	read_at_once();
	close(disk);
}
