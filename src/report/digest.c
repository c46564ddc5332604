// SPDX-License-Identifier: Apache-2.0
#include "digest.h"

#include <stdlib.h>

#include "../store/profile_reader.h"
#include "finding.h"

static void init(struct digest *digest, const struct report_options *options)
{
	*digest = (struct digest){.options = options};
	hash_init(&digest->causes, sizeof(struct cause), CAUSE_KEY_BYTES, DIGEST_ROWS_MAX);
	hash_init(&digest->calls, sizeof(struct call), 2 * sizeof(u32), DIGEST_ROWS_MAX);
	hash_init(&digest->objects, sizeof(struct object), sizeof(u64), DIGEST_THREADS_MAX);
	hash_init(&digest->syscalls, sizeof(struct syscall_row), sizeof(u64), 65536);
	hash_init(&digest->losses, sizeof(struct loss_row), sizeof(((struct loss_row *)0)->cause),
		  256);
	hash_init(&digest->meta, sizeof(struct meta_row), sizeof(((struct meta_row *)0)->key),
		  1024);
	hash_init(&digest->cpus, sizeof(struct cpu_row), sizeof(u64), DIGEST_CPUS_MAX);
	hash_init(&digest->wakers, sizeof(struct cause_waker),
		  __builtin_offsetof(struct cause_waker, ns), DIGEST_ROWS_MAX);
	hash_init(&digest->groups, sizeof(struct group), GROUP_KEY_BYTES, DIGEST_THREADS_MAX);
	hash_init(&digest->rivals, sizeof(struct rival), __builtin_offsetof(struct rival, ns),
		  DIGEST_ROWS_MAX);
	hash_init(&digest->chains, sizeof(struct chain_part),
		  __builtin_offsetof(struct chain_part, ns), DIGEST_ROWS_MAX);
	hash_init(&digest->loops, sizeof(struct loop), sizeof(u64), DIGEST_THREADS_MAX);
}

static int read_profile(sqlite3 *db, struct digest *digest)
{
	const struct report_options *options = digest->options;
	struct windows windows = {.is_slice = digest->is_slice,
				  .count = digest->window_count,
				  .first = digest->first_window,
				  .last = digest->last_window};
	struct profile_filter filter = profile_filter_of(&options->part);

	filter.windows = &windows;
	if (options->why)
		filter.state = options->why;
	if (options->debuginfod.limit_ms)
		filter.name_frames = fetched_names;
	filter.name_request = &options->debuginfod;
	return profile_read(db, &filter, &digest->profile);
}

int digest_read(sqlite3 *db, const struct report_options *options, struct digest *ret_digest)
{
	int err;

	init(ret_digest, options);
	err = digest_read_tables(db, ret_digest);
	digest_sort(ret_digest);
	if (!err)
		err = digest_index(ret_digest);
	if (!err)
		err = digest_read_ledger(db, ret_digest);
	if (!err)
		err = digest_read_culprits(db, ret_digest);
	if (!err)
		err = digest_index_tids(ret_digest);
	if (!err)
		err = digest_group(ret_digest);
	if (!err)
		err = digest_group_services(ret_digest);
	if (!err)
		err = read_profile(db, ret_digest);
	if (!err)
		err = digest_index_samples(ret_digest);
	if (!err)
		err = signals_read(db, ret_digest);
	if (!err)
		err = requests_read(db, ret_digest);
	if (!err)
		err = findings_find(ret_digest, &ret_digest->findings);
	if (err)
		digest_free(ret_digest);
	return err;
}

void digest_free(struct digest *digest)
{
	struct hash *hashes[] = {&digest->causes,   &digest->calls,  &digest->objects,
				 &digest->syscalls, &digest->losses, &digest->meta,
				 &digest->cpus,	    &digest->by_tid, &digest->by_id,
				 &digest->wakers,   &digest->groups, &digest->rivals,
				 &digest->chains,   &digest->loops};

	for (size_t i = 0; i < sizeof(hashes) / sizeof(hashes[0]); i++)
		hash_free(hashes[i]);
	profile_free(&digest->profile);
	free(digest->first_samples);
	free(digest->next_samples);
	free(digest->telling_functions[0]);
	free(digest->telling_functions[1]);
	free(digest->dense_ids);
	signals_free(&digest->signals);
	requests_free(&digest->requests);
	free(digest->threads);
	free(digest->processes);
	free(digest->hooks);
	free(digest->execs);
	free(digest->steps);
	free(digest->covers);
	free(digest->limits);
	free(digest->cgroup_processes);
	free(digest->counters);
	findings_free(digest->findings);
}
