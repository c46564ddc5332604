// SPDX-License-Identifier: Apache-2.0
#include "../../src/model/signal.h"

static void on_record(void *state, const struct rec_hdr *record)
{
	(void)state;
	(void)record;
}

const struct signal signal_calls = {.about = "system calls of each thread, and what they cost",
				    .on_record = on_record};
