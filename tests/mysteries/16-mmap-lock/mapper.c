// SPDX-License-Identifier: Apache-2.0
/*
 * mapper: "snapshots" makes a table of 512 MB read-only and writable again, which takes long and
 * is done under the lock of the address space; four requests map a few pages, touch them and unmap
 * them.
 */
#include <sys/mman.h>

#include "../truth.h"

enum { SNAPSHOTS, SNAPSHOT_NS, REQUESTS, WAIT_NS };

#define BIG	  ((size_t)512 << 20)
#define SMALL	  (64 << 10)
#define WRITABLE  (PROT_READ | PROT_WRITE)
#define ANONYMOUS (MAP_PRIVATE | MAP_ANONYMOUS)

static char *make_table(void)
{
	char *table = mmap(NULL, BIG, WRITABLE, ANONYMOUS, -1, 0);

	if (table == MAP_FAILED)
		abort();
	madvise(table, BIG, MADV_NOHUGEPAGE);
	for (size_t at = 0; at < BIG; at += 4096)
		table[at] = 1;
	return table;
}

static void *make_snapshots(void *table)
{
	for (;;) {
		uint64_t begin = now_ns();

		if (mprotect(table, BIG, PROT_READ) || mprotect(table, BIG, WRITABLE))
			abort();
		truth_add(SNAPSHOT_NS, now_ns() - begin);
		truth_add(SNAPSHOTS, 1);
		sleep_ns(10000000);
	}
	return NULL;
}

static void *request(void *arg)
{
	for (;;) {
		struct wait_clock wait = wait_begin();
		char *memory = mmap(NULL, SMALL, WRITABLE, ANONYMOUS, -1, 0);

		for (size_t at = 0; at < SMALL; at += 4096)
			memory[at] = 1;
		munmap(memory, SMALL);
		truth_add(WAIT_NS, wait_end(&wait));
		truth_add(REQUESTS, 1);
		sleep_ns(1000000);
	}
	return arg;
}

int main(void)
{
	char *table = make_table();

	truth_start("snapshots", "snapshot_ns", "requests", "wait_ns", NULL);
	start_thread("snapshots", make_snapshots, table);
	for (int i = 1; i <= 4; i++) {
		char name[16];

		snprintf(name, sizeof(name), "request-%d", i);
		start_thread(name, request, NULL);
	}
	pause();
	return 0;
}
