// SPDX-License-Identifier: Apache-2.0
/*
 * A program that can run in NMI shares no ring buffer, no hash map and no spin lock with any that
 * cannot, by the relocations of every BPF object (bpf/nmi.bpf.h says why). And the check sees it
 * where one does: in copies that are built with the common ring buffers.
 */
#include "unit.h"

#include <bpf/libbpf.h>
#include <linux/perf_event.h>
#include <stdio.h>

#include "../../src/doctor/features.h"
#include "../../src/model/signal.h"
#include "bpf_skeletons.inc"
#include "nmi_records.skel.h"
#include "nmi_requests.skel.h"
#include "reach.h"

typedef bool is_nmi_fn(const char *program);

static struct {
	int programs, faults;
	char first[256];
} found;

/* --- which programs can run in NMI --- */

/* What counts cycles, or anything else of the CPU's own, does; a software event does not. */
static bool is_hardware(const struct probe *probe)
{
	return probe->kind == PROBE_PERF && probe->perf_type != PERF_TYPE_SOFTWARE;
}

static const struct probe *probe_number(size_t number)
{
	for (int id = 0; id < SIGNAL_LIMIT; id++) {
		const struct signal *signal = signal_rows[id].signal;

		if (!signal)
			continue;
		if (number < signal->probe_count)
			return &signal->probes[number];
		number -= signal->probe_count;
	}
	return number < feature_count ? &features[number].probe : NULL;
}

static bool can_run_in_nmi(const char *program)
{
	const struct probe *probe;

	for (size_t i = 0; (probe = probe_number(i)); i++)
		if (!strcmp(probe->program, program) && is_hardware(probe))
			return true;
	return false;
}

/* For the check's own test: a program that does use what others use. */
static bool clock_is_nmi(const char *program)
{
	return !strcmp(program, "sample_clock");
}

/* --- what it shares --- */

static void fault(const char *program, const char *what, const char *map, const char *other)
{
	if (!found.faults++)
		snprintf(found.first, sizeof(found.first), "%s %s %s %s", program, what, map,
			 other);
}

/* Neither takes a lock: task storage only while none is created (nmi.bpf.h). */
static bool is_free_of_locks(const struct bpf_map *map)
{
	enum bpf_map_type type = bpf_map__type(map);

	return type == BPF_MAP_TYPE_ARRAY || type == BPF_MAP_TYPE_PERCPU_ARRAY ||
	       type == BPF_MAP_TYPE_TASK_STORAGE;
}

static void check_map(const struct reach *reach, const struct reach_function *program, size_t map,
		      is_nmi_fn *is_nmi)
{
	for (size_t i = 0; i < reach->function_count; i++) {
		const struct reach_function *other = &reach->functions[i];

		if (other->is_program && other->maps[map] && !is_nmi(other->name)) {
			fault(program->name, "shares", reach->map_names[map], other->name);
			return;
		}
	}
}

static void check_program(const struct reach *reach, const struct reach_function *program,
			  const struct bpf_object *object, is_nmi_fn *is_nmi)
{
	size_t reached = 0;

	found.programs++;
	for (size_t map = 0; map < reach->map_count; map++) {
		const struct bpf_map *one =
			bpf_object__find_map_by_name(object, reach->map_names[map]);

		if (!program->maps[map])
			continue;
		reached++;
		assert_non_null(one);
		if (!is_free_of_locks(one))
			check_map(reach, program, map, is_nmi);
	}
	assert_true(reached > 0); /* each sends something */
	if (program->helpers[BPF_FUNC_spin_lock])
		fault(program->name, "takes", "a spin lock", "");
	if (program->creates_storage)
		fault(program->name, "creates", "task storage", "");
}

static void check_object(const void *bytes, size_t size, is_nmi_fn *is_nmi)
{
	struct bpf_object *object = bpf_object__open_mem(bytes, size, NULL);
	struct reach *reach = reach_read(bytes, size);

	assert_non_null(object);
	for (size_t i = 0; i < reach->function_count; i++)
		if (reach->functions[i].is_program && is_nmi(reach->functions[i].name))
			check_program(reach, &reach->functions[i], object, is_nmi);
	reach_free(reach);
	bpf_object__close(object);
}

static int forget(void **state)
{
	(void)state;
	memset(&found, 0, sizeof(found));
	return 0;
}

static void no_nmi_program_shares_a_lock(void **state)
{
	const void *bytes;
	size_t size;

	(void)state;
#define BPF_SOURCE(name)                                                                           \
	bytes = name##_bpf__elf_bytes(&size);                                                      \
	check_object(bytes, size, can_run_in_nmi);
#include "bpf_sources.inc"
#undef BPF_SOURCE
	if (found.faults)
		fail_msg("%d shared; the first: %s", found.faults, found.first);
	assert_int_equal(found.programs, 2); /* sample_cycles, and the doctor's canary_cycles */
}

static void common_ring_is_found(void **state)
{
	const void *bytes;
	size_t size;

	(void)state;
	bytes = nmi_records_bpf__elf_bytes(&size);
	check_object(bytes, size, can_run_in_nmi);
	assert_int_equal(found.faults, 1);
	assert_non_null(strstr(found.first, "sample_cycles shares records "));
}

static void common_ring_of_requests_is_found(void **state)
{
	const void *bytes;
	size_t size;

	(void)state;
	bytes = nmi_requests_bpf__elf_bytes(&size);
	check_object(bytes, size, can_run_in_nmi);
	assert_int_equal(found.faults, 1);
	assert_non_null(strstr(found.first, "sample_cycles shares unwind_requests "));
}

/* records, unwind_requests, and the hashes unwind_processes and ledger_pids */
static void hash_maps_are_found(void **state)
{
	const void *bytes;
	size_t size;

	(void)state;
	bytes = dwell_bpf__elf_bytes(&size);
	check_object(bytes, size, clock_is_nmi);
	assert_int_equal(found.programs, 1);
	assert_int_equal(found.faults, 4);
}

/* Of a kind that runs in NMI, or that no probe names: nobody would have checked it. */
static void every_perf_program_is_known(void **state)
{
	struct bpf_program *program;
	struct bpf_object *object;
	const struct probe *probe;
	const void *bytes;
	size_t size;

	(void)state;
	bytes = dwell_bpf__elf_bytes(&size);
	object = bpf_object__open_mem(bytes, size, NULL);
	assert_non_null(object);
	bpf_object__for_each_program(program, object) {
		const char *name = bpf_program__name(program);
		bool is_known = false;

		for (size_t i = 0; (probe = probe_number(i)); i++)
			is_known |= !strcmp(probe->program, name);
		if (bpf_program__type(program) == BPF_PROG_TYPE_PERF_EVENT && !is_known)
			fail_msg("%s: no probe says by which event it runs", name);
	}
	bpf_object__close(object);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup(no_nmi_program_shares_a_lock, forget),
		cmocka_unit_test_setup(common_ring_is_found, forget),
		cmocka_unit_test_setup(common_ring_of_requests_is_found, forget),
		cmocka_unit_test_setup(hash_maps_are_found, forget),
		cmocka_unit_test(every_perf_program_is_known),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
