/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Memory that is held, but not in use: its pages go back to the kernel. Called by whoever keeps a
 * large array of which a part was used once.
 */
#ifndef DWELL_BASE_MEMORY_H
#define DWELL_BASE_MEMORY_H

/*
 * Of begin to end, which is private memory that no file backs, the whole pages: they are zeroes
 * when they are used again. The bytes of pages that are not whole stay as they are.
 */
void memory_give_back(void *begin, void *end);

#endif
