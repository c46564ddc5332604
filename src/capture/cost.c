// SPDX-License-Identifier: Apache-2.0
#include "cost.h"

#include <bpf/bpf.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include "../base/cleanup.h"
#include "../base/clock.h"
#include "../base/text.h"
#include "internal.h"

#define STATS_SYSCTL "/proc/sys/kernel/bpf_stats_enabled"

/* The clock may be on for all, by whoever may do that. The descriptor stands for nothing then. */
static int open_stats_that_are_on(void)
{
	int fd = open(STATS_SYSCTL, O_RDONLY | O_CLOEXEC);
	char is_on = '0';

	if (fd >= 0 && read(fd, &is_on, 1) == 1 && is_on == '1')
		return fd;
	if (fd >= 0)
		close(fd);
	return -EPERM;
}

int cost_begin(void)
{
	int fd = bpf_enable_stats(BPF_STATS_RUN_TIME), err = -errno;

	if (fd >= 0)
		return fd;
	return err == -EPERM ? open_stats_that_are_on() : err;
}

void cost_unknown_reason(int err, char *text, size_t size)
{
	static const char clock[] = "the kernel's clock on BPF programs";

	if (err == EPERM)
		snprintf(text, size, "%s needs CAP_SYS_ADMIN, or sysctl kernel.bpf_stats_enabled=1",
			 clock);
	else if (err == EINVAL)
		snprintf(text, size, "this kernel has no clock on BPF programs");
	else
		snprintf(text, size, "%s could not be switched on: %s", clock, strerror(err));
}

static void read_program(const struct bpf_program *program, struct probe_cost *ret_cost)
{
	struct bpf_prog_info info = {0};
	u32 size = sizeof(info);

	*ret_cost = (struct probe_cost){0};
	if (!program || bpf_program__fd(program) < 0 ||
	    bpf_obj_get_info_by_fd(bpf_program__fd(program), &info, &size))
		return;
	*ret_cost = (struct probe_cost){
		.runs = info.run_cnt, .ns = info.run_time_ns, .misses = info.recursion_misses};
}

void cost_read_probe(const struct capture *capture, size_t i, struct probe_cost *ret_cost)
{
	const struct capture_probe *probe = &capture->probes[i];

	read_program(probe_is_on(probe) ? probe->program : NULL, ret_cost);
}

static void add_program(const struct bpf_program *program, struct cost *cost)
{
	struct probe_cost one;

	read_program(program, &one);
	cost->bpf_ns += one.ns;
	if (bpf_program__expected_attach_type(program) == BPF_TRACE_ITER)
		cost->iter_ns += one.ns;
	cost->bpf_runs += one.runs;
	cost->bpf_misses += one.misses;
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

/* What the kernel has beside each value, and what kmalloc() makes of the sum. */
#define STORAGE_ELEMENT_BYTES 80
#define STORAGE_TASK_BYTES    192 /* once for each thread that has any */
#define KMALLOC_LEAST	      256

static u64 storage_bytes(const struct bpf_map *map)
{
	u64 wanted = STORAGE_ELEMENT_BYTES + bpf_map__value_size(map), bytes = KMALLOC_LEAST;

	if (bpf_map__type(map) != BPF_MAP_TYPE_TASK_STORAGE || !bpf_map__autocreate(map))
		return 0;
	while (bytes < wanted)
		bytes *= 2;
	return bytes;
}

u64 cost_thread_bytes(const struct capture *capture)
{
	u64 bytes = 0;

	for (int i = 0; i < CAPTURE_SOURCES_MAX; i++) {
		const struct bpf_map *map;

		if (!capture->objects[i])
			continue;
		bpf_object__for_each_map(map, capture->objects[i])
			if (i == 0 || !object_map_is_shared(map))
				bytes += storage_bytes(map);
	}
	return bytes ? bytes + STORAGE_TASK_BYTES : 0;
}

static u64 cpu_ns(void)
{
	struct rusage usage;

	if (getrusage(RUSAGE_SELF, &usage))
		return 0;
	return (u64)(usage.ru_utime.tv_sec + usage.ru_stime.tv_sec) * NS_PER_S +
	       (u64)(usage.ru_utime.tv_usec + usage.ru_stime.tv_usec) * 1000;
}

static u64 resident_bytes(pid_t pid)
{
	unsigned long long pages;
	char path[64], text[128];

	snprintf(path, sizeof(path), "/proc/%d/statm", pid);
	if (text_read_file(path, text, sizeof(text)) < 0 || sscanf(text, "%*u %llu", &pages) != 1)
		return 0;
	return pages * (u64)sysconf(_SC_PAGESIZE);
}

static void read_programs(const struct capture *capture, struct cost *ret_cost)
{
	*ret_cost = (struct cost){0};
	for (int i = 0; i < CAPTURE_SOURCES_MAX; i++) {
		struct bpf_program *program;

		if (!capture->objects[i])
			continue;
		bpf_object__for_each_program(program, capture->objects[i])
			add_program(program, ret_cost);
	}
}

int cost_read(const struct capture *capture, struct cost *ret_cost)
{
	struct cost cost;

	read_programs(capture, &cost);
	for (int i = 0; i < CAPTURE_SOURCES_MAX; i++) {
		struct bpf_object *object = capture->objects[i];
		struct bpf_map *map;

		if (!object)
			continue;
		bpf_object__for_each_map(map, object)
			if (i == 0 || !object_map_is_shared(map))
				cost.map_bytes += map_memory(map);
	}
	cost.user_cpu_ns = cpu_ns();
	cost.rss_bytes = resident_bytes(getpid());
	*ret_cost = cost;
	return 0;
}

void cost_add_process(pid_t pid, struct cost *cost)
{
	struct timespec used;
	clockid_t clock;

	cost->rss_bytes += resident_bytes(pid);
	if (!clock_getcpuclockid(pid, &clock) && !clock_gettime(clock, &used))
		cost->user_cpu_ns += (u64)used.tv_sec * NS_PER_S + (u64)used.tv_nsec;
}
