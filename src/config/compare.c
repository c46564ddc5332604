// SPDX-License-Identifier: Apache-2.0
#include "compare.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../base/cleanup.h"
#include "../base/utf8.h"

#define TEXT_BYTES  512
#define BUILD_SHOWN 12 /* digits */

/* Facts of meta that say how and where it was measured; in words. */
static const struct {
	const char *key, *what;
} compared[] = {
	{"host", "host"},
	{"machine", "machine"},
	{"kernel", "kernel"},
	{"cpus", "CPUs"},
	{"tick_ns", "scheduler tick (ns)"},
	{"dwell_version", "dwell's version"},
	{"dwell_build_id", "dwell's build"},
	{"command", "command"},
	{"filter", "measured tasks"},
	{"tier", "tier"},
	{"max_overhead", "--max-overhead"},
	{"freq", "sampling rate (Hz)"},
	{"min_block_ns", "--min-block (ns)"},
	{"stack_one_in", "--stacks 1/N"},
	{"no_stacks", "--no-stacks"},
	{"lines", "--lines"},
	{"inline", "--inline"},
	{"signals", "signals"},
	{"slow_ns", "--slow (ns)"},
	{"pair_limit_ns", "--pair-limit (ns)"},
	{"server_model", "--server-model"},
	{"duration_ns", "--duration (ns)"},
	{"warmup_ns", "--warmup (ns)"},
	{"window_ns", "window (ns)"},
	{"alloc_every", "--alloc-every"},
	{"alloc_kernel_bytes", "--kernel"},
	{"alloc_live", "--live"},
	{"alloc_force", "--force"},
};

/* Facts in order, so that two lists are compared in one pass, however long. */
struct sorted {
	struct fact *facts;
	size_t count;
};

struct comparing {
	void (*on_difference)(void *context, const char *text);
	void *context;
	struct comparison *result;
};

static int in_order(const void *a, const void *b)
{
	const struct fact *one = a, *other = b;
	int order = one->kind - other->kind;

	if (!order)
		order = strcmp(one->key, other->key);
	return order ? order : strcmp(one->value, other->value);
}

static int sort(const struct session_facts *facts, struct sorted *ret_sorted)
{
	struct fact fact;
	size_t count = 0;

	for (size_t at = 0; session_facts_next(facts, &at, &fact);)
		count++;
	ret_sorted->count = 0;
	ret_sorted->facts = calloc(count + 1, sizeof(fact));
	if (!ret_sorted->facts)
		return -ENOMEM;
	/* Not more than were counted: the memory is another process's, too. */
	for (size_t at = 0; ret_sorted->count < count && session_facts_next(facts, &at, &fact);)
		ret_sorted->facts[ret_sorted->count++] = fact;
	qsort(ret_sorted->facts, ret_sorted->count, sizeof(fact), in_order);
	return 0;
}

static void tell(struct comparing *comparing, const char *what, const char *there, const char *here)
{
	char text[2 * TEXT_BYTES], name[TEXT_BYTES / 2], one[TEXT_BYTES / 2], other[TEXT_BYTES / 2];

	utf8_escape(name, sizeof(name), what);
	utf8_escape(one, sizeof(one), *there ? there : "none");
	utf8_escape(other, sizeof(other), *here ? here : "none");
	snprintf(text, sizeof(text), "%s: %s there, %s here", name, one, other);
	comparing->result->differences++;
	comparing->on_difference(comparing->context, text);
}

static void compare_options(struct comparing *comparing, const struct session_facts *there,
			    const struct session_facts *here)
{
	for (size_t i = 0; i < ARRAY_SIZE(compared); i++) {
		const char *one = session_facts_meta(there, compared[i].key);
		const char *other = session_facts_meta(here, compared[i].key);

		/* A session of before dwell stored its build has none to compare. */
		if (!strcmp(compared[i].key, "dwell_build_id") && (!*one || !*other))
			continue;
		comparing->result->options += *one || *other;
		if (strcmp(one, other) != 0)
			tell(comparing, compared[i].what, one, other);
	}
}

/* How many facts from here on have this kind and key. */
static size_t group_size(const struct sorted *sorted, size_t from)
{
	size_t to = from;

	while (to < sorted->count && sorted->facts[to].kind == sorted->facts[from].kind &&
	       !strcmp(sorted->facts[to].key, sorted->facts[from].key))
		to++;
	return to - from;
}

static bool have_common_value(const struct fact *one, size_t count, const struct fact *other,
			      size_t other_count)
{
	for (size_t i = 0, j = 0; i < count && j < other_count;) {
		int order = strcmp(one[i].value, other[j].value);

		if (!order)
			return true;
		if (order < 0)
			i++;
		else
			j++;
	}
	return false;
}

/* A file that was replaced during a session has two builds there. */
static void compare_builds(struct comparing *comparing, const struct fact *there, size_t count,
			   const struct fact *here, size_t other_count)
{
	char what[TEXT_BYTES], one[32], other[32];

	comparing->result->builds++;
	if (have_common_value(there, count, here, other_count))
		return;
	snprintf(what, sizeof(what), "build of %s", here->key);
	snprintf(one, sizeof(one), "%.*s", BUILD_SHOWN, there->value);
	snprintf(other, sizeof(other), "%.*s", BUILD_SHOWN, here->value);
	tell(comparing, what, one, other);
}

static void compare_one(struct comparing *comparing, const struct fact *there,
			const struct fact *here)
{
	char what[TEXT_BYTES];

	if (here->kind == FACT_HOOK) {
		comparing->result->hooks++;
		snprintf(what, sizeof(what), "hook %s", here->key);
	} else if (!strncmp(here->key, COMPARE_SETTING, strlen(COMPARE_SETTING))) {
		comparing->result->settings++;
		snprintf(what, sizeof(what), "%s", here->key + strlen(COMPARE_SETTING));
	} else {
		return;
	}
	if (strcmp(there->value, here->value) != 0)
		tell(comparing, what, there->value, here->value);
}

/* A setting that one of them lacks: another kernel, or a dwell that did not store it. */
static void count_alone(struct comparing *comparing, const struct fact *fact)
{
	comparing->result->settings_alone +=
		fact->kind == FACT_META &&
		!strncmp(fact->key, COMPARE_SETTING, strlen(COMPARE_SETTING));
}

static int key_order(const struct fact *one, const struct fact *other)
{
	int order = one->kind - other->kind;

	return order ? order : strcmp(one->key, other->key);
}

static void compare_sorted(struct comparing *comparing, const struct sorted *there,
			   const struct sorted *here)
{
	for (size_t i = 0, j = 0; i < there->count || j < here->count;) {
		const struct fact *one = &there->facts[i], *other = &here->facts[j];
		int order = i == there->count ? 1 : j == here->count ? -1 : key_order(one, other);
		size_t count = order <= 0 ? group_size(there, i) : 0;
		size_t other_count = order >= 0 ? group_size(here, j) : 0;

		if (order)
			count_alone(comparing, order < 0 ? one : other);
		else if (one->kind == FACT_BUILD)
			compare_builds(comparing, one, count, other, other_count);
		else
			compare_one(comparing, one, other);
		i += count;
		j += other_count;
	}
}

int compare_facts(const struct session_facts *there, const struct session_facts *here,
		  void (*on_difference)(void *context, const char *text), void *context,
		  struct comparison *ret_comparison)
{
	struct comparing comparing = {on_difference, context, ret_comparison};
	struct sorted one = {0}, other = {0};
	int err = sort(there, &one);

	*ret_comparison = (struct comparison){0};
	if (!err)
		err = sort(here, &other);
	if (!err) {
		compare_options(&comparing, there, here);
		compare_sorted(&comparing, &one, &other);
	}
	free(one.facts);
	free(other.facts);
	return err;
}
