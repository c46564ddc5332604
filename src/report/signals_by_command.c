// SPDX-License-Identifier: Apache-2.0
/*
 * For a person: series that differ in nothing but the process, and whose processes have one name,
 * are one. Hundreds of short-lived ones of a shell's would hide what matters.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "digest.h"

struct alike_group {
	char comm[DIGEST_COMM];
	u64 object, more;
	u32 kind, detail;
	/* the key ends here */
	struct series_row *row; /* the only one, or the sum */
	u64 count;
	const char *command; /* a row of it is of all processes of the name: what it is called */
};
#define ALIKE_KEY_BYTES __builtin_offsetof(struct alike_group, row)

static void key_of(const struct digest *digest, const struct series_row *row,
		   struct alike_group *ret_group)
{
	const struct series_key *key = &row->key;
	const char *comm = series_comm(digest, key->tgid, key->start_ns);

	*ret_group = (struct alike_group){
		.kind = key->kind,
		.detail = key->detail,
		.object = key->object,
		.more = key->more,
	};
	/* Of whom no name is known, nobody is alike. */
	if (key->tgid && !*comm)
		snprintf(ret_group->comm, sizeof(ret_group->comm), "pid %u %llu", key->tgid,
			 (unsigned long long)key->start_ns);
	memcpy(ret_group->comm, comm, strnlen(comm, sizeof(ret_group->comm) - 1));
}

static void add_row(struct series_row *to, const struct series_row *from)
{
	to->hist.count = profile_add(to->hist.count, from->hist.count);
	to->hist.sum = profile_add(to->hist.sum, from->hist.sum);
	to->hist.max = from->hist.max > to->hist.max ? from->hist.max : to->hist.max;
	for (u32 i = 0; i < HIST_BUCKETS; i++)
		to->hist.buckets[i] = profile_add(to->hist.buckets[i], from->hist.buckets[i]);
	to->orphan_starts = profile_add(to->orphan_starts, from->orphan_starts);
	to->orphan_ends = profile_add(to->orphan_ends, from->orphan_ends);
	to->expired = profile_add(to->expired, from->expired);
	for (int i = 0; i < SERIES_SUMS; i++)
		to->sums[i] = profile_add(to->sums[i], from->sums[i]);
}

/* The second of a group makes it one: the rows themselves stay as they are. */
static int join(struct alike_group *group, struct series_row *row)
{
	if (!row->key.tgid && row->key.start_ns & SERIES_COMMAND)
		group->command = row->process;
	if (!group->count++) {
		group->row = row;
		return 0;
	}
	if (group->count == 2) {
		struct series_row *sum = malloc(sizeof(*sum));

		if (!sum) {
			group->count = 1;
			return -ENOMEM;
		}
		*sum = *group->row;
		sum->key.tgid = 0;
		sum->key.start_ns = 0;
		sum->process = "";
		group->row = sum;
	}
	add_row(group->row, row);
	return 0;
}

static int name_group(struct alike_group *group)
{
	char name[DIGEST_COMM + 32];

	if (group->count < 2)
		return 0;
	if (group->command)
		snprintf(name, sizeof(name), "%s", group->command);
	else
		snprintf(name, sizeof(name), "%llu x %s", (unsigned long long)group->count,
			 group->comm);
	group->row->process = strdup(name);
	if (group->row->process)
		return 0;
	group->row->process = "";
	return -ENOMEM;
}

/* The names of their objects are those of the rows. */
static void free_sum(struct alike_series *alike)
{
	if (alike->processes < 2)
		return;
	free(*alike->row->process ? (char *)alike->row->process : NULL);
	free(alike->row);
}

static int by_sum(const void *a, const void *b)
{
	const struct alike_series *x = a, *y = b;

	return series_compare(x->row, y->row);
}

int signals_find_alike(const struct digest *digest, struct measured *of)
{
	struct hash groups;
	int err = 0;

	hash_init(&groups, sizeof(struct alike_group), ALIKE_KEY_BYTES, SIGNALS_ROWS_MAX);
	for (size_t i = 0; !err && i < of->row_count; i++) {
		struct alike_group key, *group;

		key_of(digest, of->rows[i], &key);
		group = hash_add(&groups, &key);
		err = group ? join(group, of->rows[i]) : -ENOMEM;
	}
	of->alike = calloc(groups.count + 1, sizeof(of->alike[0]));
	if (!of->alike)
		err = -ENOMEM;
	for (size_t i = 0; i < groups.count; i++) {
		struct alike_group *group = hash_item(&groups, i);
		struct alike_series one = {.row = group->row, .processes = group->count};

		if (name_group(group))
			err = -ENOMEM;
		if (of->alike && one.row)
			of->alike[of->alike_count++] = one;
		else if (one.row)
			free_sum(&one);
	}
	if (of->alike_count)
		qsort(of->alike, of->alike_count, sizeof(of->alike[0]), by_sum);
	hash_free(&groups);
	return err;
}

void signals_free_alike(struct measured *of)
{
	for (size_t i = 0; i < of->alike_count; i++)
		free_sum(&of->alike[i]);
	free(of->alike);
}
