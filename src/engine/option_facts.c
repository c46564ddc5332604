// SPDX-License-Identifier: Apache-2.0
#include "option_facts.h"

#include <stdio.h>
#include <string.h>

#include "../model/signal.h"

#define VALUE_BYTES 1024

const char *const server_model_names[SERVER_MODEL_COUNT] = {
#define MODEL(NAME, name) name,
	SERVER_MODELS(MODEL)
#undef MODEL
};

struct facts {
	void (*add)(void *context, const char *key, const char *value);
	void *context;
};

static void add_fact(const struct facts *facts, const char *key, const char *value)
{
	facts->add(facts->context, key, value);
}

static void add_number(const struct facts *facts, const char *key, u64 number)
{
	char text[24];

	snprintf(text, sizeof(text), "%llu", (unsigned long long)number);
	add_fact(facts, key, text);
}

static void add_labels(const struct facts *facts, const struct engine_options *options)
{
	for (size_t i = 0; i < options->label_count; i++) {
		const char *label = options->labels[i];
		char key[VALUE_BYTES];

		snprintf(key, sizeof(key), "label.%.*s", (int)strcspn(label, "="), label);
		add_fact(facts, key, strchr(label, '=') + 1);
	}
}

static void add_stacks(const struct facts *facts, const struct stack_options *stacks,
		       u64 stack_one_in)
{
	add_number(facts, "freq", stacks->is_off ? 0 : stacks->freq);
	if (stacks->is_off)
		return;
	add_number(facts, "min_block_ns", stacks->min_block_ns);
	add_number(facts, "seed", stacks->seed);
	if (stack_one_in)
		add_number(facts, "stack_one_in", stack_one_in);
}

struct option_rows {
	const struct facts *facts;
	u32 count;
};

static void add_option(void *context, const char *text)
{
	struct option_rows *rows = context;
	char key[32];

	snprintf(key, sizeof(key), "option.%u", rows->count++);
	add_fact(rows->facts, key, text);
}

static void add_signals(const struct facts *facts, const struct signal_options *signals)
{
	char list[VALUE_BYTES] = "";

	for (int id = 1; id < SIGNAL_LIMIT; id++)
		if (signals->chosen >> id & 1)
			snprintf(list + strlen(list), sizeof(list) - strlen(list), "%s%s",
				 *list ? "," : "", signal_rows[id].name);
	if (!*list)
		return;
	add_fact(facts, "signals", list);
	add_number(facts, "slow_ns", signals->slow_ns);
	add_number(facts, "pair_limit_ns", signals->pair_limit_ns);
	add_fact(facts, "server_model", server_model_names[signals->server_model]);
}

static void add_alloc(const struct facts *facts, const struct engine_options *options)
{
	if (!options->alloc.is_chosen)
		return;
	add_number(facts, "alloc_every", options->alloc.interval);
	add_number(facts, "alloc_kernel_bytes", options->alloc.kernel_bytes);
	add_number(facts, "alloc_live", options->alloc.live);
	add_number(facts, "alloc_force", options->alloc.force);
}

/* As they were typed, and what they mean: defaults may change with the next version. */
static void add_options(const struct facts *facts, const struct engine_options *options)
{
	struct option_rows rows = {.facts = facts};
	size_t cut = run_again_list(&options->again, add_option, &rows);

	add_fact(facts, "kind", options->again.command);
	if (*options->run_id)
		add_fact(facts, "run_id", options->run_id);
	if (cut)
		add_number(facts, "options_cut", cut);
	if (options->warmup_ns)
		add_number(facts, "warmup_ns", options->warmup_ns);
	add_number(facts, "duration_ns", options->duration_ns);
	add_number(facts, "no_stacks", options->stacks.is_off);
	add_number(facts, "lines", options->stacks.lines);
	add_number(facts, "inline", options->stacks.inlines);
	add_signals(facts, &options->signals);
	add_alloc(facts, options);
}

void option_facts_add(const struct engine_options *options,
		      void (*add)(void *context, const char *key, const char *value), void *context)
{
	const struct facts facts = {add, context};

	add_stacks(&facts, &options->stacks, options->signals.stack_one_in);
	add_options(&facts, options);
	add_fact(&facts, "note", options->note);
	add_labels(&facts, options);
}
