// SPDX-License-Identifier: Apache-2.0
#include "mappings_scan.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>

#include "../base/cleanup.h"
#include "../base/clock.h"

void mappings_scanner_open(struct mappings_scanner *scanner, struct worker *worker)
{
	*scanner = (struct mappings_scanner){.worker = worker};
	table_cache_open(&scanner->cache, TABLE_CACHE_DIR);
}

void mappings_scanner_close(struct mappings_scanner *scanner)
{
	table_cache_close(&scanner->cache);
}

bool mappings_is_gone(u32 pid)
{
	return kill((pid_t)pid, 0) && errno == ESRCH;
}

/* --- rows --- */

static int read_cached(struct mappings_scanner *scanner, u32 file, const struct file_wants *wants)
{
	_cleanup_close_ int fd =
		table_cache_find(&scanner->cache, wants->build_id, wants->build_id_size);

	return fd < 0 ? fd : worker_unwinding_read_rows(scanner->worker, file, fd);
}

static void store(struct mappings_scanner *scanner, u32 file, const struct file_wants *wants)
{
	_cleanup_close_ int fd = table_cache_blank(&scanner->cache);

	if (fd >= 0 && !worker_unwinding_write_rows(scanner->worker, file, fd))
		table_cache_store(&scanner->cache, wants->build_id, wants->build_id_size, fd);
}

/* A file of which none can be had is walked by frame pointers; that is no failure of the scan. */
static void make_rows(struct mappings_scanner *scanner, u32 file, const struct file_wants *wants)
{
	bool is_worthy;

	if (wants->cache && !read_cached(scanner, file, wants))
		return;
	if (!worker_unwinding_build_rows(scanner->worker, file, &is_worthy) && is_worthy &&
	    wants->cache)
		store(scanner, file, wants);
}

/* --- files --- */

static void give_debug_file(struct mappings_scanner *scanner, int proc_fd, u32 file,
			    const struct file_wants *wants, bool is_trusted)
{
	_cleanup_close_ int fd = foreign_debug_open(&scanner->foreign, proc_fd, wants->build_id,
						    wants->build_id_size, is_trusted);

	if (fd >= 0)
		worker_unwinding_debug_file(scanner->worker, file, fd);
}

static int give_file(struct mappings_scanner *scanner, u32 pid, int proc_fd, u32 file,
		     const struct unwinding_file *where, struct file_facts *facts)
{
	_cleanup_close_ int fd =
		foreign_mapped_open(&scanner->foreign, proc_fd, where->begin, where->end, facts);
	struct file_wants wants;
	int err;

	if (fd >= 0 && scanner->listener)
		scanner->listener->on_file(scanner->listener->context, pid, fd);
	err = worker_unwinding_file(scanner->worker, file, facts, fd, &wants);
	if (err)
		return err == -ENOSPC ? 0 : err; /* it is counted, and the rest goes on */
	if (wants.debug)
		give_debug_file(scanner, proc_fd, file, &wants, facts->is_trusted);
	if (wants.rows)
		make_rows(scanner, file, &wants);
	return 0;
}

/* Those of one answer, and what the last of them finished: 0 or -errno. */
static int give_files(struct mappings_scanner *scanner, u32 pid, int proc_fd, u32 first,
		      const struct unwinding_file *files, u32 count, u64 until_ns,
		      struct unwinding_found *ret_found)
{
	bool is_last = count < UNWINDING_FILES_MAX;
	struct file_facts facts[UNWINDING_FILES_MAX];
	u64 wanted;
	int err;

	for (u32 i = 0; i < count; i++) {
		err = foreign_mapped_facts(&scanner->foreign, proc_fd, files[i].begin, files[i].end,
					   &facts[i]);
		if (err)
			return err;
	}
	err = worker_unwinding_known(scanner->worker, first, facts, count, is_last, &wanted,
				     ret_found);
	if (err || !wanted)
		return err;
	for (u32 i = 0; i < count && !err; i++) {
		if (!(wanted >> i & 1))
			continue;
		err = give_file(scanner, pid, proc_fd, first + i, &files[i], &facts[i]);
		wanted &= ~(1ULL << i);
		if (!err && wanted && clock_now_ns() >= until_ns)
			return -EAGAIN;
	}
	if (!err && is_last)
		err = worker_unwinding_finish(scanner->worker, ret_found);
	return err;
}

int mappings_scan(struct mappings_scanner *scanner, struct unwinding_batch *batch, u32 pid,
		  u64 until_ns, struct unwinding_found *ret_found)
{
	_cleanup_close_ int maps_fd = -1, proc_fd = foreign_process_maps(pid, &maps_fd);
	struct unwinding_file files[UNWINDING_FILES_MAX];
	int count = UNWINDING_FILES_MAX, err = proc_fd < 0 ? proc_fd : 0;

	if (!err && scanner->listener)
		scanner->listener->on_process(scanner->listener->context, pid);
	for (u32 first = 0; !err && count == UNWINDING_FILES_MAX; first += UNWINDING_FILES_MAX) {
		if (first > 1u << UNWIND_MAPPINGS_STEPS)
			return -EBADMSG; /* no process has so many: the worker leads us on */
		count = worker_unwinding_scan(scanner->worker, batch, pid, first ? -1 : maps_fd,
					      first, files);
		err = count < 0 ? count
				: give_files(scanner, pid, proc_fd, first, files, (u32)count,
					     until_ns, ret_found);
	}
	return err;
}

void mappings_give_perf_map(struct mappings_scanner *scanner, u32 pid, struct foreign_map *map)
{
	if (foreign_map_has_changed(map))
		worker_unwinding_perf_map(scanner->worker, pid, map->fd);
}
