// SPDX-License-Identifier: Apache-2.0
#include "canary.h"

#include "../../src/model/signal.h"

static void on_record(void *state, const struct rec_hdr *record)
{
	const struct rec_canary *canary = (const struct rec_canary *)record;
	struct canary_tally *tally = state;

	if (tally->token != canary->token)
		*tally = (struct canary_tally){.token = canary->token};
	tally->count++;
	tally->tgid = record->tgid;
	tally->tid = record->tid;
	if (canary->value > tally->best_value)
		tally->best_value = canary->value;
}

static const struct probe probes[] = {
	{.program = "canary_tp_btf", .kind = PROBE_SECTION},
};

const struct signal signal_canary = {
	.about = "one fixed record per chosen syscall, to prove that the pipeline delivers",
	.probes = probes,
	.probe_count = sizeof(probes) / sizeof(probes[0]),
	.state_size = sizeof(struct canary_tally),
	.on_record = on_record,
};
