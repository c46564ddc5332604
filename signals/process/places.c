// SPDX-License-Identifier: Apache-2.0
/*
 * From the id of a cgroup, which is all that the kernel side tells, to its path. The worker can
 * open no file: it says which it wants, and the privileged process walks the v2 tree, at most once
 * per window and only if an id is new. Where controllers are still on v1, the v2 tree says little:
 * then the process itself is looked at, if it lives.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../../src/base/cleanup.h"
#include "../../src/base/text.h"
#include "process.h"

static u32 find_id(const struct process_book *book, u64 cgroup)
{
	for (u32 i = 0; i < book->path_count; i++)
		if (book->paths[i].cgroup == cgroup)
			return i + 1;
	return 0;
}

static u32 find_text(const struct process_book *book, const char *path)
{
	for (u32 i = 0; i < book->path_count; i++)
		if (!book->paths[i].cgroup && !strcmp(book->paths[i].path, path))
			return i + 1;
	return 0;
}

/* When all places are taken: one that no process refers to. 0: there is none. */
static u32 reclaim(struct process_book *book)
{
	bool is_needed[PROCESS_CGROUPS_MAX] = {0};

	for (u32 i = 0; i < book->high_water; i++)
		if (book->rows[i].is_used && book->rows[i].path)
			is_needed[book->rows[i].path - 1] = true;
	for (u32 i = 0; i < PROCESS_CGROUPS_MAX; i++)
		if (!is_needed[i])
			return i + 1;
	return 0;
}

/* id is 0 for a path that is not of the v2 tree. Its place + 1, or 0: no room, counted. */
static u32 keep_path(struct process_book *book, u64 id, const char *path)
{
	u32 place = book->path_count < PROCESS_CGROUPS_MAX ? ++book->path_count : reclaim(book);

	if (!place) {
		book->paths_lost++;
		return 0;
	}
	book->paths[place - 1].cgroup = id;
	text_copy(book->paths[place - 1].path, CGROUP_PATH_BYTES, path);
	return place;
}

static bool has_id(const struct cgroup_want *wants, size_t count, u64 id)
{
	for (size_t i = 0; i < count; i++)
		if (wants[i].id == id)
			return true;
	return false;
}

static bool may_ask_process(const struct process_row *row, bool has_v1)
{
	return has_v1 && !row->is_kernel && !row->end_ns && row->pid;
}

size_t process_want_cgroups(void *state, bool has_v1, struct cgroup_want *wants, size_t max)
{
	struct process_book *book = state;
	size_t count = 0;

	for (u32 i = 0; i < book->high_water && count < max; i++) {
		struct process_row *row = &book->rows[i];
		bool asks_process = may_ask_process(row, has_v1), is_known;

		if (!row->is_used || row->path || row->is_looked_up || row->is_wanted)
			continue;
		row->is_wanted = true;
		is_known = !row->cgroup || find_id(book, row->cgroup) ||
			   has_id(wants, count, row->cgroup);
		if (!is_known || asks_process)
			wants[count++] = (struct cgroup_want){is_known ? 0 : row->cgroup,
							      asks_process ? row->pid : 0};
	}
	return count;
}

void process_take_cgroup(void *state, const struct cgroup_found *found)
{
	struct process_book *book = state;
	struct process_row *row;
	u32 place;

	if (!found->pid) {
		if (!find_id(book, found->id))
			keep_path(book, found->id, found->path);
		return;
	}
	row = process_find_pid(book, (u32)found->pid);
	if (!row || row->is_looked_up)
		return;
	place = find_id(book, row->cgroup);
	if (place && strcmp(book->paths[place - 1].path, "/") != 0)
		return; /* the v2 tree says more */
	place = find_text(book, found->path);
	row->path = place ? place : keep_path(book, 0, found->path);
	row->is_looked_up = row->is_changed = true;
}

void process_know_path(struct process_book *book, struct process_row *row, const char *path)
{
	u32 place = *path ? find_text(book, path) : 0;

	row->path = place || !*path ? place : keep_path(book, 0, path);
	row->is_looked_up = row->path != 0;
}

void process_find_places(struct process_book *book)
{
	for (u32 i = 0; i < book->high_water; i++) {
		struct process_row *row = &book->rows[i];

		if (!row->is_used || row->path || row->is_looked_up)
			continue;
		row->path = find_id(book, row->cgroup);
		row->is_looked_up = true;
		row->is_changed |= row->path != 0;
	}
}
