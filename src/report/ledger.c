// SPDX-License-Identifier: Apache-2.0
#include "ledger.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "../base/cleanup.h"
#include "../model/state.h"

#define BAR_COLUMNS	24
#define STATES_SHOWN	2 /* of each process */
#define PROCESSES_SHOWN 10

/* Threads of one process, or of all, added up. */
struct account {
	u32 tgid;
	u64 start_ns;
	u32 threads;
	u64 first_ns, last_ns; /* from its first thread's beginning to its last one's end */
	u64 ns[STATE_COUNT];
	u64 entries[STATE_COUNT];
	u8 comm[COMM_BYTES];
};

static u64 distance(u64 a, u64 b)
{
	return a > b ? a - b : b - a;
}

static u64 sum_ns(const u64 *ns)
{
	u64 sum = 0;

	for (int i = 0; i < STATE_COUNT; i++)
		sum += ns[i];
	return sum;
}

static u64 on_cpu_ns(const struct rec_ledger *row)
{
	u64 sum = 0;

	for (int i = STATE_CPU; i <= STATE_CPU_SOFTIRQ; i++)
		sum += row->ns[i];
	return sum;
}

static void add_quality(struct ledger_quality *quality, const struct rec_ledger *row)
{
	u64 wall = row->end_ns - row->begin_ns;

	quality->closure_error_ns += distance(sum_ns(row->ns), wall);
	quality->unattributed_ns += row->ns[STATE_UNATTRIBUTED];
	quality->wall_ns += wall;
	quality->missed += row->missed;
	quality->miscounted_switches += distance(row->voluntary, row->kernel_voluntary) +
					distance(row->involuntary, row->kernel_involuntary);
	quality->exec_ns += on_cpu_ns(row);
	quality->kernel_exec_ns += row->kernel_exec_ns;
	quality->delay_ns += row->ns[STATE_RUNQ_WOKEN] + row->ns[STATE_RUNQ_PREEMPTED];
	quality->kernel_delay_ns += row->kernel_delay_ns;
}

void ledger_quality(const struct ledger_book *book, struct ledger_quality *ret_quality)
{
	*ret_quality = (struct ledger_quality){0};
	for (u64 i = 0; i < book->count; i++)
		add_quality(ret_quality, &book->rows[i]);
	if (book->folded)
		add_quality(ret_quality, &book->other);
}

static void add_row(struct account *account, const struct rec_ledger *row)
{
	if (!account->threads || row->begin_ns < account->first_ns)
		account->first_ns = row->begin_ns;
	if (row->end_ns > account->last_ns)
		account->last_ns = row->end_ns;
	/* The process is called as its leader is. */
	if (!account->threads || row->hdr.tid == row->hdr.tgid)
		memcpy(account->comm, row->comm, COMM_BYTES);
	account->tgid = row->hdr.tgid;
	account->start_ns = row->hdr.start_ns;
	account->threads++;
	for (int i = 0; i < STATE_COUNT; i++) {
		account->ns[i] += row->ns[i];
		account->entries[i] += row->entries[i];
	}
}

static int by_process(const void *a, const void *b)
{
	const struct rec_ledger *x = *(const struct rec_ledger *const *)a;
	const struct rec_ledger *y = *(const struct rec_ledger *const *)b;

	if (x->hdr.tgid != y->hdr.tgid)
		return x->hdr.tgid < y->hdr.tgid ? -1 : 1;
	return x->hdr.start_ns < y->hdr.start_ns ? -1 : x->hdr.start_ns > y->hdr.start_ns;
}

static int by_wall(const void *a, const void *b)
{
	const struct account *x = a, *y = b;
	u64 wall_x = x->last_ns - x->first_ns, wall_y = y->last_ns - y->first_ns;

	return wall_x > wall_y ? -1 : wall_x < wall_y;
}

/* One account per process, longest first: how many; *ret_accounts is the caller's to free. */
static size_t group_by_process(const struct ledger_book *book, struct account **ret_accounts)
{
	const struct rec_ledger **rows = calloc(book->count + 1, sizeof(const void *));
	struct account *accounts = calloc(book->count + 1, sizeof(*accounts));
	size_t count = 0;

	for (u64 i = 0; rows && accounts && i < book->count; i++)
		rows[i] = &book->rows[i];
	if (rows && accounts)
		qsort(rows, book->count, sizeof(const void *), by_process);
	for (u64 i = 0; rows && accounts && i < book->count; i++) {
		if (i == 0 || by_process(&rows[i - 1], &rows[i]))
			count++;
		add_row(&accounts[count - 1], rows[i]);
	}
	if (accounts)
		qsort(accounts, count, sizeof(*accounts), by_wall);
	free(rows);
	*ret_accounts = accounts;
	return count;
}

/* 1.234 s, 56.789 ms, 12 µs: as many digits as are worth reading. */
static const char *duration(u64 ns, char *buf, size_t size)
{
	if (ns >= 1000000000)
		snprintf(buf, size, "%.3f s ", (double)ns / 1e9);
	else if (ns >= 1000000)
		snprintf(buf, size, "%.3f ms", (double)ns / 1e6);
	else if (ns >= 1000)
		snprintf(buf, size, "%.1f us", (double)ns / 1e3);
	else
		snprintf(buf, size, "%llu ns", (unsigned long long)ns);
	return buf;
}

static double percent(u64 part, u64 whole)
{
	return whole ? 100.0 * (double)part / (double)whole : 0;
}

static double difference(u64 ours, u64 kernels, u64 whole)
{
	return whole ? 100.0 * ((double)ours - (double)kernels) / (double)whole : 0;
}

/* The states of an account, longest first, as indices: how many are not empty. */
static int sorted_states(const u64 *ns, int order[STATE_COUNT])
{
	int count = 0;

	for (int i = 0; i < STATE_COUNT; i++) {
		int at = count;

		if (!ns[i])
			continue;
		for (; at > 0 && ns[order[at - 1]] < ns[i]; at--)
			order[at] = order[at - 1];
		order[at] = i;
		count++;
	}
	return count;
}

static void print_bar(FILE *out, u64 part, u64 whole)
{
	int full = whole ? (int)((part * BAR_COLUMNS + whole / 2) / whole) : 0;

	for (int i = 0; i < BAR_COLUMNS; i++)
		fputc(i < full ? '#' : ' ', out);
}

static void print_state(FILE *out, const struct account *account, int state, u64 whole)
{
	char time[32];

	fprintf(out, "  %-19s ", state_names[state]);
	print_bar(out, account->ns[state], whole);
	fprintf(out, " %12s %5.1f %% %9llu x\n", duration(account->ns[state], time, sizeof(time)),
		percent(account->ns[state], whole), (unsigned long long)account->entries[state]);
}

static void print_states(FILE *out, const struct account *all)
{
	u64 whole = sum_ns(all->ns);
	int order[STATE_COUNT], count = sorted_states(all->ns, order);

	for (int i = 0; i < count; i++)
		if (order[i] != STATE_UNATTRIBUTED)
			print_state(out, all, order[i], whole);
	print_state(out, all, STATE_UNATTRIBUTED, whole); /* always, even when it is zero */
}

static void print_process(FILE *out, const struct account *account)
{
	u64 whole = sum_ns(account->ns);
	int order[STATE_COUNT], count = sorted_states(account->ns, order);
	char time[32];

	fprintf(out, "  %7u %-15.*s %4u thr %11s  ", account->tgid, COMM_BYTES,
		(const char *)account->comm, account->threads,
		duration(account->last_ns - account->first_ns, time, sizeof(time)));
	for (int i = 0; i < count && i < STATES_SHOWN; i++)
		fprintf(out, "%s%s %.0f%%", i ? ", " : "", state_names[order[i]],
			percent(account->ns[order[i]], whole));
	fputc('\n', out);
}

static void print_quality(FILE *out, const struct ledger_book *book, const struct health *health)
{
	struct ledger_quality quality;
	char time[32];

	ledger_quality(book, &quality);
	fprintf(out, "quality: parts - wall = %llu ns over %llu threads; unattributed %s",
		(unsigned long long)quality.closure_error_ns,
		(unsigned long long)(book->count + book->folded),
		duration(quality.unattributed_ns, time, sizeof(time)));
	fprintf(out, "\n  lost records %llu, missed switches %llu, threads folded %llu\n",
		(unsigned long long)health_lost(health), (unsigned long long)quality.missed,
		(unsigned long long)book->folded);
	for (int i = 0; i < LOSS_COUNT; i++)
		if (health->lost[i])
			fprintf(out, "  lost %llu: %s\n", (unsigned long long)health->lost[i],
				loss_meanings[i]);
	fprintf(out, "  against the kernel's counters, of the wall: ");
	fprintf(out, "on-CPU %+.2f %%, run queue %+.2f %%\n",
		difference(quality.exec_ns, quality.kernel_exec_ns, quality.wall_ns),
		difference(quality.delay_ns, quality.kernel_delay_ns, quality.wall_ns));
}

void ledger_print(const struct ledger_book *book, const struct health *health, FILE *out)
{
	_cleanup_free_ struct account *processes = NULL;
	size_t count = group_by_process(book, &processes);
	struct account all = {0};
	char time[32];

	if (!count) {
		fputs("dwell: no thread was seen\n", out);
		return;
	}
	for (u64 i = 0; i < book->count; i++)
		add_row(&all, &book->rows[i]);
	for (int i = 0; i < STATE_COUNT; i++)
		all.ns[i] += book->other.ns[i];
	print_quality(out, book, health);
	fprintf(out, "\n%zu processes, %u threads, ", count, all.threads);
	fprintf(out, "%s from first to last; the threads' time:\n",
		duration(all.last_ns - all.first_ns, time, sizeof(time)));
	print_states(out, &all);
	fputs("\nprocesses, longest first:\n", out);
	for (size_t i = 0; i < count && i < PROCESSES_SHOWN; i++)
		print_process(out, &processes[i]);
	if (count > PROCESSES_SHOWN)
		fprintf(out, "  and %zu more\n", count - PROCESSES_SHOWN);
}
