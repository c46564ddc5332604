// SPDX-License-Identifier: Apache-2.0
/*
 * The embedded BPF objects keep the rules, as far as opening them tells: no kernel is asked.
 */
#include "unit.h"

#include <bpf/libbpf.h>
#include <string.h>

#include "../../src/doctor/features.h"
#include "../../src/model/signal.h"
#include "bpf_skeletons.inc"
#include "reach.h"

static const struct {
	const char *name;
	const void *(*bytes)(size_t *ret_size);
} sources[] = {
#define BPF_SOURCE(name) {#name, name##_bpf__elf_bytes},
#include "bpf_sources.inc"
#undef BPF_SOURCE
};

#define SOURCE_COUNT (sizeof(sources) / sizeof(sources[0]))
static struct bpf_object *objects[SOURCE_COUNT];

static int open_all(void **state)
{
	(void)state;
	for (size_t i = 0; i < SOURCE_COUNT; i++) {
		size_t size;
		const void *bytes = sources[i].bytes(&size);

		objects[i] = bpf_object__open_mem(bytes, size, NULL);
		if (!objects[i])
			return -1;
	}
	return 0;
}

static int close_all(void **state)
{
	(void)state;
	for (size_t i = 0; i < SOURCE_COUNT; i++)
		bpf_object__close(objects[i]);
	return 0;
}

static void every_program_is_opt_in(void **state)
{
	(void)state;
	for (size_t i = 0; i < SOURCE_COUNT; i++) {
		struct bpf_program *program;

		bpf_object__for_each_program(program, objects[i])
			if (bpf_program__autoload(program))
				fail_msg("%s: write SEC(\"?%s\")", bpf_program__name(program),
					 bpf_program__section_name(program));
	}
}

static void check_probe(const char *owner, const struct probe *probe)
{
	struct bpf_object *object = objects[0];

	for (size_t i = 0; probe->source && i < SOURCE_COUNT; i++)
		if (!strcmp(probe->source, sources[i].name))
			object = objects[i];
	if (!bpf_object__find_program_by_name(object, probe->program))
		fail_msg("%s: there is no program '%s'", owner, probe->program);
	if (probe->companion && !bpf_object__find_program_by_name(object, probe->companion))
		fail_msg("%s: there is no program '%s'", owner, probe->companion);
	for (size_t i = 0; i < PROBE_MAPS_MAX; i++)
		if (probe->maps[i] && !bpf_object__find_map_by_name(object, probe->maps[i]))
			fail_msg("%s: there is no map '%s'", owner, probe->maps[i]);
}

static void every_probe_names_what_exists(void **state)
{
	(void)state;
	for (int id = 0; id < SIGNAL_LIMIT; id++) {
		const struct signal *signal = signal_rows[id].signal;

		for (size_t i = 0; signal && i < signal->probe_count; i++)
			check_probe(signal_rows[id].name, &signal->probes[i]);
	}
	for (size_t i = 0; i < feature_count; i++)
		check_probe(features[i].name, &features[i].probe);
}

static void every_signal_is_complete(void **state)
{
	(void)state;
	for (int id = 0; id < SIGNAL_LIMIT; id++) {
		const struct signal_row *row = &signal_rows[id];

		if (row->signal && ((row->record_size && !row->signal->on_record) ||
				    !row->signal->about || !row->signal->about[0]))
			fail_msg("%s: on_record and about are needed", row->name);
		if (row->signal && !row->record_size && !row->signal->view)
			fail_msg("%s: has neither records nor series", row->name);
	}
}

static bool is_uprobe(const char *section)
{
	return !strncmp(section + (section[0] == '?'), "u", 1); /* uprobe, uretprobe, usdt */
}

/* A uprobe's program can be preempted by itself: bpf/uprobe.bpf.h says what the tail call is for.
 */
static void every_uprobe_program_begins_as_such(void **state)
{
	size_t size, count = 0;
	const void *bytes = sources[0].bytes(&size);
	struct reach *reach = reach_read(bytes, size);

	(void)state;
	for (size_t i = 0; i < reach->function_count; i++) {
		const struct reach_function *function = &reach->functions[i];
		const struct bpf_program *program =
			function->is_program
				? bpf_object__find_program_by_name(objects[0], function->name)
				: NULL;

		if (!program || !is_uprobe(bpf_program__section_name(program)))
			continue;
		count++;
		if (!function->helpers[BPF_FUNC_tail_call])
			fail_msg("%s: its first statement is not UPROBE_BEGIN(ctx)",
				 function->name);
	}
	reach_free(reach);
	assert_true(count > 10);
}

/*
 * Before 5.12 the only atomic operation is an addition whose result nobody takes. Compilers make
 * others of that, too: an addition of 0 becomes "or 0".
 */
static void programs_have_the_atomic_operations_of_old_kernels(void **state)
{
	(void)state;
	for (size_t i = 0; i < SOURCE_COUNT; i++) {
		struct bpf_program *program;

		bpf_object__for_each_program(program, objects[i]) {
			const struct bpf_insn *code = bpf_program__insns(program);

			for (size_t at = 0; at < bpf_program__insn_cnt(program); at++)
				if (BPF_CLASS(code[at].code) == BPF_STX &&
				    BPF_MODE(code[at].code) == BPF_ATOMIC &&
				    code[at].imm != BPF_ADD)
					fail_msg("%s: instruction %zu is the atomic operation %#x",
						 bpf_program__name(program), at,
						 (unsigned int)code[at].imm);
		}
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(programs_have_the_atomic_operations_of_old_kernels),
		cmocka_unit_test(every_program_is_opt_in),
		cmocka_unit_test(every_probe_names_what_exists),
		cmocka_unit_test(every_signal_is_complete),
		cmocka_unit_test(every_uprobe_program_begins_as_such),
	};

	return cmocka_run_group_tests_name("object", tests, open_all, close_all);
}
