// SPDX-License-Identifier: Apache-2.0
#include "inner.h"

#include <string.h>

static u32 inner_hash(u32 tgid, u32 inner_tid)
{
	return index_hash(tgid, inner_tid, 0);
}

/* The slot of the thread with this number, or the free one where it would be. */
static struct index_slot *find_inner(struct ledger_book *book, u32 tgid, u32 inner_tid)
{
	u32 hash = inner_hash(tgid, inner_tid);
	struct index_slot *slot = index_start(book->inner, LEDGER_INDEX_MAX, hash);

	for (; slot->place; slot = index_next(book->inner, LEDGER_INDEX_MAX, slot)) {
		const struct rec_ledger *row = &book->rows[slot->place - 1];

		if (slot->hash == hash && row->inner_tid == inner_tid && row->hdr.tgid == tgid)
			break;
	}
	return slot;
}

void inner_index(struct ledger_book *book)
{
	if (book->inner_count)
		memset(book->inner, 0, sizeof(book->inner));
	book->inner_count = 0;
	for (u64 i = 0; i < book->count; i++) {
		const struct rec_ledger *row = &book->rows[i];
		struct index_slot *slot;

		if (!row->inner_tid || row->inner_tid == row->hdr.tid)
			continue;
		slot = find_inner(book, row->hdr.tgid, row->inner_tid);
		if (slot->place)
			continue; /* its number was used twice; the first is as good */
		*slot = (struct index_slot){.hash = inner_hash(row->hdr.tgid, row->inner_tid),
					    .place = (u32)i + 1};
		book->inner_count++;
	}
}

u32 inner_holder(struct ledger_book *book, const struct rec_ledger *row, u32 holder)
{
	const struct index_slot *slot;

	if (!holder || row->inner_tid == row->hdr.tid)
		return holder;
	slot = find_inner(book, row->hdr.tgid, holder);
	return slot->place ? book->rows[slot->place - 1].hdr.tid : holder;
}
