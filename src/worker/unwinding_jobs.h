/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What goes between the two sides of unwinding; nobody else includes this. No holes, no pointers.
 */
#ifndef DWELL_WORKER_UNWINDING_JOBS_H
#define DWELL_WORKER_UNWINDING_JOBS_H

#include "unwinding.h"

struct map_request {
	u32 which;     /* enum unwinding_map */
	u32 row_count; /* of the table of rows */
};

struct open_request {
	u32 lines;
	u32 inlined;
	u32 generation; /* the last one that was given out before */
	u32 unused;
};

struct requests_request {
	u32 count;
	u32 unused;
	struct unwind_request requests[UNWINDING_REQUESTS_MAX];
};

/* A bit for each request that came too late. */
struct requests_reply {
	u64 stale[UNWINDING_REQUESTS_MAX / 64];
};

struct scan_request {
	u32 tgid;
	u32 first; /* 0: with the descriptor of its maps */
	struct requests_request before;
};

struct scan_reply {
	struct requests_reply before;
	s32 count; /* or -errno: the requests have happened even so */
	u32 unused;
	struct unwinding_file files[UNWINDING_FILES_MAX];
};

struct known_request {
	u32 first;
	u32 count;
	u32 is_last;
	u32 unused;
	struct file_facts facts[UNWINDING_FILES_MAX];
};

struct file_request {
	u32 file;
	u32 unused;
	struct file_facts facts;
};

enum { WANTS_ROWS = 1, WANTS_CACHE = 2, WANTS_DEBUG = 4 };

struct file_reply {
	u8 build_id[BUILD_ID_MAX];
	u32 build_id_size;
	u32 wants;
};

struct finish_reply {
	u32 first;
	u32 count;
	u32 generation;
	u32 has_jit;
	struct thread_context context;
};

struct known_reply {
	u64 wanted;
	struct finish_reply found; /* generation 0: the scan is not finished */
};

#endif
