// SPDX-License-Identifier: Apache-2.0
/*
 * Attaching one program, by kind. Links and perf descriptors only: the kernel undoes them when
 * the process ends, however it ends. libbpf's older way for kprobes and uprobes writes events
 * into tracefs that would outlive a kill -9, so it is refused here.
 */
#include <bpf/bpf.h>
#include <errno.h>
#include <linux/perf_event.h>
#include <stdio.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "../base/cleanup.h"
#include "../base/log.h"
#include "../base/text.h"
#include "internal.h"

/* A descriptor or -errno, which is kept as the probe's failure too. */
static int open_perf(struct capture_probe *probe, pid_t pid, int cpu)
{
	const struct probe *spec = probe->spec;
	bool is_clock = spec->perf_freq && spec->perf_type == PERF_TYPE_SOFTWARE &&
			spec->perf_config == PERF_COUNT_SW_CPU_CLOCK;
	struct perf_event_attr attr = {
		.size = sizeof(attr),
		.type = spec->perf_type,
		.config = spec->perf_config,
		.freq = spec->perf_freq && !is_clock,
	};
	int fd, err;

	if (attr.freq)
		attr.sample_freq = spec->perf_freq;
	else
		attr.sample_period =
			is_clock ? probe_clock_period_ns(spec->perf_freq) : spec->perf_period;
	fd = (int)syscall(SYS_perf_event_open, &attr, pid, cpu, -1, PERF_FLAG_FD_CLOEXEC);
	if (fd >= 0)
		return fd;
	err = -errno;
	snprintf(probe->failure.excerpt, sizeof(probe->failure.excerpt), "perf_event_open: %s",
		 strerror(-err));
	return err;
}

static int attach_perf_on(struct capture_probe *probe, pid_t pid, int cpu)
{
	struct bpf_link *link;
	int fd = open_perf(probe, pid, cpu);

	if (fd < 0)
		return fd;
	link = bpf_program__attach_perf_event(probe->program, fd);
	if (!link) {
		int err = -errno;

		close(fd);
		return err;
	}
	return links_keep(probe, link); /* the link owns fd now */
}

int attach_try_perf(struct capture_probe *probe)
{
	int fd = open_perf(probe, 0, -1);

	if (fd < 0)
		return fd;
	close(fd);
	return 0;
}

static int attach_perf(struct capture_probe *probe)
{
	int cpus, err = -ENODEV;

	if (probe->spec->pid)
		return attach_perf_on(probe, probe->spec->pid, -1);
	cpus = libbpf_num_possible_cpus();
	for (int cpu = 0; cpu < cpus; cpu++) {
		int one = attach_perf_on(probe, -1, cpu);

		if (one == -ENODEV)
			continue; /* possible, but not online */
		if (one)
			return one;
		err = 0;
	}
	return err;
}

static int need_perf_pmu(struct capture_probe *probe, const char *pmu)
{
	char path[64];
	s64 type;

	snprintf(path, sizeof(path), "/sys/bus/event_source/devices/%s/type", pmu);
	if (!text_read_number(path, &type))
		return 0;
	snprintf(probe->failure.excerpt, sizeof(probe->failure.excerpt), "%s is not there", path);
	return -EOPNOTSUPP;
}

/* A function whose parameters the compiler has changed has this at the end of its name. */
#define CHANGED_SUFFIX ".isra.0"

static int attach_kprobe(struct capture_probe *probe, bool at_return)
{
	LIBBPF_OPTS(bpf_kprobe_opts, opts, .retprobe = at_return,
		    .bpf_cookie = probe->spec->cookie);
	const char *function = probe->spec->function;
	int err = need_perf_pmu(probe, "kprobe");
	char changed[128];

	if (!err)
		err = links_keep(probe,
				 bpf_program__attach_kprobe_opts(probe->program, function, &opts));
	if (err != -ENOENT)
		return err;
	snprintf(changed, sizeof(changed), "%s" CHANGED_SUFFIX, function);
	return links_keep(probe, bpf_program__attach_kprobe_opts(probe->program, changed, &opts));
}

static int attach_kprobe_multi(struct capture_probe *probe)
{
	const char *symbols[] = {probe->spec->function};
	LIBBPF_OPTS(bpf_kprobe_multi_opts, opts, .syms = symbols, .cnt = ARRAY_SIZE(symbols));

	return links_keep(probe,
			  bpf_program__attach_kprobe_multi_opts(probe->program, NULL, &opts));
}

static pid_t pid_or_all(const struct probe *spec)
{
	return spec->pid ? spec->pid : -1;
}

static int attach_uprobe(struct capture_probe *probe, bool at_return)
{
	const struct probe *spec = probe->spec;
	LIBBPF_OPTS(bpf_uprobe_opts, opts, .retprobe = at_return, .bpf_cookie = spec->cookie,
		    .ref_ctr_offset = spec->counter);
	int err = need_perf_pmu(probe, "uprobe");

	if (err)
		return err;
	return links_keep(probe, bpf_program__attach_uprobe_opts(probe->program, pid_or_all(spec),
								 spec->path, spec->offset, &opts));
}

static int attach_uprobe_multi(struct capture_probe *probe)
{
	const struct uprobe_places one = {.offsets = &probe->spec->offset, .count = 1};

	return uprobe_multi_attach(probe, probe->spec->path, &one, probe->spec->pid);
}

static int attach_usdt(struct capture_probe *probe)
{
	const struct probe *spec = probe->spec;
	const char *colon = strchr(spec->function, ':');
	char provider[64];
	int err = need_perf_pmu(probe, "uprobe");

	if (err)
		return err;
	if (!colon || (size_t)(colon - spec->function) >= sizeof(provider))
		return -EINVAL;
	snprintf(provider, sizeof(provider), "%.*s", (int)(colon - spec->function), spec->function);
	return links_keep(probe, bpf_program__attach_usdt(probe->program, pid_or_all(spec),
							  spec->path, provider, colon + 1, NULL));
}

static int attach_tracepoint(struct capture_probe *probe)
{
	LIBBPF_OPTS(bpf_tracepoint_opts, opts, .bpf_cookie = probe->spec->cookie);
	const char *colon = strchr(probe->spec->function, ':');
	char category[64];

	if (!colon || (size_t)(colon - probe->spec->function) >= sizeof(category))
		return -EINVAL;
	snprintf(category, sizeof(category), "%.*s", (int)(colon - probe->spec->function),
		 probe->spec->function);
	return links_keep(probe, bpf_program__attach_tracepoint_opts(probe->program, category,
								     colon + 1, &opts));
}

/* Over what its section names, or over the entries of a map. */
static int attach_iter(const struct capture *capture, struct capture_probe *probe)
{
	const struct bpf_map *map;
	union bpf_iter_link_info info = {};
	LIBBPF_OPTS(bpf_iter_attach_opts, opts, .link_info = &info, .link_info_len = sizeof(info));

	if (!probe->spec->iterates)
		return links_keep(probe, bpf_program__attach_iter(probe->program, NULL));
	map = object_map(capture, probe->spec->iterates);
	if (!map)
		return -ENOENT;
	info.map.map_fd = (__u32)bpf_map__fd(map);
	return links_keep(probe, bpf_program__attach_iter(probe->program, &opts));
}

static int attach_one(const struct capture *capture, struct capture_probe *probe)
{
	switch (probe->spec->kind) {
	case PROBE_SECTION:
	case PROBE_FENTRY: /* its function was named before the load */
		return links_keep(probe, bpf_program__attach(probe->program));
	case PROBE_PERF:
		return attach_perf(probe);
	case PROBE_KPROBE:
		return attach_kprobe(probe, false);
	case PROBE_KRETPROBE:
		return attach_kprobe(probe, true);
	case PROBE_KPROBE_MULTI:
		return attach_kprobe_multi(probe);
	case PROBE_UPROBE:
		return attach_uprobe(probe, false);
	case PROBE_URETPROBE:
		return attach_uprobe(probe, true);
	case PROBE_UPROBE_MULTI:
		return attach_uprobe_multi(probe);
	case PROBE_UPROBE_SESSION:
		return -EINVAL; /* deferred ones only */
	case PROBE_USDT:
		return attach_usdt(probe);
	case PROBE_TRACEPOINT:
		return attach_tracepoint(probe);
	case PROBE_ITER:
		return attach_iter(capture, probe);
	}
	return -EINVAL;
}

/* 0 if one of them could be attached; else why the last one could not. */
static int attach_places(const struct capture *capture, struct capture_probe *probe)
{
	const struct probe *spec = probe->spec;
	int err = -EINVAL;

	for (size_t i = 0; i < spec->place_count; i++) {
		const struct probe_place *place = &spec->places[i];
		struct probe one = *spec;

		one.path = place->path;
		one.offset = place->offset;
		one.counter = place->counter;
		one.function = place->function;
		one.cookie = place->cookie;
		one.pid = place->pid;
		probe->spec = &one;
		err = attach_one(capture, probe);
		probe->spec = spec;
		/* What is so for all of them is told once, with its cause. */
		if (err && err != -EOPNOTSUPP && !(err == -ESRCH && place->pid))
			log_info("no probe at %s: %s", place->name, strerror(-err));
	}
	return links_are_there(probe) ? 0 : err;
}

/* Another program is to call it: 0 if that one does, or -errno. */
static int give_to_caller(const struct capture *capture, struct capture_probe *probe)
{
	const struct probe *spec = probe->spec;
	const struct bpf_map *array = object_map(capture, spec->call_array);
	int program = bpf_program__fd(probe->program);
	u32 zero = 0;

	if (!array || bpf_map__fd(array) < 0 || !capture_is_attached(capture, spec->called_by))
		return -ENOENT;
	if (bpf_map_update_elem(bpf_map__fd(array), &zero, &program, BPF_ANY))
		return -errno;
	probe->call_array = bpf_map__fd(array);
	probe->is_called = true;
	return 0;
}

int attach_probe(const struct capture *capture, struct capture_probe *probe)
{
	if (probe->spec->called_by && !give_to_caller(capture, probe))
		return 0;
	return probe->spec->places ? attach_places(capture, probe) : attach_one(capture, probe);
}

void attach_undo(struct capture_probe *probe)
{
	links_close(probe);
}
