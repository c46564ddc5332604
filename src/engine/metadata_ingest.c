// SPDX-License-Identifier: Apache-2.0
/* What is lost with an ingest process, as metadata keeps it. */
#include "metadata.h"

/* Records that an ingest process took with it were processed, but came to nothing. */
void metadata_read_health(const struct metadata *metadata, struct health *ret_health)
{
	*ret_health = (struct health){0};
	capture_health(metadata->capture, ret_health);
	ret_health->processed -= metadata->lost_with_ingest;
	ret_health->lost[LOSS_INGEST_ENDED] = metadata->lost_with_ingest;
}

void metadata_window_written(struct metadata *metadata)
{
	metadata->written = metadata->told;
}

/* Losses that were told with the window that is open are told with it again. */
void metadata_ingest_replaced(struct metadata *metadata)
{
	struct health now;

	metadata_read_health(metadata, &now);
	if (now.processed > metadata->written.processed)
		metadata->lost_with_ingest += now.processed - metadata->written.processed;
	metadata->told = metadata->written;
	metadata->rows.size = 0;
	metadata->ingests_replaced++;
}
