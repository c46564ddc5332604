// SPDX-License-Identifier: Apache-2.0
#include "cgroup_paths.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../base/cgroup.h"
#include "../base/cleanup.h"
#include "../base/text.h"

#define PROC_CGROUP_BYTES 4096
#define WANTS_MAX	  (WORKER_MESSAGE_MAX / sizeof(struct cgroup_want))
#define FOUND_MAX	  (WORKER_MESSAGE_MAX / sizeof(struct cgroup_found))
#define ROUNDS_MAX	  64 /* of a window: as many processes as the worker knows */

/* One question, and its answers on their way. */
struct search {
	struct worker *worker;
	struct cgroup_mount mounts[CGROUP_MOUNTS_MAX];
	int mount_count;
	bool has_v1;
	struct cgroup_want wants[WANTS_MAX];
	size_t want_count;
	u64 ids[WANTS_MAX]; /* of these, in order */
	size_t id_count, ids_found;
	struct cgroup_found found[FOUND_MAX];
	size_t found_count;
	int err;
};

static void send_found(struct search *search)
{
	if (search->found_count && !search->err)
		search->err = (int)worker_call(
			search->worker, CGROUP_JOB_FIRST + CGROUP_FOUND, -1, search->found,
			search->found_count * sizeof(search->found[0]), NULL, 0);
	search->found_count = 0;
}

static void add_found(struct search *search, u64 id, u64 pid, const char *path)
{
	struct cgroup_found *found = &search->found[search->found_count++];

	*found = (struct cgroup_found){.id = id, .pid = pid};
	text_copy(found->path, sizeof(found->path), path);
	if (search->found_count == FOUND_MAX)
		send_found(search);
}

static int compare_ids(const void *a, const void *b)
{
	u64 one = *(const u64 *)a, other = *(const u64 *)b;

	return (one > other) - (one < other);
}

static enum cgroup_step on_cgroup(void *context, const char *path, u64 id)
{
	struct search *search = context;

	if (bsearch(&id, search->ids, search->id_count, sizeof(id), compare_ids)) {
		add_found(search, id, 0, path);
		search->ids_found++;
	}
	return search->ids_found == search->id_count ? CGROUP_WALK_END : CGROUP_WALK_ON;
}

static void walk(struct search *search)
{
	search->id_count = search->ids_found = 0;
	for (size_t i = 0; i < search->want_count; i++)
		if (search->wants[i].id)
			search->ids[search->id_count++] = search->wants[i].id;
	qsort(search->ids, search->id_count, sizeof(search->ids[0]), compare_ids);
	for (int i = 0; i < search->mount_count; i++)
		if (!search->mounts[i].hierarchy && search->id_count)
			cgroup_walk(&search->mounts[i], on_cgroup, search);
}

/* What the v2 tree says of a process on v1 is "/" mostly. */
static void look_at_process(struct search *search, const struct cgroup_want *want)
{
	char file[64], text[PROC_CGROUP_BYTES], path[CGROUP_PATH_BYTES];

	snprintf(file, sizeof(file), "/proc/%llu/cgroup", (unsigned long long)want->pid);
	if (text_read_file(file, text, sizeof(text)) >= 0 &&
	    cgroup_pick_path(text, path, sizeof(path)))
		add_found(search, 0, want->pid, path);
}

/* How many are wanted, or -errno. The worker may have been taken over: its numbers may be anything.
 */
static ssize_t ask(struct search *search)
{
	u8 has_v1 = search->has_v1;
	ssize_t got = worker_call(search->worker, CGROUP_JOB_FIRST + CGROUP_WANTED, -1, &has_v1,
				  sizeof(has_v1), search->wants, sizeof(search->wants));

	if (got < 0)
		return got;
	search->want_count = (size_t)got / sizeof(search->wants[0]);
	return (ssize_t)search->want_count;
}

int worker_find_cgroups(struct worker *worker)
{
	_cleanup_free_ struct search *search = calloc(1, sizeof(*search));
	ssize_t wanted;

	if (!search)
		return -ENOMEM;
	search->worker = worker;
	search->mount_count = cgroup_list_mounts(search->mounts, CGROUP_MOUNTS_MAX);
	for (int i = 0; i < search->mount_count; i++)
		search->has_v1 |= search->mounts[i].hierarchy != 0;
	for (int i = 0; i < ROUNDS_MAX; i++) {
		wanted = ask(search);
		if (wanted <= 0)
			return (int)wanted;
		walk(search);
		for (size_t k = 0; k < search->want_count && search->has_v1; k++)
			if (search->wants[k].pid)
				look_at_process(search, &search->wants[k]);
		send_found(search);
		if (search->err < 0)
			return search->err;
	}
	return 0;
}
