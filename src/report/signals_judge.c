// SPDX-License-Identifier: Apache-2.0
/* What the numbers of signals say, in sentences: each signal's own, and what holds for all. */
#include <string.h>

#include "../base/utf8.h"
#include "digest.h"
#include "format.h"
#include "histogram_modes.h"

#define MODES_REMARKS 3	 /* of a signal */
#define LARGE	      20 /* a series with one of so many parts of the sum is worth a remark */

/* A name in it may have been cut within a character. */
static void mend(struct remarks *remarks)
{
	for (size_t i = 0; i < remarks->count; i++) {
		char copy[REMARK_BYTES];

		memcpy(copy, remarks->text[i], sizeof(copy));
		utf8_copy(remarks->text[i], REMARK_BYTES, copy, strnlen(copy, sizeof(copy)));
	}
}

/* Calls that are made to wait for something. */
static const char *const waiting_calls[] = {
	"poll",
	"ppoll",
	"select",
	"pselect6",
	"epoll_wait",
	"epoll_pwait",
	"epoll_pwait2",
	"nanosleep",
	"clock_nanosleep",
	"futex",
	"wait4",
	"waitid",
	"pause",
	"rt_sigsuspend",
	"rt_sigtimedwait",
	"restart_syscall",
	"io_getevents",
	"accept",
	"accept4",
	"io_uring_enter",
};

/* Waits for work, or as long as was wished, have modes as the work has. */
static bool is_idle(const struct signal_view *view, const struct series_row *row)
{
	if (view->detail.kind == FIELD_STATE)
		return state_is_idle(row->key.detail);
	if (view->detail.kind != FIELD_SYSCALL)
		return false;
	for (size_t i = 0; i < sizeof(waiting_calls) / sizeof(waiting_calls[0]); i++)
		if (!strcmp(row->detail_name, waiting_calls[i]))
			return true;
	return false;
}

static void tell_humps(const struct digest *digest, struct measured *of)
{
	size_t told = 0;

	for (size_t i = 0; i < of->alike_count && told < MODES_REMARKS; i++) {
		const struct series_row *row = of->alike[i].row;
		char name[SIGNALS_NAME_BYTES], said[REMARK_BYTES];
		struct modes modes;

		if (of->view->kinds[row->key.kind].unit != UNIT_NS || series_is_other(&row->key) ||
		    is_idle(of->view, row) ||
		    row->hist.sum < of->measures[row->key.kind].all.sum / LARGE)
			continue;
		modes_find(&row->hist, &modes);
		if (!modes_are_kinds(&modes))
			continue;
		modes_say(&modes, said, sizeof(said));
		series_row_text(digest, of, row, name, sizeof(name));
		remark(&of->remarks, "%s has %s", *name ? name : "it", said);
		told++;
	}
}

int signals_judge(struct digest *digest)
{
	int err = 0;

	for (size_t i = 0; i < digest->signals.count; i++) {
		struct measured *of = &digest->signals.of[i];
		const struct series_set set = {
			.rows = (const struct series_row *const *)of->rows,
			.count = of->row_count,
			.span_ns = digest->end_ns - digest->begin_ns,
			.cpus = (u32)digest_meta_number(digest, "cpus"),
			.tick_ns = digest_meta_number(digest, "tick_ns"),
		};

		if (of->view->judge)
			of->view->judge(&set, &of->remarks);
		tell_humps(digest, of);
		mend(&of->remarks);
		err = of->remarks.err ? of->remarks.err : err;
	}
	return err;
}
