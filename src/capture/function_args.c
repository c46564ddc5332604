// SPDX-License-Identifier: Apache-2.0
/*
 * What the kernel's own types say of its functions.
 */
#include <bpf/btf.h>
#include <errno.h>

#include "../base/cleanup.h"
#include "capture.h"

/* Negative: it has a sign; 0: not in one register, or nobody knows. */
static s8 size_of(const struct btf *btf, u32 id)
{
	s32 resolved = btf__resolve_type((struct btf *)btf, id);
	const struct btf_type *type = resolved > 0 ? btf__type_by_id(btf, (u32)resolved) : NULL;

	if (!type)
		return 0;
	if (btf_is_ptr(type))
		return sizeof(u64);
	if (!btf_is_int(type) && !btf_is_any_enum(type))
		return 0;
	if (type->size > sizeof(u64))
		return 0;
	return (s8)(btf_is_int(type) && btf_int_encoding(type) & BTF_INT_SIGNED ? -(int)type->size
										: (int)type->size);
}

static int read_args(const struct btf *btf, const char *function, s8 *ret_sizes, int most)
{
	s32 id = btf__find_by_name_kind(btf, function, BTF_KIND_FUNC);
	const struct btf_type *type = id > 0 ? btf__type_by_id(btf, (u32)id) : NULL;
	int count;

	type = type ? btf__type_by_id(btf, type->type) : NULL;
	if (!type || !btf_is_func_proto(type))
		return -ENOENT;
	count = btf_vlen(type);
	if (count > most)
		return -E2BIG;
	for (int i = 0; i < count; i++) {
		ret_sizes[i] = size_of(btf, btf_params(type)[i].type);
		if (!ret_sizes[i])
			return -EOPNOTSUPP;
	}
	return count;
}

int capture_function_args(const char *function, s8 *ret_sizes, int most)
{
	struct btf *btf = btf__load_vmlinux_btf();
	int count = btf ? read_args(btf, function, ret_sizes, most) : -ENOENT;

	btf__free(btf);
	return count;
}
