// SPDX-License-Identifier: Apache-2.0
/*
 * Names of code that processes make themselves. Any user can write such files, of any size: so
 * those of one user have a part of the memory only, and one user's names take no other's.
 */
#include <errno.h>

#include "modules.h"

static size_t smaller(size_t a, size_t b)
{
	return a < b ? a : b;
}

static size_t left_of(size_t limit, size_t used)
{
	return used < limit ? limit - used : 0;
}

/* What the maps of this user take, but for this module's own. */
static size_t bytes_of_user(const struct modules *modules, const struct module *but, u32 user)
{
	size_t bytes = 0;

	for (u32 i = 0; i < modules->all.count; i++) {
		const struct module *module = modules->all.items[i].thing;

		if (module != but && module->perf_map && module->perf_user == user)
			bytes += perf_map_bytes(module->perf_map);
	}
	return bytes;
}

static int begin_map(struct modules *modules, struct module *module)
{
	if (modules->perf_maps >= PERF_MAPS_MAX) {
		modules->refused += !module->is_map_refused;
		module->is_map_refused = true;
		return -ENOSPC;
	}
	module->perf_map = perf_map_create();
	if (!module->perf_map)
		return -ENOMEM;
	modules->perf_maps++;
	modules->perf_bytes += perf_map_bytes(module->perf_map);
	return 0;
}

int modules_read_perf_map(struct modules *modules, struct module *module, int fd, u32 user)
{
	int err = module->perf_map ? 0 : begin_map(modules, module);
	size_t room;
	u64 unfit;

	if (err)
		return err;
	module->perf_user = user;
	unfit = perf_map_unfit(module->perf_map);
	modules->perf_bytes -= perf_map_bytes(module->perf_map);
	room = smaller(left_of(PERF_BYTES_MAX, modules->perf_bytes),
		       left_of(PERF_USER_BYTES, bytes_of_user(modules, module, user)));
	err = perf_map_update(module->perf_map, fd, room);
	modules->perf_bytes += perf_map_bytes(module->perf_map);
	modules->perf_unfit += perf_map_unfit(module->perf_map) - unfit;
	return err;
}
