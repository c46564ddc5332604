// SPDX-License-Identifier: Apache-2.0
#include "../../src/model/signal.h"
#include "probes.h"

static void on_record(void *state, const struct rec_hdr *record)
{
	(void)state;
	(void)record;
}

const struct signal signal_sample = {
	.about = "samples of threads that run, or were blocked",
	.probes = sample_probes,
	.probe_count = SAMPLE_PROBE_COUNT,
	.on_record = on_record,
};
