/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What goes between the engine and its opener; nobody else includes this. No holes, no pointers.
 */
#ifndef DWELL_ENGINE_OPENER_INSIDE_H
#define DWELL_ENGINE_OPENER_INSIDE_H

#include "opener.h"

enum opener_what {
	OPENER_PROCESS,
	OPENER_FACTS, /* one reply for each file, so that it shows which one hangs */
	OPENER_MAPPED_FILE,
	OPENER_DEBUG_FILE,
	OPENER_PERF_MAP,
};

struct opener_request {
	u32 what; /* enum opener_what */
	u32 pid;
	u32 count; /* of files */
	u32 is_trusted;
	u32 build_id_size;
	u32 serial;
	u8 build_id[BUILD_ID_MAX];
	struct file_facts facts;
	struct unwinding_file files[UNWINDING_FILES_MAX];
};

struct opener_reply {
	s32 err;    /* 0 or -errno; a descriptor comes beside it */
	u32 serial; /* of the request */
	struct file_facts facts;
};

/* The opener's own side: a role of the spawner. The context is its struct sandbox_notes. */
void opener_run(int sock, void *context);

#endif
