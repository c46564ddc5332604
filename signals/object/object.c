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
	 .columns = "id INTEGER PRIMARY KEY, kind INTEGER, name TEXT, pid INTEGER",
	 .width = 4},
};

static void on_record(void *state, const struct rec_hdr *record)
{
	struct object_list *list = state;

	if (list->count == OBJECTS_MAX)
		list->turned_away++;
	else
		list->rows[list->count++] = *(const struct rec_object *)record;
}

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

static void flush(void *state, u64 window, struct sink *sink)
{
	struct object_list *list = state;

	(void)window;
	for (u64 i = 0; i < list->count; i++) {
		const struct rec_object *object = &list->rows[i];
		char name[OBJECT_NAME_BYTES];

		object_name(object, name, sizeof(name));
		struct cell cells[] = {cell_number(object->object), cell_number(object->kind),
				       cell_text(name, sizeof(name)),
				       object->peer_pid ? cell_number(object->peer_pid)
							: (struct cell){.kind = CELL_NULL}};

		sink->add(sink, &tables[0], cells);
	}
	list->count = 0;
}

static const struct signal_loss losses[] = {
	{"object_no_place", "more objects in a window than the limit: these are not named",
	 offsetof(struct object_list, turned_away)},
};

const struct signal signal_object = {
	.about = "names of the objects that threads wait for",
	.state_size = sizeof(struct object_list),
	.on_record = on_record,
	.tables = tables,
	.table_count = ARRAY_SIZE(tables),
	.flush = flush,
	.losses = losses,
	.loss_count = ARRAY_SIZE(losses),
};
