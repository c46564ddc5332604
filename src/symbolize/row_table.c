// SPDX-License-Identifier: Apache-2.0
#include "row_table.h"

#include <errno.h>
#include <stdlib.h>

#include "eh_frame.h"
#include "row_rule.h"

#define PADDING_BYTES 16	  /* between two functions, less than that is no code */
#define PC_END	      0x100000000 /* a row's pc has 32 bits */
#define ROWS_FIRST    4096

/* On aarch64 the return address is wherever a function put it: rows have no field for that. */
#ifdef __x86_64__
#define ROWS_ARE_POSSIBLE true
#else
#define ROWS_ARE_POSSIBLE false
#endif

static bool is_same_rule(const struct unwind_row *a, const struct unwind_row *b)
{
	return a->cfa == b->cfa && a->fp == b->fp && a->kind == b->kind;
}

struct builder {
	struct row_table table;
	size_t capacity;
};

static int grow(struct builder *builder)
{
	size_t capacity = builder->capacity ? builder->capacity * 2 : ROWS_FIRST;
	struct unwind_row *rows;

	rows = realloc(builder->table.rows, capacity * sizeof(*rows));
	if (!rows)
		return -ENOMEM;
	builder->table.rows = rows;
	builder->capacity = capacity;
	return 0;
}

/* The last row must not hold for all that is missing: it becomes a gap, if none is before it. */
static void cut(struct row_table *table)
{
	struct unwind_row *last = &table->rows[table->count - 1];

	table->is_cut = true;
	table->bad -= last->kind == ROW_BAD;
	if (last[-1].kind == ROW_GAP)
		table->count--;
	else
		*last = (struct unwind_row){.pc = last->pc, .kind = ROW_GAP};
}

/* -E2BIG: the table is full. */
static int add(struct builder *builder, u64 pc, struct unwind_row row)
{
	struct row_table *table = &builder->table;
	int err;

	row.pc = (u32)pc;
	if (table->count && is_same_rule(&table->rows[table->count - 1], &row))
		return 0;
	if (table->count == ROW_TABLE_MAX) {
		cut(table);
		return -E2BIG;
	}
	if (table->count == builder->capacity) {
		err = grow(builder);
		if (err)
			return err;
	}
	table->bad += row.kind == ROW_BAD;
	table->rows[table->count++] = row;
	return 0;
}

/* The rows of one function, which ends where the next begins, whatever it says. */
static int add_function(struct builder *builder, struct eh_frame *eh_frame,
			const struct eh_function *function, struct cfi_run *run)
{
	const struct cfi_cie *cie = eh_frame_run(eh_frame, function, run);
	int err = 0;

	if (!cie) {
		builder->table.is_cut = true;
		return add(builder, function->begin, (struct unwind_row){.kind = ROW_BAD});
	}
	if (cie->is_signal)
		return add(builder, function->begin, (struct unwind_row){.kind = ROW_SIGNAL});
	while (!err && run->next < run->end) {
		if (!cfi_run_next(run))
			return add(builder, run->pc, (struct unwind_row){.kind = ROW_BAD});
		err = add(builder, run->pc, row_rule(&run->state));
	}
	return err;
}

static int add_functions(struct builder *builder, struct eh_frame *eh_frame)
{
	struct cfi_run run;
	int err = 0;

	for (size_t i = 0; !err && i < eh_frame->count; i++) {
		const struct eh_function *function = &eh_frame->functions[i];
		u64 next = i + 1 < eh_frame->count ? function[1].begin : PC_END;

		err = add_function(builder, eh_frame, function, &run);
		if (!err && next - function->end >= PADDING_BYTES)
			err = add(builder, function->end, (struct unwind_row){.kind = ROW_GAP});
	}
	return err == -E2BIG ? 0 : err;
}

int row_table_build(const struct elf_file *file, struct row_table *ret_table)
{
	struct builder builder = {0};
	struct eh_frame eh_frame;
	int err;

	*ret_table = (struct row_table){0};
	if (!ROWS_ARE_POSSIBLE)
		return 0;
	err = eh_frame_read(file, &eh_frame);
	if (err)
		return err;
	builder.table.is_cut = eh_frame.is_cut;
	err = add_functions(&builder, &eh_frame);
	eh_frame_close(&eh_frame);
	if (err)
		row_table_close(&builder.table);
	else
		*ret_table = builder.table;
	return err;
}

void row_table_close(struct row_table *table)
{
	free(table->rows);
	*table = (struct row_table){0};
}
