// SPDX-License-Identifier: Apache-2.0
#include "digest.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "../base/clock.h"
#include "../base/text.h"
#include "../model/syscall.h"
#include "../store/profile_reader.h"
#include "finding.h"

struct tid_name {
	u64 tid; /* the key */
	u32 thread;
};

bool digest_window_is_in(const struct digest *digest, s64 window)
{
	return !digest->is_slice || (digest->window_count && window >= digest->first_window &&
				     window <= digest->last_window);
}

const char *digest_meta(const struct digest *digest, const char *key)
{
	struct meta_row row = {0};
	const struct meta_row *found;

	text_copy(row.key, sizeof(row.key), key);
	found = hash_find(&digest->meta, &row);
	return found ? found->value : "";
}

/* The rest of a window, when the first or the last hook was attached or detached, is no gap. */
#define COVER_SLACK_NS (20 * NS_PER_MS)

const struct cover *digest_partial_cover(const struct digest *digest, const char *part)
{
	for (size_t i = 0; i < digest->cover_count; i++) {
		const struct cover *cover = &digest->covers[i];

		if (!strcmp(cover->part, part))
			return cover->covered_ns + COVER_SLACK_NS < cover->total_ns ? cover : NULL;
	}
	return NULL;
}

u64 digest_meta_number(const struct digest *digest, const char *key)
{
	u64 number;

	return text_parse_u64(digest_meta(digest, key), 0, 1ULL << 62, &number) ? 0 : number;
}

const char *digest_call_name(const struct digest *digest, u32 call, char *buf, size_t size)
{
	u64 key = call;
	const struct syscall_row *row = hash_find(&digest->syscalls, &key);

	return row && *row->name ? row->name : syscall_name_into(call, buf, size);
}

bool digest_shows(const struct digest *digest, const struct thread *thread)
{
	return thread->is_wanted && thread->is_present &&
	       (!thread->is_kernel || digest->options->kernel);
}

const struct thread *digest_by_tid(const struct digest *digest, u32 tid)
{
	u64 key = tid;
	const struct tid_name *found = hash_find(&digest->by_tid, &key);

	return found ? &digest->threads[found->thread] : NULL;
}

u64 thread_wall_ns(const struct digest *digest, const struct thread *thread)
{
	u64 begin_ns = thread->begin_ns, end_ns = thread->end_ns;

	if (thread->is_sum || !digest->is_slice)
		return end_ns > begin_ns ? end_ns - begin_ns : 0;
	begin_ns = begin_ns > digest->begin_ns ? begin_ns : digest->begin_ns;
	end_ns = end_ns < digest->end_ns ? end_ns : digest->end_ns;
	return end_ns > begin_ns ? end_ns - begin_ns : 0;
}

void thread_account(const struct digest *digest, const struct thread *thread,
		    struct account *ret_account)
{
	*ret_account = (struct account){0};
	for (size_t i = 0; i < thread->cause_count; i++) {
		const struct cause *cause = hash_item(&digest->causes, thread->first_cause + i);

		ret_account->ns[cause->state] += cause->ns;
		ret_account->count[cause->state] += cause->count;
	}
}

static u64 sum_between(const struct account *account, int first, int last)
{
	u64 sum = 0;

	for (int i = first; i <= last; i++)
		sum += account->ns[i];
	return sum;
}

void account_add(struct account *to, const struct account *from)
{
	for (int i = 0; i < STATE_LIMIT; i++) {
		to->ns[i] += from->ns[i];
		to->count[i] += from->count[i];
	}
}

u64 account_sum(const struct account *account)
{
	return sum_between(account, 0, STATE_LIMIT - 1);
}

u64 account_cpu(const struct account *account)
{
	return sum_between(account, STATE_CPU, STATE_CPU_SOFTIRQ);
}

u64 account_runq(const struct account *account)
{
	return sum_between(account, STATE_RUNQ_WOKEN, STATE_RUNQ_THROTTLED);
}

bool state_is_idle(int state)
{
	return state == STATE_BLOCKED_POLL || state == STATE_BLOCKED_IDLE ||
	       state == STATE_BLOCKED_SLEEP || state == STATE_BLOCKED_STOPPED;
}

u64 account_idle(const struct account *account)
{
	u64 sum = 0;

	for (int i = 0; i < STATE_LIMIT; i++)
		sum += state_is_idle(i) ? account->ns[i] : 0;
	return sum;
}

u64 account_busy(const struct account *account)
{
	return account_sum(account) - account_idle(account) - account->ns[STATE_BLOCKED_CHILD] -
	       account->ns[STATE_BLOCKED_FORK];
}

u64 account_work(const struct account *account)
{
	return account_busy(account) - account->ns[STATE_BLOCKED_PIPE] -
	       account->ns[STATE_BLOCKED_OTHER];
}

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
	hash_init(&digest->by_tid, sizeof(struct tid_name), sizeof(u64), DIGEST_THREADS_MAX);
}

/* A tid that was used twice is the later thread's. */
static int name_tids(struct digest *digest)
{
	for (size_t i = 0; i < digest->thread_count; i++) {
		const struct thread *thread = &digest->threads[i];
		u64 tid = thread->tid;
		struct tid_name *name = hash_add(&digest->by_tid, &tid);

		if (!name)
			return -ENOMEM;
		if (thread->begin_ns >= digest->threads[name->thread].begin_ns ||
		    digest->threads[name->thread].tid != thread->tid)
			name->thread = (u32)i;
	}
	return 0;
}

static int read_profile(sqlite3 *db, struct digest *digest)
{
	const struct report_options *options = digest->options;
	struct windows windows = {.is_slice = digest->is_slice,
				  .count = digest->window_count,
				  .first = digest->first_window,
				  .last = digest->last_window};
	struct profile_filter filter = {
		.pids = options->pids,
		.pid_count = options->pid_count,
		.tids = options->tids,
		.tid_count = options->tid_count,
		.kernel = options->kernel,
		.one_kind = options->one_kind,
		.kind = options->kind,
		.state = options->why ? options->why : options->state,
		.windows = &windows,
		.name_frames = options->debuginfod.limit_ms ? fetched_names : NULL,
		.name_request = &options->debuginfod,
	};

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
		err = name_tids(ret_digest);
	if (!err)
		err = digest_group(ret_digest);
	if (!err)
		err = digest_group_services(ret_digest);
	if (!err)
		err = read_profile(db, ret_digest);
	if (!err)
		err = signals_read(db, ret_digest);
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
	signals_free(&digest->signals);
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
