// SPDX-License-Identifier: Apache-2.0
#include "signal.h"

#include <string.h>

#define SIZES_NONE(name)    .record_size = 0, .least_size = 0
#define SIZES_WHOLE(name)   SIZES(name, WHOLE)
#define SIZES_FRAMES(name)  SIZES(name, FRAMES)
#define SIZES_BUCKETS(name) SIZES(name, BUCKETS)
#define SIZES(name, extent)                                                                        \
	.record_size = sizeof(struct rec_##name),                                                  \
	.least_size = RECORD_LEAST_##extent(struct rec_##name)

const struct signal_row signal_rows[SIGNAL_LIMIT] = {
#define SIGNAL(id, NAME, name_, version_, class, extent)                                           \
	[id] = {                                                                                   \
		.signal = &signal_##name_,                                                         \
		.name = #name_,                                                                    \
		.version = (version_),                                                             \
		SIZES_##extent(name_),                                                             \
		.drop_class = DROP_##class,                                                        \
	},
#include "../../abi/signals.def"
#undef SIGNAL
};

int signal_find(const char *name, size_t length)
{
	for (int id = 1; id < SIGNAL_LIMIT; id++)
		if (signal_rows[id].name && strlen(signal_rows[id].name) == length &&
		    !memcmp(signal_rows[id].name, name, length))
			return id;
	return 0;
}

static bool lists_map(const char *const *maps, const char *map)
{
	for (; maps && *maps; maps++)
		if (!strcmp(*maps, map))
			return true;
	return false;
}

bool signal_map_fits_storage(const char *map, bool has_task_storage)
{
	for (int id = 1; id < SIGNAL_LIMIT; id++) {
		const struct signal *signal = signal_rows[id].signal;

		if (signal && lists_map(has_task_storage ? signal->maps_without_task_storage
							 : signal->maps_with_task_storage,
					map))
			return false;
	}
	return true;
}

int signal_with_role(enum signal_role role, int from)
{
	for (int id = from; id < SIGNAL_LIMIT; id++)
		if (signal_rows[id].signal && signal_rows[id].signal->role == role)
			return id;
	return 0;
}

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
