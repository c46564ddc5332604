// SPDX-License-Identifier: Apache-2.0
#include "index.h"

struct index_slot *index_of_place(struct index_slot *slots, u32 size, u32 hash, u32 place)
{
	struct index_slot *slot = index_start(slots, size, hash);

	while (slot->place != place + 1)
		slot = index_next(slots, size, slot);
	return slot;
}

void index_free(struct index_slot *slots, u32 size, struct index_slot *slot)
{
	u32 hole = (u32)(slot - slots);

	for (u32 at = (hole + 1) & (size - 1); slots[at].place; at = (at + 1) & (size - 1)) {
		u32 from_home = (at - slots[at].hash) & (size - 1);
		u32 from_hole = (at - hole) & (size - 1);

		if (from_home < from_hole)
			continue; /* it would not be found that far ahead */
		slots[hole] = slots[at];
		hole = at;
	}
	slots[hole] = (struct index_slot){0};
}
