// SPDX-License-Identifier: Apache-2.0
/*
 * The ledger as comma-separated values (RFC 4180): a line per window, thread and state, with the
 * names beside the numbers. Lines go out as they are read: no more than one is in memory.
 */
#include <inttypes.h>
#include <string.h>

#include "../base/utf8.h"
#include "../store/timeline_rows.h"
#include "export.h"

struct writer {
	const struct timeline *timeline;
	FILE *out;
};

/* In quotes, which are doubled inside; control characters, line ends too, are escaped. */
static void write_text(const char *text, FILE *out)
{
	char escaped[4 * TIMELINE_NAME_BYTES];

	utf8_escape(escaped, sizeof(escaped), text);
	fputc('"', out);
	for (const char *at = escaped; *at; at++) {
		if (*at == '"')
			fputc('"', out);
		fputc(*at, out);
	}
	fputc('"', out);
}

static int write_row(const struct ledger_row *row, void *context)
{
	struct writer *writer = context;
	const struct timeline *timeline = writer->timeline;
	const struct timeline_process *process =
		hash_item(&timeline->processes, row->thread->process);

	if (!row->is_wanted)
		return 0;
	fprintf(writer->out, "%lld,%lld,%" PRIu64 ",%" PRIu64 ",", (long long)row->window->id,
		(long long)(row->window->begin_ns - timeline->facts.started_ns),
		(uint64_t)(row->window->end_ns - row->window->begin_ns),
		(uint64_t)row->thread->pid);
	write_text(timeline_text(timeline, process->comm), writer->out);
	fprintf(writer->out, ",%" PRIu64 ",", (uint64_t)row->thread->tid);
	write_text(timeline_text(timeline, row->thread->comm), writer->out);
	fprintf(writer->out, ",%" PRIu64 ",", (uint64_t)row->thread->threads);
	write_text(timeline_service(timeline, process), writer->out);
	fputc(',', writer->out);
	write_text(timeline_state(timeline, row->state), writer->out);
	fprintf(writer->out, ",%" PRIu64 ",%" PRIu64 "\r\n", (uint64_t)row->ns,
		(uint64_t)row->count);
	return 0;
}

int export_csv(const struct export_source *source, const struct export_options *options, FILE *out)
{
	struct writer writer = {source->timeline, out};

	(void)options;
	fputs("window,begin_ns,length_ns,pid,process,tid,thread,threads,service,state,ns,count\r\n",
	      out);
	return timeline_ledger(source->timeline, write_row, &writer);
}
