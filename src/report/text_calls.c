// SPDX-License-Identifier: Apache-2.0
/* What system calls cost, where they were measured (Tier B). */
#include <errno.h>
#include <stdlib.h>

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
		format_add(line, sizeof(line), ", not told apart %s",
			   SHARE(all->ns[STATE_CPU], cpu));
	fputs("  ", page->out);
	page_wrap(page, 2, 2, line);
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
		COLUMN_SHARE(call->total_ns, account_sum(&digest->all)));
}

int text_calls(const struct digest *digest, const struct page *page)
{
	struct hash calls;
	int err = calls_find(digest, &calls);

	if (!err && calls.count) {
		page_heading(page, "SYSTEM CALLS",
			     ", longest first, waits included; share of all threads' time");
		fprintf(page->out, "%s  %-17s %10s %10s %9s %9s %9s %7s%s\n",
			page_ink(page, INK_FAINT), "call", "count", "failed", "cpu", "total",
			"average", "share", page_ink(page, INK_PLAIN));
		for (size_t i = 0; i < calls.count && i < CALLS_SHOWN; i++)
			print_call(digest, page, hash_item(&calls, i));
		if (calls.count > CALLS_SHOWN)
			fprintf(page->out, "  and %zu more\n", calls.count - CALLS_SHOWN);
		print_split(digest, page);
	}
	hash_free(&calls);
	return err;
}
