// SPDX-License-Identifier: Apache-2.0
/* Who used the CPUs, like top: processes of one name and service are one row. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "../base/utf8.h"
#include "host.h"
#include "text.h"

#define ROWS_SHOWN 6
#define ROW_SHARE  0.05 /* percent of the CPUs' time: less is not worth a row */

/* Waits inside work: neither idle, nor for a CPU, nor for a child. */
static u64 blocked_ns(const struct account *account)
{
	return account_busy(account) - account_cpu(account) - account_runq(account) -
	       account->ns[STATE_UNATTRIBUTED];
}

static void print_row(const struct page *page, const struct host_row *row)
{
	const struct group *group = row->group;
	char name[2 * DIGEST_TEXT] = "";
	int at;

	at = fprintf(page->out, "  %7s %9s", COLUMN_SHARE((u64)(row->share * 1e6), 100000000),
		     DURATION(row->ns));
	if (group)
		at += fprintf(page->out, " %9s %9s %5s %6s  ",
			      DURATION(account_runq(&group->account)),
			      DURATION(blocked_ns(&group->account)), NUMBER(group->processes),
			      NUMBER(group->threads));
	else
		at += fprintf(page->out, " %9s %9s %5s %6s  ", "", "", "", "");
	format_add(name, sizeof(name), "%s", ESCAPED(row->name));
	if (group && *group->service && strcmp(group->service, group->comm) != 0)
		format_add(name, sizeof(name), "  %s", ESCAPED(group->service));
	if (page->whole || (int)utf8_columns(name) <= page->columns - at) {
		fprintf(page->out, "%s\n", name);
	} else {
		char cut[2 * DIGEST_TEXT];

		format_cut(name, page->columns - at, cut, sizeof(cut));
		fprintf(page->out, "%s\n", cut);
	}
}

void text_host(const struct digest *digest, const struct page *page)
{
	struct host_use use;
	char about[256] = "";
	size_t shown = 0, most = page_rows(digest, ROWS_SHOWN);
	u64 rest_ns = 0;

	if (host_use_find(digest, &use) || !use.wall_ns || !use.row_count) {
		host_use_free(&use);
		return;
	}
	format_add(about, sizeof(about), " by service: share of %s CPU%s' time, %s in all",
		   NUMBER(use.cpus), use.cpus == 1 ? "" : "s", DURATION(use.wall_ns));
	page_heading(page, "CPU", about);
	fprintf(page->out, "%s  %7s %9s %9s %9s %5s %6s  name, service%s\n",
		page_ink(page, INK_FAINT), "share", "on CPU", "run queue", "blocked", "procs",
		"thr", page_ink(page, INK_PLAIN));
	for (; shown < use.row_count && shown < most && use.rows[shown].share >= ROW_SHARE; shown++)
		print_row(page, &use.rows[shown]);
	for (size_t i = shown; i < use.row_count; i++)
		rest_ns += use.rows[i].ns;
	if (shown < use.row_count)
		fprintf(page->out, "  %7s %9s  and %s more\n", COLUMN_SHARE(rest_ns, use.wall_ns),
			DURATION(rest_ns), NUMBER(use.row_count - shown));
	host_use_free(&use);
}
