// SPDX-License-Identifier: Apache-2.0
/*
 * The samples of a session, for its fitness: how many there are, how many have a whole stack and a
 * name, and whether even and odd windows have the same top functions.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "../../abi/records.h"
#include "../base/hash.h"
#include "../base/log.h"
#include "../base/strings.h"
#include "../model/profile.h"
#include "../store/query.h"
#include "fitness.h"

/* Time on a CPU in each half of the windows. */
struct halves {
	u64 weight[2];
};

struct stack {
	u64 id; /* the key */
	struct halves halves;
};

struct frame {
	u64 id; /* the key */
	struct halves halves;
};

struct function {
	u64 module, name; /* the key; 0: all of the module's that have no name */
	struct halves halves;
};

struct reading {
	struct fitness *fitness;
	struct hash stacks, frames, functions;
	struct strings names;
};

static void add_halves(struct halves *to, const struct halves *from)
{
	for (int i = 0; i < 2; i++)
		to->weight[i] = profile_add(to->weight[i], from->weight[i]);
}

/* kind, stop, stack, half, count, weight */
static int on_samples(sqlite3_stmt *row, void *context)
{
	struct reading *reading = context;
	struct fitness *fitness = reading->fitness;
	u64 id = query_u64(row, 2), count = query_count(row, 4);
	int half = query_count(row, 3) & 1;
	struct halves halves = {0};
	struct stack *stack;

	fitness->samples = profile_add(fitness->samples, count);
	if (!id || !profile_stop_is_complete((u32)query_count(row, 1)))
		fitness->incomplete = profile_add(fitness->incomplete, count);
	if (query_count(row, 0) != SAMPLE_CPU)
		return 0;
	fitness->cpu_samples = profile_add(fitness->cpu_samples, count);
	fitness->stability.samples[half] = profile_add(fitness->stability.samples[half], count);
	stack = id ? hash_add(&reading->stacks, &id) : NULL;
	if (!stack)
		return id ? -ENOMEM : 0;
	halves.weight[half] = query_count(row, 5);
	fitness->stack_weight = profile_add(fitness->stack_weight, halves.weight[half]);
	add_halves(&stack->halves, &halves);
	return 0;
}

static int on_stack(sqlite3_stmt *row, void *context)
{
	struct reading *reading = context;
	u64 id = query_u64(row, 0), frame_id = query_u64(row, 1);
	const struct stack *stack = hash_find(&reading->stacks, &id);
	struct frame *frame = stack ? hash_add(&reading->frames, &frame_id) : NULL;

	if (stack && !frame)
		return -ENOMEM;
	if (frame)
		add_halves(&frame->halves, &stack->halves);
	return 0;
}

static int on_frame(sqlite3_stmt *row, void *context)
{
	struct reading *reading = context;
	u64 id = query_u64(row, 0), key[2] = {query_u64(row, 1), 0};
	const struct frame *frame = hash_find(&reading->frames, &id);
	struct function *function;
	char name[PROFILE_NAME_BYTES];

	if (!frame)
		return 0;
	query_text(row, 2, name, sizeof(name));
	if (*name)
		key[1] = strings_add(&reading->names, name);
	if (key[1] == STRINGS_NONE)
		return -ENOMEM;
	if (!*name)
		for (int i = 0; i < 2; i++)
			reading->fitness->unnamed_weight = profile_add(
				reading->fitness->unnamed_weight, frame->halves.weight[i]);
	function = hash_add(&reading->functions, key);
	if (!function)
		return -ENOMEM;
	add_halves(&function->halves, &frame->halves);
	return 0;
}

/* --- stability --- */

struct ranked {
	u64 weight;
	size_t function;
};

static int heavier_first(const void *a, const void *b)
{
	const struct ranked *one = a, *other = b;

	if (one->weight != other->weight)
		return one->weight > other->weight ? -1 : 1;
	return one->function < other->function ? -1 : one->function > other->function;
}

/* The top functions of one half: how many; those that were never sampled there are none. */
static u32 find_top(const struct hash *functions, int half, struct ranked *room,
		    size_t ret_top[FITNESS_TOP])
{
	u32 count = 0;

	for (size_t i = 0; i < functions->count; i++) {
		const struct function *function = hash_item(functions, i);

		room[i] = (struct ranked){function->halves.weight[half], i};
	}
	qsort(room, functions->count, sizeof(*room), heavier_first);
	while (count < FITNESS_TOP && count < functions->count && room[count].weight) {
		ret_top[count] = room[count].function;
		count++;
	}
	return count;
}

static void add_common(const struct function *function, struct fitness_stability *stability)
{
	stability->common++;
	for (int i = 0; i < 2; i++)
		stability->common_weight =
			profile_add(stability->common_weight, function->halves.weight[i]);
}

static int compare_halves(const struct hash *functions, struct fitness_stability *stability)
{
	struct ranked *room = calloc(functions->count + 1, sizeof(*room));
	size_t even[FITNESS_TOP], odd[FITNESS_TOP];
	u32 even_count, odd_count;

	if (!room) {
		log_error("cannot compare the windows of the session: not enough memory");
		return -ENOMEM;
	}
	even_count = find_top(functions, 0, room, even);
	odd_count = find_top(functions, 1, room, odd);
	free(room);
	stability->functions = even_count > odd_count ? even_count : odd_count;
	for (u32 i = 0; i < even_count; i++)
		for (u32 j = 0; j < odd_count; j++)
			if (even[i] == odd[j])
				add_common(hash_item(functions, even[i]), stability);
	return 0;
}

int fitness_read_samples(sqlite3 *db, struct fitness *fitness)
{
	struct reading reading = {.fitness = fitness};
	int err;

	hash_init(&reading.stacks, sizeof(struct stack), sizeof(u64), PROFILE_STACKS_MAX);
	hash_init(&reading.frames, sizeof(struct frame), sizeof(u64), PROFILE_FRAMES_MAX);
	hash_init(&reading.functions, sizeof(struct function), 2 * sizeof(u64), PROFILE_FRAMES_MAX);
	strings_init(&reading.names, PROFILE_TEXT_MAX);
	/* Row by row: our hash is faster than sorting them into groups. */
	err = query_table(db, "samples", "kind, stop, stack, window & 1, count, weight_ns", NULL,
			  on_samples, &reading);
	if (!err)
		err = query_table(db, "stacks", "id, frame", NULL, on_stack, &reading);
	if (!err)
		err = query_table(db, "frames", "id, module, name", NULL, on_frame, &reading);
	if (!err)
		err = compare_halves(&reading.functions, &fitness->stability);
	strings_free(&reading.names);
	hash_free(&reading.functions);
	hash_free(&reading.frames);
	hash_free(&reading.stacks);
	return err;
}
