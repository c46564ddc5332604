// SPDX-License-Identifier: Apache-2.0
#include "cost.h"

#include <bpf/bpf.h>
#include <errno.h>
#include <stdio.h>
#include <sys/resource.h>
#include <unistd.h>

#include "../base/cleanup.h"
#include "../base/clock.h"
#include "../base/text.h"
#include "internal.h"

int cost_begin(void)
{
	int fd = bpf_enable_stats(BPF_STATS_RUN_TIME);

	return fd < 0 ? -errno : fd;
}

static void add_program(const struct bpf_program *program, struct cost *cost)
{
	struct bpf_prog_info info = {0};
	u32 size = sizeof(info);

	if (bpf_program__fd(program) < 0 ||
	    bpf_obj_get_info_by_fd(bpf_program__fd(program), &info, &size))
		return;
	cost->bpf_ns += info.run_time_ns;
	cost->bpf_runs += info.run_cnt;
	cost->bpf_misses += info.recursion_misses;
}

/*
 * From fdinfo, the only place where the kernel states a map's memory; before 6.4 it forgets
 * the pages of a ring buffer.
 */
static u64 map_memory(const struct bpf_map *map)
{
	_cleanup_fclose_ FILE *file = NULL;
	u64 least = bpf_map__type(map) == BPF_MAP_TYPE_RINGBUF ? bpf_map__max_entries(map) : 0;
	unsigned long long bytes;
	char line[128];

	if (bpf_map__fd(map) < 0)
		return 0;
	snprintf(line, sizeof(line), "/proc/self/fdinfo/%d", bpf_map__fd(map));
	file = fopen(line, "re");
	while (file && fgets(line, sizeof(line), file))
		if (sscanf(line, "memlock: %llu", &bytes) == 1)
			return bytes > least ? bytes : least;
	return least;
}

static u64 cpu_ns(int who)
{
	struct rusage usage;

	if (getrusage(who, &usage))
		return 0;
	return (u64)(usage.ru_utime.tv_sec + usage.ru_stime.tv_sec) * NS_PER_S +
	       (u64)(usage.ru_utime.tv_usec + usage.ru_stime.tv_usec) * 1000;
}

static u64 resident_bytes(void)
{
	unsigned long long pages;
	char text[128];

	if (text_read_file("/proc/self/statm", text, sizeof(text)) < 0 ||
	    sscanf(text, "%*u %llu", &pages) != 1)
		return 0;
	return pages * (u64)sysconf(_SC_PAGESIZE);
}

int cost_read(const struct capture *capture, struct cost *ret_cost)
{
	struct cost cost = {0};

	for (int i = 0; i < CAPTURE_SOURCES_MAX; i++) {
		struct bpf_object *object = capture->objects[i];
		struct bpf_program *program;
		struct bpf_map *map;

		if (!object)
			continue;
		bpf_object__for_each_program(program, object)
			add_program(program, &cost);
		bpf_object__for_each_map(map, object)
			if (i == 0 || !object_map_is_shared(map))
				cost.map_bytes += map_memory(map);
	}
	cost.user_cpu_ns = cpu_ns(RUSAGE_SELF) + cpu_ns(RUSAGE_CHILDREN);
	cost.rss_bytes = resident_bytes();
	*ret_cost = cost;
	return 0;
}
