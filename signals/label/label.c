// SPDX-License-Identifier: Apache-2.0
#include "label.h"

#include <stdio.h>
#include <string.h>

#include "../../src/base/cleanup.h"
#include "../../src/base/utf8.h"
#include "../../src/model/signal.h"

static struct label_entry *find(struct label_book *book, u32 signal, u64 id)
{
	for (u64 i = 0; i < book->count; i++)
		if (book->entries[i].id == id && book->entries[i].signal == signal)
			return &book->entries[i];
	return NULL;
}

/* "PQexec" and a thread's name: "PQexec [worker-1]". */
static void name_it(struct label_book *book, const struct rec_label *label,
		    struct label_entry *entry)
{
	const struct label_entry *of = label->of ? find(book, label->signal, label->of) : NULL;
	char name[LABEL_BYTES], whole[sizeof(entry->name)];

	utf8_copy(name, sizeof(name), label->name, sizeof(label->name));
	snprintf(whole, sizeof(whole), of ? "%s [%s]" : "%s%s", of ? of->name : name,
		 of ? name : "");
	utf8_copy(entry->name, sizeof(entry->name), whole, sizeof(whole)); /* cut at a character */
}

static void on_record(void *state, const struct rec_hdr *record)
{
	const struct rec_label *label = (const struct rec_label *)record;
	struct label_book *book = state;
	struct label_entry *entry = find(book, label->signal, label->id);

	if (entry)
		return;
	if (label->signal >= SIGNAL_LIMIT || !signal_rows[label->signal].signal ||
	    book->count == LABELS_KEPT_MAX) {
		book->turned_away++;
		return;
	}
	entry = &book->entries[book->count];
	*entry = (struct label_entry){.id = label->id, .signal = label->signal};
	name_it(book, label, entry);
	book->count++;
}

static void flush(void *state, u64 window, struct sink *sink)
{
	struct label_book *book = state;

	(void)window;
	for (u64 i = 0; i < book->count; i++) {
		struct label_entry *entry = &book->entries[i];

		if (!entry->is_told)
			labels_add(sink, signal_rows[entry->signal].name, entry->id, entry->name);
		entry->is_told = 1;
	}
}

static const struct signal_loss losses[] = {
	{"labels_no_place", "names of probes or threads for which there was no room",
	 offsetof(struct label_book, turned_away)},
};

const struct signal signal_label = {
	.about = "names for numbers in signals' keys",
	.state_size = sizeof(struct label_book),
	.on_record = on_record,
	.flush = flush,
	.losses = losses,
	.loss_count = ARRAY_SIZE(losses),
};
