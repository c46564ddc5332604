/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Files of other processes, opened so that nobody can trap us: only regular ones, none for which a
 * program answers (FUSE: it may never do), and each found from the process's own root. What is
 * handed on as a program begins as one. Owns what it learned of file systems. Called by mappings.c,
 * in the privileged process.
 */
#ifndef DWELL_ENGINE_TARGET_FILES_H
#define DWELL_ENGINE_TARGET_FILES_H

#include <stdbool.h>
#include <stddef.h>

#include "../symbolize/symbolize.h"

#define TARGET_DEVICES_MAX 64

struct target_device {
	u64 dev;
	u64 asked_ns;
	bool may_block;
};

struct target_files {
	struct target_device devices[TARGET_DEVICES_MAX]; /* oldest are asked again */
	size_t next;
};

/* /proc/PID itself: a descriptor that stays that process's, or -errno. */
int target_process(u32 pid);

/* On a CPU, or about to be. */
bool target_is_running(pid_t pid);

/* The same, and its mappings; of a thread, where the process's first one has ended; or -errno. */
int target_process_maps(u32 pid, int *ret_maps_fd);

/*
 * Which file a process has mapped there; facts->refusal says what speaks against it: 0, or -ESTALE
 * if nothing is mapped there any more.
 */
int target_mapped_facts(struct target_files *files, int proc_fd, u64 begin, u64 end,
			struct file_facts *ret_facts);

/* The same, opened: -1 with the reason in facts->refusal. */
int target_mapped_open(struct target_files *files, int proc_fd, u64 begin, u64 end,
		       struct file_facts *facts);

/*
 * The debug file of a build, from the process's root or the host's: -errno if there is none. What
 * belongs to a file that can be trusted must be trusted, too: it names functions for all processes,
 * and a root can be of anybody's making.
 */
int target_debug_open(struct target_files *files, int proc_fd, const u8 *build_id, size_t size,
		      bool is_trusted);

/* /tmp/perf-PID.map as the process's own namespaces have it. */
struct target_map {
	int fd; /* -1: not found yet. Kept, since at the process's end its root is gone */
	u64 mtime_ns;
	u64 size;
};

/* Looks for it, if it is the process's own: 0 or -errno. */
int target_map_open(struct target_files *files, u32 pid, struct target_map *ret_map);

/* Does nobody find it by its name any more? Another one may have that now. */
bool target_map_is_removed(const struct target_map *map);

/* Has it changed since this was asked last? */
bool target_map_has_changed(struct target_map *map);
void target_map_close(struct target_map *map);

#endif
