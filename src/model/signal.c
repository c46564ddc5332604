// SPDX-License-Identifier: Apache-2.0
#include "signal.h"

const struct signal_row signal_rows[SIGNAL_LIMIT] = {
#define SIGNAL(id, NAME, name_, version_, class)                                                   \
	[id] = {                                                                                   \
		.signal = &signal_##name_,                                                         \
		.name = #name_,                                                                    \
		.version = (version_),                                                             \
		.record_size = sizeof(struct rec_##name_),                                         \
		.drop_class = DROP_##class,                                                        \
	},
#include "../../abi/signals.def"
#undef SIGNAL
};
