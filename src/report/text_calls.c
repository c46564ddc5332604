// SPDX-License-Identifier: Apache-2.0
/* What system calls cost, where they were measured (Tier B). */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "calls.h"
#include "text.h"

#define CALLS_SHOWN 10

static void print_split(const struct digest *digest, const struct page *page)
{
	const struct account *all = &digest->all;
	u64 cpu = account_cpu(all);
	char line[512] = "";

	if (!cpu || all->ns[STATE_CPU] == cpu)
		return; /* not told apart */
	format_add(line, sizeof(line), "On a CPU %s: user %s, system calls %s, page faults %s, ",
		   DURATION(cpu), SHARE(all->ns[STATE_CPU_USER], cpu),
		   SHARE(all->ns[STATE_CPU_SYSCALL], cpu), SHARE(all->ns[STATE_CPU_FAULT], cpu));
	format_add(line, sizeof(line), "interrupts %s",
		   SHARE(all->ns[STATE_CPU_IRQ] + all->ns[STATE_CPU_SOFTIRQ], cpu));
	if (all->ns[STATE_CPU])
		format_add(line, sizeof(line), ", not split %s", SHARE(all->ns[STATE_CPU], cpu));
	fputs("  ", page->out);
	page_wrap(page, 2, 2, line);
}

/* Two counts of one call can differ: each says what it counts. */
static void print_base(const struct digest *digest, const struct page *page)
{
	for (size_t i = 0; i < digest->signals.count; i++) {
		const char *name = digest->signals.of[i].name;
		char line[256] = "";

		if (strcmp(name, "syscalls") != 0 && strcmp(name, "files") != 0)
			continue;
		format_add(line, sizeof(line),
			   "Counts are calls that returned while Tier B measured their thread; "
			   "SIGNAL %s counts what it measured itself, which may be some more or "
			   "fewer.",
			   name);
		fputs("  ", page->out);
		page_wrap(page, 2, 2, line);
	}
}

static void print_call(const struct digest *digest, const struct page *page,
		       const struct call *call)
{
	char buf[64];
	const char *name =
		call->call ? digest_call_name(digest, call->call, buf, sizeof(buf)) : "all others";

	fprintf(page->out, "  %-17.17s %10s %10s %9s %9s %9s %7s\n", ESCAPED(name),
		NUMBER(call->count), NUMBER(call->failed), DURATION(call->cpu_ns),
		DURATION(call->total_ns), DURATION(call->count ? call->total_ns / call->count : 0),
		COLUMN_SHARE(call->cpu_ns, account_cpu(&digest->all)));
}

int text_calls(const struct digest *digest, const struct page *page)
{
	struct hash calls;
	int err = calls_find(digest, &calls);

	if (!err && calls.count) {
		size_t most = page_rows(digest, CALLS_SHOWN);

		page_heading(page, "SYSTEM CALLS",
			     ", longest first; total with waits, share of the time on a CPU");
		fprintf(page->out, "%s  %-17s %10s %10s %9s %9s %9s %7s%s\n",
			page_ink(page, INK_FAINT), "call", "count", "failed", "cpu", "total",
			"average", "share", page_ink(page, INK_PLAIN));
		for (size_t i = 0; i < calls.count && i < most; i++)
			print_call(digest, page, hash_item(&calls, i));
		if (calls.count > most)
			fprintf(page->out, "  and %zu more\n", calls.count - most);
		print_split(digest, page);
		print_base(digest, page);
	}
	hash_free(&calls);
	return err;
}
