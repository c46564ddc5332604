// SPDX-License-Identifier: Apache-2.0
#include "stack.h"

#include <stdbool.h>
#include <string.h>

#include "../../src/base/cleanup.h"
#include "../../src/model/signal.h"
#include "stack_rows.h"

#define SCHEDULER_DEPTH_MAX 16 /* frames between a switch's last hook and __schedule */

/* --- what a file has --- */

/* The file has it, or gets it when the window ends. */
static void want(struct stack_book *book, struct stack_told *told, size_t *due)
{
	if (told->file == book->file)
		return;
	told->file = book->file;
	told->is_due = 1;
	(*due)++;
}

/* What is due is not forgotten: a window has at most as many new ones as a table has places. */
static void *add_if_room(struct recent *recent, u64 id, size_t due, bool *ret_is_new)
{
	if (due >= recent->young.max && !recent_find(recent, &id, NULL))
		return NULL;
	return recent_add(recent, &id, ret_is_new);
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
static bool is_same_frame(struct stack_book *book, const struct stack_frame *frame, u64 identity,
			  const struct place *place)
{
	const struct stack_module *module;

	if (frame->address != place->address)
		return false;
	if (frame->module == place->module)
		return true;
	/* A file that was given up and came back has another number. */
	module = recent_find(&book->modules, &frame->module, NULL);
	return module && module->identity == identity;
}

static u64 frame_id(struct stack_book *book, u64 identity, const struct place *place)
{
	for (u64 id = id_of(identity, place->address);; id = as_id(id + 1)) {
		bool is_new;
		struct stack_frame *frame =
			add_if_room(&book->frames, id, book->frames_due, &is_new);

		if (!frame)
			return 0;
		if (is_new) {
			frame->address = place->address;
			frame->module = place->module;
		}
		if (!is_same_frame(book, frame, identity, place))
			continue;
		frame->module = place->module; /* the number that the resolver has now */
		if (is_new && book->resolver->expect)
			book->resolver->expect(book->resolver, place);
		want(book, &frame->told, &book->frames_due);
		return id;
	}
}

static u64 node_id(struct stack_book *book, u64 parent, u64 frame, u64 depth)
{
	for (u64 id = id_of(parent, frame);; id = as_id(id + 1)) {
		bool is_new;
		struct stack_node *node = add_if_room(&book->nodes, id, book->nodes_due, &is_new);

		if (!node)
			return 0;
		if (is_new) {
			node->parent = parent;
			node->frame = frame;
			node->depth = depth;
		}
		if (node->parent != parent || node->frame != frame)
			continue;
		want(book, &node->told, &book->nodes_due);
		return id;
	}
}

/* --- records in --- */

/* Does the resolver still have the module that claims it? Code of no module is always there. */
static bool is_held(const void *item, const void *context)
{
	struct resolver *resolver = (struct resolver *)context;
	const struct stack_claim *claim = item;
	struct module_info info;

	resolver->describe(resolver, (u32)claim->number, &info);
	return !claim->number || info.kind != MODULE_UNKNOWN;
}

/*
 * Files of one path in two containers, files with a build id that is not theirs, code that two
 * processes made: the first one is known by what it says to be, others also by their number.
 */
static u64 identity_of(struct stack_book *book, u64 number)
{
	struct stack_claim *claim;
	struct module_info info;
	size_t before;

	book->resolver->describe(book->resolver, (u32)number, &info);
	if (book->claims.count == book->claims.max)
		hash_retain(&book->claims, is_held, book->resolver);
	before = book->claims.count;
	claim = hash_add(&book->claims, &info.identity);
	if (claim && (book->claims.count > before || !is_held(claim, book->resolver)))
		claim->number = number;
	return claim && claim->number == number ? info.identity : id_of(info.identity, number);
}

static const struct stack_module *module_of(struct stack_book *book, u64 number)
{
	bool is_new;
	struct stack_module *module =
		add_if_room(&book->modules, number, book->modules_due, &is_new);

	if (module && is_new)
		module->identity = identity_of(book, number);
	if (module)
		want(book, &module->told, &book->modules_due);
	return module;
}

/* Is all of it known? What is looked up stays known for long. */
static bool is_known(struct stack_book *book, u64 id)
{
	while (id) {
		const struct stack_node *node = recent_find(&book->nodes, &id, NULL);
		u64 frame = node ? node->frame : 0;

		if (!node)
			return false;
		id = node->parent;
		if (!recent_find(&book->frames, &frame, NULL))
			return false;
	}
	return true;
}

static bool refer(void *context, u64 id)
{
	struct stack_book *book = context;
	bool is_young;
	struct stack_node *node = recent_find(&book->nodes, &id, &is_young);

	if (node && is_young && node->told.file == book->file)
		return true; /* and so are its callers */
	if (!is_known(book, id))
		return false;
	while (id && (node = recent_find(&book->nodes, &id, NULL))) {
		struct stack_frame *frame = recent_find(&book->frames, &node->frame, NULL);

		want(book, &node->told, &book->nodes_due);
		id = node->parent;
		if (!frame)
			return false;
		want(book, &frame->told, &book->frames_due);
		module_of(book, frame->module);
	}
	return !id;
}

static void open_book(void *state, const struct services *services)
{
	struct stack_book *book = state;

	book->resolver = services->resolver;
	book->ids = services->stack_ids;
	book->file = 1;
	book->ids->refer = refer;
	book->ids->refer_context = book;
	recent_init(&book->modules, sizeof(struct stack_module), sizeof(u64), STACK_MODULES_MAX);
	recent_init(&book->frames, sizeof(struct stack_frame), sizeof(u64), STACK_FRAMES_MAX);
	recent_init(&book->nodes, sizeof(struct stack_node), sizeof(u64), STACK_NODES_MAX);
	hash_init(&book->entries, sizeof(struct stack_entry), sizeof(u64), STACK_ENTRIES_MAX);
	hash_init(&book->claims, sizeof(struct stack_claim), sizeof(u64), STACK_MODULES_MAX);
}

static void release(void *state)
{
	struct stack_book *book = state;

	book->ids->refer = NULL;
	recent_free(&book->modules);
	recent_free(&book->frames);
	recent_free(&book->nodes);
	hash_free(&book->entries);
	hash_free(&book->claims);
}

static void place_frame(const struct stack_book *book, const struct rec_stack *stack, size_t i,
			struct place *ret_place)
{
	u64 address = stack->frames[i];

	if (i < stack->kernel_count) {
		if (i)
			book->resolver->place_caller(book->resolver, address, stack->frames[i - 1],
						     ret_place);
		else
			book->resolver->place(book->resolver, 0, address, ret_place);
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

static bool is_due(const void *item)
{
	const struct stack_frame *frame = item;

	return frame->told.is_due;
}

/* All at once: what a stack consists of is as old as the stack. After a flush only frames are due,
 * those that wait for their names. */
static void forget_unused(struct stack_book *book)
{
	if (++book->windows < FORGET_WINDOWS || book->nodes.young.count < STACK_NODES_KEPT)
		return;
	book->windows = 0;
	recent_age(&book->modules, NULL);
	recent_age(&book->frames, is_due);
	recent_age(&book->nodes, NULL);
	stack_ids_age(book->ids);
}

static void flush(void *state, u64 window, struct sink *sink)
{
	(void)window;
	stack_write_due(state, false, sink);
	forget_unused(state);
}

/* What has no name by now will have none in this file. */
static void close_book(void *state, struct sink *sink)
{
	stack_write_due(state, true, sink);
}

/* The next file has nothing yet. */
static void renew(void *state, u64 window, struct sink *sink)
{
	struct stack_book *book = state;

	(void)window;
	stack_write_due(book, true, sink);
	book->file++;
}

static const struct signal_loss losses[] = {
	{"stack_no_place",
	 "more new stacks in a window than the limit: their samples have no stack",
	 offsetof(struct stack_book, turned_away)},
	{"stack_refused", "a stack with fewer frames than its header states, or without a key",
	 offsetof(struct stack_book, refused)},
	{"frames_unnamed", "functions whose names could not be looked up in time",
	 offsetof(struct stack_book, unnamed)},
	{"lines_refused",
	 "functions without a source line: their file has more than 1 GiB of DWARF, or reading it "
	 "took 5 s of CPU time",
	 offsetof(struct stack_book, no_lines)},
};

static const struct signal_rate rates[] = {
	{offsetof(struct live_config, stack_one_in), 1000000},
};

static const char *const told_maps[] = {"stacks_seen", NULL};

const struct signal signal_stack = {
	.about = "stacks of samples, symbolized",
	.told_maps = told_maps,
	.is_told_again = true,
	.rates = rates,
	.rate_count = ARRAY_SIZE(rates),
	.state_size = sizeof(struct stack_book),
	.open = open_book,
	.release = release,
	.on_record = on_record,
	.tables = stack_tables,
	.table_count = STACK_TABLE_COUNT,
	.flush = flush,
	.close = close_book,
	.renew = renew,
	.defines = true,
	.losses = losses,
	.loss_count = ARRAY_SIZE(losses),
};
