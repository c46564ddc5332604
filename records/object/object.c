// SPDX-License-Identifier: Apache-2.0
#include "object.h"

#include <arpa/inet.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>

#include "../../src/base/cleanup.h"
#include "../../src/model/signal.h"

static const char *const kind_names[OBJECT_COUNT] = {
#define OBJECT(NAME, name, meaning) [OBJECT_##NAME] = name,
#include "../../abi/objects.def"
#undef OBJECT
};

static const struct table tables[] = {
	{.name = "objects",
	 .about = "thing that was waited for, or listens",
	 .columns = "id INTEGER PRIMARY KEY, kind INTEGER, name TEXT, pid INTEGER",
	 .width = 4},
};

/* 127.0.0.1:5432 or [::1]:80, and what it is if it listens. */
static void name_peer(const struct rec_object *object, char *to, size_t size)
{
	bool is_v6 = object->family == AF_INET6;
	char address[INET6_ADDRSTRLEN] = "?";

	inet_ntop(is_v6 ? AF_INET6 : AF_INET, object->address, address, sizeof(address));
	snprintf(to, size, "%s%s%s%s:%u", object->is_listening ? "listening on " : "",
		 is_v6 ? "[" : "", address, is_v6 ? "]" : "", object->port);
}

static void name_by_inode(const struct rec_object *object, char *to, size_t size)
{
	const char *kind = object->kind < OBJECT_COUNT ? kind_names[object->kind] : "";
	int length = snprintf(to, size, "%s:[%llu]", kind[0] ? kind : "object",
			      (unsigned long long)object->inode);

	if (object->kind == OBJECT_UNIX && object->peer_pid && length > 0 && (size_t)length < size)
		snprintf(to + length, size - (size_t)length, " of pid %u", object->peer_pid);
}

/* Where a path has no room it is cut between bytes; a name begins with a whole character. */
static void name_by_path(const struct rec_object *object, char *to, size_t size)
{
	u32 at = object->name_at;

	while (object->is_cut && at < NAME_BYTES - 1 && (object->name[at] & 0xc0) == 0x80)
		at++;
	snprintf(to, size, "%s%.*s", object->is_cut ? "…" : "", (int)(NAME_BYTES - at),
		 (const char *)object->name + at);
}

void object_name(const struct rec_object *object, char *to, size_t size)
{
	bool is_peer = object->kind == OBJECT_TCP || object->kind == OBJECT_UDP;

	if (object->kind == OBJECT_MMAP_LOCK)
		snprintf(to, size, "%s", kind_names[OBJECT_MMAP_LOCK]);
	else if (is_peer && (object->family == AF_INET || object->family == AF_INET6))
		name_peer(object, to, size);
	else if (object->name_at < NAME_BYTES && object->name[object->name_at])
		name_by_path(object, to, size);
	else
		name_by_inode(object, to, size);
}

static void open_book(void *state, const struct services *services)
{
	struct object_book *book = state;

	(void)services;
	book->file = 1;
	recent_init(&book->entries, sizeof(struct object_entry), sizeof(u64), OBJECTS_MAX);
}

static void release(void *state)
{
	struct object_book *book = state;

	recent_free(&book->entries);
}

static void make_due(struct object_book *book, struct object_entry *entry)
{
	book->due += !entry->is_due;
	entry->is_due = 1;
	entry->file = book->file;
}

static void on_record(void *state, const struct rec_hdr *record)
{
	const struct rec_object *object = (const struct rec_object *)record;
	struct object_book *book = state;
	struct object_entry *entry = NULL;
	bool is_new;

	/* What is due is not forgotten. */
	if (book->due < OBJECTS_MAX || recent_find(&book->entries, &object->object, NULL))
		entry = recent_add(&book->entries, &object->object, &is_new);
	if (!entry) {
		book->turned_away++;
		return;
	}
	entry->kind = object->kind;
	/* A thread that waits at a listener sends its name too, without the process. */
	if (object->peer_pid || !object->is_listening)
		entry->peer_pid = object->peer_pid;
	object_name(object, entry->name, sizeof(entry->name));
	make_due(book, entry);
}

/* A row of the file has this id. The kernel side sends a name once, maybe in an earlier file. */
static void refer(void *state, u64 id)
{
	struct object_book *book = state;
	struct object_entry *entry = recent_find(&book->entries, &id, NULL);

	if (entry && entry->file != book->file)
		make_due(book, entry);
}

static void flush(void *state, u64 window, struct sink *sink)
{
	struct object_book *book = state;

	(void)window;
	book->windows++;
	for (size_t i = 0; book->due && i < recent_count(&book->entries); i++) {
		struct object_entry *entry = recent_item(&book->entries, i);

		if (!entry || !entry->is_due)
			continue;
		const struct cell cells[] = {cell_number(entry->id), cell_number(entry->kind),
					     cell_text(entry->name, sizeof(entry->name)),
					     entry->peer_pid ? cell_number(entry->peer_pid)
							     : (struct cell){.kind = CELL_NULL}};

		sink->add(sink, &tables[0], cells);
		entry->is_due = 0;
	}
	book->due = 0;
}

/*
 * Only between files: the last read-out of each one has a row of every thread, which refers to what
 * the thread waits for, however long. So what is dropped is in no row of a whole file.
 */
static void renew(void *state, u64 window, struct sink *sink)
{
	struct object_book *book = state;

	flush(state, window, sink);
	book->file++;
	if (book->windows < FORGET_WINDOWS || book->entries.young.count < OBJECTS_KEPT)
		return;
	book->windows = 0;
	recent_age(&book->entries, NULL);
}

static const struct signal_loss losses[] = {
	{"object_no_place", "more objects in a window than the limit: these are not named",
	 offsetof(struct object_book, turned_away)},
};

/* Labels are among them. */
static const char *const told_maps[] = {"object_ids", NULL};

const struct signal signal_object = {
	.about = "names of the objects that threads wait for",
	.told_maps = told_maps,
	.is_told_again = true,
	.state_size = sizeof(struct object_book),
	.open = open_book,
	.release = release,
	.on_record = on_record,
	.tables = tables,
	.table_count = ARRAY_SIZE(tables),
	.flush = flush,
	.renew = renew,
	.refer = refer,
	.defines = true,
	.losses = losses,
	.loss_count = ARRAY_SIZE(losses),
};
