// SPDX-License-Identifier: Apache-2.0
/* Where the time went: of all threads, by process, by thread. */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "../base/cleanup.h"
#include "../base/utf8.h"
#include "text.h"
#include "text_where.h"

#define BAR_COLUMNS	24 /* at most */
#define STATE_COLUMNS	56 /* of a state's line, without its bar */
#define THREADS_COLUMNS 6
#define NAME_COLUMNS	16 /* a comm has 15, and a thread is indented */
#define PROCESSES_SHOWN 10
#define ALWAYS_SHOWN	3    /* also if idle */
#define BUSY_SHARE	1000 /* of all that is busy: a process with less is not worth a line */
#define THREADS_SHOWN	20   /* of each process */
#define IDLE_SHARE	100  /* a thread that is busy for less than one in so many is idle */

/* How many threads were in it on average: its time over the time shown. */
static void print_state(const struct digest *digest, const struct page *page, int state, u64 most)
{
	u64 ns = digest->all.ns[state], span = digest_span(digest);
	int room = page->columns - STATE_COLUMNS;
	int width = room < 0 ? 0 : room < BAR_COLUMNS ? room : BAR_COLUMNS;
	int full = most ? (int)((double)ns / (double)most * width + 0.5) : 0;
	char bar[BAR_COLUMNS + 1];

	memset(bar, ' ', (size_t)width);
	memset(bar, '#', (size_t)(full < width ? full : width));
	bar[width] = '\0';
	fprintf(page->out, "  %-19s %s%s%s %10s %7.2f %11s x\n",
		ESCAPED(digest->state_names[state]), page_ink(page, INK_STRONG), bar,
		page_ink(page, INK_PLAIN), DURATION(ns), span ? (double)ns / (double)span : 0,
		NUMBER(digest->all.count[state]));
}

/* Neither work nor what keeps from it, in one line. */
static void print_idle(const struct digest *digest, const struct page *page)
{
	u64 idle = account_idle(&digest->all), span = digest_span(digest);
	char line[512] = "";
	int at;

	if (!idle)
		return;
	at = fprintf(page->out, "  %sidle: ", page_ink(page, INK_FAINT));
	for (int state = 0; state < STATE_LIMIT; state++)
		if (state_is_idle(state) && digest->all.ns[state])
			format_add(line, sizeof(line), "%s%s %s", *line ? ", " : "",
				   digest->state_names[state], DURATION(digest->all.ns[state]));
	format_add(line, sizeof(line), "; %.2f threads on average",
		   span ? (double)idle / (double)span : 0);
	page_wrap(page, at - (int)strlen(page_ink(page, INK_FAINT)), 4, line);
	fputs(page_ink(page, INK_PLAIN), page->out);
}

static u64 shown_processes(const struct digest *digest)
{
	u64 count = 0;

	for (size_t i = 0; i < digest->process_count; i++)
		count += digest->processes[i].is_present;
	return count;
}

void text_where(const struct digest *digest, const struct page *page)
{
	u64 processes = shown_processes(digest), most = 0;
	int order[STATE_LIMIT], count = account_sort_states(&digest->all, order);
	char about[256] = "";

	format_add(about, sizeof(about),
		   ": %s thread%s of %s process%s; time, threads on average, times",
		   NUMBER(digest->present), digest->present == 1 ? "" : "s", NUMBER(processes),
		   processes == 1 ? "" : "es");
	page_heading(page, "WHERE THE TIME WENT", about);
	for (int i = 0; i < count; i++)
		if (!state_is_idle(order[i]) && digest->all.ns[order[i]] > most)
			most = digest->all.ns[order[i]];
	for (int i = 0; i < count; i++)
		if (order[i] != STATE_UNATTRIBUTED && !state_is_idle(order[i]))
			print_state(digest, page, order[i], most);
	print_state(digest, page, STATE_UNATTRIBUTED, most); /* always, even when it is zero */
	print_idle(digest, page);
	if (digest->dormant)
		fprintf(page->out, "  %s%s thread%s never ran%s\n", page_ink(page, INK_FAINT),
			NUMBER(digest->dormant), digest->dormant == 1 ? "" : "s",
			page_ink(page, INK_PLAIN));
	if (digest->kernel_threads && !digest->options->part.kernel)
		fprintf(page->out, "  %s%s kernel thread%s left out: %s on a CPU (--kernel)%s\n",
			page_ink(page, INK_FAINT), NUMBER(digest->kernel_threads),
			digest->kernel_threads == 1 ? " is" : "s are",
			DURATION(account_cpu(&digest->kernel)), page_ink(page, INK_PLAIN));
}

void small_bar(const struct account *account, char bar[SMALL_BAR + 1])
{
	const u64 whole = account_sum(account);
	const struct {
		u64 ns;
		char mark;
	} parts[] = {
		{account_cpu(account), '#'},
		{account_runq(account), '='},
		{whole - account_cpu(account) - account_runq(account) - account_idle(account) -
			 account->ns[STATE_UNATTRIBUTED],
		 '-'},
		{account->ns[STATE_UNATTRIBUTED], '?'},
		{account_idle(account), '.'},
	};
	u64 sum = 0;
	int at = 0;

	for (size_t i = 0; i < ARRAY_SIZE(parts); i++) {
		sum += parts[i].ns;
		while (whole && at < SMALL_BAR &&
		       at < (int)((double)sum / (double)whole * SMALL_BAR + 0.5))
			bar[at++] = parts[i].mark;
	}
	memset(bar + at, ' ', (size_t)(SMALL_BAR - at));
	bar[SMALL_BAR] = '\0';
}

void print_mostly(const struct digest *digest, const struct page *page,
		  const struct account *account, int room)
{
	u64 whole = account_sum(account);
	int order[STATE_LIMIT], count = account_sort_states(account, order);

	for (int i = 0; i < count; i++) {
		char part[64];
		int width;

		snprintf(part, sizeof(part), "%s%s %.0f%%", i ? ", " : "",
			 ESCAPED(digest->state_names[order[i]]),
			 percent(account->ns[order[i]], whole));
		width = (int)utf8_columns(part);
		if ((i && width > room) || percent(account->ns[order[i]], whole) < 0.5)
			break;
		fputs(part, page->out);
		room -= width;
	}
	fputc('\n', page->out);
}

static void print_row(const struct digest *digest, const struct page *page, const char *indent,
		      u32 id, const char *comm, u64 threads, u64 wall_ns,
		      const struct account *account)
{
	char bar[SMALL_BAR + 1], name[DIGEST_TEXT];
	int room, at;

	small_bar(account, bar);
	snprintf(name, sizeof(name), "%s%s", indent, ESCAPED(comm));
	/* %s counts bytes; a long number may use what the name leaves. */
	room = NAME_COLUMNS + THREADS_COLUMNS - (int)utf8_columns(name);
	at = fprintf(page->out, "%7u %s%*s %8s ", id, name, room, NUMBER(threads),
		     DURATION(wall_ns));
	at -= (int)(strlen(name) - utf8_columns(name));
	at += fprintf(page->out, "%s ", bar);
	print_mostly(digest, page, account, page->columns - at);
}

static bool is_idle(const struct account *account)
{
	return account_busy(account) < account_sum(account) / IDLE_SHARE;
}

static u64 process_wall_ns(const struct process *process)
{
	return process->end_ns > process->begin_ns ? process->end_ns - process->begin_ns : 0;
}

static int by_work(const void *a, const void *b)
{
	const struct process *x = *(const struct process *const *)a;
	const struct process *y = *(const struct process *const *)b;

	if (x->work_ns != y->work_ns)
		return x->work_ns > y->work_ns ? -1 : 1;
	if (process_wall_ns(x) != process_wall_ns(y))
		return process_wall_ns(x) > process_wall_ns(y) ? -1 : 1;
	return x < y ? -1 : 1;
}

struct row {
	const struct thread *thread;
	struct account account;
};

static int by_busy_row(const void *a, const void *b)
{
	const struct row *x = a, *y = b;
	u64 busy_x = account_busy(&x->account), busy_y = account_busy(&y->account);

	return busy_x != busy_y ? (busy_x > busy_y ? -1 : 1) : (x->thread < y->thread ? -1 : 1);
}

/* The busy threads of a process; those that did nothing are counted, not listed. */
static void print_threads(const struct digest *digest, const struct page *page,
			  const struct process *process)
{
	_cleanup_free_ struct row *rows = calloc(process->thread_count, sizeof(*rows));
	size_t count = 0, shown = 0;
	u64 idle = 0;

	if (!rows)
		fputs("         threads are not listed: not enough memory\n", page->out);
	for (size_t i = 0; rows && i < process->thread_count; i++) {
		const struct thread *thread = &digest->threads[process->first_thread + i];
		struct account account;

		if (!digest_shows(digest, thread))
			continue;
		thread_account(digest, thread, &account);
		if (thread->is_dormant || is_idle(&account))
			idle += thread_number(thread);
		else
			rows[count++] = (struct row){thread, account};
	}
	if (count)
		qsort(rows, count, sizeof(*rows), by_busy_row);
	for (; shown < count && shown < page_rows(digest, THREADS_SHOWN); shown++)
		print_row(digest, page, " ", rows[shown].thread->tid,
			  rows[shown].thread->is_sum ? "(dead ones)" : rows[shown].thread->comm,
			  rows[shown].thread->threads, thread_wall_ns(digest, rows[shown].thread),
			  &rows[shown].account);
	if (count > shown)
		fprintf(page->out, "         and %s more threads\n", NUMBER(count - shown));
	if (idle)
		fprintf(page->out, "         and %s thread%s idle\n", NUMBER(idle),
			idle == 1 ? "" : "s");
}

int text_processes(const struct digest *digest, const struct page *page)
{
	_cleanup_free_ const struct process **order =
		calloc(digest->process_count + 1, sizeof(*order));
	size_t count = 0, shown = 0;
	u64 rest_ns = 0, all_ns = 0;

	if (!order)
		return -ENOMEM;
	for (size_t i = 0; i < digest->process_count; i++)
		if (digest->processes[i].is_present)
			order[count++] = &digest->processes[i];
	if (!count)
		return 0;
	qsort(order, count, sizeof(*order), by_work);
	for (size_t i = 0; i < count; i++)
		all_ns += order[i]->work_ns;
	while (shown < count && shown < page_rows(digest, PROCESSES_SHOWN) &&
	       (digest->options->top || shown < ALWAYS_SHOWN ||
		order[shown]->work_ns > all_ns / BUSY_SHARE))
		shown++;
	for (size_t i = shown; i < count; i++)
		rest_ns += order[i]->work_ns;
	page_heading(page, digest->options->threads ? "BY THREAD" : "BY PROCESS",
		     "  # cpu  = waits for a CPU  - blocked  . idle  ? unattributed");
	fprintf(page->out, "%s%7s %-*s%*s %8s %*s mostly%s\n", page_ink(page, INK_FAINT),
		digest->options->threads ? "pid/tid" : "pid", NAME_COLUMNS, "name", THREADS_COLUMNS,
		"thr", "wall", SMALL_BAR, "", page_ink(page, INK_PLAIN));
	for (size_t i = 0; i < shown; i++) {
		print_row(digest, page, "", order[i]->pid, order[i]->comm, order[i]->present,
			  process_wall_ns(order[i]), &order[i]->account);
		if (digest->options->threads && order[i]->present > 1)
			print_threads(digest, page, order[i]);
	}
	if (count > shown)
		fprintf(page->out, "        and %s more, busy for %s in sum\n",
			NUMBER(count - shown), DURATION(rest_ns));
	return 0;
}
