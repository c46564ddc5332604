// SPDX-License-Identifier: Apache-2.0
#include <jansson.h>

#include "../model/state.h"
#include "ledger.h"

static json_t *number(u64 value)
{
	return json_integer((json_int_t)value);
}

static json_t *states_to_json(const struct rec_ledger *row)
{
	json_t *states = json_array();

	for (int i = 0; i < STATE_COUNT; i++)
		if (row->ns[i] || i == STATE_UNATTRIBUTED)
			json_array_append_new(states,
					      json_pack("{s:s, s:o, s:o}", "state", state_names[i],
							"ns", number(row->ns[i]), "count",
							number(row->entries[i])));
	return states;
}

static json_t *causes_to_json(const struct rec_ledger *row)
{
	json_t *causes = json_array();

	for (int i = 0; i < CAUSES_MAX; i++) {
		const struct ledger_cause *cause = &row->causes[i];

		if (cause->count)
			json_array_append_new(
				causes,
				json_pack("{s:s, s:i, s:o, s:i, s:i, s:i, s:o, s:o, s:i}", "state",
					  state_names[cause->state], "call", cause->call, "object",
					  number(cause->object), "holder", cause->holder, "waker",
					  cause->waker, "waker_kind", cause->waker_kind, "waker_ns",
					  number(cause->waker_ns), "ns", number(cause->ns), "count",
					  cause->count));
	}
	return causes;
}

static json_t *thread_to_json(const struct rec_ledger *row)
{
	char comm[COMM_BYTES + 1];

	snprintf(comm, sizeof(comm), "%.*s", COMM_BYTES, (const char *)row->comm);
	return json_pack("{s:o, s:i, s:i, s:s, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:b}",
			 "causes", causes_to_json(row), "pid", (int)row->hdr.tgid, "tid",
			 (int)row->hdr.tid, "comm", comm, "wall_ns",
			 number(row->end_ns - row->begin_ns), "begin_ns", number(row->begin_ns),
			 "ledger", states_to_json(row), "voluntary", number(row->voluntary),
			 "involuntary", number(row->involuntary), "kernel_voluntary",
			 number(row->kernel_voluntary), "kernel_involuntary",
			 number(row->kernel_involuntary), "kernel_exec_ns",
			 number(row->kernel_exec_ns), "kernel_delay_ns",
			 number(row->kernel_delay_ns), "is_dead", (int)(row->flags & LEDGER_LAST));
}

static json_t *quality_to_json(const struct ledger_book *book, const struct health *health)
{
	struct ledger_quality quality;
	json_t *lost = json_object();

	ledger_quality(book, &quality);
	for (int i = 0; i < LOSS_COUNT; i++)
		json_object_set_new(lost, loss_names[i], number(health->lost[i]));
	return json_pack("{s:o, s:o, s:o, s:o, s:o, s:o, s:o}", "closure_error_ns",
			 number(quality.closure_error_ns), "unattributed_ns",
			 number(quality.unattributed_ns), "wall_ns", number(quality.wall_ns),
			 "missed_switches", number(quality.missed), "miscounted_switches",
			 number(quality.miscounted_switches), "folded_threads",
			 number(book->folded), "lost", lost);
}

void ledger_print_json(const struct ledger_book *book, const struct health *health, FILE *out)
{
	json_t *threads = json_array();
	json_t *root;

	for (u64 i = 0; i < book->count; i++)
		json_array_append_new(threads, thread_to_json(&book->rows[i]));
	root = json_pack("{s:s, s:o, s:o}", "schema", "dwell.run/0", "quality",
			 quality_to_json(book, health), "threads", threads);
	json_dumpf(root, out, JSON_INDENT(1));
	fputc('\n', out);
	json_decref(root);
}
