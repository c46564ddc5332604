// SPDX-License-Identifier: Apache-2.0
/*
 * plugins SECONDS: handles requests; for each it loads a plugin, that lies in the last of the
 * sixteen folders of LD_LIBRARY_PATH, and unloads it.
 */
#include <dlfcn.h>

#include "../truth.h"

enum { REQUESTS, LOAD_NS, WALL_NS };

static void *load_plugin(void)
{
	return dlopen("libgreet.so", RTLD_NOW);
}

int main(int argc, char **argv)
{
	uint64_t end = now_ns() + strtoull(argv[argc - 1], NULL, 10) * 1000000000;

	truth_start("requests", "load_ns", "wall_ns", NULL);
	while (now_ns() < end) {
		uint64_t begin = now_ns();
		void *plugin = load_plugin();

		if (!plugin)
			return 1;
		truth_add(LOAD_NS, now_ns() - begin);
		dlclose(plugin);
		compute(1);
		truth_add(WALL_NS, now_ns() - begin);
		truth_add(REQUESTS, 1);
	}
	truth_write();
	return 0;
}
