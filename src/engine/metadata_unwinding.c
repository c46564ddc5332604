// SPDX-License-Identifier: Apache-2.0
/* What the symbolizer counts, as metadata keeps it: it may be busy, and it may be replaced. */
#include "metadata.h"

void metadata_read_unwinding(struct metadata *metadata, const struct mappings *mappings)
{
	struct unwinding_counts now;

	unwinding_facts_read(mappings, metadata->helpers, &now);
	if (now.is_worker_known)
		metadata->unwinding = now;
}

void metadata_symbolizer_replaced(struct metadata *metadata)
{
	metadata->symbolizers_replaced++;
	metadata->unwinding.there = metadata->unwinding_before.there = (struct symbolize_counts){0};
}
