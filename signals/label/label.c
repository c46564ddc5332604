// SPDX-License-Identifier: Apache-2.0
#include "label.h"

#include <stdio.h>
#include <string.h>

#include "../../src/base/cleanup.h"
#include "../../src/model/signal.h"

static void on_record(void *state, const struct rec_hdr *record)
{
	const struct rec_label *row = (const struct rec_label *)record;
	struct label_list *list = state;

	if (row->signal >= SIGNAL_LIMIT || !signal_rows[row->signal].name)
		return;
	if (list->count == LABELS_BOOK_MAX)
		list->turned_away++;
	else
		list->rows[list->count++] = *row;
}

/* Errors between the kernel and itself: a signal came, and the call is made again, or is EINTR. */
static const char *const restarts[] = {"ERESTARTSYS", "ERESTARTNOINTR", "ERESTARTNOHAND", NULL,
				       "ERESTART_RESTARTBLOCK"};
#define RESTARTS_FIRST 512

static void name_error(u64 number, char *to, size_t size)
{
	const char *name = strerrorname_np((int)number);

	if (number >= RESTARTS_FIRST && number < RESTARTS_FIRST + ARRAY_SIZE(restarts))
		name = restarts[number - RESTARTS_FIRST];

	if (name)
		snprintf(to, size, "%s", name);
	else
		snprintf(to, size, "error %llu", (unsigned long long)number);
}

static void name_label(const struct rec_label *row, char *to, size_t size)
{
	if (row->id < LABEL_ERRNO_MAX)
		name_error(row->id, to, size);
	else if (!row->name[0])
		snprintf(to, size, "./");
	else
		snprintf(to, size, "%.*s%s", NAME_BYTES, (const char *)row->name,
			 row->is_cut ? "…" : "");
}

static void flush(void *state, u64 window, struct sink *sink)
{
	struct label_list *list = state;

	(void)window;
	for (u64 i = 0; i < list->count; i++) {
		const struct rec_label *row = &list->rows[i];
		char name[NAME_BYTES + 8];

		name_label(row, name, sizeof(name));
		labels_add(sink, signal_rows[row->signal].name, row->id, name);
	}
	list->count = 0;
}

static const struct signal_loss losses[] = {
	{"label_no_place",
	 "more names came in a window than it has places: what they stand for is shown as a number",
	 offsetof(struct label_list, turned_away)},
};

const struct signal signal_label = {
	.about = "names of what signals count, such as errors and directories",
	.state_size = sizeof(struct label_list),
	.on_record = on_record,
	.flush = flush,
	.losses = losses,
	.loss_count = ARRAY_SIZE(losses),
};
