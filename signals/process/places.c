// SPDX-License-Identifier: Apache-2.0
/*
 * From the id of a cgroup, which is all that the kernel side tells, to its path: by a walk of the
 * v2 tree, at most one per window and only if an id is new. Where controllers are still on v1, the
 * v2 tree says little; then the process itself is asked, if it lives.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../../src/base/cleanup.h"
#include "../../src/base/text.h"
#include "process.h"

#define PROC_CGROUP_BYTES 4096
#define WANTED_MAX	  1024 /* new ids in one window; the rest has its turn in the next */

/* The ids that a walk looks for, in order. */
struct search {
	struct process_book *book;
	u64 ids[WANTED_MAX];
	size_t count, found;
};

static int compare_ids(const void *a, const void *b)
{
	u64 one = *(const u64 *)a, other = *(const u64 *)b;

	return (one > other) - (one < other);
}

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

static enum cgroup_step on_cgroup(void *context, const char *path, u64 id)
{
	struct search *search = context;

	if (bsearch(&id, search->ids, search->count, sizeof(id), compare_ids)) {
		keep_path(search->book, id, path);
		search->found++;
	}
	return search->found == search->count ? CGROUP_WALK_END : CGROUP_WALK_ON;
}

static bool is_wanted(const struct search *search, u64 id)
{
	for (size_t i = 0; i < search->count; i++)
		if (search->ids[i] == id)
			return true;
	return false;
}

/* Gives what is known to rows that have nothing; true if there are some for which it is not. */
static bool collect(struct process_book *book, struct search *search)
{
	bool has_open = false;

	for (u32 i = 0; i < book->high_water; i++) {
		struct process_row *row = &book->rows[i];

		if (!row->is_used || row->path || row->is_looked_up)
			continue;
		has_open = true;
		if (row->cgroup && !find_id(book, row->cgroup) && search->count < WANTED_MAX &&
		    !is_wanted(search, row->cgroup))
			search->ids[search->count++] = row->cgroup;
	}
	return has_open;
}

bool process_pick_path(const char *text, char *ret_path, size_t size)
{
	size_t longest = 1;

	while (*text) {
		size_t end = strcspn(text, "\n");
		const char *path =
			memchr(text, '/', end); /* controllers have none in their names */
		size_t length = path ? end - (size_t)(path - text) : 0;

		if (length > longest && length < size) {
			snprintf(ret_path, size, "%.*s", (int)length, path);
			longest = length;
		}
		text += end;
		text += *text == '\n';
	}
	return longest > 1;
}

static u32 ask_process(struct process_book *book, const struct process_row *row)
{
	char file[64], text[PROC_CGROUP_BYTES], path[CGROUP_PATH_BYTES];
	u32 place;

	snprintf(file, sizeof(file), "/proc/%u/cgroup", row->pid);
	if (text_read_file(file, text, sizeof(text)) < 0 ||
	    !process_pick_path(text, path, sizeof(path)))
		return 0;
	place = find_text(book, path);
	return place ? place : keep_path(book, 0, path);
}

static void place(struct process_book *book, struct process_row *row, bool has_v1)
{
	u32 asked;

	row->path = find_id(book, row->cgroup);
	row->is_looked_up = true;
	if (row->path)
		row->is_changed = true;
	if (!has_v1 || row->is_kernel || row->end_ns || !row->pid ||
	    (row->path && strcmp(book->paths[row->path - 1].path, "/")))
		return;
	asked = ask_process(book, row);
	if (asked) {
		row->path = asked;
		row->is_changed = true;
	}
}

void process_find_places(struct process_book *book)
{
	struct cgroup_mount mounts[CGROUP_MOUNTS_MAX];
	struct search search = {.book = book};
	bool has_v1 = false;
	int count;

	if (!collect(book, &search))
		return;
	qsort(search.ids, search.count, sizeof(search.ids[0]), compare_ids);
	count = cgroup_list_mounts(mounts, CGROUP_MOUNTS_MAX);
	for (int i = 0; i < count; i++) {
		has_v1 |= mounts[i].hierarchy != 0;
		if (mounts[i].hierarchy == 0 && search.count)
			cgroup_walk(&mounts[i], on_cgroup, &search);
	}
	for (u32 i = 0; i < book->high_water; i++) {
		struct process_row *row = &book->rows[i];

		if (row->is_used && !row->path && !row->is_looked_up)
			place(book, row, has_v1);
	}
}
