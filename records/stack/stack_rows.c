// SPDX-License-Identifier: Apache-2.0
#include "stack_rows.h"

#include <stdbool.h>

#include "../../src/base/cleanup.h"

#define TEXT_BYTES_MAX 4096 /* of names and paths */

enum { TABLE_STACKS, TABLE_FRAMES, TABLE_INLINES, TABLE_MODULES };

const struct table stack_tables[STACK_TABLE_COUNT] = {
	[TABLE_STACKS] = {.name = "stacks",
			  .about = "stack, or beginning of one",
			  .columns = "id INTEGER PRIMARY KEY, parent INTEGER, frame INTEGER, "
				     "depth INTEGER",
			  .width = 4},
	[TABLE_FRAMES] = {.name = "frames",
			  .about = "address that is in a stack",
			  .columns = "id INTEGER PRIMARY KEY, module INTEGER, address INTEGER, "
				     "name TEXT, source TEXT, file TEXT, line INTEGER",
			  .width = 7},
	[TABLE_INLINES] = {.name = "inlines",
			   .about = "function that was inlined at an address (--inline)",
			   .columns = "frame INTEGER, depth INTEGER, name TEXT, file TEXT, "
				      "line INTEGER, PRIMARY KEY (frame, depth)",
			   .width = 5},
	[TABLE_MODULES] = {.name = "modules",
			   .about = "file or other thing with code in it",
			   .columns =
				   "id INTEGER PRIMARY KEY, kind INTEGER, path TEXT, build_id TEXT",
			   .width = 4},
};

static const char *const source_names[] = {
	[NAME_SYMTAB] = "symtab",	  [NAME_DYNSYM] = "dynsym",
	[NAME_DEBUGDATA] = "debugdata",	  [NAME_DEBUG_FILE] = "debug file",
	[NAME_DEBUGINFOD] = "debuginfod", [NAME_KALLSYMS] = "kallsyms",
	[NAME_PERF_MAP] = "perf map",
};

static struct cell text_or_null(const char *text)
{
	return text ? cell_text(text, TEXT_BYTES_MAX) : (struct cell){.kind = CELL_NULL};
}

static struct cell line_or_null(const struct frame_name *name)
{
	return name->line ? cell_number(name->line) : (struct cell){.kind = CELL_NULL};
}

static void write_module(struct stack_book *book, const struct stack_module *module,
			 struct sink *sink)
{
	struct module_info info;

	book->resolver->describe(book->resolver, (u32)module->number, &info);
	const struct cell cells[] = {
		cell_number(module->number),
		cell_number(info.kind),
		text_or_null(info.path),
		text_or_null(info.build_id),
	};

	sink->add(sink, &stack_tables[TABLE_MODULES], cells);
}

/* The functions inlined into the last one; each was called where the next one has its line. */
static void write_inlines(u64 frame, const struct frame_name *names, size_t count,
			  struct sink *sink)
{
	for (size_t i = 0; i + 1 < count; i++) {
		const struct cell cells[] = {
			cell_number(frame),	     cell_number(i),
			text_or_null(names[i].name), text_or_null(names[i + 1].file),
			line_or_null(&names[i + 1]),
		};

		sink->add(sink, &stack_tables[TABLE_INLINES], cells);
	}
}

/* False: its name is not known yet. The last time it is written without. */
static bool write_frame(struct stack_book *book, const struct stack_frame *frame, bool is_last,
			struct sink *sink)
{
	const struct place place = {.module = (u32)frame->module, .address = frame->address};
	struct frame_name names[FRAME_NAMES_MAX] = {0};
	size_t count = book->resolver->name(book->resolver, &place, names);
	const struct frame_name *function;

	if (!count && !is_last)
		return false;
	book->unnamed += !count || names[0].source == NAME_LOST;
	book->no_lines += names[0].is_line_refused;
	if (!count || count > FRAME_NAMES_MAX)
		count = 1;
	function = &names[count - 1];
	const struct cell cells[] = {
		cell_number(frame->id),
		cell_number(frame->module),
		cell_number(frame->address),
		text_or_null(function->name),
		text_or_null(function->name && function->source < ARRAY_SIZE(source_names)
				     ? source_names[function->source]
				     : NULL),
		text_or_null(names[0].file),
		line_or_null(&names[0]),
	};

	sink->add(sink, &stack_tables[TABLE_FRAMES], cells);
	write_inlines(frame->id, names, count, sink);
	return true;
}

static void write_node(const struct stack_node *node, struct sink *sink)
{
	const struct cell cells[] = {
		cell_number(node->id),
		cell_number(node->parent),
		cell_number(node->frame),
		cell_number(node->depth),
	};

	sink->add(sink, &stack_tables[TABLE_STACKS], cells);
}

static bool take_due(struct stack_told *told)
{
	bool is_due = told->is_due;

	told->is_due = 0;
	return is_due;
}

void stack_write_due(struct stack_book *book, bool is_last, struct sink *sink)
{
	size_t waiting = 0;

	for (size_t i = 0; book->modules_due && i < recent_count(&book->modules); i++) {
		struct stack_module *module = recent_item(&book->modules, i);

		if (module && take_due(&module->told))
			write_module(book, module, sink);
	}
	for (size_t i = 0; book->nodes_due && i < recent_count(&book->nodes); i++) {
		struct stack_node *node = recent_item(&book->nodes, i);

		if (node && take_due(&node->told))
			write_node(node, sink);
	}
	for (size_t i = 0; book->frames_due && i < recent_count(&book->frames); i++) {
		struct stack_frame *frame = recent_item(&book->frames, i);

		if (!frame || !take_due(&frame->told) || write_frame(book, frame, is_last, sink))
			continue;
		frame->told.is_due = 1;
		waiting++;
	}
	book->modules_due = book->nodes_due = 0;
	book->frames_due = waiting;
}
