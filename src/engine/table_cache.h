/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Tables for the walk of stacks on disk, by build id, so that each is built once. What is in a file
 * is the worker's business; here it is only a name and so many bytes. Owns the folder's descriptor.
 * Called by mappings.c, in the privileged process. Nothing that fails here is an error.
 */
#ifndef DWELL_ENGINE_TABLE_CACHE_H
#define DWELL_ENGINE_TABLE_CACHE_H

#include <stddef.h>

#include "../../abi/types.h"

#define TABLE_CACHE_DIR		"/var/cache/dwell/unwind"
#define TABLE_CACHE_BYTES_MAX	(256u << 20)
#define TABLE_CACHE_FILES_MAX	4096
#define TABLE_CACHE_ENTRY_BYTES (16u << 20) /* of one file: more than a table can have */

struct table_cache {
	int dir_fd; /* -1: there is none */
	u64 bytes;  /* in it */
	u64 files;
};

/* Made if need be, and ours alone; what is too much is removed, oldest first. */
void table_cache_open(struct table_cache *cache, const char *dir);
void table_cache_close(struct table_cache *cache);

/* A descriptor, or -errno. */
int table_cache_find(const struct table_cache *cache, const u8 *build_id, size_t size);

/* An empty file in memory for the worker to write into, or -errno. */
int table_cache_blank(const struct table_cache *cache);

/* What it wrote becomes the table of this build. */
void table_cache_store(struct table_cache *cache, const u8 *build_id, size_t size, int blank_fd);

#endif
