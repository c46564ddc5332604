// SPDX-License-Identifier: Apache-2.0
/* Other views of a session: by CPU, and each exec; and how to run it again. */
#include <inttypes.h>
#include <string.h>
#include <sys/wait.h>

#include "../base/cleanup.h"
#include "../base/clock.h"
#include "execs.h"
#include "text.h"

static u64 cpu_sum(const struct cpu_row *cpu)
{
	u64 sum = 0;

	for (int i = 0; i < CPU_USE_COUNT; i++)
		sum += cpu->ns[i];
	return sum;
}

void text_cpus(const struct digest *digest, const struct page *page)
{
	page_heading(page, "CPUS",
		     ": shares of each one's time; queue: threads that waited for it, on average");
	if (!digest->cpus.count) {
		fputs("  the session has nothing by CPU\n", page->out);
		return;
	}
	fprintf(page->out,
		"%s  cpu    idle followed   other  kernel   dwell     irq      ?  queue "
		"switches/s%s\n",
		page_ink(page, INK_FAINT), page_ink(page, INK_PLAIN));
	for (size_t i = 0; i < digest->cpus.count; i++) {
		const struct cpu_row *cpu = hash_item(&digest->cpus, i);
		u64 wall = cpu_sum(cpu);
		const u64 *ns = cpu->ns;

		fprintf(page->out, "%5" PRIu64 " %7s  %7s %7s %7s %7s %7s %6s %6.2f %10s\n",
			(uint64_t)cpu->cpu, SHARE(ns[CPU_USE_IDLE], wall),
			SHARE(ns[CPU_USE_FOLLOWED], wall), SHARE(ns[CPU_USE_OTHER], wall),
			SHARE(ns[CPU_USE_KERNEL], wall), SHARE(ns[CPU_USE_DWELL], wall),
			SHARE(ns[CPU_USE_IRQ] + ns[CPU_USE_SOFTIRQ], wall),
			SHARE(ns[CPU_USE_UNATTRIBUTED], wall),
			wall ? (double)cpu->queue_ns / (double)wall : 0,
			NUMBER(wall ? (u64)((double)cpu->switches * 1e9 / (double)wall) : 0));
	}
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
	at = fprintf(page->out, "  %9s %10s %-9s %7u %7u  ",
		     DURATION(exec->ts_ns > digest->start_ns ? exec->ts_ns - digest->start_ns : 0),
		     lifetime, status, exec->pid, exec->parent);
	page_wrap(page, at, at, ESCAPED(exec->exe));
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

/* Options that change what is measured, unless they have their defaults. */
static void add_options(const struct digest *digest, char *line, size_t size)
{
	const struct {
		const char *key, *option, *usual;
	} rows[] = {
		{"freq", "-F ", "49"},
		{"stack_one_in", "--stacks 1/", ""},
		{"max_overhead", "--max-overhead ",
		 strcmp(digest_meta(digest, "filter"), "all") ? "" : "1%"},
	};

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		const char *value = digest_meta(digest, rows[i].key);

		if (*value && strcmp(value, rows[i].usual))
			format_add(line, size, " %s%s", rows[i].option, ESCAPED(value));
	}
}

void text_again(const struct digest *digest, const struct page *page)
{
	const char *command = digest_meta(digest, "command"), *tier = digest_meta(digest, "tier");
	const char *filter = digest_meta(digest, "filter");
	const char *session = digest->options->session;
	char line[2048] = "";
	size_t signals = 0;

	format_add(line, sizeof(line), "Again: sudo dwell %s", *command ? "run" : "record");
	if (!*command && !strcmp(filter, "all"))
		format_add(line, sizeof(line), " -a");
	else if (!*command && *filter) /* "pid 12,34" */
		format_add(line, sizeof(line), " --%s", ESCAPED(filter));
	if (*tier)
		format_add(line, sizeof(line), " --tier %s", ESCAPED(tier));
	for (size_t i = 0; i < digest->signals.count; i++)
		if (!digest->signals.of[i].view->is_not_offered)
			format_add(line, sizeof(line), "%s%s", signals++ ? "," : " -s ",
				   digest->signals.of[i].name);
	add_options(digest, line, sizeof(line));
	if (*command)
		format_add(line, sizeof(line), " -- %s …", ESCAPED(command));
	fputc('\n', page->out);
	page_wrap(page, 0, 2, line);
	if (!session)
		return;
	*line = '\0';
	format_add(line, sizeof(line),
		   "More:  dwell report %s %s%s--threads | --cpus | --execs | --json",
		   ESCAPED(session), digest->signals.count ? "--signal NAME | " : "",
		   digest->profile.all.count ? "--stacks | " : "");
	page_wrap(page, 0, 2, line);
}
