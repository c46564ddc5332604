// SPDX-License-Identifier: Apache-2.0
/*
 * Programs are relocated by the few types of the kernel that they name: instruction by instruction
 * as by all of them. Also runs in each kernel of the matrix.
 */
#include "tap.h"

#include <bpf/libbpf.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "../../src/capture/internal.h"

static int stay_silent(enum libbpf_print_level level, const char *format, va_list args)
{
	(void)level;
	(void)format;
	(void)args;
	return 0;
}

/* Relocated, as far as to be loaded; whether the kernel takes all of it is not asked here. */
static struct bpf_object *relocate(int source, const char *types)
{
	LIBBPF_OPTS(bpf_object_open_opts, opts, .btf_custom_path = types);
	size_t size;
	const void *bytes = source_bytes(source, &size);
	struct bpf_object *object = bpf_object__open_mem(bytes, size, &opts);
	struct bpf_program *program;
	struct bpf_map *map;

	if (!object)
		return NULL;
	bpf_object__for_each_program(program, object) {
		bpf_program__set_autoload(program, true);
	}
	bpf_object__for_each_map(map, object) {
		if (!bpf_map__is_internal(map))
			bpf_map__set_autocreate(map, false); /* not all are on every kernel */
	}
	bpf_object__load(object);
	return object;
}

/* Two words that are one number, the descriptor of a map: another with each load. */
static bool is_descriptor(const struct bpf_insn *insn)
{
	return insn->code == (BPF_LD | BPF_IMM | BPF_DW) && insn->src_reg;
}

static bool is_same_program(const struct bpf_program *a, const struct bpf_program *b)
{
	const struct bpf_insn *left = bpf_program__insns(a), *right = bpf_program__insns(b);
	size_t count = bpf_program__insn_cnt(a);

	if (count != bpf_program__insn_cnt(b))
		return false;
	for (size_t i = 0; i < count; i++) {
		struct bpf_insn insn = right[i];

		if (is_descriptor(&left[i]))
			insn.imm = left[i].imm;
		if (memcmp(&left[i], &insn, sizeof(insn)))
			return false;
	}
	return true;
}

/* The CO-RE relocations change an instruction: some did, or nothing was compared. */
static bool is_relocated(int source, const struct bpf_object *object)
{
	size_t size;
	const void *bytes = source_bytes(source, &size);
	struct bpf_object *raw = bpf_object__open_mem(bytes, size, NULL);
	struct bpf_program *program, *other;
	bool is_changed = false;

	if (!raw)
		return false;
	bpf_object__for_each_program(program, raw) {
		other = bpf_object__find_program_by_name(object, bpf_program__name(program));
		is_changed |= other && !is_same_program(program, other);
	}
	bpf_object__close(raw);
	return is_changed;
}

static void types_relocate_alike(int source)
{
	struct bpf_object *few = relocate(source, source_kernel_types());
	struct bpf_object *all = relocate(source, NULL);
	struct bpf_program *program, *other;
	int count = 0, different = 0;

	if (!tap(few && all, "%s is opened", source_name(source)))
		return;
	bpf_object__for_each_program(program, all) {
		other = bpf_object__find_program_by_name(few, bpf_program__name(program));
		if (!other || !is_same_program(program, other)) {
			printf("# %s differs\n", bpf_program__name(program));
			different++;
		}
		count++;
	}
	/* Others may be refused before, where the kernel lacks a function of theirs. */
	tap(!different && (source || is_relocated(source, few)), "%s: %d of %d programs differ",
	    source_name(source), different, count);
	bpf_object__close(few);
	bpf_object__close(all);
}

int main(void)
{
	libbpf_set_print(stay_silent);
	if (access("/sys/kernel/btf/vmlinux", R_OK)) {
		printf("ok - # skip: this kernel does not tell its types\n");
		return 0;
	}
	if (!tap(source_kernel_types() != NULL, "the kernel's types are found"))
		return 1;
	for (int source = 0; source < source_count; source++)
		types_relocate_alike(source);
	return tap_status();
}
