// SPDX-License-Identifier: Apache-2.0
/*
 * `dwell doctor --host`: what to mend on this machine before measuring on it, a row each.
 */
#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "../base/cleanup.h"
#include "../base/clock.h"
#include "../base/text.h"
#include "doctor.h"

#define SYSFS_CPUS_MAX	   8192
#define STEAL_LOOK_MS	   300
#define STEAL_NOTE_PERCENT 1.0

/* Of all CPUs: the first governor that is not "performance", else that; empty: none. */
static void read_governor(char *ret_governor, size_t size)
{
	ret_governor[0] = '\0';
	for (int cpu = 0; cpu < SYSFS_CPUS_MAX; cpu++) {
		char path[96];

		snprintf(path, sizeof(path),
			 "/sys/devices/system/cpu/cpu%d/cpufreq/scaling_governor", cpu);
		if (text_read_file(path, ret_governor, size) <= 0 ||
		    strcmp(ret_governor, "performance"))
			return;
	}
}

static void check_governor(struct check *check)
{
	char governor[64];

	read_governor(governor, sizeof(governor));
	if (!governor[0])
		check_set(check, CHECK_OK, "", "not under this system's control (usual in a VM)");
	else if (!strcmp(governor, "performance"))
		check_set(check, CHECK_OK, "", "performance");
	else
		check_set(check, CHECK_NOTE, "cpupower frequency-set -g performance",
			  "%s: the CPU frequency changes with load, so short times vary", governor);
}

static void check_huge_pages(struct check *check)
{
	char modes[64];

	int length =
		text_read_file("/sys/kernel/mm/transparent_hugepage/enabled", modes, sizeof(modes));

	if (length == -ENOENT)
		check_set(check, CHECK_OK, "", "not in this kernel");
	else if (length <= 0)
		check_set(check, CHECK_NOTE, "run it as root", "unknown: cannot be read");
	else if (strstr(modes, "[always]"))
		check_set(check, CHECK_NOTE,
			  "echo madvise > /sys/kernel/mm/transparent_hugepage/enabled",
			  "always: page faults and compaction can stall any process");
	else
		check_set(check, CHECK_OK, "", "%s",
			  strstr(modes, "[never]") ? "never" : "madvise");
}

static bool process_runs(const char *name)
{
	DIR *processes = opendir("/proc");
	struct dirent *entry;
	bool found = false;

	while (processes && !found && (entry = readdir(processes))) {
		char path[300], comm[32];

		if (entry->d_name[0] < '0' || entry->d_name[0] > '9')
			continue;
		snprintf(path, sizeof(path), "/proc/%s/comm", entry->d_name);
		found = text_read_file(path, comm, sizeof(comm)) > 0 && !strcmp(comm, name);
	}
	if (processes)
		closedir(processes);
	return found;
}

static void check_irqbalance(struct check *check)
{
	if (process_runs("irqbalance"))
		check_set(check, CHECK_NOTE, "systemctl stop irqbalance while you compare runs",
			  "running: interrupts move between CPUs during a measurement");
	else
		check_set(check, CHECK_OK, "", "not running: interrupts stay where they are");
}

static void check_swap(struct check *check)
{
	_cleanup_fclose_ FILE *file = fopen("/proc/swaps", "re");
	unsigned long long size, used, total = 0, in_use = 0;
	char line[512];

	while (file && fgets(line, sizeof(line), file))
		if (sscanf(line, "%*s %*s %llu %llu", &size, &used) == 2) {
			total += size;
			in_use += used;
		}
	if (in_use)
		check_set(
			check, CHECK_NOTE,
			"find the process that uses the memory; swapoff -a if enough is free",
			"%llu of %llu MiB in use: waits for paged-out memory look like disk waits",
			in_use / 1024, total / 1024);
	else
		check_set(check, CHECK_OK, "", total ? "enabled, unused" : "none");
}

static void check_clock(struct check *check)
{
	char source[64];

	if (text_read_file("/sys/devices/system/clocksource/clocksource0/current_clocksource",
			   source, sizeof(source)) <= 0)
		check_set(check, CHECK_NOTE, "mount sysfs on /sys", "unknown");
	else if (!strcmp(source, "hpet") || !strcmp(source, "acpi_pm"))
		check_set(check, CHECK_BAD, "find out in dmesg why the TSC was marked unstable",
			  "%s: every reading of the clock costs a microsecond or more", source);
	else
		check_set(check, CHECK_OK, "", "%s", source);
}

/* user nice system idle iowait irq softirq steal, in ticks. */
static bool read_cpu_ticks(u64 *ret_all, u64 *ret_steal)
{
	unsigned long long t[8];
	char text[256];

	if (text_read_file("/proc/stat", text, sizeof(text)) <= 0 ||
	    sscanf(text, "cpu %llu %llu %llu %llu %llu %llu %llu %llu", &t[0], &t[1], &t[2], &t[3],
		   &t[4], &t[5], &t[6], &t[7]) != 8)
		return false;
	*ret_all = 0;
	for (size_t i = 0; i < ARRAY_SIZE(t); i++)
		*ret_all += t[i];
	*ret_steal = t[7];
	return true;
}

static double share(u64 part, u64 all)
{
	return all ? 100.0 * (double)part / (double)all : 0;
}

static void check_steal(struct check *check)
{
	const struct timespec look = {.tv_nsec = STEAL_LOOK_MS * NS_PER_MS};
	u64 all0, steal0, all1 = 0, steal1 = 0;
	double now, since_boot;

	if (!read_cpu_ticks(&all0, &steal0) || nanosleep(&look, NULL) ||
	    !read_cpu_ticks(&all1, &steal1)) {
		check_set(check, CHECK_NOTE, "mount procfs on /proc", "/proc/stat cannot be read");
		return;
	}
	now = share(steal1 - steal0, all1 - all0);
	since_boot = share(steal1, all1);
	if (now >= STEAL_NOTE_PERCENT || since_boot >= STEAL_NOTE_PERCENT)
		check_set(check, CHECK_NOTE,
			  "measure when the host is quiet, or on a dedicated one",
			  "%.1f %% of CPU time now, %.1f %% since boot; it counts as on-CPU time",
			  now, since_boot);
	else
		check_set(check, CHECK_OK, "", "%.1f %% of CPU time now, %.1f %% since boot", now,
			  since_boot);
}

static void check_kptr(struct check *check)
{
	s64 level;

	if (text_read_number("/proc/sys/kernel/kptr_restrict", &level))
		check_set(check, CHECK_NOTE, "mount procfs on /proc", "unknown");
	else if (level >= 2)
		check_set(check, CHECK_BAD, "sysctl kernel.kptr_restrict=1",
			  "%lld: kernel addresses are hidden even from root; no kernel symbols",
			  (long long)level);
	else
		check_set(check, CHECK_OK, "", "%lld: kernel functions can be symbolized",
			  (long long)level);
}

size_t host_checks(struct check checks[CHECKS_MAX])
{
	static const struct {
		const char *name;
		void (*check)(struct check *);
	} rows[] = {
		{"cpu_governor", check_governor}, {"huge_pages", check_huge_pages},
		{"irqbalance", check_irqbalance}, {"swap", check_swap},
		{"clock_source", check_clock},	  {"hypervisor_steal", check_steal},
		{"kptr_restrict", check_kptr},
	};

	_Static_assert(ARRAY_SIZE(rows) <= CHECKS_MAX, "raise CHECKS_MAX");
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		checks[i].name = rows[i].name;
		rows[i].check(&checks[i]);
	}
	return ARRAY_SIZE(rows);
}
