// SPDX-License-Identifier: Apache-2.0
#include "mappings_scan.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>

#include "../base/cleanup.h"
#include "../base/clock.h"

void mappings_scanner_open(struct mappings_scanner *scanner, struct worker *symbolizer,
			   struct opener *opener)
{
	*scanner = (struct mappings_scanner){.symbolizer = symbolizer, .opener = opener};
	table_cache_open(&scanner->cache, TABLE_CACHE_DIR);
}

void mappings_scanner_close(struct mappings_scanner *scanner)
{
	table_cache_close(&scanner->cache);
}

static const char *const map_names[UNWINDING_MAP_COUNT] = {
	[UNWINDING_ROWS] = "unwind_rows",
	[UNWINDING_PAGES] = "unwind_pages",
	[UNWINDING_MODULES] = "unwind_modules",
	[UNWINDING_MAPPINGS] = "unwind_mappings",
};

int mappings_give_maps(const struct capture *capture, struct worker *symbolizer,
		       const struct unwinding_wish *wish)
{
	int fds[UNWINDING_MAP_COUNT];

	for (int i = 0; i < UNWINDING_MAP_COUNT; i++) {
		fds[i] = capture_map_fd(capture, map_names[i]);
		if (fds[i] < 0)
			return fds[i];
	}
	return worker_unwinding_open(symbolizer, fds,
				     capture_map_entries(capture, map_names[UNWINDING_ROWS]), wish);
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

	return fd < 0 ? fd : worker_unwinding_read_rows(scanner->symbolizer, file, fd);
}

static void store(struct mappings_scanner *scanner, u32 file, const struct file_wants *wants)
{
	_cleanup_close_ int fd = table_cache_blank(&scanner->cache);

	if (fd >= 0 && !worker_unwinding_write_rows(scanner->symbolizer, file, fd))
		table_cache_store(&scanner->cache, wants->build_id, wants->build_id_size, fd);
}

/* A file of which none can be had is walked by frame pointers; that is no failure of the scan. */
static void make_rows(struct mappings_scanner *scanner, u32 file, const struct file_wants *wants)
{
	bool is_worthy;

	if (wants->cache && !read_cached(scanner, file, wants))
		return;
	if (!worker_unwinding_build_rows(scanner->symbolizer, file, &is_worthy) && is_worthy &&
	    wants->cache)
		store(scanner, file, wants);
}

/* --- files --- */

static void give_debug_file(struct mappings_scanner *scanner, u32 file,
			    const struct file_wants *wants, bool is_trusted)
{
	_cleanup_close_ int fd = opener_debug_file(scanner->opener, wants->build_id,
						   wants->build_id_size, is_trusted);

	if (fd >= 0)
		worker_unwinding_debug_file(scanner->symbolizer, file, fd);
}

static int give_file(struct mappings_scanner *scanner, u32 pid, u32 file,
		     const struct unwinding_file *where, struct file_facts *facts)
{
	_cleanup_close_ int fd = opener_mapped_file(scanner->opener, where, facts);
	struct file_wants wants;
	int err;

	for (const struct mappings_listener *at = scanner->listeners; fd >= 0 && at; at = at->next)
		at->on_file(at->context, pid, fd);
	err = worker_unwinding_file(scanner->symbolizer, file, facts, fd, &wants);
	if (err)
		return err == -ENOSPC ? 0 : err; /* it is counted, and the rest goes on */
	if (wants.debug)
		give_debug_file(scanner, file, &wants, facts->is_trusted);
	if (wants.rows)
		make_rows(scanner, file, &wants);
	return 0;
}

/* Those of one answer, and what the last of them finished: 0 or -errno. */
static int give_files(struct mappings_scanner *scanner, u32 pid, u32 first,
		      const struct unwinding_file *files, u32 count, u64 until_ns,
		      struct unwinding_found *ret_found)
{
	bool is_last = count < UNWINDING_FILES_MAX;
	struct file_facts facts[UNWINDING_FILES_MAX];
	u64 wanted = 0;
	int err = opener_facts(scanner->opener, files, count, facts);

	if (!err)
		err = worker_unwinding_known(scanner->symbolizer, first, facts, count, is_last,
					     &wanted, ret_found);
	if (err || !wanted)
		return err;
	for (u32 i = 0; i < count && !err; i++) {
		if (!(wanted >> i & 1))
			continue;
		err = give_file(scanner, pid, first + i, &files[i], &facts[i]);
		wanted &= ~(1ULL << i);
		if (!err && wanted && clock_now_ns() >= until_ns)
			return -EAGAIN;
	}
	if (!err && is_last)
		err = worker_unwinding_finish(scanner->symbolizer, ret_found);
	return err;
}

int mappings_scan(struct mappings_scanner *scanner, struct unwinding_batch *batch, u32 pid,
		  u64 until_ns, struct unwinding_found *ret_found)
{
	_cleanup_close_ int maps_fd = -1;
	struct unwinding_file files[UNWINDING_FILES_MAX];
	int count = UNWINDING_FILES_MAX, err = opener_process(scanner->opener, pid, &maps_fd);

	for (const struct mappings_listener *at = scanner->listeners; !err && at; at = at->next)
		at->on_process(at->context, pid);
	for (u32 first = 0; !err && count == UNWINDING_FILES_MAX; first += UNWINDING_FILES_MAX) {
		if (first > 1u << UNWIND_MAPPINGS_STEPS)
			return -EBADMSG; /* no process has so many: the worker leads us on */
		count = worker_unwinding_scan(scanner->symbolizer, batch, pid, first ? -1 : maps_fd,
					      first, files);
		err = count < 0 ? count
				: give_files(scanner, pid, first, files, (u32)count, until_ns,
					     ret_found);
	}
	return err;
}

static void open_replaced(struct mappings_scanner *scanner, u32 pid, struct target_map *map)
{
	struct target_map other = {.fd = -1};

	if (!target_map_is_removed(map) || opener_perf_map(scanner->opener, pid, &other))
		return;
	target_map_close(map);
	*map = other;
}

void mappings_give_perf_map(struct mappings_scanner *scanner, u32 pid, struct target_map *map)
{
	open_replaced(scanner, pid, map);
	if (target_map_has_changed(map) &&
	    worker_unwinding_perf_map(scanner->symbolizer, pid, map->fd) == -EAGAIN)
		map->mtime_ns = 0; /* it will have changed, when it is looked at next */
}
