// SPDX-License-Identifier: Apache-2.0
#include "causes.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../report/format.h"

#define SUMS_MAX 5000 /* causes, and who is behind them, that are told apart */

#define SUM_KEY_BYTES __builtin_offsetof(struct cause_sum, ns)

/* The same by who is behind it; opens with its key, which opens with the cause's. */
struct culprit {
	u64 object;
	u32 call, state;
	u32 holder, waker, waker_kind, unused;
	/* the key ends here */
	s64 ns;
};
#define CULPRIT_KEY_BYTES __builtin_offsetof(struct culprit, ns)

static void add(const struct model_cause *cause, struct hash *sums, struct hash *culprits)
{
	const struct culprit key = {
		.object = cause->object,
		.call = cause->call,
		.state = cause->state,
		.holder = cause->holder,
		.waker = cause->holder ? 0 : cause->waker,
		.waker_kind = cause->holder ? 0 : cause->waker_kind,
	};
	struct cause_sum *sum = hash_add(sums, &key);
	struct culprit *culprit = hash_add(culprits, &key);

	if (sum) {
		sum->ns += cause->ns;
		sum->count += cause->count;
	}
	if (culprit)
		culprit->ns += cause->ns;
}

static void name_culprits(struct hash *sums, const struct hash *culprits)
{
	for (size_t i = 0; i < culprits->count; i++) {
		const struct culprit *culprit = hash_item(culprits, i);
		struct cause_sum *sum = hash_find(sums, culprit);

		if (!sum || culprit->ns <= sum->who_ns ||
		    (!culprit->holder && !culprit->waker_kind))
			continue;
		sum->who_ns = culprit->ns;
		sum->holder = culprit->holder;
		sum->waker = culprit->waker;
		sum->waker_kind = culprit->waker_kind;
	}
}

static bool has_time(const void *item, const void *context)
{
	(void)context; /* it was taken back, or has just begun */
	return ((const struct cause_sum *)item)->ns > 0;
}

static int compare(const void *a, const void *b)
{
	const struct cause_sum *x = a, *y = b;
	bool is_busy = part_kinds[part_of_state(x->state)].is_busy;

	if (is_busy != part_kinds[part_of_state(y->state)].is_busy)
		return is_busy ? -1 : 1;
	return x->ns != y->ns ? (x->ns > y->ns ? -1 : 1) : memcmp(x, y, SUM_KEY_BYTES);
}

void causes_add_up(const struct model *model, const struct rows_subject *subject,
		   struct causes *ret_causes)
{
	struct hash sums, culprits;

	*ret_causes = (struct causes){0};
	hash_init(&sums, sizeof(struct cause_sum), SUM_KEY_BYTES, SUMS_MAX);
	hash_init(&culprits, sizeof(struct culprit), CULPRIT_KEY_BYTES, SUMS_MAX);
	for (size_t i = 0; i < model->cause_count; i++) {
		const struct model_thread *thread = model_thread(model, model->causes[i].thread);

		if (thread && rows_has(model, subject, thread))
			add(&model->causes[i], &sums, &culprits);
	}
	name_culprits(&sums, &culprits);
	hash_retain(&sums, has_time, NULL);
	ret_causes->items = calloc(sums.count + 1, sizeof(*ret_causes->items));
	if (ret_causes->items && sums.count) {
		ret_causes->count = sums.count;
		memcpy(ret_causes->items, sums.items, sums.count * sizeof(*ret_causes->items));
		qsort(ret_causes->items, sums.count, sizeof(*ret_causes->items), compare);
	}
	hash_free(&sums);
	hash_free(&culprits);
}

void causes_free(struct causes *causes)
{
	free(causes->items);
	*causes = (struct causes){0};
}

static void format_thread(const struct model *model, u32 tid, char *to, size_t size)
{
	const struct model_thread *thread = model_by_tid(model, tid);

	if (thread)
		snprintf(to, size, "%s (%u)", thread->comm, tid);
	else
		snprintf(to, size, "thread %u", tid);
}

/* A share is told unless it is all of it: else one of many would look like the only one. */
void causes_format_who(const struct model *model, const struct cause_sum *sum,
		       char ret_text[CAUSE_WHO_BYTES])
{
	double share = sum->ns > 0 ? 100 * (double)sum->who_ns / (double)sum->ns : 0;
	u32 tid = sum->holder ? sum->holder : sum->waker;
	char name[96], percent[16] = "";

	ret_text[0] = '\0';
	if (!tid && !context_name(sum->waker_kind)[0])
		return;
	if (share < 99.5)
		snprintf(percent, sizeof(percent), " %.0f%%", share);
	format_thread(model, tid, name, sizeof(name));
	if (!tid)
		snprintf(ret_text, CAUSE_WHO_BYTES, "%s: %s%s",
			 sum->waker_kind == WAKER_IDLE || sum->waker_kind == WAKER_NOT_ALLOWED
				 ? "meanwhile"
				 : "ended by",
			 context_name(sum->waker_kind), percent);
	else if (sum->holder)
		snprintf(ret_text, CAUSE_WHO_BYTES, "held by %s%s", name, percent);
	else if (sum->waker_kind == WAKER_RAN)
		snprintf(ret_text, CAUSE_WHO_BYTES, "%s ran instead%s", name, percent);
	else
		snprintf(ret_text, CAUSE_WHO_BYTES, "ended by %s%s", name, percent);
}
