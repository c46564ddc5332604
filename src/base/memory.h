/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Memory that a process does not want any more: pages that are held, but not in use, go back to the
 * kernel; a forked child leaves what its parent shares with the kernel.
 */
#ifndef DWELL_BASE_MEMORY_H
#define DWELL_BASE_MEMORY_H

/*
 * Of begin to end, which is private memory that no file backs, the whole pages: they are zeroes
 * when they are used again. The bytes of pages that are not whole stay as they are.
 */
void memory_give_back(void *begin, void *end);

/*
 * In a forked process: unmaps what its parent has of the kernel's own memory: BPF maps and their
 * like. 0 or -errno; -ENOENT if /proc is not there to tell.
 */
int memory_leave_kernel_objects(void);

#endif
