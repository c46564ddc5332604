// SPDX-License-Identifier: Apache-2.0
#include "signal.h"

#include <string.h>

const struct signal_row signal_rows[SIGNAL_LIMIT] = {
#define SIGNAL(id, NAME, name_, version_, class, extent)                                           \
	[id] = {                                                                                   \
		.signal = &signal_##name_,                                                         \
		.name = #name_,                                                                    \
		.version = (version_),                                                             \
		.record_size = sizeof(struct rec_##name_),                                         \
		.least_size = RECORD_LEAST_##extent(struct rec_##name_),                           \
		.drop_class = DROP_##class,                                                        \
	},
#include "../../abi/signals.def"
#undef SIGNAL
};

const struct probe *signal_find_probe(const char *program, size_t length)
{
	for (int id = 0; id < SIGNAL_LIMIT; id++) {
		const struct signal *signal = signal_rows[id].signal;

		for (size_t i = 0; signal && i < signal->probe_count; i++)
			if (strlen(signal->probes[i].program) == length &&
			    !memcmp(signal->probes[i].program, program, length))
				return &signal->probes[i];
	}
	return NULL;
}

const char *signal_loss_meaning(const char *name)
{
	for (int id = 0; id < SIGNAL_LIMIT; id++) {
		const struct signal *signal = signal_rows[id].signal;

		for (size_t i = 0; signal && i < signal->loss_count; i++)
			if (!strcmp(signal->losses[i].name, name))
				return signal->losses[i].meaning;
	}
	return NULL;
}
