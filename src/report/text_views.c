// SPDX-License-Identifier: Apache-2.0
/* Other views of a session: by CPU, and each exec. */
#include <inttypes.h>
#include <string.h>
#include <sys/wait.h>

#include "../base/cleanup.h"
#include "../base/clock.h"
#include "../base/utf8.h"
#include "execs.h"
#include "text.h"
#include "format_value.h"

#define CPU_COLUMNS 79 /* of the table: where there are fewer, it is said in words */
#define PATH_LEAST  24 /* columns, beside the numbers: else it has a line of its own */

static u64 cpu_sum(const struct cpu_row *cpu)
{
	u64 sum = 0;

	for (int i = 0; i < CPU_USE_COUNT; i++)
		sum += cpu->ns[i];
	return sum;
}

static u64 cpu_switches(const struct cpu_row *cpu, u64 wall)
{
	return wall ? (u64)((double)cpu->switches * 1e9 / (double)wall) : 0;
}

static double cpu_queue(const struct cpu_row *cpu, u64 wall)
{
	return wall ? (double)cpu->queue_ns / (double)wall : 0;
}

static void print_cpu(const struct page *page, const struct cpu_row *cpu)
{
	u64 wall = cpu_sum(cpu);
	const u64 *ns = cpu->ns;

	fprintf(page->out, "%5" PRIu64 " %7s  %7s %7s %7s %7s %7s %6s %6.2f %10s\n",
		(uint64_t)cpu->cpu, SHARE(ns[CPU_USE_IDLE], wall),
		SHARE(ns[CPU_USE_FOLLOWED], wall), SHARE(ns[CPU_USE_OTHER], wall),
		SHARE(ns[CPU_USE_KERNEL], wall), SHARE(ns[CPU_USE_DWELL], wall),
		SHARE(ns[CPU_USE_IRQ] + ns[CPU_USE_SOFTIRQ], wall),
		SHARE(ns[CPU_USE_UNATTRIBUTED], wall), cpu_queue(cpu, wall),
		NUMBER(cpu_switches(cpu, wall)));
}

/* The same in a terminal that is too narrow for a table. */
static void tell_cpu(const struct page *page, const struct cpu_row *cpu)
{
	u64 wall = cpu_sum(cpu);
	const u64 *ns = cpu->ns;
	const struct {
		const char *name;
		u64 ns;
	} uses[] = {
		{"idle", ns[CPU_USE_IDLE]},	 {"followed", ns[CPU_USE_FOLLOWED]},
		{"other", ns[CPU_USE_OTHER]},	 {"kernel", ns[CPU_USE_KERNEL]},
		{"dwell", ns[CPU_USE_DWELL]},	 {"irq", ns[CPU_USE_IRQ] + ns[CPU_USE_SOFTIRQ]},
		{"?", ns[CPU_USE_UNATTRIBUTED]},
	};
	char line[512] = "";
	int at = fprintf(page->out, "  cpu %" PRIu64 ": ", (uint64_t)cpu->cpu);

	for (size_t i = 0; i < ARRAY_SIZE(uses); i++)
		if (uses[i].ns)
			format_add(line, sizeof(line), "%s %s, ", uses[i].name,
				   SHARE(uses[i].ns, wall));
	format_add(line, sizeof(line), "queue %.2f, %s switches/s", cpu_queue(cpu, wall),
		   NUMBER(cpu_switches(cpu, wall)));
	page_wrap(page, at, 4, line);
}

void text_cpus(const struct digest *digest, const struct page *page)
{
	bool is_table = page->columns >= CPU_COLUMNS;

	page_heading(page, "CPUS",
		     ": shares of each one's time; queue: threads that waited for it, on average");
	if (!digest->cpus.count) {
		fputs("  the session has nothing by CPU\n", page->out);
		return;
	}
	if (is_table)
		fprintf(page->out,
			"%s  cpu    idle measured   other  kernel   dwell     irq      ?  queue "
			"switches/s%s\n",
			page_ink(page, INK_FAINT), page_ink(page, INK_PLAIN));
	for (size_t i = 0; i < digest->cpus.count; i++)
		(is_table ? print_cpu : tell_cpu)(page, hash_item(&digest->cpus, i));
}

/* Beside the numbers, or where little of it would be left, below them. */
static void print_path(const struct page *page, int at, const char *path)
{
	int room = page->columns - at - 2;
	char cut[2 * DIGEST_TEXT];

	if (room < PATH_LEAST && (int)utf8_columns(ESCAPED(path)) > room) {
		room = page->columns - 4;
		fputs("\n  ", page->out);
	}
	format_middle(path, page_room(page, room), cut, sizeof(cut));
	fprintf(page->out, "  %s\n", cut);
}

static void print_exec(const struct digest *digest, const struct page *page,
		       const struct exec *exec)
{
	struct exec_fate fate;
	char status[32] = "runs on", lifetime[FORMAT_BYTES + 1];
	int at;

	exec_fate(digest, exec, &fate);
	snprintf(lifetime, sizeof(lifetime), "%s%s", fate.is_over ? "" : ">",
		 DURATION(fate.lifetime_ns));
	if (fate.is_replaced)
		snprintf(status, sizeof(status), "exec");
	else if (fate.has_status && WIFSIGNALED(fate.status))
		snprintf(status, sizeof(status), "signal %d", WTERMSIG(fate.status));
	else if (fate.has_status)
		snprintf(status, sizeof(status), "exit %d", WEXITSTATUS(fate.status));
	else if (fate.is_over)
		snprintf(status, sizeof(status), "ended");
	at = fprintf(page->out, "  %9s %10s %-9s %7u %7u",
		     DURATION(exec->ts_ns > digest->start_ns ? exec->ts_ns - digest->start_ns : 0),
		     lifetime, status, exec->pid, exec->parent);
	print_path(page, at, exec->exe);
}

void text_execs(const struct digest *digest, const struct page *page)
{
	size_t count = 0;

	page_heading(page, "EXECS", ", in order");
	for (size_t i = 0; i < digest->exec_count; i++) {
		if (!exec_is_shown(digest, &digest->execs[i]))
			continue;
		if (!count++)
			fprintf(page->out,
				"%s      start   lifetime status        pid  parent  program%s\n",
				page_ink(page, INK_FAINT), page_ink(page, INK_PLAIN));
		print_exec(digest, page, &digest->execs[i]);
	}
	if (!count)
		fputs("  none\n", page->out);
}
