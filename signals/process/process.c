// SPDX-License-Identifier: Apache-2.0
#include "process.h"

#include "../../src/base/cgroup_name.h"
#include "../../src/base/cleanup.h"
#include "../../src/base/text.h"
#include "../../src/model/signal.h"

#define SERVICE_BYTES 160

enum { TABLE_PROCESSES, TABLE_EXECS };

static const struct table tables[] = {
	[TABLE_PROCESSES] =
		{
			.name = "processes",
			.about = "process",
			.columns = "pid INTEGER, start_ns INTEGER, parent INTEGER, comm TEXT, "
				   "exe TEXT, uid INTEGER, cgroup TEXT, container TEXT, unit TEXT, "
				   "pod TEXT, service TEXT, pid_ns INTEGER, mnt_ns INTEGER, "
				   "net_ns INTEGER, is_kernel INTEGER, exit_code INTEGER, "
				   "end_ns INTEGER, PRIMARY KEY (pid, start_ns)",
			.width = 17,
		},
	[TABLE_EXECS] =
		{
			.name = "execs",
			.about = "exec",
			.columns = "ts_ns INTEGER, pid INTEGER, start_ns INTEGER, parent INTEGER, "
				   "exe TEXT, PRIMARY KEY (ts_ns, pid)",
			.width = 5,
		},
};

static struct process_row *find(struct process_book *book, u32 pid, u64 start_ns)
{
	for (u32 at = *process_bucket(book, pid); at; at = book->rows[at - 1].next)
		if (book->rows[at - 1].pid == pid && book->rows[at - 1].start_ns == start_ns)
			return &book->rows[at - 1];
	return NULL;
}

static struct process_row *add(struct process_book *book, u32 pid, u64 start_ns)
{
	struct process_row *row;
	u32 at = book->free;

	if (at)
		book->free = book->rows[at - 1].next;
	else if (book->high_water < PROCESSES_MAX)
		at = ++book->high_water;
	if (!at) {
		book->not_kept++;
		return NULL;
	}
	row = &book->rows[at - 1];
	*row = (struct process_row){.pid = pid, .start_ns = start_ns, .is_used = true};
	row->next = *process_bucket(book, pid);
	*process_bucket(book, pid) = at;
	book->known++;
	return row;
}

static void forget(struct process_book *book, struct process_row *row)
{
	u32 place = (u32)(row - book->rows) + 1;
	u32 *link = process_bucket(book, row->pid);

	while (*link != place)
		link = &book->rows[*link - 1].next;
	*link = row->next;
	row->is_used = false;
	row->next = book->free;
	book->free = place;
	book->known--;
}

static void note_exec(struct process_book *book, const struct rec_process *rec)
{
	struct exec_row *exec = &book->execs[book->exec_count];

	if (book->exec_count == EXECS_MAX) {
		book->execs_lost++;
		return;
	}
	book->exec_count++;
	exec->ts_ns = rec->hdr.ts_ns;
	exec->start_ns = rec->hdr.start_ns;
	exec->pid = rec->hdr.tgid;
	exec->parent = rec->parent;
	memcpy(exec->exe, rec->exe, sizeof(exec->exe));
}

/* What a record says of a process at any time. */
static void take_facts(const struct process_book *book, struct process_row *row,
		       const struct rec_process *rec)
{
	/* On v1 a process may have moved without a change of its id in v2. */
	bool may_have_moved =
		rec->event == PROCESS_EXECED && row->path && !book->paths[row->path - 1].cgroup;

	if (row->cgroup != rec->cgroup || may_have_moved) {
		row->cgroup = rec->cgroup;
		row->path = 0;
		row->is_looked_up = row->is_wanted = false;
	}
	row->parent = rec->parent;
	row->uid = rec->uid;
	row->pid_ns = rec->pid_ns;
	row->mnt_ns = rec->mnt_ns;
	row->net_ns = rec->net_ns;
	row->is_kernel = rec->is_kernel != 0;
	row->is_changed = true;
	memcpy(row->comm, rec->comm, sizeof(row->comm));
}

/* Until it execs, a child runs what its parent does, in the same place. */
static void inherit(struct process_row *row, const struct process_row *parent)
{
	memcpy(row->exe, parent->exe, sizeof(row->exe));
	if (parent->path && parent->cgroup == row->cgroup)
		row->path = parent->path;
}

/* Another process has its number: it has ended, and the record of that was lost. */
static void retire_before(struct process_book *book, const struct rec_hdr *record)
{
	struct process_row *before = process_find_pid(book, record->tgid);

	if (!before || before->end_ns || before->is_vanished ||
	    before->start_ns >= record->start_ns)
		return;
	before->is_vanished = true;
	book->vanished++;
}

static void on_record(void *state, const struct rec_hdr *record)
{
	const struct rec_process *rec = (const struct rec_process *)record;
	struct process_book *book = state;
	struct process_row *row = find(book, record->tgid, record->start_ns);
	const struct process_row *parent;

	if (rec->event == PROCESS_EXECED)
		note_exec(book, rec);
	if (row && row->end_ns)
		return; /* seen by the iterator, when its end was told already */
	if (!row) {
		retire_before(book, record);
		parent = process_find_pid(book, rec->parent);
		row = add(book, record->tgid, record->start_ns);
		if (!row)
			return;
		take_facts(book, row, rec);
		if (parent)
			inherit(row, parent);
	}
	take_facts(book, row, rec);
	if (rec->exe[0])
		memcpy(row->exe, rec->exe, sizeof(row->exe));
	if (rec->event == PROCESS_ENDED) {
		row->end_ns = record->ts_ns;
		row->exit_code = rec->exit_code;
	}
}

static void write_process(const struct process_book *book, const struct process_row *row,
			  struct sink *sink)
{
	const char *path = row->path ? book->paths[row->path - 1].path : "";
	const struct cell none = {.kind = CELL_NULL};
	char service[SERVICE_BYTES], exe[PATH_BYTES];
	struct cgroup_name name;

	cgroup_name_parse(path, &name);
	memcpy(exe, row->exe, sizeof(exe));
	exe[sizeof(exe) - 1] = '\0';
	cgroup_name_service(&name, exe, service, sizeof(service));

	const struct cell cells[] = {
		cell_number(row->pid),
		cell_number(row->start_ns),
		cell_number(row->parent),
		cell_text(row->comm, sizeof(row->comm)),
		cell_text(exe, sizeof(exe)),
		cell_number(row->uid),
		cell_text(path, CGROUP_PATH_BYTES),
		cell_text(name.container, sizeof(name.container)),
		cell_text(name.unit, sizeof(name.unit)),
		cell_text(name.pod, sizeof(name.pod)),
		cell_text(service, sizeof(service)),
		cell_number(row->pid_ns),
		cell_number(row->mnt_ns),
		cell_number(row->net_ns),
		cell_number(row->is_kernel),
		row->end_ns ? cell_number((u64)(s64)row->exit_code) : none,
		row->end_ns ? cell_number(row->end_ns) : none,
	};
	_Static_assert(ARRAY_SIZE(cells) == 17, "as many as the table has columns");

	sink->add(sink, &tables[TABLE_PROCESSES], cells);
}

static void write_exec(const struct exec_row *exec, struct sink *sink)
{
	const struct cell cells[] = {
		cell_number(exec->ts_ns),
		cell_number(exec->pid),
		cell_number(exec->start_ns),
		cell_number(exec->parent),
		cell_text(exec->exe, sizeof(exec->exe)),
	};

	sink->add(sink, &tables[TABLE_EXECS], cells);
}

/*
 * What changed is written. A process that has ended stays for one more window: the row that the
 * iterator wrote of it may come after its end, and must not bring it back to life.
 */
static void flush(void *state, u64 window, struct sink *sink)
{
	struct process_book *book = state;

	(void)window;
	process_find_places(book);
	for (u32 i = 0; i < book->high_water; i++) {
		struct process_row *row = &book->rows[i];

		if (!row->is_used)
			continue;
		if (row->is_changed)
			write_process(book, row, sink);
		else if (row->end_ns || row->is_vanished)
			forget(book, row);
		row->is_changed = false;
	}
	for (u32 i = 0; i < book->exec_count; i++)
		write_exec(&book->execs[i], sink);
	book->exec_count = 0;
}

/* Its cgroup's number is not in the session: it is looked up when a record names it. */
static bool take_known(void *context, const struct cell *cells)
{
	struct process_book *book = context;
	struct process_row *row =
		add(book, (u32)cell_as_number(&cells[0]), cell_as_number(&cells[1]));

	if (!row)
		return false;
	row->parent = (u32)cell_as_number(&cells[2]);
	row->uid = (u32)cell_as_number(&cells[3]);
	row->pid_ns = (u32)cell_as_number(&cells[4]);
	row->mnt_ns = (u32)cell_as_number(&cells[5]);
	row->net_ns = (u32)cell_as_number(&cells[6]);
	row->is_kernel = cell_as_number(&cells[7]);
	text_copy(row->comm, sizeof(row->comm), cell_as_text(&cells[8]));
	text_copy(row->exe, sizeof(row->exe), cell_as_text(&cells[9]));
	process_know_path(book, row, cell_as_text(&cells[10]));
	return true;
}

static void resume(void *state, const struct resumed *resumed)
{
	resumed->source->each(resumed->source,
			      "pid, start_ns, parent, uid, pid_ns, mnt_ns, net_ns, is_kernel, "
			      "comm, exe, cgroup",
			      11, "processes WHERE end_ns IS NULL", take_known, state);
}

/* The next file gets all that live, and those whose threads may still be heard of. */
static void renew(void *state, u64 window, struct sink *sink)
{
	struct process_book *book = state;

	(void)window;
	(void)sink;
	for (u32 i = 0; i < book->high_water; i++)
		book->rows[i].is_changed = true;
}

static const struct probe probes[] = {
	{.program = "process_fork", .is_rare = true, .maps = {PROBE_TASKS}},
	{.program = "process_exec", .is_rare = true, .maps = {PROBE_TASKS}},
	{.program = "process_exit", .is_rare = true, .maps = {PROBE_TASKS}},
	{.program = "process_seed",
	 .is_rare = true,
	 .kind = PROBE_ITER,
	 .run = RUN_AT_START,
	 .tells_again = true,
	 .maps = {"process_scratch", PROBE_TASKS}},
};

static const struct signal_loss losses[] = {
	{"process_no_place", "more live processes than the limit: these are not named",
	 offsetof(struct process_book, not_kept)},
	{"process_execs", "more execs in a window than the limit: these are missing",
	 offsetof(struct process_book, execs_lost)},
	{"process_paths", "more cgroups than the limit: their processes have none",
	 offsetof(struct process_book, paths_lost)},
};

const struct signal signal_process = {
	.about = "processes: seen, forked, execed, ended",
	.probes = probes,
	.probe_count = ARRAY_SIZE(probes),
	.role = ROLE_BASE,
	.price = "about 0.6 us per new process, 0.8 us per end, 2 to 3 us per exec",
	.state_size = sizeof(struct process_book),
	.on_record = on_record,
	.tables = tables,
	.table_count = ARRAY_SIZE(tables),
	.flush = flush,
	.renew = renew,
	.resume = resume,
	.want_cgroups = process_want_cgroups,
	.take_cgroup = process_take_cgroup,
	.losses = losses,
	.loss_count = ARRAY_SIZE(losses),
};
