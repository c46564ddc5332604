// SPDX-License-Identifier: Apache-2.0
/* The tables of a session but the large ones, into memory. */
#include <errno.h>
#include <string.h>

#include "../base/cleanup.h"
#include "../base/log.h"
#include "../base/text.h"
#include "../base/utf8.h"
#include "../model/state.h"
#include "../store/query.h"
#include "../store/windows.h"
#include "digest.h"

#define SCHEMA "dwell.session/1"

static int on_meta(sqlite3_stmt *row, void *context)
{
	struct digest *digest = context;
	struct meta_row key = {0}, *meta;

	query_text(row, 0, key.key, sizeof(key.key));
	meta = hash_add(&digest->meta, &key);
	if (!meta)
		return -ENOMEM;
	query_text(row, 1, meta->value, sizeof(meta->value));
	return 0;
}

static int check_schema(const struct digest *digest)
{
	const char *schema = digest_meta(digest, "schema");
	char shown[128];

	if (!strcmp(schema, SCHEMA) ||
	    (!strncmp(schema, SCHEMA ".", strlen(SCHEMA ".")) && schema[strlen(SCHEMA ".")]))
		return 0;
	utf8_escape(shown, sizeof(shown), schema);
	if (!*schema)
		log_error("this file has no dwell session in it");
	else
		log_error("the session has schema '%s', and this dwell reads " SCHEMA
			  "; take the dwell that wrote it",
			  shown);
	return -EINVAL;
}

static int read_windows(sqlite3 *db, struct digest *digest)
{
	struct windows windows = {.from_ns = digest->options->part.from_ns,
				  .to_ns = digest->options->part.to_ns,
				  .start_ns = digest->start_ns};
	int err = windows_read(db, &windows);

	digest->is_slice = windows.is_slice;
	digest->start_ns = windows.start_ns;
	digest->begin_ns = windows.begin_ns;
	digest->end_ns = windows.end_ns;
	digest->window_count = windows.count;
	digest->first_window = windows.first;
	digest->last_window = windows.last;
	return err;
}

/* The file's own names are for states that came after this build. */
static int on_state(sqlite3_stmt *row, void *context)
{
	struct digest *digest = context;
	u64 id = query_u64(row, 0);

	if (id >= STATE_COUNT && id < STATE_LIMIT)
		query_text(row, 1, digest->state_names[id], sizeof(digest->state_names[id]));
	return 0;
}

static int on_syscall(sqlite3_stmt *row, void *context)
{
	struct digest *digest = context;
	u64 call = query_u64(row, 0);
	struct syscall_row *syscall = hash_add(&digest->syscalls, &call);

	if (!syscall)
		return -ENOMEM;
	query_text(row, 1, syscall->name, sizeof(syscall->name));
	return 0;
}

static int on_loss(sqlite3_stmt *row, void *context)
{
	struct digest *digest = context;
	struct loss_row key = {0}, *loss;
	u64 cause = query_u64(row, 1);

	if (!digest_window_is_in(digest, sqlite3_column_int64(row, 0)))
		return 0;
	if (sqlite3_column_type(row, 1) == SQLITE_INTEGER && cause < LOSS_COUNT)
		text_copy(key.cause, sizeof(key.cause), loss_names[cause]);
	else
		query_text(row, 1, key.cause, sizeof(key.cause));
	loss = hash_add(&digest->losses, &key);
	if (!loss)
		return -ENOMEM;
	loss->count += query_count(row, 2);
	return 0;
}

static int on_hook(sqlite3_stmt *row, void *context)
{
	struct digest *digest = context;
	struct hook *hook = query_append(&digest->hooks, &digest->hook_count, sizeof(*hook), 4096);

	if (!hook)
		return -ENOMEM;
	query_text(row, 0, hook->name, sizeof(hook->name));
	query_text(row, 1, hook->fallback_of, sizeof(hook->fallback_of));
	hook->is_attached = query_u64(row, 2);
	query_text(row, 3, hook->failure, sizeof(hook->failure));
	hook->is_counted = !query_is_null(row, 4);
	hook->events = query_count(row, 4);
	hook->bpf_ns = query_count(row, 5);
	hook->measured_ns = query_count(row, 6);
	hook->is_rare = query_u64(row, 7);
	hook->misses = query_count(row, 8);
	hook->is_scaled = !query_is_null(row, 9);
	hook->scaled_ns = query_count(row, 9);
	return 0;
}

static void raise_to(u64 *highest, u64 value)
{
	*highest = value > *highest ? value : *highest;
}

static int on_overhead(sqlite3_stmt *row, void *context)
{
	struct digest *digest = context;
	struct overhead *overhead = &digest->overhead;

	if (!digest_window_is_in(digest, sqlite3_column_int64(row, 0)))
		return 0;
	overhead->bpf_windows += !query_is_null(row, 1);
	overhead->bpf_ns += query_count(row, 1);
	overhead->user_cpu_ns += query_count(row, 2);
	raise_to(&overhead->rss_bytes, query_count(row, 3));
	raise_to(&overhead->map_bytes, query_count(row, 4));
	raise_to(&overhead->ring_fill_max, query_count(row, 5));
	return 0;
}

static int on_step(sqlite3_stmt *row, void *context)
{
	struct digest *digest = context;
	struct step *step = query_append(&digest->steps, &digest->step_count, sizeof(*step), 65536);

	if (!step)
		return -ENOMEM;
	step->ts_ns = query_count(row, 0);
	query_text(row, 1, step->what, sizeof(step->what));
	query_text(row, 2, step->why, sizeof(step->why));
	return 0;
}

static int on_cover(sqlite3_stmt *row, void *context)
{
	struct digest *digest = context;
	struct cover *cover =
		query_append(&digest->covers, &digest->cover_count, sizeof(*cover), 4096);

	if (!cover)
		return -ENOMEM;
	query_text(row, 0, cover->part, sizeof(cover->part));
	cover->covered_ns = query_count(row, 1);
	cover->total_ns = query_count(row, 2);
	cover->thinned = query_count(row, 3);
	return 0;
}

static int on_thread(sqlite3_stmt *row, void *context)
{
	struct digest *digest = context;
	const struct report_options *options = digest->options;
	struct thread *thread = query_append(&digest->threads, &digest->thread_count,
					     sizeof(*thread), DIGEST_THREADS_MAX);

	if (!thread)
		return -ENOMEM;
	thread->id = sqlite3_column_int64(row, 0);
	thread->pid = (u32)query_count(row, 1);
	thread->process_start_ns = query_count(row, 2);
	thread->tid = (u32)query_count(row, 3);
	thread->start_ns = query_count(row, 4);
	thread->begin_ns = query_count(row, 5);
	thread->end_ns = thread->counted_ns = query_count(row, 6);
	query_text(row, 7, thread->comm, sizeof(thread->comm));
	thread->is_kernel = query_u64(row, 8);
	thread->is_dead = query_u64(row, 9);
	thread->threads = query_is_null(row, 10) ? 1 : query_count(row, 10);
	thread->is_sum = thread->threads > 1 || !thread->begin_ns;
	thread->voluntary = query_count(row, 11);
	thread->involuntary = query_count(row, 12);
	thread->kernel_voluntary = query_count(row, 13);
	thread->kernel_involuntary = query_count(row, 14);
	thread->kernel_exec_ns = query_count(row, 15);
	thread->kernel_delay_ns = query_count(row, 16);
	thread->missed = query_count(row, 17);
	thread->unnamed = query_count(row, 18);
	thread->account_ns = query_count(row, 19);
	thread->is_wanted =
		session_part_has_process(&options->part, thread->pid, thread->process_start_ns) &&
		session_part_has_tid(&options->part, thread->tid);
	return 0;
}

static int on_process(sqlite3_stmt *row, void *context)
{
	struct digest *digest = context;
	struct process *process = query_append(&digest->processes, &digest->process_count,
					       sizeof(*process), DIGEST_THREADS_MAX);

	if (!process)
		return -ENOMEM;
	process->pid = (u32)query_count(row, 0);
	process->start_ns = query_count(row, 1);
	process->parent = (u32)query_count(row, 2);
	query_text(row, 3, process->comm, sizeof(process->comm));
	query_text(row, 4, process->exe, sizeof(process->exe));
	query_text(row, 5, process->service, sizeof(process->service));
	process->is_kernel = query_u64(row, 6);
	process->has_ended = !query_is_null(row, 7);
	process->exit_code = (s32)sqlite3_column_int64(row, 7);
	process->ended_ns = query_count(row, 8);
	query_text(row, 9, process->cgroup, sizeof(process->cgroup));
	query_text(row, 10, process->group_name, sizeof(process->group_name));
	return 0;
}

static int on_object(sqlite3_stmt *row, void *context)
{
	struct digest *digest = context;
	u64 id = query_u64(row, 0);
	struct object *object = hash_add(&digest->objects, &id);

	if (!object)
		return -ENOMEM;
	object->kind = (u32)query_u64(row, 1);
	query_text(row, 2, object->name, sizeof(object->name));
	object->pid = (u32)query_count(row, 3);
	return 0;
}

static int on_exec(sqlite3_stmt *row, void *context)
{
	struct digest *digest = context;
	struct exec *exec = query_append(&digest->execs, &digest->exec_count, sizeof(*exec),
					 2 * DIGEST_THREADS_MAX);

	if (!exec)
		return -ENOMEM;
	exec->ts_ns = query_count(row, 0);
	exec->pid = (u32)query_count(row, 1);
	exec->start_ns = query_count(row, 2);
	exec->parent = (u32)query_count(row, 3);
	query_text(row, 4, exec->exe, sizeof(exec->exe));
	return 0;
}

static struct cpu_row *cpu_of(struct digest *digest, sqlite3_stmt *row)
{
	u64 cpu = query_count(row, 1);

	return hash_add(&digest->cpus, &cpu);
}

static int on_cpu(sqlite3_stmt *row, void *context)
{
	struct digest *digest = context;
	struct cpu_row *cpu;
	u64 use = query_u64(row, 2);

	if (!digest_window_is_in(digest, sqlite3_column_int64(row, 0)))
		return 0;
	cpu = cpu_of(digest, row);
	if (!cpu)
		return -ENOMEM;
	/* A use that came after this build is one that it does not know. */
	cpu->ns[use < CPU_USE_COUNT ? use : CPU_USE_UNATTRIBUTED] += query_count(row, 3);
	return 0;
}

static int on_cpu_queue(sqlite3_stmt *row, void *context)
{
	struct digest *digest = context;
	struct cpu_row *cpu;

	if (!digest_window_is_in(digest, sqlite3_column_int64(row, 0)))
		return 0;
	cpu = cpu_of(digest, row);
	if (!cpu)
		return -ENOMEM;
	cpu->queue_ns += query_count(row, 2);
	cpu->switches += query_count(row, 3);
	cpu->missed += query_count(row, 4);
	return 0;
}

static const struct {
	const char *table, *columns, *order;
	query_row_fn *on_row;
} tables[] = {
	{"states", "id, name", NULL, on_state},
	{"syscalls", "call, name", NULL, on_syscall},
	{"losses", "window, cause, count", NULL, on_loss},
	{"hooks",
	 "hook, fallback_of, attached, failure, events, bpf_ns, measured_ns, is_rare, misses, "
	 "scaled_ns",
	 NULL, on_hook},
	{"overhead", "window, bpf_ns, user_cpu_ns, rss_bytes, map_bytes, ring_fill_max", NULL,
	 on_overhead},
	{"steps", "ts_ns, what, why", "ts_ns", on_step},
	{"coverage", "part, covered_ns, total_ns, thinned", NULL, on_cover},
	{"objects", "id, kind, name, pid", NULL, on_object},
	{"execs", "ts_ns, pid, start_ns, parent, exe", "ts_ns", on_exec},
	{"cpus", "window, cpu, use, ns", NULL, on_cpu},
	{"cpu_queues", "window, cpu, queue_ns, switches, missed", NULL, on_cpu_queue},
};

#define THREAD_COLUMNS                                                                             \
	"id, pid, process_start_ns, tid, start_ns, begin_ns, end_ns, comm, is_kernel, is_dead, "   \
	"threads, voluntary, involuntary, kernel_voluntary, kernel_involuntary, kernel_exec_ns, "  \
	"kernel_delay_ns, missed, unnamed, "

/* Before schema 1.5 a recording was one file, so that a thread began in it with its account. */
static int read_threads(sqlite3 *db, struct digest *digest)
{
	bool has_account = query_has_column(db, "threads", "account_ns");

	return query_table(db, "threads",
			   has_account ? THREAD_COLUMNS "ifnull(account_ns, begin_ns)"
				       : THREAD_COLUMNS "begin_ns",
			   NULL, on_thread, digest);
}

static int read_processes(sqlite3 *db, struct digest *digest)
{
	u32 by = digest->options->group_by;
	const char *column = by && by <= PROCESS_KEY_COUNT
				     ? process_keys[by - 1].column
				     : process_keys[PROCESS_KEY_SERVICE].column;
	char columns[256];

	snprintf(columns, sizeof(columns),
		 "pid, start_ns, parent, comm, exe, service, is_kernel, exit_code, end_ns, cgroup, "
		 "%s",
		 query_has_column(db, "processes", column) ? column : "''");
	return query_table(db, "processes", columns, NULL, on_process, digest);
}

int digest_read_tables(sqlite3 *db, struct digest *digest)
{
	int err = query_table(db, "meta", "key, value", NULL, on_meta, digest);

	if (!err)
		err = check_schema(digest);
	if (err)
		return err;
	digest->start_ns = digest_meta_number(digest, "started_ns");
	digest->is_killed = !digest_meta_number(digest, "ended_ns");
	for (int i = 0; i < STATE_LIMIT; i++)
		if (i < STATE_COUNT)
			text_copy(digest->state_names[i], sizeof(digest->state_names[i]),
				  state_names[i]);
		else
			snprintf(digest->state_names[i], sizeof(digest->state_names[i]), "state %d",
				 i);
	err = read_windows(db, digest);
	if (!err)
		err = read_threads(db, digest);
	if (!err)
		err = read_processes(db, digest);
	for (size_t i = 0; !err && i < ARRAY_SIZE(tables); i++)
		err = query_table(db, tables[i].table, tables[i].columns, tables[i].order,
				  tables[i].on_row, digest);
	return err;
}
