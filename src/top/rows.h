/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The lines of the table: threads of the model added up by service, process or thread, filtered and
 * sorted; and the bar of a line. Owns the rows. Called by the views and by tests: no terminal is
 * needed.
 */
#ifndef DWELL_TOP_ROWS_H
#define DWELL_TOP_ROWS_H

#include "model.h"

enum rows_by { BY_SERVICE, BY_PROCESS, BY_THREAD };

enum rows_sort {
	SORT_BUSY,
	SORT_CPU,
	SORT_RUNQ,
	SORT_BLOCKED,
	SORT_WAIT,
	SORT_THREADS,
	SORT_NAME,
};

/* Which part of the host: fields that are empty or 0 leave it open. */
struct rows_subject {
	char service[MODEL_NAME_BYTES];
	u64 pid, process_start_ns;
	u64 thread; /* id */
};

struct rows_options {
	enum rows_by by;
	enum rows_sort sort;
	bool is_reversed;
	bool has_kernel;	       /* threads of the kernel are there, too */
	char filter[MODEL_NAME_BYTES]; /* a part of the name, the service or the pid */
	struct rows_subject subject;
};

struct top_row {
	struct rows_subject subject;
	char name[MODEL_NAME_BYTES];
	u32 number; /* pid or tid; 0: of several */
	u64 threads;
	u64 ns[PART_COUNT];
	u64 busy_ns, blocked_ns;
	u8 state; /* what keeps it from its work most, else what it waits for; CPU: nothing */
};

struct rows {
	struct top_row *items;
	size_t count;
	u64 busiest_ns; /* the most that a row is busy */
	u64 hidden;	/* threads that the filter or the kernel's switch leaves out */
};

int rows_make(const struct model *model, const struct rows_options *options, struct rows *ret_rows);
void rows_free(struct rows *rows);

bool rows_has(const struct model *model, const struct rows_subject *subject,
	      const struct model_thread *thread);

/*
 * How many cells of a bar each part gets, of whole_ns for all of width. They and the rest sum up to
 * width; a part that is longer than half a cell is seen.
 */
void bar_cells(const u64 ns[PART_COUNT], u64 whole_ns, bool is_busy_only, int width,
	       int ret_cells[PART_COUNT], int *ret_rest);

#endif
