// SPDX-License-Identifier: Apache-2.0
#include "label.h"

#include <stdio.h>
#include <string.h>

#include "../../src/base/cleanup.h"
#include "../../src/base/utf8.h"
#include "../../src/model/signal.h"

static void open_book(void *state, const struct services *services)
{
	struct label_book *book = state;

	(void)services;
	hash_init(&book->entries, sizeof(struct label_entry), sizeof(struct label_key),
		  LABEL_BOOK_MAX);
}

static void release(void *state)
{
	struct label_book *book = state;

	hash_free(&book->entries);
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

/* What the record itself says. */
static void name_alone(const struct rec_label *label, char *to, size_t size)
{
	char name[LABEL_BYTES + 1];

	utf8_copy(name, sizeof(name), (const char *)label->name, sizeof(label->name));
	if (*name)
		snprintf(to, size, "%s%s", name, label->is_cut ? "…" : "");
	else if (label->id < LABEL_ERRNO_MAX)
		name_error(label->id, to, size);
	else
		snprintf(to, size, "./");
}

/* "PQexec" and a thread's name: "PQexec [worker-1]". */
static void name_it(const struct label_book *book, const struct rec_label *label, char *to,
		    size_t size)
{
	const struct label_key of_key = {label->of, label->signal};
	struct label_entry *of = label->of ? hash_find(&book->entries, &of_key) : NULL;
	char name[LABEL_BYTES + 8], whole[2 * LABEL_BYTES + 64];

	name_alone(label, name, sizeof(name));
	if (of) {
		snprintf(whole, sizeof(whole), "%s [%s]", of->name, name);
		of->is_part = 1;
	} else {
		snprintf(whole, sizeof(whole), "%s", name);
	}
	utf8_copy(to, size, whole, sizeof(whole)); /* cut at a character */
}

static void on_record(void *state, const struct rec_hdr *record)
{
	const struct rec_label *label = (const struct rec_label *)record;
	const struct label_key key = {label->id, label->signal};
	struct label_book *book = state;
	struct label_entry *entry;
	char name[sizeof(entry->name)];

	if (label->signal >= SIGNAL_LIMIT || !signal_rows[label->signal].name ||
	    hash_find(&book->entries, &key))
		return;
	name_it(book, label, name, sizeof(name));
	entry = hash_add(&book->entries, &key);
	if (!entry) {
		book->turned_away++;
		return;
	}
	memcpy(entry->name, name, sizeof(name));
}

static bool is_kept(const void *item, const void *context)
{
	(void)context;
	return ((const struct label_entry *)item)->is_part;
}

/* The session has them all: what comes again is written again, as it was. */
static void forget_if_half_full(struct label_book *book)
{
	if (book->entries.count > LABEL_BOOK_MAX / 2)
		hash_retain(&book->entries, is_kept, NULL);
}

static void flush(void *state, u64 window, struct sink *sink)
{
	struct label_book *book = state;

	(void)window;
	for (size_t i = 0; i < book->entries.count; i++) {
		struct label_entry *entry = hash_item(&book->entries, i);

		if (!entry->is_told)
			labels_add(sink, signal_rows[entry->key.signal].name, entry->key.id,
				   entry->name);
		entry->is_told = 1;
	}
	forget_if_half_full(book);
}

/* Few, and others may be added to them: the next file gets all. */
static void renew(void *state, u64 window, struct sink *sink)
{
	struct label_book *book = state;

	(void)window;
	(void)sink;
	for (size_t i = 0; i < book->entries.count; i++)
		((struct label_entry *)hash_item(&book->entries, i))->is_told = 0;
}

static const struct signal_loss losses[] = {
	{"label_no_place", "more new labels in a window than the limit: shown as numbers",
	 offsetof(struct label_book, turned_away)},
};

const struct signal signal_label = {
	.about = "labels of signals, such as errors, directories and probes",
	.state_size = sizeof(struct label_book),
	.open = open_book,
	.release = release,
	.on_record = on_record,
	.flush = flush,
	.renew = renew,
	.losses = losses,
	.loss_count = ARRAY_SIZE(losses),
};
