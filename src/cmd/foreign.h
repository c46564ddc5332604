/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Files of other processes, opened so that nobody can trap us: only regular ones, none for which a
 * program answers (FUSE: it may never do), and each found from the process's own root. What is
 * handed on as a program begins as one. Owns what it learned of file systems. Called by mappings.c,
 * in the privileged process.
 */
#ifndef DWELL_CMD_FOREIGN_H
#define DWELL_CMD_FOREIGN_H

#include <stdbool.h>
#include <stddef.h>

#include "../symbolize/symbolize.h"

#define FOREIGN_DEVICES_MAX 64

struct foreign_device {
	u64 dev;
	u64 asked_ns;
	bool may_block;
};

struct foreign {
	struct foreign_device devices[FOREIGN_DEVICES_MAX]; /* oldest are asked again */
	size_t next;
};

/* /proc/PID itself: a descriptor that stays that process's, or -errno. */
int foreign_process(u32 pid);

/* The same, and its mappings; of a thread, where the process's first one has ended; or -errno. */
int foreign_process_maps(u32 pid, int *ret_maps_fd);

/*
 * Which file a process has mapped there; facts->refusal says what speaks against it: 0, or -ESTALE
 * if nothing is mapped there any more.
 */
int foreign_mapped_facts(struct foreign *foreign, int proc_fd, u64 begin, u64 end,
			 struct file_facts *ret_facts);

/* The same, opened: -1 with the reason in facts->refusal. */
int foreign_mapped_open(struct foreign *foreign, int proc_fd, u64 begin, u64 end,
			struct file_facts *facts);

/*
 * The debug file of a build, from the process's root or the host's: -errno if there is none. What
 * belongs to a file that can be trusted must be trusted, too: it names functions for all processes,
 * and a root can be of anybody's making.
 */
int foreign_debug_open(struct foreign *foreign, int proc_fd, const u8 *build_id, size_t size,
		       bool is_trusted);

/* /tmp/perf-PID.map as the process's own namespaces have it. */
struct foreign_map {
	int fd; /* -1: not found yet. Kept, since at the process's end its root is gone */
	u64 mtime_ns;
	u64 size;
};

/* Looks for it, if it is the process's own: 0 or -errno. */
int foreign_map_open(struct foreign *foreign, u32 pid, struct foreign_map *ret_map);

/* Has it changed since this was asked last? */
bool foreign_map_has_changed(struct foreign_map *map);
void foreign_map_close(struct foreign_map *map);

#endif
