// SPDX-License-Identifier: Apache-2.0
#include "files.h"

#include <sys/syscall.h>

#include "../../src/base/cleanup.h"
#include "../../src/model/signal.h"

static const struct map_entry calls[] = {
	{SYS_read, FILES_READ},
	{SYS_pread64, FILES_READ},
	{SYS_readv, FILES_READ | FILES_VECTOR},
	{SYS_preadv, FILES_READ | FILES_VECTOR},
	{SYS_preadv2, FILES_READ | FILES_VECTOR},
	{SYS_write, FILES_WRITE},
	{SYS_pwrite64, FILES_WRITE},
	{SYS_writev, FILES_WRITE | FILES_VECTOR},
	{SYS_pwritev, FILES_WRITE | FILES_VECTOR},
	{SYS_pwritev2, FILES_WRITE | FILES_VECTOR},
#ifdef SYS_open
	{SYS_open, FILES_OPEN},
	{SYS_creat, FILES_OPEN},
#endif
	{SYS_openat, FILES_OPEN},
	{SYS_openat2, FILES_OPEN},
	{SYS_fsync, FILES_SYNC},
	{SYS_fdatasync, FILES_SYNC},
	{SYS_sync_file_range, FILES_SYNC},
	{SYS_syncfs, FILES_SYNC},
#ifdef SYS_getdents
	{SYS_getdents, FILES_LIST},
#endif
	{SYS_getdents64, FILES_LIST},
};

#define CALLS "files_ops", PROBE_ACCOUNTS, "files_tasks"

static const struct probe probes[] = {
	{.program = "files_enter", .maps = {CALLS}, .fills = {{calls, ARRAY_SIZE(calls)}}},
	{.program = "files_exit",
	 .maps = {CALLS, PROBE_SERIES, PROBE_SLOW, PROBE_STACKS, "object_ids", "disk_waits"}},
};

static const struct series_kind kinds[] = {
	[FILES_LATENCY] = {"latency", UNIT_NS, "from entry to return"},
};

static const char *const op_names[] = {
	[FILES_READ - 1] = "read", [FILES_WRITE - 1] = "write", [FILES_OPEN - 1] = "open",
	[FILES_SYNC - 1] = "sync", [FILES_LIST - 1] = "list",
};

static const struct signal_view view = {
	.kinds = kinds,
	.kind_count = ARRAY_SIZE(kinds),
	.detail = {.name = "op",
		   .kind = FIELD_NAME,
		   .names = op_names,
		   .name_count = ARRAY_SIZE(op_names)},
	.object = {.name = "file", .kind = FIELD_OBJECT},
	.more = {.name = "error", .kind = FIELD_ERRNO},
	.bytes = {[FILES_ASKED] = "asked", [FILES_RETURNED] = "returned"},
	.bytes_of = FILES_LATENCY,
	.value_names = {"asked_bytes", "returned_bytes"},
	.share = 1024,
	.cost = COST_PER_EVENT,
	.price = "about 0.2 us per call on a file, and 0.1 us per other call",
	.needs_split = true,
};

static const char *const maps_with_task_storage[] = {"files_tasks", NULL};

const struct signal signal_files = {
	.about = "files: duration of reads, writes, opens and syncs",
	.probes = probes,
	.probe_count = ARRAY_SIZE(probes),
	.maps_with_task_storage = maps_with_task_storage,
	.view = &view,
};
