/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What each process has mapped where, by generation: a child shares its parent's until either maps
 * something else, and what is over is kept for a while, for stacks that are still on their way.
 * Owns the mappings, also those of the kernel side's tables. Called by symbolize, in the
 * unprivileged process.
 */
#ifndef DWELL_SYMBOLIZE_PROCESSES_H
#define DWELL_SYMBOLIZE_PROCESSES_H

#include "../base/number_map.h"
#include "unwind_tables.h"

#define PROCESSES_MAX	  (2 * UNWIND_PROCESSES_MAX) /* the dead have not all been told yet */
#define MAPSETS_MAX	  (4 * UNWIND_PROCESSES_MAX)
#define MAPSETS_KEPT_NS	  5000000000ULL		    /* after their end */
#define MAPPINGS_KEPT_MAX (4 * UNWIND_MAPPINGS_MAX) /* of sets that are over */

/* Code, of which module, and of which table of the kernel side. */
struct mapped {
	u64 begin;
	u64 end;
	u64 bias;
	u32 module;
	u32 table;
};

struct mapset {
	struct unwind_process range; /* of the kernel side's table */
	u32 users; /* processes that have it; 0: it is over, and kept until then */
	u64 over_ns;
	struct mapset *next_over;
	u32 owner;	   /* the process that was looked at; others share it */
	u32 jit;	   /* the module of code that the process makes; 0: none */
	bool is_published; /* another process was told of it */
	u32 room;	   /* for mappings, of one that comes in parts */
	u32 count;
	struct mapped mappings[];
};

struct processes {
	struct number_map by_tgid;	 /* struct mapset */
	struct number_map by_generation; /* likewise, also of those that are over */
	struct mapset *first_over, *last_over;
	u64 over_mappings;
	u64 refused; /* for which there was no room */
	void (*on_forget)(void *context, const struct mapset *set); /* NULL: nobody cares */
	void *context;
};

int processes_init(struct processes *processes);
void processes_free(struct processes *processes);

/*
 * What a process has mapped from now on, in the order of addresses; ret_process is for the kernel
 * side. If nothing has changed, the generation is the one before: 0 or -errno.
 */
int processes_set(struct processes *processes, struct unwind_tables *tables, u32 tgid,
		  const struct mapped *mappings, size_t count, u32 jit, u64 now_ns,
		  struct unwind_process *ret_process);

/* tgid has the mappings of that generation, too: 0, or -ESTALE if they are over. */
int processes_share(struct processes *processes, struct unwind_tables *tables, u32 tgid,
		    u32 generation, u64 now_ns);

/* tgid has nothing mapped any more. generation 0: whatever it had; else only if it has that. */
void processes_drop(struct processes *processes, struct unwind_tables *tables, u32 tgid,
		    u32 generation, u64 now_ns);

/* Gives up what has been over for long enough. */
void processes_forget(struct processes *processes, u64 now_ns);

/*
 * --- those of another process, by generation alone ---
 *
 * A part of what is mapped, total mappings in all, in their order; the first part has first 0. 0,
 * or -EINVAL if it does not follow the one before. One for which there is no room is counted.
 */
int processes_put(struct processes *processes, u32 generation, u32 total, u32 first,
		  const struct mapped *mappings, u32 count);
void processes_remove(struct processes *processes, u32 generation);
void processes_clear(struct processes *processes);

/* NULL: it has none that is known. */
struct mapset *processes_get(const struct processes *processes, u32 tgid);

bool processes_knows(const struct processes *processes, u32 generation);

/* NULL: not known, or in no mapping. */
const struct mapped *processes_find(const struct processes *processes, u32 generation, u64 address);

/* The last code that begins at or below address; NULL: not known, or there is none. */
const struct mapped *processes_find_below(const struct processes *processes, u32 generation,
					  u64 address);

#endif
