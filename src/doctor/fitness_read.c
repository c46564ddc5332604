// SPDX-License-Identifier: Apache-2.0
/* What a session says of its own quality; but for its samples, which are read by themselves. */
#include <string.h>

#include "../base/cleanup.h"
#include "../base/text.h"
#include "../base/utf8.h"
#include "../store/query.h"
#include "../store/windows.h"
#include "fitness.h"

static void list_add(struct fitness_list *list, const char *name)
{
	size_t used = strlen(list->text);
	char shown[64];

	utf8_escape(shown, sizeof(shown), name);
	if (used + strlen(shown) + 8 < sizeof(list->text))
		snprintf(list->text + used, sizeof(list->text) - used, "%s%s", used ? ", " : "",
			 shown);
	else if (used && used + 5 < sizeof(list->text) && strcmp(list->text + used - 3, "...") != 0)
		strcat(list->text, " ...");
	list->count++;
}

/* Facts that are numbers, by their place. */
static const struct {
	const char *key;
	size_t at;
	bool adds_up;
} numbers[] = {
	{"cpus", offsetof(struct fitness, cpus), false},
	{"freq", offsetof(struct fitness, freq), false},
	{"min_block_ns", offsetof(struct fitness, min_block_ns), false},
	{"steal_ns", offsetof(struct fitness, steal_ns), false},
	{"ingest_replaced", offsetof(struct fitness, replaced), true},
	{"symbolizer_replaced", offsetof(struct fitness, replaced), true},
	{"opener_replaced", offsetof(struct fitness, replaced), true},
};

static int on_meta(sqlite3_stmt *row, void *context)
{
	struct fitness *fitness = context;
	char key[64], value[256];

	query_text(row, 0, key, sizeof(key));
	query_text(row, 1, value, sizeof(value));
	for (size_t i = 0; i < ARRAY_SIZE(numbers); i++) {
		u64 *to = (u64 *)(void *)((char *)fitness + numbers[i].at), number;

		if (strcmp(key, numbers[i].key) != 0 ||
		    text_parse_u64(value, 0, 1ULL << 62, &number))
			continue;
		*to = numbers[i].adds_up ? *to + number : number;
	}
	if (!strcmp(key, "run_id"))
		text_copy(fitness->run_id, sizeof(fitness->run_id), value);
	if (!strcmp(key, "cost_unknown"))
		utf8_escape(fitness->cost_unknown, sizeof(fitness->cost_unknown), value);
	fitness->has_end |= !strcmp(key, "ended_ns");
	return 0;
}

/* Names that came too late are no records: they are counted where names are. */
static bool is_of_names(const char *cause)
{
	return !strcmp(cause, "frames_unnamed") || !strcmp(cause, "lines_refused");
}

/* Of records; else a table was full, or a stack is missing: the rest of the window is right. */
static bool is_of_records(const char *cause)
{
	for (int i = 0; i < LOSS_COUNT; i++)
		if (!strcmp(cause, loss_names[i]))
			return true;
	return false;
}

static int on_loss(sqlite3_stmt *row, void *context)
{
	struct fitness *fitness = context;
	u64 windows = query_count(row, 2), lost = query_count(row, 1);
	char cause[64];

	query_text(row, 0, cause, sizeof(cause));
	if (is_of_names(cause) || !lost)
		return 0;
	list_add(&fitness->losses, cause);
	fitness->lost += lost;
	if (is_of_records(cause) && windows > fitness->loss_windows)
		fitness->loss_windows = windows;
	return 0;
}

struct hooks {
	struct fitness *fitness;
	char stand_ins[4096]; /* " name " of each hook that another one does the work of */
};

static int on_fallback(sqlite3_stmt *row, void *context)
{
	struct hooks *hooks = context;
	size_t used = strlen(hooks->stand_ins);
	char name[64];

	query_text(row, 0, name, sizeof(name));
	if (*name && query_count(row, 1))
		snprintf(hooks->stand_ins + used, sizeof(hooks->stand_ins) - used, " %s ", name);
	return 0;
}

static int on_hook(sqlite3_stmt *row, void *context)
{
	struct hooks *hooks = context;
	bool is_attached = query_count(row, 1), has_failed = !query_is_null(row, 2);
	bool is_silent = !query_is_null(row, 3) && !query_count(row, 3) && !query_count(row, 4);
	char name[64], word[72];

	query_text(row, 0, name, sizeof(name));
	snprintf(word, sizeof(word), " %s ", name);
	if (is_attached && is_silent)
		list_add(&hooks->fitness->silent, name);
	if (!is_attached && has_failed && !strstr(hooks->stand_ins, word))
		list_add(&hooks->fitness->refused, name);
	return 0;
}

static int on_cover(sqlite3_stmt *row, void *context)
{
	struct fitness *fitness = context;
	u64 covered = query_count(row, 1), total = query_count(row, 2);
	u64 thinned = query_count(row, 3);
	char part[64];

	query_text(row, 0, part, sizeof(part));
	if (thinned > fitness->thinned)
		fitness->thinned = thinned;
	/* One that began with the session has missed no more than its start. */
	if (!total || (double)covered >= 0.99 * (double)total)
		return 0;
	list_add(&fitness->partial, part);
	if ((double)covered / (double)total < fitness->least_cover)
		fitness->least_cover = (double)covered / (double)total;
	return 0;
}

static int on_steps(sqlite3_stmt *row, void *context)
{
	((struct fitness *)context)->steps = query_count(row, 0);
	return 0;
}

static int on_overhead(sqlite3_stmt *row, void *context)
{
	struct fitness *fitness = context;

	fitness->overhead_windows = query_count(row, 0);
	fitness->bpf_windows = query_count(row, 1);
	fitness->bpf_ns = query_count(row, 2);
	fitness->user_cpu_ns = query_count(row, 3);
	return 0;
}

struct ledger {
	s64 unattributed; /* the state's number there */
	u64 all_ns, unattributed_ns;
};

static int on_state_name(sqlite3_stmt *row, void *context)
{
	struct ledger *ledger = context;
	char name[64];

	query_text(row, 1, name, sizeof(name));
	if (!strcmp(name, "unattributed"))
		ledger->unattributed = sqlite3_column_int64(row, 0);
	return 0;
}

static int on_state(sqlite3_stmt *row, void *context)
{
	struct ledger *ledger = context;
	s64 ns = sqlite3_column_int64(row, 1);

	/* Single rows may be negative: they correct others. The sums are not. */
	ledger->all_ns += (u64)ns;
	if (sqlite3_column_int64(row, 0) == ledger->unattributed)
		ledger->unattributed_ns += (u64)ns;
	return 0;
}

static u64 not_negative(u64 sum)
{
	return (s64)sum < 0 ? 0 : sum;
}

static int read_ledger(sqlite3 *db, struct fitness *fitness)
{
	struct ledger ledger = {.unattributed = -1};
	int err = query_table(db, "states", "id, name", NULL, on_state_name, &ledger);

	if (!err)
		err = query_table(db, "ledger", "state, ns", NULL, on_state, &ledger);
	fitness->ledger_ns = not_negative(ledger.all_ns);
	fitness->unattributed_ns = not_negative(ledger.unattributed_ns);
	return err;
}

static int read_hooks(sqlite3 *db, struct fitness *fitness)
{
	struct hooks hooks = {.fitness = fitness};
	int err = query_table(db, "hooks", "fallback_of, attached", NULL, on_fallback, &hooks);
	/* A session of before 1.4 does not say which hooks are rare: none of them counts as silent.
	 */
	const char *columns = query_has_column(db, "hooks", "is_rare")
				      ? "hook, attached, failure, events, is_rare"
				      : "hook, attached, failure, events, 1";

	return err ? err : query_table(db, "hooks", columns, "hook", on_hook, &hooks);
}

static int read_windows(sqlite3 *db, struct fitness *fitness)
{
	struct windows windows = {0};
	int err = windows_read(db, &windows);

	fitness->windows = windows.count;
	fitness->wall_ns =
		windows.end_ns > windows.begin_ns ? windows.end_ns - windows.begin_ns : 0;
	return err;
}

int fitness_read(sqlite3 *db, struct fitness *ret_fitness)
{
	struct fitness *fitness = ret_fitness;
	int err;

	*fitness = (struct fitness){.least_cover = 1};
	err = query_table(db, "meta", "key, value", NULL, on_meta, fitness);
	fitness->has_stacks = fitness->freq;
	if (!err)
		err = read_windows(db, fitness);
	if (!err)
		err = query_groups(db, "losses", "cause, sum(count), count(DISTINCT window)",
				   "cause", "2 DESC", on_loss, fitness);
	if (!err)
		err = read_hooks(db, fitness);
	if (!err)
		err = query_table(db, "coverage", "part, covered_ns, total_ns, thinned",
				  "covered_ns", on_cover, fitness);
	if (!err)
		err = query_table(db, "steps", "count(*)", NULL, on_steps, fitness);
	if (!err)
		err = query_table(db, "overhead",
				  "count(*), count(bpf_ns), sum(bpf_ns), sum(user_cpu_ns)", NULL,
				  on_overhead, fitness);
	if (!err)
		err = read_ledger(db, fitness);
	return err ? err : fitness_read_samples(db, fitness);
}
