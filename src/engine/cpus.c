// SPDX-License-Identifier: Apache-2.0
#include "cpus.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "../base/cleanup.h"
#include "../base/clock.h"
#include "../base/log.h"
#include "mappings.h"

static void on_online(void *context, int cpu)
{
	log_info("CPU %d came online: its first samples are missing", cpu);
	if (context)
		mappings_online(context, cpu);
}

void cpus_follow(struct cpus *cpus, struct capture *capture, struct mappings *mappings,
		 u64 since_ns)
{
	int count = capture_follow_cpus(capture, on_online, mappings);

	if (!count)
		return;
	cpus->err = count < 0 ? -count : 0;
	if (count < 0) {
		log_error("no CPU is sampled any more: opening perf events on one that came online "
			  "failed: %s; record again",
			  strerror(-count));
		count = 1;
	}
	cpus->came_online += (u64)count;
	cpus->gap_ns += (u64)count * (clock_now_ns() - since_ns);
}

u64 cpus_steal_ns(void)
{
	_cleanup_fclose_ FILE *file = fopen("/proc/stat", "re");
	unsigned long long ticks = 0;

	if (!file || fscanf(file, "cpu %*u %*u %*u %*u %*u %*u %*u %llu", &ticks) != 1)
		return 0;
	return ticks * (NS_PER_S / (u64)sysconf(_SC_CLK_TCK));
}

void cpus_add_facts(const struct cpus *cpus,
		    void (*add)(void *context, const char *key, u64 number), void *context)
{
	if (!cpus->came_online)
		return;
	add(context, "cpus_came_online", cpus->came_online);
	add(context, "cpu_gap_ns", cpus->gap_ns);
	add(context, "cpu_failure", (u64)cpus->err);
}
