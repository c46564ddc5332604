// SPDX-License-Identifier: Apache-2.0
/* What follows from the rows: causes by thread, threads by process, and their sums. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "../base/text.h"
#include "../store/query.h"
#include "digest.h"

static int order(u64 a, u64 b)
{
	return a < b ? -1 : a > b;
}

static int compare_causes(const void *a, const void *b)
{
	const struct cause *x = a, *y = b;

	if (x->thread != y->thread)
		return order(x->thread, y->thread);
	if (x->ns != y->ns)
		return order(y->ns, x->ns);
	return memcmp(x, y, CAUSE_KEY_BYTES);
}

static int compare_calls(const void *a, const void *b)
{
	const struct call *x = a, *y = b;

	if (x->thread != y->thread)
		return order(x->thread, y->thread);
	return x->total_ns != y->total_ns ? order(y->total_ns, x->total_ns)
					  : order(x->call, y->call);
}

static int compare_cpus(const void *a, const void *b)
{
	return order(((const struct cpu_row *)a)->cpu, ((const struct cpu_row *)b)->cpu);
}

/* Nothing is looked up in these from here on: their order may change. */
static void sort_rows(struct digest *digest)
{
	if (digest->causes.count)
		qsort(digest->causes.items, digest->causes.count, sizeof(struct cause),
		      compare_causes);
	if (digest->calls.count)
		qsort(digest->calls.items, digest->calls.count, sizeof(struct call), compare_calls);
	if (digest->cpus.count)
		qsort(digest->cpus.items, digest->cpus.count, sizeof(struct cpu_row), compare_cpus);
	for (size_t i = 0; i < digest->causes.count; i++) {
		const struct cause *cause = hash_item(&digest->causes, i);
		struct thread *thread = &digest->threads[cause->thread];

		thread->first_cause = thread->cause_count ? thread->first_cause : i;
		thread->cause_count++;
	}
	for (size_t i = 0; i < digest->calls.count; i++) {
		const struct call *call = hash_item(&digest->calls, i);
		struct thread *thread = &digest->threads[call->thread];

		thread->first_call = thread->call_count ? thread->first_call : i;
		thread->call_count++;
	}
}

static int compare_to_thread(const struct process *process, const struct thread *thread)
{
	int by_pid = order(process->pid, thread->pid);

	return by_pid ? by_pid : order(process->start_ns, thread->process_start_ns);
}

static int compare_processes(const void *a, const void *b)
{
	const struct process *x = a, *y = b;

	return x->pid != y->pid ? order(x->pid, y->pid) : order(x->start_ns, y->start_ns);
}

static int compare_threads(const void *a, const void *b)
{
	const struct thread *x = a, *y = b;

	if (x->pid != y->pid)
		return order(x->pid, y->pid);
	if (x->process_start_ns != y->process_start_ns)
		return order(x->process_start_ns, y->process_start_ns);
	if (x->tid != y->tid)
		return order(x->tid, y->tid);
	return x->begin_ns != y->begin_ns ? order(x->begin_ns, y->begin_ns)
					  : order((u64)x->id, (u64)y->id);
}

void digest_sort(struct digest *digest)
{
	if (digest->thread_count)
		qsort(digest->threads, digest->thread_count, sizeof(struct thread),
		      compare_threads);
	if (digest->process_count)
		qsort(digest->processes, digest->process_count, sizeof(struct process),
		      compare_processes);
}

/* Every thread has a process, also one that the table of processes lacks. */
static int complete_processes(struct digest *digest)
{
	size_t known = digest->process_count, at = 0;

	for (size_t i = 0; i < digest->thread_count; i++) {
		const struct thread *thread = &digest->threads[i];
		struct process *process;

		while (at < known && compare_to_thread(&digest->processes[at], thread) < 0)
			at++;
		if (at < known && !compare_to_thread(&digest->processes[at], thread))
			continue;
		if (digest->process_count > known &&
		    !compare_to_thread(&digest->processes[digest->process_count - 1], thread))
			continue;
		process = query_append(&digest->processes, &digest->process_count, sizeof(*process),
				       2 * DIGEST_THREADS_MAX);
		if (!process)
			return -ENOMEM;
		process->pid = thread->pid;
		process->start_ns = thread->process_start_ns;
	}
	if (digest->process_count)
		qsort(digest->processes, digest->process_count, sizeof(struct process),
		      compare_processes);
	return 0;
}

/* From its first thread's beginning to its last one's end, in the slice. */
static void extend(const struct digest *digest, struct process *process,
		   const struct thread *thread)
{
	u64 begin_ns = thread->begin_ns, end_ns = thread->end_ns;

	if (thread->is_sum)
		return; /* it has no begin */
	if (digest->is_slice) {
		begin_ns = begin_ns > digest->begin_ns ? begin_ns : digest->begin_ns;
		end_ns = end_ns < digest->end_ns ? end_ns : digest->end_ns;
	}
	if (!process->begin_ns || begin_ns < process->begin_ns)
		process->begin_ns = begin_ns;
	process->end_ns = end_ns > process->end_ns ? end_ns : process->end_ns;
}

static void add_thread(struct digest *digest, struct process *process, struct thread *thread)
{
	struct account account;

	thread->process = (u32)(process - digest->processes);
	process->thread_count++;
	process->is_kernel |= thread->is_kernel;
	process->is_wanted |= thread->is_wanted;
	/* It is called as its leader is, last of all after an exec. */
	if ((thread->tid == thread->pid && *thread->comm) || !*process->comm)
		memcpy(process->comm, thread->comm, sizeof(process->comm));
	if (!process->pid && !*process->comm) /* of all for whom there was no more place */
		text_copy(process->comm, sizeof(process->comm), "(others)");
	if (!digest->is_slice)
		thread->is_present = true; /* also one of which no row was kept */
	if (!thread->is_present || !thread->is_wanted)
		return;
	thread_account(digest, thread, &account);
	if (thread->is_kernel) {
		account_add(&digest->kernel, &account);
		digest->kernel_threads += thread_number(thread);
	}
	if (!digest_shows(digest, thread))
		return;
	thread->is_dormant = !account_cpu(&account) && !account_runq(&account);
	if (thread->is_dormant) {
		digest->dormant += thread_number(thread);
		digest->dormant_ns += account_sum(&account);
	} else {
		digest->busy_ns += account_busy(&account);
		process->work_ns += account_work(&account);
	}
	extend(digest, process, thread);
	account_add(&process->account, &account);
	process->is_present = true;
	process->present += thread_number(thread);
	account_add(&digest->all, &account);
	digest->present += thread_number(thread);
	digest->wall_ns += thread_wall_ns(digest, thread);
}

/* A session without windows is taken from its first thread's beginning to its last one's end. */
static void cover_threads(struct digest *digest)
{
	for (size_t i = 0; i < digest->thread_count; i++) {
		const struct thread *thread = &digest->threads[i];

		if (thread->is_sum)
			continue;
		if (!digest->begin_ns || thread->begin_ns < digest->begin_ns)
			digest->begin_ns = thread->begin_ns;
		if (thread->end_ns > digest->end_ns)
			digest->end_ns = thread->end_ns;
	}
	if (!digest->start_ns)
		digest->start_ns = digest->begin_ns;
}

/*
 * A thread that was read while it lived, and died unseen, has a row of its own and is in a sum too.
 * Its own row is not dead and ends before the session does.
 */
static bool may_be_in_sum(const struct digest *digest, const struct thread *thread)
{
	return !thread->is_sum && !thread->is_dead && !digest->is_killed &&
	       thread->end_ns < digest->end_ns;
}

/* So many of these threads, the first ones, are counted by a sum. */
static u64 count_in_sum(struct digest *digest, size_t first, size_t count, u64 sum)
{
	for (size_t i = first; sum && i < first + count; i++) {
		struct thread *thread = &digest->threads[i];

		if (thread->is_counted || !may_be_in_sum(digest, thread))
			continue;
		thread->is_counted = true;
		sum--;
	}
	return sum;
}

/* Of its own process first; pid 0 stands for threads of any. */
static void count_once(struct digest *digest)
{
	u64 of_any = 0;

	for (size_t i = 0, next; i < digest->thread_count; i = next) {
		u64 sum = 0;

		for (next = i; next < digest->thread_count &&
			       digest->threads[next].pid == digest->threads[i].pid;
		     next++)
			sum += digest->threads[next].is_sum ? digest->threads[next].threads : 0;
		if (digest->threads[i].pid)
			count_in_sum(digest, i, next - i, sum);
		else
			of_any = sum;
	}
	count_in_sum(digest, 0, digest->thread_count, of_any);
}

struct last_exec {
	u64 pid, start_ns; /* the key */
	size_t exec;
};

/* They are in the order of time: each ends the one before it of its process. */
static int chain_execs(struct digest *digest)
{
	struct hash last;
	int err = 0;

	hash_init(&last, sizeof(struct last_exec), 2 * sizeof(u64), 2 * DIGEST_THREADS_MAX);
	for (size_t i = 0; !err && i < digest->exec_count; i++) {
		struct last_exec key = {digest->execs[i].pid, digest->execs[i].start_ns, 0};
		struct last_exec *before = hash_find(&last, &key);

		if (before)
			digest->execs[before->exec].next_ns = digest->execs[i].ts_ns;
		before = hash_add(&last, &key);
		if (before)
			before->exec = i;
		err = before ? 0 : -ENOMEM;
	}
	hash_free(&last);
	return err;
}

int digest_group(struct digest *digest)
{
	int err = complete_processes(digest);
	size_t at = 0;

	if (!err)
		err = chain_execs(digest);
	if (err)
		return err;
	sort_rows(digest);
	if (!digest->window_count && !digest->is_slice)
		cover_threads(digest);
	count_once(digest);
	/* Both are sorted by pid and start: one walk. */
	for (size_t i = 0; i < digest->thread_count; i++) {
		struct thread *thread = &digest->threads[i];

		while (compare_to_thread(&digest->processes[at], thread) < 0)
			at++;
		if (!digest->processes[at].thread_count)
			digest->processes[at].first_thread = i;
		add_thread(digest, &digest->processes[at], thread);
	}
	return 0;
}

/* The index of a sample's group, or -1. */
static s64 group_of(const struct digest *digest, const struct profile_sample *sample)
{
	const struct process *process =
		digest_process(digest, sample->pid, sample->process_start_ns);

	return process && process->is_present ? (s64)process->group : -1;
}

/*
 * A list of samples for each group: each finding asks for its own group's, and a long session has
 * hundreds of findings and a million samples.
 */
int digest_index_samples(struct digest *digest)
{
	const struct hash *samples = &digest->profile.samples;

	digest->next_samples = calloc(samples->count + 1, sizeof(*digest->next_samples));
	digest->first_samples = calloc(digest->groups.count + 1, sizeof(*digest->first_samples));
	for (int i = 0; i < 2; i++)
		digest->telling_functions[i] =
			calloc(digest->profile.stacks.count + 1, sizeof(u32));
	if (!digest->next_samples || !digest->first_samples || !digest->telling_functions[0] ||
	    !digest->telling_functions[1])
		return -ENOMEM;
	for (size_t i = 0; i < digest->groups.count; i++)
		digest->first_samples[i] = PROFILE_NONE;
	for (size_t i = samples->count; i-- > 0;) {
		s64 group = group_of(digest, hash_item(samples, i));

		if (group < 0 || (size_t)group >= digest->groups.count)
			continue;
		digest->next_samples[i] = digest->first_samples[group];
		digest->first_samples[group] = (u32)i;
	}
	return 0;
}
