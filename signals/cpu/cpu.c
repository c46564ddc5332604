// SPDX-License-Identifier: Apache-2.0
#include "cpu.h"

#include <stdbool.h>
#include <string.h>

#include "../../src/base/carry.h"
#include "../../src/base/cleanup.h"
#include "../../src/model/signal.h"

enum { TABLE_CPUS, TABLE_QUEUES };

static const struct table tables[] = {
	[TABLE_CPUS] = {.name = "cpus",
			.about = "window and CPU",
			.columns = "window INTEGER, cpu INTEGER, use INTEGER, ns INTEGER",
			.width = 4},
	[TABLE_QUEUES] = {.name = "cpu_queues",
			  .about = "window and CPU",
			  .columns = "window INTEGER, cpu INTEGER, queue_ns INTEGER, "
				     "switches INTEGER, missed INTEGER",
			  .width = 5},
};

/* Of a session that is continued, the first row says what is told, and a bit more. */
static void take_base(const struct rec_cpu *row, struct cpu_told *told, bool is_resumed)
{
	told->has_base = 1;
	if (!is_resumed)
		return;
	memcpy(told->ns, row->ns, sizeof(told->ns));
	told->queue_ns = row->queue_ns;
	told->switches = row->switches;
	told->missed = row->missed;
}

static void resume(void *state, const struct resumed *resumed)
{
	struct cpu_book *book = state;

	(void)resumed;
	book->is_resumed = 1;
}

static void on_record(void *state, const struct rec_hdr *record)
{
	const struct rec_cpu *row = (const struct rec_cpu *)record;
	struct cpu_book *book = state;

	if (row->cpu >= CPUS_MAX) {
		book->turned_away++;
		return;
	}
	if (row->end_ns < book->rows[row->cpu].end_ns)
		return;
	book->rows[row->cpu] = *row;
	if (!book->told[row->cpu].has_base)
		take_base(row, &book->told[row->cpu], book->is_resumed);
	book->told[row->cpu].is_pending = 1;
}

static void flush_cpu(const struct rec_cpu *row, struct cpu_told *told, u64 window,
		      struct sink *sink)
{
	u64 parts[CPU_USE_COUNT];
	struct cell queue[] = {
		cell_number(window),
		cell_number(row->cpu),
		cell_number(carry_one(row->queue_ns, &told->queue_ns, ~0ULL)),
		cell_number(carry_one(row->switches, &told->switches, ~0ULL)),
		cell_number(carry_count(row->missed, &told->missed)),
	};

	carry_parts(row->ns, told->ns, parts, CPU_USE_COUNT);
	for (int use = 0; use < CPU_USE_COUNT; use++) {
		struct cell cells[] = {cell_number(window), cell_number(row->cpu),
				       cell_number((u64)use), cell_number(parts[use])};

		if (parts[use])
			sink->add(sink, &tables[TABLE_CPUS], cells);
	}
	sink->add(sink, &tables[TABLE_QUEUES], queue);
	told->is_pending = 0;
}

static void flush(void *state, u64 window, struct sink *sink)
{
	struct cpu_book *book = state;

	for (int cpu = 0; cpu < CPUS_MAX; cpu++)
		if (book->told[cpu].is_pending)
			flush_cpu(&book->rows[cpu], &book->told[cpu], window, sink);
}

static const struct signal_loss losses[] = {
	{"cpu_no_place", "a CPU's number is above the limit: it is missing",
	 offsetof(struct cpu_book, turned_away)},
};

const struct signal signal_cpu = {
	.about = "what each CPU did; read with the ledger",
	.state_size = sizeof(struct cpu_book),
	.on_record = on_record,
	.tables = tables,
	.table_count = ARRAY_SIZE(tables),
	.flush = flush,
	.resume = resume,
	.losses = losses,
	.loss_count = ARRAY_SIZE(losses),
};
