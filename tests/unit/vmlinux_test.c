// SPDX-License-Identifier: Apache-2.0
/*
 * Holds every field of the hand-written bpf/vmlinux.h against a kernel's own BTF: it must be
 * there, with the same size and sign. Needs no root; runs in each kernel of the matrix.
 */
#include "unit.h"

#include <bpf/btf.h>
#include <bpf/libbpf.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../../abi/types.h"

/* An object that refers to each of our structs. Aligned as ELF wants it. */
static const unsigned char vmlinux_types[] __attribute__((aligned(8))) = {
#include "vmlinux_types.inc"
};

static int compared;

/* What is behind typedefs and qualifiers. */
static const struct btf_type *bare(const struct btf *btf, u32 id)
{
	const struct btf_type *type = btf__type_by_id(btf, id);

	while (type && (btf_is_mod(type) || btf_is_typedef(type)))
		type = btf__type_by_id(btf, type->type);
	return type;
}

static bool is_struct(const struct btf_type *type)
{
	return btf_is_struct(type) || btf_is_union(type);
}

/* A member by name, also inside anonymous structs and unions, as CO-RE finds it. */
static const struct btf_member *find_member(const struct btf *btf, const struct btf_type *type,
					    const char *name)
{
	const struct btf_member *member = btf_members(type);

	for (u16 i = 0; i < btf_vlen(type); i++, member++) {
		const struct btf_type *inner = bare(btf, member->type);
		const struct btf_member *found;

		if (!strcmp(btf__name_by_offset(btf, member->name_off), name))
			return member;
		if (member->name_off || !inner || !is_struct(inner))
			continue;
		found = find_member(btf, inner, name);
		if (found)
			return found;
	}
	return NULL;
}

/* A field of one name and of two kinds, by kernel: CO-RE does not take one for the other. */
static bool is_another_form(const char *owner, const char *name)
{
	/* Before 6.2 a struct of counters, not an array. */
	return !strcmp(owner, "mm_struct___counters") && !strcmp(name, "rss_stat");
}

/*
 * Only asked whether it is 0, and of another size by kernel: CO-RE fits the load of a field that is
 * unsigned here.
 */
static bool is_flag_of_any_size(const char *owner, const char *name)
{
	return !strcmp(owner, "task_struct___on_cpu") && !strcmp(name, "on_cpu");
}

static void compare_field(const struct btf *ours, const struct btf_type *our_struct,
			  const struct btf_member *member, const struct btf *kernel,
			  const struct btf_type *kernel_struct)
{
	const char *name = btf__name_by_offset(ours, member->name_off);
	const char *owner = btf__name_by_offset(ours, our_struct->name_off);
	const struct btf_member *real = find_member(kernel, kernel_struct, name);
	const struct btf_type *a, *b;

	if (!real && strstr(owner, "___"))
		return; /* another kernel's form of it */
	if (!real)
		fail_msg("struct %s has no field %s in this kernel", owner, name);
	a = bare(ours, member->type);
	b = bare(kernel, real->type);
	compared++;
	if (btf_kind(a) != btf_kind(b) && is_another_form(owner, name))
		return;
	if (btf_kind(a) != btf_kind(b))
		fail_msg("%s.%s: kind %u here, %u in the kernel", owner, name, btf_kind(a),
			 btf_kind(b));
	if (is_flag_of_any_size(owner, name) && !(btf_int_encoding(a) & BTF_INT_SIGNED))
		return;
	if (btf_is_int(a) && a->size != b->size)
		fail_msg("%s.%s: %u bytes here, %u in the kernel", owner, name, a->size, b->size);
	if (btf_is_int(a) && ((btf_int_encoding(a) ^ btf_int_encoding(b)) & BTF_INT_SIGNED))
		fail_msg("%s.%s: signed in one, not in the other", owner, name);
}

static void compare_struct(const struct btf *ours, const struct btf_type *type,
			   const struct btf *kernel)
{
	const char *name = btf__name_by_offset(ours, type->name_off);
	const char *flavour = strstr(name, "___");
	const struct btf_member *member = btf_members(type);
	char base[128];
	s32 id;

	snprintf(base, sizeof(base), "%.*s", (int)(flavour ? flavour - name : 120), name);
	id = btf__find_by_name_kind(kernel, base, BTF_KIND_STRUCT);
	if (id < 0 && (flavour || !strncmp(base, "bpf_iter__", 10)))
		return; /* another kernel's form; an iterator that came later: both may be absent */
	if (id < 0)
		fail_msg("this kernel has no struct %s", base);
	for (u16 i = 0; i < btf_vlen(type); i++)
		compare_field(ours, type, member + i, kernel, btf__type_by_id(kernel, (u32)id));
}

static void handwritten_types_are_the_kernels(void **state)
{
	struct bpf_object *object;
	const struct btf *ours;
	struct btf *kernel;

	(void)state;
	object = bpf_object__open_mem(vmlinux_types, sizeof(vmlinux_types), NULL);
	assert_non_null(object);
	ours = bpf_object__btf(object);
	kernel = btf__parse("/sys/kernel/btf/vmlinux", NULL);
	assert_non_null(kernel);
	for (u32 id = 1; id < btf__type_cnt(ours); id++) {
		const struct btf_type *type = btf__type_by_id(ours, id);

		if (btf_is_struct(type) && type->name_off)
			compare_struct(ours, type, kernel);
	}
	assert_true(compared >= 30);
	print_message("%d fields compared\n", compared);
	btf__free(kernel);
	bpf_object__close(object);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(handwritten_types_are_the_kernels),
	};

	return cmocka_run_group_tests_name("vmlinux", tests, NULL, NULL);
}
