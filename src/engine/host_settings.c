// SPDX-License-Identifier: Apache-2.0
#include "host_settings.h"

#include <stdio.h>
#include <string.h>

#include "../base/cleanup.h"
#include "../base/text.h"
#include "../config/compare.h"

#define CPUS_MAX    8192
#define VALUE_BYTES 256

#define CPU "/sys/devices/system/cpu/"
#define THP "/sys/kernel/mm/transparent_hugepage/"

/*
 * A file's first line is the value. Without a path it is a sysctl. Not here is what the kernel
 * changes by itself, such as kernel.perf_event_max_sample_rate.
 */
static const struct {
	const char *name, *path;
} settings[] = {
	{"kernel.sched_autogroup_enabled", NULL},
	{"kernel.sched_cfs_bandwidth_slice_us", NULL},
	{"kernel.sched_energy_aware", NULL},
	{"kernel.sched_latency_ns", NULL},
	{"kernel.sched_migration_cost_ns", NULL},
	{"kernel.sched_min_granularity_ns", NULL},
	{"kernel.sched_rt_period_us", NULL},
	{"kernel.sched_rt_runtime_us", NULL},
	{"kernel.sched_wakeup_granularity_ns", NULL},
	{"kernel.numa_balancing", NULL},
	{"kernel.perf_event_paranoid", NULL},
	{"kernel.perf_event_mlock_kb", NULL},
	{"kernel.perf_event_max_stack", NULL},
	{"kernel.perf_cpu_time_max_percent", NULL},
	{"kernel.kptr_restrict", NULL},
	{"kernel.bpf_stats_enabled", NULL},
	{"kernel.nmi_watchdog", NULL},
	{"vm.swappiness", NULL},
	{"vm.dirty_ratio", NULL},
	{"vm.dirty_bytes", NULL},
	{"vm.dirty_background_ratio", NULL},
	{"vm.dirty_background_bytes", NULL},
	{"vm.dirty_expire_centisecs", NULL},
	{"vm.dirty_writeback_centisecs", NULL},
	{"vm.vfs_cache_pressure", NULL},
	{"vm.overcommit_memory", NULL},
	{"vm.min_free_kbytes", NULL},
	{"vm.zone_reclaim_mode", NULL},
	{"net.core.somaxconn", NULL},
	{"net.core.default_qdisc", NULL},
	{"net.core.netdev_max_backlog", NULL},
	{"net.core.busy_poll", NULL},
	{"net.ipv4.tcp_congestion_control", NULL},
	{"net.ipv4.tcp_max_syn_backlog", NULL},
	{"net.ipv4.tcp_rmem", NULL},
	{"net.ipv4.tcp_wmem", NULL},
	{"fs.file-max", NULL},
	{"cpu.smt", CPU "smt/control"},
	{"cpu.online", CPU "online"},
	{"cpu.isolated", CPU "isolated"},
	{"cpu.no_turbo", CPU "intel_pstate/no_turbo"},
	{"cpu.boost", CPU "cpufreq/boost"},
	{"cpu.driver", CPU "cpu0/cpufreq/scaling_driver"},
	{"cpu.idle_driver", CPU "cpuidle/current_driver"},
	{"clocksource", "/sys/devices/system/clocksource/clocksource0/current_clocksource"},
	{"transparent_hugepage.enabled", THP "enabled"},
	{"transparent_hugepage.defrag", THP "defrag"},
	{"mitigation.gather_data_sampling", CPU "vulnerabilities/gather_data_sampling"},
	{"mitigation.l1tf", CPU "vulnerabilities/l1tf"},
	{"mitigation.mds", CPU "vulnerabilities/mds"},
	{"mitigation.meltdown", CPU "vulnerabilities/meltdown"},
	{"mitigation.retbleed", CPU "vulnerabilities/retbleed"},
	{"mitigation.spec_rstack_overflow", CPU "vulnerabilities/spec_rstack_overflow"},
	{"mitigation.spec_store_bypass", CPU "vulnerabilities/spec_store_bypass"},
	{"mitigation.spectre_v1", CPU "vulnerabilities/spectre_v1"},
	{"mitigation.spectre_v2", CPU "vulnerabilities/spectre_v2"},
};

static bool read_line(const char *path, char *ret_value, size_t size)
{
	if (text_read_file(path, ret_value, size) <= 0)
		return false;
	ret_value[strcspn(ret_value, "\n")] = '\0';
	for (char *at = ret_value; *at; at++)
		*at = *at == '\t' ? ' ' : *at;
	return *ret_value;
}

/* kernel.sched_latency_ns is /proc/sys/kernel/sched_latency_ns. */
static void sysctl_path(const char *name, char *ret_path, size_t size)
{
	snprintf(ret_path, size, "/proc/sys/%s", name);
	for (char *at = ret_path + strlen("/proc/sys/"); *at; at++)
		*at = *at == '.' ? '/' : *at;
}

/* That of all CPUs, or "mixed". */
static bool read_governor(char *ret_value, size_t size)
{
	char path[96], value[VALUE_BYTES];

	*ret_value = '\0';
	for (int cpu = 0; cpu < CPUS_MAX; cpu++) {
		snprintf(path, sizeof(path), CPU "cpu%d/cpufreq/scaling_governor", cpu);
		if (!read_line(path, value, sizeof(value)))
			break;
		if (*ret_value && strcmp(ret_value, value) != 0)
			snprintf(value, sizeof(value), "mixed");
		text_copy(ret_value, size, value);
		if (!strcmp(value, "mixed"))
			break;
	}
	return *ret_value;
}

void host_settings_add(void (*add)(void *context, const char *key, const char *value),
		       void *context)
{
	char key[64], path[128], value[VALUE_BYTES];

	for (size_t i = 0; i < ARRAY_SIZE(settings); i++) {
		if (settings[i].path)
			text_copy(path, sizeof(path), settings[i].path);
		else
			sysctl_path(settings[i].name, path, sizeof(path));
		snprintf(key, sizeof(key), COMPARE_SETTING "%s", settings[i].name);
		if (read_line(path, value, sizeof(value)))
			add(context, key, value);
	}
	if (read_governor(value, sizeof(value)))
		add(context, COMPARE_SETTING "cpu.governor", value);
}
