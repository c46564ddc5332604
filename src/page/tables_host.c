// SPDX-License-Identifier: Apache-2.0
/* System calls, hot functions, execs and CPUs. */
#include <errno.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>

#include "../base/cleanup.h"
#include "../report/execs.h"
#include "../report/stacks.h"
#include "table.h"

#define CALL_SUMS_MAX 400000 /* by process and name */
#define FUNCTIONS_MAX 1000000

/* Calls of a process of one name; opens with its key. */
struct call_sum {
	u32 process, call;
	/* the key ends here */
	u64 count, failed, cpu_ns, total_ns;
};

static int calls_by_total(const void *a, const void *b)
{
	const struct call_sum *x = a, *y = b;

	if (x->total_ns != y->total_ns)
		return x->total_ns > y->total_ns ? -1 : 1;
	return memcmp(x, y, offsetof(struct call_sum, count));
}

static int sum_calls(const struct digest *digest, struct hash *sums, u64 *left_out)
{
	for (size_t i = 0; i < digest->calls.count; i++) {
		const struct call *call = hash_item(&digest->calls, i);
		const struct thread *thread = &digest->threads[call->thread];
		struct call_sum *sum;

		if (!digest_shows(digest, thread))
			continue;
		sum = hash_add(sums, &(u32[]){thread->process, call->call});
		if (!sum && !hash_is_full(sums))
			return -ENOMEM;
		if (!sum) {
			++*left_out;
			continue;
		}
		sum->count += call->count;
		sum->failed += call->failed;
		sum->cpu_ns += call->cpu_ns;
		sum->total_ns += call->total_ns;
	}
	if (sums->count)
		qsort(sums->items, sums->count, sizeof(struct call_sum), calls_by_total);
	return 0;
}

int tables_calls(struct table_list *list)
{
	enum { PROCESS, CALL, COUNT, FAILED, TOTAL, CPU, MEAN };
	static const struct table_column columns[] = {
		[PROCESS] = {"process", "", TABLE_PROCESS},
		[CALL] = {"call", "system call", TABLE_TEXT},
		[COUNT] = {"count", "calls", TABLE_COUNT},
		[FAILED] = {"failed", "", TABLE_COUNT},
		[TOTAL] = {"total_ns", "in all", TABLE_NS},
		[CPU] = {"cpu_ns", "on a CPU", TABLE_NS},
		[MEAN] = {"mean_ns", "mean", TABLE_NS},
	};
	struct page_table table = {.id = "calls",
				   .tab = "calls",
				   .title = "System calls",
				   .about = "by process, most time first; Tier B counts them",
				   .columns = columns,
				   .column_count = ARRAY_SIZE(columns)};
	const struct digest *digest = list->data->digest;
	struct hash sums;

	hash_init(&sums, sizeof(struct call_sum), 2 * sizeof(u32), CALL_SUMS_MAX);
	table_begin(list, &table);
	table.err = sum_calls(digest, &sums, &table.left_out);
	for (size_t i = 0; i < sums.count; i++) {
		const struct call_sum *sum = hash_item(&sums, i);
		char name[64];

		if (!table_row(&table))
			continue;
		table_at(&table, PROCESS, list->data->process_at[sum->process]);
		table_text(&table, CALL, digest_call_name(digest, sum->call, name, sizeof(name)));
		table_number(&table, COUNT, (s64)sum->count);
		table_number(&table, FAILED, (s64)sum->failed);
		table_number(&table, TOTAL, (s64)sum->total_ns);
		table_number(&table, CPU, (s64)sum->cpu_ns);
		if (sum->count)
			table_number(&table, MEAN, (s64)(sum->total_ns / sum->count));
	}
	hash_free(&sums);
	return table_end(list, &table);
}

/* A function in the samples of one kind; opens with its key. */
struct hot {
	u32 kind, function;
	/* the key ends here */
	u64 self_ns, total_ns, self, total;
};

static int by_self(const void *a, const void *b)
{
	const struct hot *x = a, *y = b;

	if (x->kind != y->kind)
		return x->kind < y->kind ? -1 : 1;
	if (x->self_ns != y->self_ns)
		return x->self_ns > y->self_ns ? -1 : 1;
	if (x->total_ns != y->total_ns)
		return x->total_ns > y->total_ns ? -1 : 1;
	return x->function < y->function ? -1 : x->function > y->function;
}

static int add_group(const struct profile *profile, const struct stack_group *group,
		     struct hash *hots)
{
	static const struct report_options options = {.by = STACKS_BY_FUNCTION};
	struct hash parts;
	double weighted;
	int err = stacks_parts(profile, group, &options, &parts, &weighted);

	for (size_t i = 0; !err && i < parts.count && !hash_is_full(hots); i++) {
		const struct stack_part *part = hash_item(&parts, i);
		struct hot *hot = hash_add(hots, &(u32[]){group->kind, part->index});

		if (!hot) {
			err = -ENOMEM;
			break;
		}
		hot->self_ns += part->self.weight_ns;
		hot->total_ns += part->total.weight_ns;
		hot->self += part->self.count;
		hot->total += part->total.count;
	}
	hash_free(&parts);
	return err;
}

enum { HOT_NAME, HOT_MODULE, HOT_SELF_NS, HOT_SHARE, HOT_TOTAL_NS, HOT_TOTAL_SHARE, HOT_SAMPLES };

static void fill_hot(struct page_table *table, const struct hot *hot, u64 whole_ns)
{
	const struct profile *profile = &table->data->digest->profile;
	const struct profile_function *function = profile_function(profile, hot->function);

	table_text(table, HOT_NAME, profile_text(profile, function->name));
	table_text(table, HOT_MODULE, profile_module_name(profile, function->module));
	table_number(table, HOT_SELF_NS, (s64)hot->self_ns);
	table_number(table, HOT_TOTAL_NS, (s64)hot->total_ns);
	table_number(table, HOT_SAMPLES, (s64)hot->total);
	if (whole_ns) {
		table_real(table, HOT_SHARE, 100.0 * (double)hot->self_ns / (double)whole_ns);
		table_real(table, HOT_TOTAL_SHARE,
			   100.0 * (double)hot->total_ns / (double)whole_ns);
	}
}

static int write_hot(struct table_list *list, const struct hash *hots, u32 kind, u64 whole_ns)
{
	static const struct table_column columns[] = {
		[HOT_NAME] = {"function", "", TABLE_TEXT},
		[HOT_MODULE] = {"module", "", TABLE_TEXT},
		[HOT_SELF_NS] = {"self_ns", "self", TABLE_NS},
		[HOT_SHARE] = {"self_percent", "self %", TABLE_PERCENT},
		[HOT_TOTAL_NS] = {"total_ns", "with what it calls", TABLE_NS},
		[HOT_TOTAL_SHARE] = {"total_percent", "with calls %", TABLE_PERCENT},
		[HOT_SAMPLES] = {"samples", "", TABLE_COUNT},
	};
	bool is_cpu = kind == SAMPLE_CPU;
	struct page_table table = {
		.id = is_cpu ? "functions" : "functions_blocked",
		.tab = "functions",
		.title = is_cpu ? "Functions on a CPU" : "Functions that waited",
		.about = "by the weight of samples; shares are of all samples of the "
			 "kind",
		.columns = columns,
		.column_count = ARRAY_SIZE(columns)};

	table_begin(list, &table);
	for (size_t i = 0; i < hots->count; i++) {
		const struct hot *hot = hash_item(hots, i);

		if (hot->kind == kind && table_row(&table))
			fill_hot(&table, hot, whole_ns);
	}
	return table_end(list, &table);
}

int tables_functions(struct table_list *list)
{
	const struct profile *profile = &list->data->digest->profile;
	struct stack_group groups[STACK_GROUPS_MAX];
	size_t count = stacks_groups(profile, groups);
	u64 whole_ns[PROFILE_KINDS] = {0};
	struct hash hots;
	int err = 0;

	hash_init(&hots, sizeof(struct hot), 2 * sizeof(u32), FUNCTIONS_MAX);
	for (size_t i = 0; !err && i < count; i++) {
		whole_ns[groups[i].kind % PROFILE_KINDS] += groups[i].sum.weight_ns;
		err = add_group(profile, &groups[i], &hots);
	}
	if (hots.count)
		qsort(hots.items, hots.count, sizeof(struct hot), by_self);
	for (u32 kind = 0; !err && kind < SAMPLE_KIND_COUNT; kind++)
		err = write_hot(list, &hots, kind, whole_ns[kind]);
	hash_free(&hots);
	return err;
}

static void status_text(const struct exec_fate *fate, char *buf, size_t size)
{
	if (fate->is_replaced)
		snprintf(buf, size, "exec");
	else if (fate->has_status && WIFSIGNALED(fate->status))
		snprintf(buf, size, "signal %d", WTERMSIG(fate->status));
	else if (fate->has_status)
		snprintf(buf, size, "exit %d", WEXITSTATUS(fate->status));
	else
		snprintf(buf, size, "%s", fate->is_over ? "ended" : "runs on");
}

int tables_execs(struct table_list *list)
{
	enum { AT, EXE, PROCESS, PID, PARENT, LIFETIME, STATUS };
	static const struct table_column columns[] = {
		[AT] = {"at_ns", "at", TABLE_TIME},
		[EXE] = {"exe", "program", TABLE_TEXT},
		[PROCESS] = {"process", "", TABLE_PROCESS},
		[PID] = {"pid", "", TABLE_ID},
		[PARENT] = {"parent", "", TABLE_ID},
		[LIFETIME] = {"lifetime_ns", "lifetime", TABLE_NS},
		[STATUS] = {"status", "", TABLE_TEXT},
	};
	struct page_table table = {.id = "execs",
				   .tab = "execs",
				   .title = "Programs that were started",
				   .about = "each exec, in order",
				   .columns = columns,
				   .column_count = ARRAY_SIZE(columns)};
	const struct digest *digest = list->data->digest;

	table_begin(list, &table);
	for (size_t i = 0; i < digest->exec_count; i++) {
		const struct exec *exec = &digest->execs[i];
		struct exec_fate fate;
		char status[32];

		if (!exec_is_shown(digest, exec) || !table_row(&table))
			continue;
		exec_fate(digest, exec, &fate);
		status_text(&fate, status, sizeof(status));
		table_number(&table, AT, (s64)page_time(list->data, exec->ts_ns));
		table_text(&table, EXE, exec->exe);
		table_at(&table, PROCESS, page_pid_at(list->data, exec->pid, exec->start_ns));
		table_number(&table, PID, exec->pid);
		table_number(&table, PARENT, exec->parent);
		table_number(&table, LIFETIME, (s64)fate.lifetime_ns);
		table_text(&table, STATUS, status);
	}
	return table_end(list, &table);
}

int tables_cpus(struct table_list *list)
{
	enum { CPU, QUEUE = 1 + CPU_USE_COUNT, SWITCHES, MISSED, COLUMNS };
	static const struct table_column columns[COLUMNS] = {
		[CPU] = {"cpu", "CPU", TABLE_ID},
#define CPU_USE(NAME, name, meaning) [1 + CPU_USE_##NAME] = {name, "", TABLE_NS},
#include "../../abi/cpu_uses.def"
#undef CPU_USE
		[QUEUE] = {"queue_ns", "waited for it", TABLE_NS},
		[SWITCHES] = {"switches", "", TABLE_COUNT},
		[MISSED] = {"missed", "", TABLE_COUNT},
	};
	struct page_table table = {.id = "cpus",
				   .tab = "cpus",
				   .title = "CPUs",
				   .about = "what each one did; waited for it: threads, added up",
				   .columns = columns,
				   .column_count = COLUMNS};
	const struct digest *digest = list->data->digest;

	table_begin(list, &table);
	for (size_t i = 0; i < digest->cpus.count; i++) {
		const struct cpu_row *cpu = hash_item(&digest->cpus, i);

		if (!table_row(&table))
			continue;
		table_number(&table, CPU, (s64)cpu->cpu);
		for (size_t use = 0; use < CPU_USE_COUNT; use++)
			table_number(&table, 1 + use, (s64)cpu->ns[use]);
		table_number(&table, QUEUE, (s64)cpu->queue_ns);
		table_number(&table, SWITCHES, (s64)cpu->switches);
		table_number(&table, MISSED, (s64)cpu->missed);
	}
	return table_end(list, &table);
}
