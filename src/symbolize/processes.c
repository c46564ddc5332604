// SPDX-License-Identifier: Apache-2.0
#include "processes.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "../base/cleanup.h"

int processes_init(struct processes *processes)
{
	*processes = (struct processes){0};
	if (number_map_init(&processes->by_tgid, PROCESSES_MAX) ||
	    number_map_init(&processes->by_generation, MAPSETS_MAX)) {
		processes_free(processes);
		return -ENOMEM;
	}
	return 0;
}

void processes_free(struct processes *processes)
{
	for (u32 i = 0; i < processes->by_generation.count; i++)
		free(processes->by_generation.items[i].thing);
	number_map_free(&processes->by_tgid);
	number_map_free(&processes->by_generation);
	*processes = (struct processes){0};
}

static void forget_oldest(struct processes *processes)
{
	struct mapset *oldest = processes->first_over;

	processes->first_over = oldest->next_over;
	if (!processes->first_over)
		processes->last_over = NULL;
	processes->over_mappings -= oldest->count;
	if (processes->on_forget)
		processes->on_forget(processes->context, oldest);
	number_map_remove(&processes->by_generation, oldest->range.generation);
	free(oldest);
}

/* Those whose time is over; more if there is no room. */
void processes_forget(struct processes *processes, u64 now_ns)
{
	while (processes->first_over &&
	       (processes->first_over->over_ns + MAPSETS_KEPT_NS <= now_ns ||
		processes->over_mappings > MAPPINGS_KEPT_MAX ||
		processes->by_generation.count >= MAPSETS_MAX))
		forget_oldest(processes);
}

static void leave(struct processes *processes, struct unwind_tables *tables, struct mapset *set,
		  u64 now_ns)
{
	if (!set || --set->users)
		return;
	unwind_tables_unmap(tables, &set->range, now_ns);
	set->over_ns = now_ns;
	if (processes->last_over)
		processes->last_over->next_over = set;
	else
		processes->first_over = set;
	processes->last_over = set;
	processes->over_mappings += set->count;
}

static int take(struct processes *processes, struct unwind_tables *tables, u32 tgid,
		struct mapset *set, u64 now_ns)
{
	struct mapset *before = number_map_find(&processes->by_tgid, tgid);
	int err = number_map_set(&processes->by_tgid, tgid, set);

	if (err) {
		processes->refused++;
		return err;
	}
	set->users++;
	leave(processes, tables, before, now_ns);
	return 0;
}

static int write_mappings(struct unwind_tables *tables, struct mapset *set, u64 now_ns)
{
	_cleanup_free_ struct unwind_mapping *mappings = calloc(set->count + 1, sizeof(*mappings));

	if (!mappings)
		return -ENOMEM;
	for (u32 i = 0; i < set->count; i++)
		mappings[i] = (struct unwind_mapping){
			.begin = set->mappings[i].begin,
			.end = set->mappings[i].end,
			.bias = set->mappings[i].bias,
			.module = set->mappings[i].table,
		};
	return unwind_tables_map(tables, mappings, set->count, now_ns, &set->range);
}

/* A new set that nobody has yet; it is given up by leave(). */
static int make(struct processes *processes, struct unwind_tables *tables, u32 tgid,
		const struct mapped *mappings, size_t count, u32 jit, u64 now_ns,
		struct mapset **ret_set)
{
	struct mapset *set = calloc(1, sizeof(*set) + count * sizeof(*mappings));
	int err;

	if (!set)
		return -ENOMEM;
	set->count = (u32)count;
	set->owner = tgid;
	set->jit = jit;
	if (count)
		memcpy(set->mappings, mappings, count * sizeof(*mappings));
	err = write_mappings(tables, set, now_ns);
	if (!err && number_map_set(&processes->by_generation, set->range.generation, set)) {
		unwind_tables_unmap(tables, &set->range, now_ns);
		err = -ENOSPC;
	}
	if (err) {
		processes->refused++;
		free(set);
		return err;
	}
	*ret_set = set;
	return 0;
}

int processes_set(struct processes *processes, struct unwind_tables *tables, u32 tgid,
		  const struct mapped *mappings, size_t count, u32 jit, u64 now_ns,
		  struct unwind_process *ret_process)
{
	struct mapset *set = number_map_find(&processes->by_tgid, tgid);
	int err;

	processes_forget(processes, now_ns);
	if (!set || set->count != count || set->jit != jit ||
	    (count && memcmp(set->mappings, mappings, count * sizeof(*mappings)) != 0)) {
		err = make(processes, tables, tgid, mappings, count, jit, now_ns, &set);
		if (err)
			return err;
		err = take(processes, tables, tgid, set, now_ns);
		if (err) {
			set->users = 1;
			leave(processes, tables, set, now_ns);
			return err;
		}
	}
	*ret_process = set->range;
	return 0;
}

int processes_share(struct processes *processes, struct unwind_tables *tables, u32 tgid,
		    u32 generation, u64 now_ns)
{
	struct mapset *set;

	processes_forget(processes, now_ns);
	set = number_map_find(&processes->by_generation, generation);
	if (!set || !set->users)
		return -ESTALE;
	if (number_map_find(&processes->by_tgid, tgid) == set)
		return 0;
	return take(processes, tables, tgid, set, now_ns);
}

void processes_drop(struct processes *processes, struct unwind_tables *tables, u32 tgid,
		    u32 generation, u64 now_ns)
{
	struct mapset *set = number_map_find(&processes->by_tgid, tgid);

	processes_forget(processes, now_ns);
	if (!set || (generation && set->range.generation != generation))
		return;
	number_map_remove(&processes->by_tgid, tgid);
	leave(processes, tables, set, now_ns);
}

static struct mapset *begin_told(struct processes *processes, u32 generation, u32 total)
{
	struct mapset *set = calloc(1, sizeof(*set) + total * sizeof(set->mappings[0]));

	processes_remove(processes, generation);
	if (set && number_map_set(&processes->by_generation, generation, set)) {
		free(set);
		set = NULL;
	}
	processes->refused += !set;
	if (!set)
		return NULL;
	set->range.generation = generation;
	set->room = total;
	return set;
}

int processes_put(struct processes *processes, u32 generation, u32 total, u32 first,
		  const struct mapped *mappings, u32 count)
{
	struct mapset *set = first ? number_map_find(&processes->by_generation, generation)
				   : begin_told(processes, generation, total);

	if (!set)
		return 0; /* there was no room for it */
	if (set->count != first || count > set->room - set->count)
		return -EINVAL;
	memcpy(&set->mappings[set->count], mappings, count * sizeof(mappings[0]));
	set->count += count;
	return 0;
}

void processes_remove(struct processes *processes, u32 generation)
{
	free(number_map_remove(&processes->by_generation, generation));
}

void processes_clear(struct processes *processes)
{
	while (processes->by_generation.count)
		processes_remove(processes, processes->by_generation.items[0].number);
}

struct mapset *processes_get(const struct processes *processes, u32 tgid)
{
	return number_map_find(&processes->by_tgid, tgid);
}

bool processes_knows(const struct processes *processes, u32 generation)
{
	return number_map_find(&processes->by_generation, generation);
}

const struct mapped *processes_find(const struct processes *processes, u32 generation, u64 address)
{
	const struct mapset *set = number_map_find(&processes->by_generation, generation);
	size_t low = 0, high = set ? set->count : 0;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (set->mappings[middle].end <= address)
			low = middle + 1;
		else
			high = middle;
	}
	return set && low < set->count && set->mappings[low].begin <= address ? &set->mappings[low]
									      : NULL;
}

const struct mapped *processes_find_below(const struct processes *processes, u32 generation,
					  u64 address)
{
	const struct mapset *set = number_map_find(&processes->by_generation, generation);
	size_t low = 0, high = set ? set->count : 0;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (set->mappings[middle].begin <= address)
			low = middle + 1;
		else
			high = middle;
	}
	return low ? &set->mappings[low - 1] : NULL;
}
