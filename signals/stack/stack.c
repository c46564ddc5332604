// SPDX-License-Identifier: Apache-2.0
#include "stack.h"

#include <stdbool.h>
#include <string.h>

#include "../../src/base/cleanup.h"
#include "../../src/model/signal.h"

#define TEXT_BYTES_MAX	    4096 /* of names and paths */
#define SCHEDULER_DEPTH_MAX 16	 /* frames between a switch's last hook and __schedule */

enum { TABLE_STACKS, TABLE_FRAMES, TABLE_INLINES, TABLE_MODULES };

static const struct table tables[] = {
	[TABLE_STACKS] = {.name = "stacks",
			  .columns = "id INTEGER PRIMARY KEY, parent INTEGER, frame INTEGER, "
				     "depth INTEGER",
			  .width = 4},
	[TABLE_FRAMES] = {.name = "frames",
			  .columns = "id INTEGER PRIMARY KEY, module INTEGER, address INTEGER, "
				     "name TEXT, source TEXT, file TEXT, line INTEGER",
			  .width = 7},
	[TABLE_INLINES] = {.name = "inlines",
			   .columns = "frame INTEGER, depth INTEGER, name TEXT, file TEXT, "
				      "line INTEGER, PRIMARY KEY (frame, depth)",
			   .width = 5},
	[TABLE_MODULES] = {.name = "modules",
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

static void open_book(void *state, const struct services *services)
{
	struct stack_book *book = state;

	book->resolver = services->resolver;
	book->ids = services->stack_ids;
	hash_init(&book->modules, sizeof(struct stack_module), sizeof(u64), STACK_MODULES_MAX);
	hash_init(&book->frames, sizeof(struct stack_frame), sizeof(u64), STACK_FRAMES_MAX);
	hash_init(&book->nodes, sizeof(struct stack_node), sizeof(u64), STACK_NODES_MAX);
	hash_init(&book->entries, sizeof(struct stack_entry), sizeof(u64), STACK_ENTRIES_MAX);
	hash_init(&book->claims, sizeof(struct stack_claim), sizeof(u64), STACK_MODULES_MAX);
}

static void release(void *state)
{
	struct stack_book *book = state;

	hash_free(&book->modules);
	hash_free(&book->frames);
	hash_free(&book->nodes);
	hash_free(&book->entries);
	hash_free(&book->claims);
}

/* --- ids --- */

static u64 mix(u64 value)
{
	value = (value ^ (value >> 31)) * 0x9fb21c651e98df25ULL;
	value = (value ^ (value >> 29)) * 0xd6e8feb86659fd93ULL;
	return value ^ (value >> 32);
}

/* SQLite's integers have a sign; and 0 is no id. */
static u64 as_id(u64 value)
{
	value &= ~0ULL >> 1;
	return value ? value : 1;
}

static u64 id_of(u64 a, u64 b)
{
	return as_id(mix(mix(a + 0x9e3779b97f4a7c15ULL) + b));
}

/*
 * Two that would have one id are told apart: the later one has the next id. It happens to one pair
 * among 128k of them once in a thousand million sessions, and then costs the sameness of that id
 * between sessions, not its truth.
 */
static u64 frame_id(struct stack_book *book, u64 identity, const struct place *place)
{
	for (u64 id = id_of(identity, place->address);; id = as_id(id + 1)) {
		size_t before = book->frames.count;
		struct stack_frame *frame = hash_add(&book->frames, &id);

		if (!frame)
			return 0;
		if (book->frames.count > before) {
			frame->address = place->address;
			frame->module = place->module;
		}
		if (frame->address == place->address && frame->module == place->module)
			return id;
	}
}

static u64 node_id(struct stack_book *book, u64 parent, u64 frame, u64 depth)
{
	for (u64 id = id_of(parent, frame);; id = as_id(id + 1)) {
		size_t before = book->nodes.count;
		struct stack_node *node = hash_add(&book->nodes, &id);

		if (!node)
			return 0;
		if (book->nodes.count > before) {
			node->parent = parent;
			node->frame = frame;
			node->depth = depth;
		}
		if (node->parent == parent && node->frame == frame)
			return id;
	}
}

/* --- records in --- */

/*
 * Files of one path in two containers, files with a build id that is not theirs, code that two
 * processes made: the first one is known by what it says to be, others also by their number.
 */
static u64 identity_of(struct stack_book *book, u64 number)
{
	struct stack_claim *claim;
	struct module_info info;
	size_t before = book->claims.count;

	book->resolver->describe(book->resolver, (u32)number, &info);
	claim = hash_add(&book->claims, &info.identity);
	if (claim && book->claims.count > before)
		claim->number = number;
	return claim && claim->number == number ? info.identity : id_of(info.identity, number);
}

static const struct stack_module *module_of(struct stack_book *book, u64 number)
{
	struct stack_module *module = hash_find(&book->modules, &number);

	if (module)
		return module;
	module = hash_add(&book->modules, &number);
	if (module)
		module->identity = identity_of(book, number);
	return module;
}

static void place_frame(const struct stack_book *book, const struct rec_stack *stack, size_t i,
			struct place *ret_place)
{
	u64 address = stack->frames[i];

	if (i < stack->kernel_count) {
		/* Behind the innermost are return addresses: the call is before them. */
		book->resolver->place(book->resolver, 0, address - (i > 0), ret_place);
		return;
	}
	*ret_place = (struct place){.address = address};
	if (stack->generation)
		book->resolver->place(book->resolver, stack->generation, address, ret_place);
}

/* A compiler that makes a variant of a function puts its reason behind a dot. */
static bool is_function(const char *name, const char *function)
{
	size_t length = strlen(function);

	return name && !strncmp(name, function, length) && (!name[length] || name[length] == '.');
}

/* Which of the functions that hooks of ours are in: a switch's, or a wake-up's. */
static const struct stack_entry *entry_of(struct stack_book *book, const struct rec_stack *stack,
					  size_t i)
{
	struct stack_entry *entry = hash_find(&book->entries, &stack->frames[i]);
	struct frame_name names[FRAME_NAMES_MAX];
	struct place place;
	size_t count;

	if (entry)
		return entry;
	if (book->entries.count == book->entries.max)
		hash_clear(&book->entries);
	place_frame(book, stack, i, &place);
	count = book->resolver->name(book->resolver, &place, names);
	entry = hash_add(&book->entries, &stack->frames[i]);
	if (!entry || !count || count > FRAME_NAMES_MAX)
		return NULL;
	entry->is_schedule = is_function(names[count - 1].name, "__schedule");
	entry->is_wake_up = is_function(names[count - 1].name, "try_to_wake_up");
	return entry;
}

/*
 * How many innermost frames are the switch itself, or the wake-up, and our hook in it, rather than
 * the wait or what ended it.
 */
static size_t hook_frames(struct stack_book *book, const struct rec_stack *stack)
{
	if (stack->kind != SAMPLE_BLOCKED && !stack->is_waker)
		return 0;
	for (size_t i = 0; i < stack->kernel_count && i < SCHEDULER_DEPTH_MAX; i++) {
		const struct stack_entry *entry = entry_of(book, stack, i);

		if (entry && (stack->is_waker ? entry->is_wake_up : entry->is_schedule))
			return i + 1;
	}
	return 0;
}

/* Id of the stack that has this frame on top of parent; 0: no place. */
static u64 add_frame(struct stack_book *book, const struct place *place, u64 parent, u64 depth)
{
	const struct stack_module *module = module_of(book, place->module);
	u64 frame = module ? frame_id(book, module->identity, place) : 0;

	return frame ? node_id(book, parent, frame, depth) : 0;
}

static void on_record(void *state, const struct rec_hdr *record)
{
	const struct rec_stack *stack = (const struct rec_stack *)record;
	struct stack_book *book = state;
	size_t count = (size_t)stack->kernel_count + stack->user_count, first;
	u64 id = 0, depth = 0;

	if (!stack->key ||
	    offsetof(struct rec_stack, frames) + count * sizeof(u64) > record->size) {
		book->refused++;
		return;
	}
	if (stack_ids_find(book->ids, stack->key, &id))
		return; /* sent again: the kernel had forgotten it */
	first = hook_frames(book, stack);
	for (size_t i = count; i > first; i--) {
		struct place place;

		place_frame(book, stack, i - 1, &place);
		id = add_frame(book, &place, id, ++depth);
		if (!id)
			break;
	}
	if ((count > first && !id) || !stack_ids_put(book->ids, stack->key, id))
		book->turned_away++;
}

/* --- rows out --- */

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

	sink->add(sink, &tables[TABLE_MODULES], cells);
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

		sink->add(sink, &tables[TABLE_INLINES], cells);
	}
}

static void write_frame(struct stack_book *book, const struct stack_frame *frame, struct sink *sink)
{
	const struct place place = {.module = (u32)frame->module, .address = frame->address};
	struct frame_name names[FRAME_NAMES_MAX] = {0};
	size_t count = book->resolver->name(book->resolver, &place, names);
	const struct frame_name *function;

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

	sink->add(sink, &tables[TABLE_FRAMES], cells);
	write_inlines(frame->id, names, count, sink);
}

static void write_node(const struct stack_node *node, struct sink *sink)
{
	const struct cell cells[] = {
		cell_number(node->id),
		cell_number(node->parent),
		cell_number(node->frame),
		cell_number(node->depth),
	};

	sink->add(sink, &tables[TABLE_STACKS], cells);
}

static bool is_half_full(const struct hash *hash)
{
	return hash->count > hash->max / 2;
}

/* All is told: what comes back is written again, under the same ids. */
static void forget_if_full(struct stack_book *book)
{
	if (!is_half_full(&book->modules) && !is_half_full(&book->frames) &&
	    !is_half_full(&book->nodes))
		return;
	hash_clear(&book->modules);
	hash_clear(&book->frames);
	hash_clear(&book->nodes);
	book->modules_told = book->frames_told = book->nodes_told = 0;
}

static void flush(void *state, u64 window, struct sink *sink)
{
	struct stack_book *book = state;

	(void)window;
	for (; book->modules_told < book->modules.count; book->modules_told++)
		write_module(book, hash_item(&book->modules, book->modules_told), sink);
	for (; book->nodes_told < book->nodes.count; book->nodes_told++)
		write_node(hash_item(&book->nodes, book->nodes_told), sink);
	for (; book->frames_told < book->frames.count; book->frames_told++)
		write_frame(book, hash_item(&book->frames, book->frames_told), sink);
	forget_if_full(book);
}

static const struct signal_loss losses[] = {
	{"stack_no_place",
	 "more new stacks in a window than the limit: their samples have no stack",
	 offsetof(struct stack_book, turned_away)},
	{"stack_refused", "a stack with fewer frames than its header states, or without a key",
	 offsetof(struct stack_book, refused)},
};

const struct signal signal_stack = {
	.about = "stacks of samples, symbolized",
	.state_size = sizeof(struct stack_book),
	.open = open_book,
	.release = release,
	.on_record = on_record,
	.tables = tables,
	.table_count = ARRAY_SIZE(tables),
	.flush = flush,
	.losses = losses,
	.loss_count = ARRAY_SIZE(losses),
};
