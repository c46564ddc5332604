// SPDX-License-Identifier: Apache-2.0
#include "unwind_capacity.h"

#include <inttypes.h>

#include "../../abi/unwind.h"
#include "format.h"

#define RAISE_BY 4

void unwind_capacity_find(const struct digest *digest, struct unwind_capacity *ret_capacity)
{
	const struct profile *profile = &digest->profile;

	*ret_capacity = (struct unwind_capacity){
		.rows = digest_meta_number(digest, "unwind_rows_capacity"),
		.most = digest_meta_number(digest, "unwind_rows_most"),
		.asked = digest_meta_number(digest, "unwind_pages_asked"),
		.again = digest_meta_number(digest, "unwind_pages_again"),
		.refused = digest_meta_number(digest, "unwind_pages_refused"),
		.evicted = digest_meta_number(digest, "unwind_pages_evicted"),
		.files_or_processes = digest_meta_number(digest, "unwind_tables_full") +
				      digest_meta_number(digest, "unwind_processes_refused"),
		.hangs = digest_meta_number(digest, "opener_hangs"),
		.unreachable = digest_meta_number(digest, "unwind_files_unreachable"),
		.replaced = digest_meta_number(digest, "symbolizer_replaced"),
		.incomplete = profile->by_stop[STOP_NO_PAGE],
		.samples = profile->all.count,
	};
}

bool unwind_capacity_rows(const struct unwind_capacity *capacity, char *ret_line, size_t size)
{
	u64 more = capacity->rows * RAISE_BY;
	bool is_millions;

	*ret_line = '\0';
	if ((!capacity->refused && !capacity->again) || !capacity->incomplete)
		return false;
	if (more > UNWIND_ROWS_MOST)
		more = UNWIND_ROWS_MOST;
	is_millions = !(more & ((1u << 20) - 1));
	format_add(ret_line, size,
		   "unwind table full: %s of %s stacks (%s) are incomplete (no page); ",
		   NUMBER(capacity->incomplete), NUMBER(capacity->samples),
		   SHARE(capacity->incomplete, capacity->samples));
	format_add(ret_line, size,
		   "%s page loads refused, %s pages evicted at a capacity of %s rows",
		   NUMBER(capacity->refused), NUMBER(capacity->evicted), NUMBER(capacity->rows));
	if (more > capacity->rows)
		format_add(ret_line, size, "; raise it with --unwind-rows %" PRIu64 "%s",
			   (uint64_t)(more >> (is_millions ? 20 : 10)), is_millions ? "M" : "K");
	return true;
}

/* A file or a process that finds no slot is unwound by its frame pointers, if it has them. */
bool unwind_capacity_files(const struct unwind_capacity *capacity, char *ret_line, size_t size)
{
	*ret_line = '\0';
	if (!capacity->files_or_processes)
		return false;
	format_add(ret_line, size,
		   "unwind tables full: %s files or processes did not fit (limits: %s files, %s "
		   "mappings, %s processes); their stacks may be incomplete; select fewer "
		   "processes, as with -p or --comm",
		   NUMBER(capacity->files_or_processes), NUMBER(UNWIND_MODULES_MAX),
		   NUMBER(UNWIND_MAPPINGS_MAX), NUMBER(UNWIND_PROCESSES_MAX));
	return true;
}

bool unwind_capacity_hangs(const struct unwind_capacity *capacity, char *ret_line, size_t size)
{
	*ret_line = '\0';
	if (!capacity->hangs)
		return false;
	format_add(ret_line, size,
		   "a file system did not answer in time (%s time%s; FUSE or NFS?): files mapped "
		   "from it were not read, and stacks through them may be incomplete",
		   NUMBER(capacity->hangs), capacity->hangs == 1 ? "" : "s");
	return true;
}

bool unwind_capacity_replaced(const struct unwind_capacity *capacity, char *ret_line, size_t size)
{
	*ret_line = '\0';
	if (!capacity->replaced)
		return false;
	format_add(ret_line, size,
		   "dwell's symbolizer process ended and was replaced %s time%s: stacks are "
		   "incomplete for a moment after that, and some functions are not symbolized",
		   NUMBER(capacity->replaced), capacity->replaced == 1 ? "" : "s");
	return true;
}
