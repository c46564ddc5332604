// SPDX-License-Identifier: Apache-2.0
/*
 * What --dry-run says of memory is what the kernel charges: each map of a plan with all signals,
 * foreseen, then loaded and read from fdinfo.
 */
#include "tap.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/utsname.h>

#include "../../src/engine/plan.h"
#include "../../src/model/signal.h"

/* Fixed parts of a map, which are not foreseen, are some hundred bytes, and a page of its own. */
#define FIXED_BYTES 4096

static u64 charged(int fd)
{
	unsigned long long bytes = 0;
	char line[128];
	FILE *file;

	snprintf(line, sizeof(line), "/proc/self/fdinfo/%d", fd);
	file = fopen(line, "re");
	while (file && fgets(line, sizeof(line), file))
		if (sscanf(line, "memlock: %llu", &bytes) == 1)
			break;
	if (file)
		fclose(file);
	return bytes;
}

static const struct capture_map *find(const struct plan_outlook *outlook, const char *name)
{
	for (size_t i = 0; i < outlook->map_count; i++)
		if (!strcmp(outlook->maps[i].name, name))
			return &outlook->maps[i];
	return NULL;
}

static bool is_near(u64 foreseen, u64 real)
{
	u64 apart = foreseen > real ? foreseen - real : real - foreseen;

	return apart <= FIXED_BYTES + real / 100;
}

static void compare(const struct plan_outlook *outlook, struct capture *capture)
{
	static struct capture_map maps[PLAN_MAPS_MAX];
	size_t count = capture_list_maps(capture, maps, PLAN_MAPS_MAX), bad = 0;
	u64 foreseen = 0, real = 0;

	for (size_t i = 0; i < count; i++) {
		const struct capture_map *before = find(outlook, maps[i].name);
		int fd = capture_map_fd(capture, maps[i].name);
		u64 bytes = fd < 0 ? 0 : charged(fd);

		foreseen += before ? before->bytes : 0;
		real += bytes;
		if (before && fd >= 0 && is_near(before->bytes, bytes))
			continue;
		printf("# %s: foreseen %llu, charged %llu bytes\n", maps[i].name,
		       before ? (unsigned long long)before->bytes : 0, (unsigned long long)bytes);
		bad++;
	}
	printf("# %zu maps: foreseen %llu, charged %llu bytes\n", count,
	       (unsigned long long)foreseen, (unsigned long long)real);
	tap(count > 40, "there are maps to compare");
	tap(count == outlook->map_count, "the maps that were foreseen are those that are there");
	tap(!bad, "each map is as large as foreseen (within 1 %% and a page)");
	tap(is_near(foreseen, real), "all together are, too");
}

/* Before 6.4 the kernel estimates what it tells. */
static bool counts_memory(void)
{
	int major = 0, minor = 0;
	struct utsname host;

	return !uname(&host) && sscanf(host.release, "%d.%d", &major, &minor) == 2 &&
	       (major > 6 || (major == 6 && minor >= 4));
}

int main(void)
{
	static struct engine_options options = {.selection.all = true, .tier = TIER_B};
	static struct plan_outlook outlook;
	static struct plan plan;
	struct capture *capture = NULL;
	struct plan_facts facts;

	options.stacks.freq = 49;
	options.stacks.min_block_ns = 1000000;
	options.signals.stack_one_in = 100;
	options.alloc.interval = 1 << 19;
	options.alloc.kernel_bytes = 1 << 16;
	options.alloc.live = true;
	for (int id = 1; id < SIGNAL_LIMIT; id++) {
		const struct signal *signal = signal_rows[id].signal;

		if (signal && signal->view && !signal->view->is_not_offered)
			options.signals.chosen |= 1ULL << id;
	}
	plan_facts_read(&facts);
	if (!counts_memory()) {
		puts("ok - maps are foreseen # SKIP this kernel counts their memory otherwise");
		return tap_status();
	}
	tap(!plan_make(&options, &facts, &plan), "a plan is made");
	tap(!plan_foresee(&plan, &outlook), "and foreseen");
	tap(!queue_create(PLAN_QUEUE_BYTES, &plan.config.queue) &&
		    !capture_open(&plan.config, &capture) && !capture_load(capture),
	    "and loaded");
	if (capture)
		compare(&outlook, capture);
	capture_close(capture);
	queue_destroy(plan.config.queue);
	return tap_status();
}
