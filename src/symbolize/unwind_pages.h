/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Which pages of modules have their rows in the kernel side's table, and who makes room when it is
 * full: first pages that no walk uses, then those of the module that has most. Owns who has which
 * part of unwind_rows, and writes it and unwind_pages, both the caller's memory. Called by
 * unwind_tables.c.
 */
#ifndef DWELL_SYMBOLIZE_UNWIND_PAGES_H
#define DWELL_SYMBOLIZE_UNWIND_PAGES_H

#include "../../abi/unwind.h"
#include "range_pool.h"

/* Of one page; of more, the last that fits becomes ROW_BAD: nothing is said of what is behind. */
#define UNWIND_PAGE_ROWS_MAX (1u << UNWIND_ROWS_STEPS)

/* Not used for so long: others may have its room. */
#define UNWIND_IDLE_NS 1000000000ULL

struct unwind_page_counts {
	u64 most;    /* rows that were in use at once, at most */
	u64 asked;   /* pages, by walks that came to them when they were not loaded */
	u64 again;   /* of these, such as had been loaded before, and had made room */
	u64 refused; /* likewise, such as found no room */
	u64 evicted; /* pages that made room */
};

struct resident; /* what is known of a page */

struct unwind_pages {
	struct unwind_row *rows;
	struct unwind_page *places;
	u32 row_count, place_count, module_count;
	struct range_pool pool;
	struct resident *residents; /* by place */
	u32 *loaded;		    /* the places of those that have rows */
	u32 loaded_count;
	u32 *held;	/* rows, by module */
	u64 swept_ns;	/* when marks of use were last gathered */
	u64 no_idle_ns; /* until then there is none that is not used */
	struct unwind_page_counts counts;
};

int unwind_pages_init(struct unwind_pages *pages, struct unwind_row *rows, u32 row_count,
		      struct unwind_page *places, u32 place_count, u32 module_count);
void unwind_pages_free(struct unwind_pages *pages); /* of a zeroed one, too */

/* A module begins or ends to have these places: nothing is loaded there. */
void unwind_pages_clear(struct unwind_pages *pages, u32 first, u32 count);

/* Without rows there is nothing to load: the walk is told so. */
void unwind_pages_set_empty(struct unwind_pages *pages, u32 place);
bool unwind_pages_is_loaded(const struct unwind_pages *pages, u32 place);

/* May so many rows be loaded that nobody has asked for? Some room is kept for those. */
bool unwind_pages_has_spare(const struct unwind_pages *pages, u32 count);

/*
 * The rows of a page that is not loaded: false if there is no room. If a walk has asked for it,
 * others make room; else only what is spare is taken, or what a larger module never used.
 */
bool unwind_pages_load(struct unwind_pages *pages, u32 place, u32 module,
		       const struct unwind_row *rows, u32 count, bool is_asked, u64 now_ns);

#endif
