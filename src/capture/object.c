// SPDX-License-Identifier: Apache-2.0
/*
 * BPF objects: opened, with only the wanted programs and maps switched on, the knobs set, the
 * shared maps shared, and loaded.
 */
#include <bpf/bpf.h>
#include <bpf/btf.h>
#include <errno.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "../base/cleanup.h"
#include "../base/descriptors.h"
#include "../base/text.h"
#include "../model/signal.h"
#include "internal.h"

#define UPROBE_MULTI_ATTACH_TYPE   48 /* BPF_TRACE_UPROBE_MULTI, from 6.6 */
#define UPROBE_SESSION_ATTACH_TYPE 57 /* BPF_TRACE_UPROBE_SESSION, from 6.13 */

/* Created with every capture and shared by all objects; core.bpf.c defines them. */
static const char *const shared_maps[] = {"records", "emit_counts", "live_configs", "filters"};

static bool is_shared(const char *map)
{
	for (size_t i = 0; i < ARRAY_SIZE(shared_maps); i++)
		if (!strcmp(map, shared_maps[i]))
			return true;
	return false;
}

bool object_map_is_shared(const struct bpf_map *map)
{
	return is_shared(bpf_map__name(map));
}

static bool probe_names_map(const struct probe *spec, const char *map)
{
	for (size_t i = 0; i < PROBE_MAPS_MAX; i++)
		if (spec->maps[i] && !strcmp(spec->maps[i], map))
			return true;
	return false;
}

static bool map_is_named(const struct capture *capture, const char *map)
{
	for (size_t i = 0; i < capture->config.probe_count; i++)
		if (probe_is_on(&capture->probes[i]) &&
		    probe_names_map(capture->probes[i].spec, map))
			return true;
	return false;
}

static bool map_is_wanted(const struct capture *capture, const char *map)
{
	return is_shared(map) || (signal_map_fits_storage(map, capture->has_task_storage) &&
				  map_is_named(capture, map));
}

static bool source_is_wanted(const struct capture *capture, int source)
{
	if (source == 0)
		return true; /* owns the shared maps */
	for (size_t i = 0; i < capture->config.probe_count; i++)
		if (probe_is_on(&capture->probes[i]) &&
		    source_of(capture->probes[i].spec) == source)
			return true;
	return false;
}

/* Where a frozen knob is, by the object's own BTF: its place is declared nowhere else. */
static int knob_offset(struct bpf_object *object, const char *name)
{
	const struct btf *btf = bpf_object__btf(object);
	s32 id = btf__find_by_name_kind(btf, ".rodata", BTF_KIND_DATASEC);
	const struct btf_type *section = btf__type_by_id(btf, id < 0 ? 0 : (u32)id);
	const struct btf_var_secinfo *var = btf_var_secinfos(section);

	if (id < 0)
		return id;
	for (u16 i = 0; i < btf_vlen(section); i++) {
		const struct btf_type *type = btf__type_by_id(btf, var[i].type);

		if (!strcmp(btf__name_by_offset(btf, type->name_off), name) &&
		    var[i].size == sizeof(u32))
			return (int)var[i].offset;
	}
	return -ENOENT;
}

static struct bpf_map *rodata_map(struct bpf_object *object)
{
	struct bpf_map *map;

	bpf_object__for_each_map(map, object) {
		const char *suffix = strrchr(bpf_map__name(map), '.');

		if (bpf_map__is_internal(map) && suffix && !strcmp(suffix, ".rodata"))
			return map;
	}
	return NULL;
}

/* 0 if it cannot be known. A kernel without pid namespaces has /proc/self/ns, but no pid in it. */
static u32 own_pidns_inum(void)
{
	struct stat st;

	if (!stat("/proc/self/ns/pid", &st))
		return (u32)st.st_ino;
	return stat("/proc/self/ns", &st) ? 0 : PIDNS_INIT_INUM;
}

/* CPUs that are online without a gap, from number 0 on; 0 if it cannot be known. */
static u32 first_cpus_online(void)
{
	_cleanup_fclose_ FILE *file = fopen("/sys/devices/system/cpu/online", "re");
	unsigned int first, last;

	/* "0", "0-3", "0-3,8-11" */
	if (!file || fscanf(file, "%4u", &first) != 1 || first)
		return 0;
	return fscanf(file, "-%4u", &last) == 1 ? last + 1 : 1;
}

static bool knob_is_within(const char *name, u64 value)
{
#define KNOB(knob, standard, least, most, meaning)                                                 \
	if (!strcmp(name, #knob))                                                                  \
		return value - (least) <= (u64)(most) - (least);
	FROZEN_KNOBS(KNOB)
#undef KNOB
	return false;
}

static int set_knobs(const struct capture *capture, struct bpf_object *object)
{
	int cpus = libbpf_num_possible_cpus();
	const struct {
		const char *name;
		u32 value;
	} knobs[] = {
		{"cfg_pidns_inum", own_pidns_inum()},
		{"cfg_self_tgid", (u32)getpid()},
		{"cfg_worker_tgid", (u32)capture->config.worker_pid},
		{"cfg_spawner_tgid", (u32)capture->config.spawner_pid},
		{"cfg_cpus", (u32)cpus},
		{"cfg_cpus_online", first_cpus_online()},
		{"cfg_filter_kinds", (u32)live_filter_kinds(capture)},
		{"cfg_task_storage", capture->has_task_storage},
		{"cfg_task_regs", capture->has_task_regs},
		{"cfg_cookies", capture->has_cookies},
		{"cfg_nmi", map_is_named(capture, "unwind_ranges")},
		{"cfg_split", capture->config.split},
		{"cfg_signals", (u32)capture->config.signals},
		{"cfg_signals_high", (u32)(capture->config.signals >> 32)},
		{"cfg_stripes", series_stripes_here()},
		{"cfg_sample_period_ns", capture->config.sample_period_ns},
		{"cfg_seed", capture->config.seed ? capture->config.seed : 1},
		{"cfg_wake_bytes", capture->config.ring_bytes / 8},
		{"cfg_canary_syscall", capture->config.canary_syscall},
	};

	struct bpf_map *map = rodata_map(object);
	size_t size;
	const void *initial = map ? bpf_map__initial_value(map, &size) : NULL;
	_cleanup_free_ char *data = initial ? malloc(size) : NULL;

	if (cpus < 0)
		return cpus;
	if (!data)
		return initial ? -ENOMEM : -ENOENT;
	memcpy(data, initial, size);
	for (size_t i = 0; i < ARRAY_SIZE(knobs); i++) {
		int offset = knob_offset(object, knobs[i].name);

		if (offset < 0 || (size_t)offset + sizeof(u32) > size)
			return -ENOENT;
		if (!knob_is_within(knobs[i].name, knobs[i].value))
			return -ERANGE;
		memcpy(data + offset, &knobs[i].value, sizeof(u32));
	}
	return bpf_map__set_initial_value(map, data, size);
}

/* The verifier wants to know the function; where there is none, libbpf does not say of whom. */
static int set_target(struct capture *capture, const struct capture_probe *probe)
{
	int err = bpf_program__set_attach_target(probe->program, 0, probe->spec->function);

	if (err)
		text_copy(capture->log.program, sizeof(capture->log.program), probe->spec->program);
	return err;
}

static int choose_programs(struct capture *capture, struct bpf_object *object, int source)
{
	for (size_t i = 0; i < capture->config.probe_count; i++) {
		struct capture_probe *probe = &capture->probes[i];
		const struct probe *spec = probe->spec;
		struct bpf_program *companion = NULL;
		int err;

		if (!probe_is_on(probe) || source_of(spec) != source)
			continue;
		probe->program = bpf_object__find_program_by_name(object, spec->program);
		if (spec->companion)
			companion = bpf_object__find_program_by_name(object, spec->companion);
		if (!probe->program || (spec->companion && !companion))
			return -ENOENT;
		bpf_program__set_autoload(probe->program, true);
		if (companion)
			bpf_program__set_autoload(companion, true);
		if (spec->kind == PROBE_UPROBE_MULTI)
			bpf_program__set_expected_attach_type(probe->program,
							      UPROBE_MULTI_ATTACH_TYPE);
		if (spec->kind == PROBE_UPROBE_SESSION)
			bpf_program__set_expected_attach_type(probe->program,
							      UPROBE_SESSION_ATTACH_TYPE);
		if (spec->kind == PROBE_FENTRY && (err = set_target(capture, probe)))
			return err;
	}
	return 0;
}

static int prepare_maps(const struct capture *capture, struct bpf_object *object, int source)
{
	struct bpf_map *map;

	bpf_object__for_each_map(map, object) {
		const char *name = bpf_map__name(map);
		int err = 0;

		if (bpf_map__is_internal(map))
			continue;
		if (!map_is_wanted(capture, name))
			err = bpf_map__set_autocreate(map, false);
		else if (source > 0 && is_shared(name))
			err = bpf_map__reuse_fd(map, bpf_map__fd(object_map(capture, name)));
		else if (!strcmp(name, "records") || !strcmp(name, "records_nmi"))
			err = bpf_map__set_max_entries(map, capture->config.ring_bytes);
		else if (!strcmp(name, "unwind_rows") && capture->config.unwind_rows)
			err = bpf_map__set_max_entries(map, capture->config.unwind_rows);
		else if (!strcmp(name, "series_stripes"))
			err = bpf_map__set_max_entries(map, SERIES_MAX * series_stripes_here());
		if (err)
			return err;
	}
	return 0;
}

/* Beside maps, programs and links: libbpf's own trials, the session, files of target processes. */
#define DESCRIPTORS_SPARE 64

static size_t probe_link_count(const struct probe *spec)
{
	if (spec->kind == PROBE_PERF && !spec->pid)
		return (size_t)libbpf_num_possible_cpus();
	return spec->place_count ? spec->place_count : 1;
}

/* Without a free descriptor libbpf takes features for absent, and the load fails elsewhere. */
static int need_descriptors(const struct capture *capture, const struct bpf_object *object,
			    int source)
{
	size_t count = DESCRIPTORS_SPARE;
	struct bpf_program *program;
	struct bpf_map *map;

	bpf_object__for_each_map(map, object)
		count += bpf_map__autocreate(map);
	bpf_object__for_each_program(program, object)
		count += bpf_program__autoload(program);
	for (size_t i = 0; i < capture->config.probe_count; i++)
		if (probe_is_on(&capture->probes[i]) &&
		    source_of(capture->probes[i].spec) == source)
			count += probe_link_count(capture->probes[i].spec);
	return descriptors_need(count);
}

static int open_source(struct capture *capture, int source)
{
	LIBBPF_OPTS(bpf_object_open_opts, opts, .object_name = source_name(source),
		    .btf_custom_path = source_kernel_types());
	size_t size;
	const void *bytes = source_bytes(source, &size);
	struct bpf_object *object = bpf_object__open_mem(bytes, size, &opts);
	int err;

	if (!object)
		return -errno;
	capture->objects[source] = object;
	err = choose_programs(capture, object, source);
	if (!err)
		err = set_knobs(capture, object);
	return err ? err : prepare_maps(capture, object, source);
}

int object_open_main(struct capture *capture)
{
	return open_source(capture, 0);
}

static int load_source(struct capture *capture, int source)
{
	int err = open_source(capture, source);

	if (!err)
		err = need_descriptors(capture, capture->objects[source], source);
	return err ? err : bpf_object__load(capture->objects[source]);
}

/*
 * What programs may call differs by kernel, and is cheap to ask. Who may not even ask (-EPERM), or
 * cannot (-ENOMEM), is told why by the load, which asks for more.
 */
static bool can_call(enum bpf_func_id helper)
{
	return libbpf_probe_bpf_helper(BPF_PROG_TYPE_RAW_TRACEPOINT, helper, NULL) != 0;
}

static bool has_cookies(void)
{
	return libbpf_probe_bpf_helper(BPF_PROG_TYPE_KPROBE, BPF_FUNC_get_attach_cookie, NULL) != 0;
}

void object_find_form(struct capture *capture)
{
	capture->has_task_storage = can_call(BPF_FUNC_task_storage_get);
	capture->has_task_regs = can_call(BPF_FUNC_task_pt_regs);
	capture->has_cookies = has_cookies();
}

/* libbpf's words on what the kernel lacks are nobody's business. */
#define ASK_QUIETLY(question)                                                                      \
	({                                                                                         \
		struct bpflog log_ = {0};                                                          \
		bool has_;                                                                         \
                                                                                                   \
		bpflog_begin(&log_);                                                               \
		has_ = (question);                                                                 \
		bpflog_end();                                                                      \
		bpflog_free(&log_);                                                                \
		has_;                                                                              \
	})

bool capture_has_task_storage(void)
{
	return ASK_QUIETLY(can_call(BPF_FUNC_task_storage_get));
}

bool capture_has_cookies(void)
{
	return ASK_QUIETLY(has_cookies());
}

int object_load_all(struct capture *capture, int *ret_source)
{
	for (int source = 0; source < source_count; source++) {
		int err;

		if (!source_is_wanted(capture, source))
			continue;
		*ret_source = source;
		err = load_source(capture, source);
		if (err)
			return err;
	}
	return 0;
}

/* Tail calls find their program in the array that the probe names first. */
static int place_companion(const struct capture *capture, const struct probe *spec)
{
	struct bpf_object *object = capture->objects[source_of(spec)];
	struct bpf_program *companion = bpf_object__find_program_by_name(object, spec->companion);
	struct bpf_map *array = bpf_object__find_map_by_name(object, spec->maps[0]);
	int fd = companion ? bpf_program__fd(companion) : -1;
	u32 zero = 0;

	if (!array || fd < 0)
		return -ENOENT;
	return bpf_map_update_elem(bpf_map__fd(array), &zero, &fd, BPF_ANY) ? -errno : 0;
}

static int fill_map(const struct bpf_map *map, const struct map_fill *fill)
{
	for (size_t i = 0; i < fill->count; i++)
		if (fill->entries[i].value &&
		    bpf_map_update_elem(bpf_map__fd(map), &fill->entries[i].key,
					&fill->entries[i].value, BPF_ANY))
			return -errno;
	return 0;
}

static int fill_first_map(const struct capture *capture, const struct probe *spec)
{
	struct bpf_object *object = capture->objects[source_of(spec)];
	struct bpf_map *map = bpf_object__find_map_by_name(object, spec->maps[0]);
	int err = map ? 0 : -ENOENT;

	for (size_t i = 0; i < PROBE_FILLS_MAX && !err; i++)
		err = fill_map(map, &spec->fills[i]);
	return err;
}

int object_fill_maps(const struct capture *capture)
{
	for (size_t i = 0; i < capture->config.probe_count; i++) {
		const struct capture_probe *probe = &capture->probes[i];
		int err = 0;

		if (probe_is_on(probe) && probe->spec->companion)
			err = place_companion(capture, probe->spec);
		if (!err && probe_is_on(probe) && probe->spec->fills[0].entries)
			err = fill_first_map(capture, probe->spec);
		if (err)
			return err;
	}
	return 0;
}

void object_close_all(struct capture *capture)
{
	for (size_t i = 0; i < capture->config.probe_count; i++)
		capture->probes[i].program = NULL;
	for (int source = CAPTURE_SOURCES_MAX - 1; source >= 0; source--) {
		bpf_object__close(capture->objects[source]);
		capture->objects[source] = NULL;
	}
}
