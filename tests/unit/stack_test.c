// SPDX-License-Identifier: Apache-2.0
/*
 * Stacks as a tree: what is shared, what ids say, what is cut, and what happens when there is no
 * place, or the record lies.
 */
#include "unit.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../../records/stack/stack.h"
#include "../../src/base/cleanup.h"
#include "../../src/model/signal.h"

/* --- a resolver that knows a little --- */

#define KERNEL	  0xffffffff80000000ULL
#define BIAS	  0x100000000000ULL /* of each generation a multiple */
#define JIT	  0x7f0000000000ULL
#define BPF	  0x100 /* places in the kernel, from _text on: a hook in a switch ... */
#define SCHEDULE_ 0x200 /* __schedule ... */
#define SCHEDULE  0x300 /* schedule, and who calls it */
#define FUTEX	  0x400
#define MAIN	  0x1000 /* places in the program */
#define WORK	  0x2000
#define INLINED	  0x3000
#define MANY	  0x100000

static u64 names_asked;
static u32 gone; /* a module that the resolver has given up */

static void place(struct resolver *resolver, u32 generation, u64 address, struct place *ret_place)
{
	(void)resolver;
	if (!generation)
		*ret_place = (struct place){1, address - KERNEL};
	else if (address >= JIT)
		*ret_place = (struct place){100 + generation, address};
	else
		*ret_place = (struct place){2, address - generation * BIAS};
}

static void describe(struct resolver *resolver, u32 module, struct module_info *ret_info)
{
	(void)resolver;
	*ret_info = (struct module_info){MODULE_JIT, "[jit]", "", 99};
	if (module == 0 || module == gone)
		*ret_info = (struct module_info){MODULE_UNKNOWN, "[unknown]", "", 0};
	if (module == 1)
		*ret_info = (struct module_info){MODULE_KERNEL, "[kernel]", "", 77};
	if (module == 2)
		*ret_info = (struct module_info){MODULE_FILE, "/bin/work", "c0ffee", 88};
}

static const char *kernel_name(u64 address)
{
	switch (address & ~0xffULL) {
	case BPF:
		return "bpf_prog_6deef7357e7b4530_sample_resume";
	case SCHEDULE_:
		return "__schedule";
	case SCHEDULE:
		return "schedule";
	case FUTEX:
		return "futex_wait_queue";
	default:
		return NULL;
	}
}

static size_t name(struct resolver *resolver, const struct place *at,
		   struct frame_name ret_names[FRAME_NAMES_MAX])
{
	(void)resolver;
	names_asked++;
	ret_names[0] = (struct frame_name){0};
	if (at->module == 1)
		ret_names[0] =
			(struct frame_name){kernel_name(at->address), .source = NAME_KALLSYMS};
	if (at->module != 2)
		return 1;
	ret_names[0] = (struct frame_name){"work()", "work.cc", 7, NAME_SYMTAB, false};
	if (at->address != INLINED)
		return 1;
	ret_names[1] = ret_names[0];
	ret_names[0] = (struct frame_name){"square(int)", "square.h", 3, NAME_SYMTAB, false};
	return 2;
}

static void place_caller(struct resolver *resolver, u64 address, u64 callee,
			 struct place *ret_place)
{
	(void)callee;
	place(resolver, 0, address - 1, ret_place);
}

static struct resolver fake = {
	.place = place, .describe = describe, .name = name, .place_caller = place_caller};

/* --- a sink that keeps what it is given --- */

#define ROWS_MAX 512

struct row {
	const char *table;
	s64 numbers[8];
	char texts[8][64];
};

static struct row rows[ROWS_MAX];
static size_t row_count;      /* of those kept */
static size_t stacks_written; /* of all */

static void keep_row(struct sink *sink, const struct table *table, const struct cell *cells)
{
	struct row *row = &rows[row_count];

	(void)sink;
	stacks_written += !strcmp(table->name, "stacks");
	if (row_count == ROWS_MAX)
		return;
	row_count++;
	*row = (struct row){.table = table->name};
	for (size_t i = 0; i < table->width; i++) {
		row->numbers[i] = cells[i].number;
		if (cells[i].kind == CELL_TEXT)
			snprintf(row->texts[i], sizeof(row->texts[i]), "%.*s", (int)cells[i].length,
				 cells[i].text);
	}
}

static size_t count_rows(const char *table)
{
	size_t count = 0;

	for (size_t i = 0; i < row_count; i++)
		count += !strcmp(rows[i].table, table);
	return count;
}

static const struct row *find_row(const char *table, u64 id)
{
	for (size_t i = 0; i < row_count; i++)
		if (!strcmp(rows[i].table, table) && (u64)rows[i].numbers[0] == id)
			return &rows[i];
	return NULL;
}

/* --- a book --- */

struct fixture {
	struct stack_ids ids;
	struct stack_book book;
	struct sink sink;
	struct rec_stack record;
};

static int start(void **state)
{
	struct fixture *fixture = calloc(1, sizeof(*fixture));
	const struct services services = {&fake, &fixture->ids};

	stack_ids_init(&fixture->ids, STACK_IDS_MAX);
	signal_stack.open(&fixture->book, &services);
	fixture->sink.add = keep_row;
	row_count = stacks_written = names_asked = 0;
	*state = fixture;
	return 0;
}

static int stop(void **state)
{
	struct fixture *fixture = *state;

	signal_stack.release(&fixture->book);
	stack_ids_free(&fixture->ids);
	free(fixture);
	return 0;
}

/* Innermost first: kernel addresses from _text on, then the program's own. */
static u64 send(struct fixture *fixture, u64 key, u8 kind, u32 generation, const u64 *frames,
		u16 kernel_count, u16 user_count)
{
	struct rec_stack *record = &fixture->record;
	size_t count = (size_t)kernel_count + user_count;
	u64 id = 0;

	*record = (struct rec_stack){
		.hdr = {.type = SIG_STACK,
			.size = (u16)(offsetof(struct rec_stack, frames) + count * 8)},
		.key = key,
		.generation = generation,
		.kernel_count = kernel_count,
		.user_count = user_count,
		.kind = kind,
	};
	for (size_t i = 0; i < count; i++)
		record->frames[i] = frames[i] + (i < kernel_count ? KERNEL : generation * BIAS);
	signal_stack.on_record(&fixture->book, &record->hdr);
	stack_ids_find(&fixture->ids, key, &id);
	return id;
}

static u64 parent_of(u64 id)
{
	const struct row *row = find_row("stacks", id);

	assert_non_null(row);
	return (u64)row->numbers[1];
}

static u64 address_of(u64 id)
{
	const struct row *row = find_row("stacks", id);

	assert_non_null(row);
	row = find_row("frames", (u64)row->numbers[2]);
	assert_non_null(row);
	return (u64)row->numbers[2];
}

static void callers_are_shared(void **state)
{
	const u64 one[] = {WORK, MAIN}, other[] = {WORK + 8, MAIN};
	struct fixture *fixture = *state;
	u64 a = send(fixture, 1, SAMPLE_CPU, 1, one, 0, 2);
	u64 b = send(fixture, 2, SAMPLE_CPU, 1, other, 0, 2);

	signal_stack.flush(&fixture->book, 0, &fixture->sink);
	assert_int_not_equal(a, b);
	assert_int_equal(count_rows("stacks"), 3);
	assert_int_equal(count_rows("frames"), 3);
	assert_int_equal(count_rows("modules"), 1);
	assert_int_equal(parent_of(a), parent_of(b));
	assert_int_equal(parent_of(parent_of(a)), 0);
	assert_int_equal(find_row("stacks", a)->numbers[3], 2);
	assert_int_equal(find_row("stacks", parent_of(a))->numbers[3], 1);
	assert_int_equal(address_of(a), WORK);
	assert_int_equal(address_of(parent_of(a)), MAIN);
	assert_true(a > 0 && a <= INT64_MAX);
	assert_int_equal(find_row("modules", 2)->numbers[1], MODULE_FILE);
	assert_string_equal(find_row("modules", 2)->texts[2], "/bin/work");
	assert_string_equal(find_row("modules", 2)->texts[3], "c0ffee");
}

/* Another process, with the file elsewhere, and another book: the id says what it is, not where. */
static void ids_are_the_same_everywhere(void **state)
{
	const u64 frames[] = {FUTEX, WORK, MAIN};
	struct fixture *fixture = *state;
	void *second;
	u64 id = send(fixture, 1, SAMPLE_CPU, 1, frames, 1, 2);

	assert_int_equal(send(fixture, 2, SAMPLE_CPU, 3, frames, 1, 2), id);
	assert_int_equal((int)recent_count(&fixture->book.nodes), 3);
	assert_int_equal(start(&second), 0);
	assert_int_equal(send(second, 9, SAMPLE_CPU, 2, frames, 1, 2), id);
	stop(&second);
	/* Ids are in files: a change of the hash is a change of the format. */
	assert_int_equal(id, 0x4ab30e68fe4a69d6);
}

static void recursion_is_as_deep_as_it_is(void **state)
{
	u64 frames[USER_FRAMES_MAX];
	struct fixture *fixture = *state;
	u64 id, depth = 0;

	for (size_t i = 0; i < USER_FRAMES_MAX; i++)
		frames[i] = WORK;
	id = send(fixture, 1, SAMPLE_CPU, 1, frames, 0, USER_FRAMES_MAX);
	signal_stack.flush(&fixture->book, 0, &fixture->sink);
	assert_int_equal(count_rows("frames"), 1);
	assert_int_equal(find_row("stacks", id)->numbers[3], USER_FRAMES_MAX);
	for (; id; id = parent_of(id))
		depth++;
	assert_int_equal(depth, USER_FRAMES_MAX);
}

/* The innermost address is where it was; the others are behind a call. */
static void kernel_frames_are_inside_their_call(void **state)
{
	const u64 frames[] = {FUTEX, FUTEX + 0x80, WORK};
	struct fixture *fixture = *state;
	u64 id = send(fixture, 1, SAMPLE_CPU, 1, frames, 2, 1);

	signal_stack.flush(&fixture->book, 0, &fixture->sink);
	assert_int_equal(address_of(id), FUTEX);
	assert_int_equal(address_of(parent_of(id)), FUTEX + 0x7f);
	assert_int_equal(address_of(parent_of(parent_of(id))), WORK);
}

static void the_switch_is_cut_from_blocked_stacks(void **state)
{
	const u64 frames[] = {BPF, BPF + 4, SCHEDULE_ + 9, SCHEDULE + 9, FUTEX + 9, WORK};
	const u64 without[] = {FUTEX, FUTEX + 9, WORK};
	struct fixture *fixture = *state;
	u64 blocked = send(fixture, 1, SAMPLE_BLOCKED, 1, frames, 5, 1);
	u64 asked = names_asked;
	u64 running = send(fixture, 2, SAMPLE_CPU, 1, frames, 5, 1);
	u64 other = send(fixture, 3, SAMPLE_BLOCKED, 1, without, 2, 1);

	assert_int_equal(asked, 3); /* and never again for the same address */
	send(fixture, 4, SAMPLE_BLOCKED, 2, frames, 5, 1);
	assert_int_equal(names_asked, asked + 2);
	signal_stack.flush(&fixture->book, 0, &fixture->sink);
	assert_int_equal(address_of(blocked), SCHEDULE + 8);
	assert_int_equal(find_row("stacks", blocked)->numbers[3], 3);
	assert_int_equal(address_of(running), BPF);
	assert_int_equal(address_of(other), FUTEX);
}

static void frames_have_names_and_what_is_inlined(void **state)
{
	const u64 frames[] = {FUTEX, INLINED, JIT - 1 * BIAS};
	struct fixture *fixture = *state;
	u64 id = send(fixture, 1, SAMPLE_CPU, 1, frames, 1, 2);
	const struct row *frame, *inlined;

	assert_int_equal(names_asked, 0);
	signal_stack.flush(&fixture->book, 0, &fixture->sink);
	assert_int_equal(names_asked, 3);
	frame = find_row("frames", (u64)find_row("stacks", id)->numbers[2]);
	assert_string_equal(frame->texts[3], "futex_wait_queue");
	assert_string_equal(frame->texts[4], "kallsyms");
	frame = find_row("frames", (u64)find_row("stacks", parent_of(id))->numbers[2]);
	assert_string_equal(frame->texts[3], "work()");	  /* the function proper ... */
	assert_string_equal(frame->texts[5], "square.h"); /* ... and the innermost one's line */
	assert_int_equal(frame->numbers[6], 3);
	inlined = find_row("inlines", (u64)frame->numbers[0]);
	assert_non_null(inlined);
	assert_int_equal(count_rows("inlines"), 1);
	assert_int_equal(inlined->numbers[1], 0);
	assert_string_equal(inlined->texts[2], "square(int)");
	assert_string_equal(inlined->texts[3], "work.cc"); /* called from there */
	assert_int_equal(inlined->numbers[4], 7);
	id = parent_of(parent_of(id));
	frame = find_row("frames", (u64)find_row("stacks", id)->numbers[2]);
	assert_string_equal(frame->texts[3], "");
	assert_int_equal(frame->numbers[1], 101);
}

static void what_was_told_is_not_told_again(void **state)
{
	const u64 frames[] = {WORK, MAIN}, more[] = {WORK + 8, WORK, MAIN};
	struct fixture *fixture = *state;

	send(fixture, 1, SAMPLE_CPU, 1, frames, 0, 2);
	signal_stack.flush(&fixture->book, 0, &fixture->sink);
	row_count = 0;
	send(fixture, 1, SAMPLE_CPU, 1, frames, 0, 2); /* the kernel had forgotten it */
	signal_stack.flush(&fixture->book, 1, &fixture->sink);
	assert_int_equal(row_count, 0);
	send(fixture, 2, SAMPLE_CPU, 1, more, 0, 3);
	signal_stack.flush(&fixture->book, 2, &fixture->sink);
	assert_int_equal(row_count, 2); /* one frame, one stack */
}

/* Without mappings a user's address is not taken for the kernel's. */
static void unknown_mappings_are_no_module(void **state)
{
	const u64 frames[] = {KERNEL + FUTEX, MAIN};
	struct fixture *fixture = *state;
	u64 id = send(fixture, 1, SAMPLE_CPU, 0, frames, 0, 2);

	signal_stack.flush(&fixture->book, 0, &fixture->sink);
	assert_int_equal(count_rows("modules"), 1);
	assert_int_equal(find_row("modules", 0)->numbers[1], MODULE_UNKNOWN);
	assert_int_equal(address_of(id), KERNEL + FUTEX);
}

/* In memory that ends where the record says, so that ASan sees one byte too many. */
static void send_as_it_is(struct fixture *fixture, const struct rec_stack *record)
{
	void *copy = malloc(record->hdr.size);

	memcpy(copy, record, record->hdr.size);
	signal_stack.on_record(&fixture->book, copy);
	free(copy);
}

static void lies_are_refused(void **state)
{
	struct fixture *fixture = *state;
	struct rec_stack record = {
		.hdr = {.type = SIG_STACK, .size = offsetof(struct rec_stack, frames) + 16},
		.key = 5,
		.generation = 1,
		.kernel_count = 2,
		.user_count = 1,
	};

	send_as_it_is(fixture, &record);
	record.kernel_count = record.user_count = 0xffff;
	send_as_it_is(fixture, &record);
	assert_int_equal(fixture->book.refused, 2);
	record.kernel_count = record.user_count = 1;
	record.key = 0;
	send_as_it_is(fixture, &record);
	assert_int_equal(fixture->book.refused, 3);
	assert_int_equal((int)recent_count(&fixture->book.nodes), 0);
	record.key = 5;
	record.kind = 0xff;
	send_as_it_is(fixture, &record);
	assert_int_equal(fixture->book.refused, 3);
	assert_int_equal((int)recent_count(&fixture->book.nodes), 2);
}

static void an_empty_stack_is_known_and_none(void **state)
{
	struct fixture *fixture = *state;
	u64 id = 1;

	send(fixture, 1, SAMPLE_CPU, 1, NULL, 0, 0);
	assert_true(stack_ids_find(&fixture->ids, 1, &id));
	assert_int_equal(id, 0);
	assert_int_equal(fixture->book.turned_away, 0);
}

/* Each stack is two nodes, and one frame of its own. */
static void send_many(struct fixture *fixture, u64 first, u64 count)
{
	for (u64 i = first; i < first + count; i++) {
		const u64 frames[] = {WORK, MANY + i};

		send(fixture, 1 + i, SAMPLE_CPU, 1, frames, 0, 2);
	}
}

static void what_has_no_place_is_counted_and_place_is_made(void **state)
{
	struct fixture *fixture = *state;
	u64 known, id;

	send_many(fixture, 0, 1);
	assert_true(stack_ids_find(&fixture->ids, 1, &known));
	send_many(fixture, 1, STACK_FRAMES_MAX + 5);
	/* WORK and each of the others have a frame, but for those beyond. */
	assert_int_equal(fixture->book.turned_away, 7);
	assert_false(stack_ids_find(&fixture->ids, STACK_FRAMES_MAX + 5, &id));
	signal_stack.flush(&fixture->book, 0, &fixture->sink);
	assert_int_equal(stacks_written, 2 * (STACK_FRAMES_MAX - 1));
	send_many(fixture, STACK_FRAMES_MAX + 4, 3);
	assert_int_equal(fixture->book.turned_away, 7);
	assert_true(stack_ids_find(&fixture->ids, STACK_FRAMES_MAX + 5, &id));
	/* What is still known is not written again, and has the id that it had. */
	id = send(fixture, ~0ULL, SAMPLE_CPU, 1, (u64[]){WORK, MANY}, 0, 2);
	assert_int_equal(id, known);
	signal_stack.flush(&fixture->book, 1, &fixture->sink);
	assert_int_equal(stacks_written, 2 * (STACK_FRAMES_MAX - 1) + 6);
	assert_true(recent_count(&fixture->book.frames) <= 2 * STACK_FRAMES_MAX);
}

/* What is forgotten is not found by its key, until the kernel side sends it again. */
static void what_was_not_used_for_long_is_forgotten(void **state)
{
	const u64 frames[] = {WORK, MAIN};
	struct fixture *fixture = *state;
	u64 used = send(fixture, ~0ULL, SAMPLE_CPU, 1, frames, 0, 2), id;
	u64 unused = send(fixture, ~1ULL, SAMPLE_CPU, 1, (u64[]){MANY - 8}, 0, 1);

	for (u64 i = 0; i < 4; i++) {
		send_many(fixture, i * STACK_FRAMES_MAX, STACK_FRAMES_MAX / 2);
		signal_stack.flush(&fixture->book, i, &fixture->sink);
		assert_true(stack_ids_find(&fixture->ids, ~0ULL, &id));
		assert_int_equal(id, used);
	}
	assert_false(stack_ids_find(&fixture->ids, ~1ULL, &id));
	assert_int_equal(send(fixture, ~1ULL, SAMPLE_CPU, 1, (u64[]){MANY - 8}, 0, 1), unused);
	assert_true(stack_ids_find(&fixture->ids, ~1ULL, &id));
}

static void flush_windows(struct fixture *fixture, int count)
{
	while (count--)
		signal_stack.flush(&fixture->book, 0, &fixture->sink);
}

static void few_are_kept_however_old(void **state)
{
	struct fixture *fixture = *state;
	u64 id;

	send_many(fixture, 0, 1000);
	flush_windows(fixture, 10 * FORGET_WINDOWS);
	assert_true(stack_ids_find(&fixture->ids, 1, &id));
	assert_true(stack_ids_find(&fixture->ids, 1000, &id));
}

/* Of many, those that were used within FORGET_WINDOWS stay, and so the memory for them. */
static void many_are_forgotten_with_time(void **state)
{
	struct fixture *fixture = *state;
	u64 id, used;

	used = send(fixture, ~0ULL, SAMPLE_CPU, 1, (u64[]){WORK, MAIN}, 0, 2);
	for (u64 i = 0; i < 3; i++) {
		send_many(fixture, i * STACK_NODES_KEPT, STACK_NODES_KEPT);
		assert_true(stack_ids_find(&fixture->ids, ~0ULL, &id));
		assert_int_equal(id, used);
		flush_windows(fixture, FORGET_WINDOWS - 1);
		assert_true(stack_ids_find(&fixture->ids, 1 + i * STACK_NODES_KEPT, &id));
		flush_windows(fixture, 1);
	}
	assert_false(stack_ids_find(&fixture->ids, 2, &id));
	assert_int_equal(fixture->book.turned_away, 0);
	assert_true(recent_count(&fixture->book.nodes) <= 4 * STACK_NODES_KEPT + 4);
	assert_true(recent_count(&fixture->book.frames) <= 2 * STACK_NODES_KEPT + 4);
}

/* A recording's next file gets a stack with all of its callers when a row refers to it. */
static void the_next_file_gets_what_is_referred_to(void **state)
{
	const u64 a[] = {WORK, MAIN};
	struct fixture *fixture = *state;
	u64 used = send(fixture, 1, SAMPLE_CPU, 1, a, 0, 2), id;

	send(fixture, 2, SAMPLE_CPU, 1, (u64[]){MANY}, 0, 1);
	signal_stack.flush(&fixture->book, 0, &fixture->sink);
	for (u64 file = 1; file < 4; file++) {
		signal_stack.renew(&fixture->book, file, &fixture->sink);
		row_count = 0;
		signal_stack.flush(&fixture->book, file, &fixture->sink);
		assert_int_equal(row_count, 0);
		if (file == 2)
			continue; /* nothing in it refers to the stack */
		assert_true(stack_ids_find(&fixture->ids, 1, &id));
		assert_true(stack_ids_find(&fixture->ids, 1, &id));
		assert_int_equal(id, used);
		signal_stack.flush(&fixture->book, file, &fixture->sink);
		assert_int_equal(count_rows("stacks"), 2);
		assert_int_equal(count_rows("frames"), 2);
		assert_int_equal(count_rows("modules"), 1);
		assert_int_equal(address_of(used), WORK);
		assert_int_equal(address_of(parent_of(used)), MAIN);
		assert_string_equal(
			find_row("frames", find_row("stacks", used)->numbers[2])->texts[3],
			"work()");
	}
}

/* Two modules that say to be the same, before and after many others. */
static void modules_of_one_identity_are_told_apart(void **state)
{
	const u64 frame = JIT + 8;
	struct fixture *fixture = *state;
	u64 a, b;

	a = send(fixture, 1, SAMPLE_CPU, 1, (u64[]){frame - BIAS}, 0, 1);
	b = send(fixture, 2, SAMPLE_CPU, 2, (u64[]){frame - 2 * BIAS}, 0, 1);
	assert_int_not_equal(a, b);
	for (u64 i = 0; i <= STACK_FRAMES_MAX / 2; i++)
		send(fixture, 10 + i, SAMPLE_CPU, 1, (u64[]){MANY + i}, 0, 1);
	signal_stack.flush(&fixture->book, 0, &fixture->sink);
	assert_int_equal(send(fixture, 3, SAMPLE_CPU, 2, (u64[]){frame - 2 * BIAS}, 0, 1), b);
	assert_int_equal(send(fixture, 4, SAMPLE_CPU, 1, (u64[]){frame - BIAS}, 0, 1), a);
}

/* A file that nobody has mapped is given up, and comes back under another number. */
static void module_that_comes_back_is_what_it_was(void **state)
{
	const u64 frame = JIT + 8;
	struct fixture *fixture = *state;
	u64 a;

	a = send(fixture, 1, SAMPLE_CPU, 1, (u64[]){frame - BIAS}, 0, 1);
	signal_stack.flush(&fixture->book, 0, &fixture->sink);
	gone = 101;
	assert_int_equal(send(fixture, 2, SAMPLE_CPU, 2, (u64[]){frame - 2 * BIAS}, 0, 1), a);
	/* those that the resolver has are still told apart */
	assert_int_not_equal(send(fixture, 3, SAMPLE_CPU, 3, (u64[]){frame - 3 * BIAS}, 0, 1), a);
	gone = 0;
}

/* More files over time than there are entries for: none is mapped any more. */
static void claims_of_modules_that_are_gone_make_room(void **state)
{
	struct fixture *fixture = *state;

	for (u64 i = 0; i < STACK_MODULES_MAX; i++) {
		struct stack_claim *claim = hash_add(&fixture->book.claims, &(u64){1000 + i});

		assert_non_null(claim);
		claim->number = 101;
	}
	gone = 101;
	assert_int_not_equal(send(fixture, 1, SAMPLE_CPU, 2, (u64[]){JIT + 8}, 0, 1), 0);
	assert_int_equal(fixture->book.claims.count, 1);
	gone = 0;
}

static void keys_in_use_outlive_others(void **state)
{
	struct stack_ids ids;
	u64 id;

	(void)state;
	stack_ids_init(&ids, 100);
	for (u64 key = 1; key <= 1000; key++) {
		assert_true(stack_ids_put(&ids, key, key * 2));
		assert_true(stack_ids_find(&ids, 1, &id));
		assert_int_equal(id, 2);
	}
	for (u64 key = 902; key <= 1000; key++) {
		assert_true(stack_ids_find(&ids, key, &id));
		assert_int_equal(id, key * 2);
	}
	assert_false(stack_ids_find(&ids, 500, &id));
	assert_true(ids.entries.young.count <= 100 && ids.entries.old.count <= 100);
	stack_ids_free(&ids);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, start, stop)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(callers_are_shared),
		TEST(ids_are_the_same_everywhere),
		TEST(recursion_is_as_deep_as_it_is),
		TEST(kernel_frames_are_inside_their_call),
		TEST(the_switch_is_cut_from_blocked_stacks),
		TEST(frames_have_names_and_what_is_inlined),
		TEST(what_was_told_is_not_told_again),
		TEST(unknown_mappings_are_no_module),
		TEST(lies_are_refused),
		TEST(an_empty_stack_is_known_and_none),
		TEST(what_has_no_place_is_counted_and_place_is_made),
		TEST(what_was_not_used_for_long_is_forgotten),
		TEST(many_are_forgotten_with_time),
		TEST(few_are_kept_however_old),
		TEST(the_next_file_gets_what_is_referred_to),
		TEST(modules_of_one_identity_are_told_apart),
		TEST(module_that_comes_back_is_what_it_was),
		TEST(claims_of_modules_that_are_gone_make_room),
		cmocka_unit_test(keys_in_use_outlive_others),
	};

	return cmocka_run_group_tests_name("stack", tests, NULL, NULL);
}
