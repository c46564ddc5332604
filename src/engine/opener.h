/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Opens files of other processes in a process of its own, under a deadline. Such an open can hang
 * for ever: FUSE whose server does not answer, overlayfs above it, a hard NFS mount. The opener is
 * killed then and replaced, and the file counts as unreachable. It has the capabilities that this
 * takes and no other. Called by mappings.c and mappings_scan.c.
 */
#ifndef DWELL_ENGINE_OPENER_H
#define DWELL_ENGINE_OPENER_H

#include "../base/spawner.h"
#include "../capture/cost.h"
#include "../worker/unwinding.h"
#include "target_files.h"

/*
 * For each file. The first time that a file system keeps us waiting, little time is lost over it,
 * and it is asked again after OPENER_RETRY_NS; a busy one has answered by then. A file on a block
 * device has longer, since a disk answers in the end; so has an opener that is still running, on a
 * host that is short of CPU time.
 */
#define OPENER_FIRST_MS	   25
#define OPENER_DEADLINE_MS 100
#define OPENER_PATIENCE_MS 1000
#define OPENER_RETRY_NS	   2000000000ULL

struct opener;

/* Its place in the spawner's table is up to the caller; the spawner outlives it: 0 or -errno. */
int opener_make_role(struct spawner_role *ret_role);
void opener_free_role(struct spawner_role *role);
int opener_start(struct spawner *spawner, size_t place, const struct spawner_role *role,
		 struct opener **ret_opener);
void opener_stop(struct opener *opener); /* NULL is allowed */

/* 0: it is gone, and the next call starts another. */
pid_t opener_pid(const struct opener *opener);

/* The CPU time of all openers so far, and the memory of the one that lives. */
void opener_add_cost(struct opener *opener, struct cost *cost);

struct opener_counts {
	u64 hangs;    /* that were not answered in time: the opener, or who read, was killed */
	u64 replaced; /* openers that were started after the first */
};

u64 opener_hangs(const struct opener *opener);
void opener_counts(const struct opener *opener, struct opener_counts *ret_counts);

/*
 * Another process, this one, was killed while it read from this device, which did not answer: its
 * files are left alone for a while, and as long as the process is there still.
 */
void opener_reader_hung(struct opener *opener, u64 dev, int pid_fd);

/* --- what target_files.h does, there; -EBUSY: it did not answer in time --- */

/* The next calls are about this process: 0 and its mappings, or -errno. */
int opener_process(struct opener *opener, u32 pid, int *ret_maps_fd);

/* 0, or -ESTALE if something is not mapped any more. A file that hangs is FILE_UNREACHABLE. */
int opener_facts(struct opener *opener, const struct unwinding_file *files, u32 count,
		 struct file_facts *ret_facts);

/* The descriptor, or -1 with the reason in facts->refusal. */
int opener_mapped_file(struct opener *opener, const struct unwinding_file *where,
		       struct file_facts *facts);

/* The descriptor, or -errno. */
int opener_debug_file(struct opener *opener, const u8 *build_id, size_t size, bool is_trusted);

/* Of any process: 0 or -errno. */
int opener_perf_map(struct opener *opener, u32 pid, struct target_map *ret_map);

#endif
