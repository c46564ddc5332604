// SPDX-License-Identifier: Apache-2.0
#include "kernel_types.h"

#include <errno.h>
#include <gelf.h>
#include <linux/btf.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "../base/cleanup.h"

/* A BTF in memory, and where in it each type is; the first has the number 1. */
struct types {
	const struct btf_header *header;
	const char *records, *strings;
	u32 *offsets;
	u32 count;
};

/* --- names --- */

/* "x___y" is our name for a form of x, as libbpf has it. */
static bool is_flavor(const char *at)
{
	return at[0] != '_' && at[1] == '_' && at[2] == '_' && at[3] == '_' && at[4] &&
	       at[4] != '_';
}

/* FNV-1a. */
static u32 bit_of(const char *name)
{
	u32 hash = 0x811c9dc5;

	for (; *name; name++) {
		hash = (hash ^ (u8)*name) * 0x01000193;
		if (is_flavor(name))
			break;
	}
	return (hash ^ hash >> 20) % KERNEL_TYPES_NAME_BITS;
}

static bool is_wanted(const struct kernel_types_wanted *wanted, const char *name)
{
	u32 bit = bit_of(name);

	return wanted->names[bit / 8] >> bit % 8 & 1;
}

/* --- a BTF --- */

/* What follows a type, in bytes; -1: of no kind that is known here. */
static s64 tail_bytes(const struct btf_type *type)
{
	u32 count = BTF_INFO_VLEN(type->info);

	switch (BTF_INFO_KIND(type->info)) {
	case BTF_KIND_INT:
	case BTF_KIND_VAR:
	case BTF_KIND_DECL_TAG:
		return sizeof(u32);
	case BTF_KIND_ARRAY:
		return sizeof(struct btf_array);
	case BTF_KIND_STRUCT:
	case BTF_KIND_UNION:
		return (s64)count * (s64)sizeof(struct btf_member);
	case BTF_KIND_ENUM:
		return (s64)count * (s64)sizeof(struct btf_enum);
	case BTF_KIND_ENUM64:
		return (s64)count * (s64)sizeof(struct btf_enum64);
	case BTF_KIND_FUNC_PROTO:
		return (s64)count * (s64)sizeof(struct btf_param);
	case BTF_KIND_DATASEC:
		return (s64)count * (s64)sizeof(struct btf_var_secinfo);
	case BTF_KIND_PTR:
	case BTF_KIND_FWD:
	case BTF_KIND_TYPEDEF:
	case BTF_KIND_VOLATILE:
	case BTF_KIND_CONST:
	case BTF_KIND_RESTRICT:
	case BTF_KIND_FUNC:
	case BTF_KIND_FLOAT:
	case BTF_KIND_TYPE_TAG:
		return 0;
	default:
		return -1;
	}
}

static const struct btf_type *type_of(const struct types *types, u32 id)
{
	return (const struct btf_type *)(types->records + types->offsets[id]);
}

static const char *name_of(const struct types *types, u32 offset)
{
	return offset < types->header->str_len ? types->strings + offset : "";
}

static size_t type_bytes(const struct btf_type *type)
{
	return sizeof(*type) + (size_t)tail_bytes(type);
}

static int find_types(struct types *types)
{
	u32 length = types->header->type_len, at = 0;

	types->offsets = malloc((length / sizeof(struct btf_type) + 2) * sizeof(u32));
	if (!types->offsets)
		return -ENOMEM;
	for (types->count = 1; at < length; types->count++) {
		const struct btf_type *type = (const void *)(types->records + at);

		if (length - at < sizeof(*type) || tail_bytes(type) < 0 ||
		    type_bytes(type) > length - at)
			return -EBADMSG;
		types->offsets[types->count] = at;
		at += (u32)type_bytes(type);
	}
	return 0;
}

/* The bytes stay the caller's. */
static int open_types(const void *btf, size_t size, struct types *ret_types)
{
	const struct btf_header *header = btf;
	u64 end;

	*ret_types = (struct types){.header = header};
	if (size < sizeof(*header) || header->magic != BTF_MAGIC || header->type_off % 4 ||
	    header->hdr_len % 4)
		return -EBADMSG;
	end = (u64)header->hdr_len + header->type_off + header->type_len;
	if (end > size || (u64)header->hdr_len + header->str_off + header->str_len > size ||
	    !header->str_len)
		return -EBADMSG;
	ret_types->records = (const char *)btf + header->hdr_len + header->type_off;
	ret_types->strings = (const char *)btf + header->hdr_len + header->str_off;
	if (ret_types->strings[header->str_len - 1])
		return -EBADMSG;
	return find_types(ret_types);
}

static void close_types(struct types *types)
{
	free(types->offsets);
}

/* --- what is wanted --- */

/* What has a name that relocations go by; the rest comes along with these. */
static bool is_named_type(const struct btf_type *type)
{
	u32 kind = BTF_INFO_KIND(type->info);

	return type->name_off && kind != BTF_KIND_FUNC && kind != BTF_KIND_VAR &&
	       kind != BTF_KIND_DATASEC && kind != BTF_KIND_DECL_TAG && kind != BTF_KIND_TYPE_TAG;
}

static int want_types(struct kernel_types_wanted *wanted, const void *btf, size_t size)
{
	struct types types;
	int err = open_types(btf, size, &types);

	for (u32 id = 1; !err && id < types.count; id++) {
		const struct btf_type *type = type_of(&types, id);
		u32 bit = bit_of(name_of(&types, type->name_off));

		if (is_named_type(type))
			wanted->names[bit / 8] |= (u8)(1 << bit % 8);
	}
	close_types(&types);
	return err;
}

static Elf_Data *section_of(Elf *elf, const char *wanted)
{
	Elf_Scn *section = NULL;
	GElf_Shdr header;
	size_t names;

	if (elf_getshdrstrndx(elf, &names))
		return NULL;
	while ((section = elf_nextscn(elf, section))) {
		const char *name = gelf_getshdr(section, &header)
					   ? elf_strptr(elf, names, header.sh_name)
					   : NULL;

		if (name && !strcmp(name, wanted))
			return elf_rawdata(section, NULL);
	}
	return NULL;
}

int kernel_types_want(struct kernel_types_wanted *wanted, const void *elf, size_t size)
{
	Elf_Data *data;
	Elf *file;
	int err = -EBADMSG;

	elf_version(EV_CURRENT);
	file = elf_memory((char *)(uintptr_t)elf, size); /* it only reads */
	data = file ? section_of(file, ".BTF") : NULL;
	if (data && data->d_buf)
		err = want_types(wanted, data->d_buf, data->d_size);
	elf_end(file);
	return err;
}

/* --- what these are made of --- */

struct selection {
	const struct types *types;
	u32 *new_ids; /* by the number in the whole; 0: it is not taken */
	u32 *taken;   /* numbers in the whole, in the order of the new ones */
	u32 count;
};

static void take(struct selection *selection, u32 id)
{
	if (!id || id >= selection->types->count || selection->new_ids[id])
		return;
	selection->taken[selection->count++] = id;
	selection->new_ids[id] = selection->count;
}

static void take_parts(struct selection *selection, u32 id)
{
	const struct btf_type *type = type_of(selection->types, id);
	const struct btf_array *array = (const void *)(type + 1);
	const struct btf_member *members = (const void *)(type + 1);

	switch (BTF_INFO_KIND(type->info)) {
	case BTF_KIND_STRUCT:
	case BTF_KIND_UNION:
		for (u32 i = 0; i < BTF_INFO_VLEN(type->info); i++)
			take(selection, members[i].type);
		break;
	case BTF_KIND_ARRAY:
		take(selection, array->type);
		take(selection, array->index_type);
		break;
	case BTF_KIND_TYPEDEF:
	case BTF_KIND_VOLATILE:
	case BTF_KIND_CONST:
	case BTF_KIND_RESTRICT:
	case BTF_KIND_TYPE_TAG:
		take(selection, type->type);
		break;
	}
}

static void take_all(struct selection *selection, const struct kernel_types_wanted *wanted)
{
	for (u32 id = 1; id < selection->types->count; id++) {
		const struct btf_type *type = type_of(selection->types, id);

		if (is_named_type(type) &&
		    is_wanted(wanted, name_of(selection->types, type->name_off)))
			take(selection, id);
	}
	for (u32 i = 0; i < selection->count; i++) /* it grows meanwhile */
		take_parts(selection, selection->taken[i]);
}

/* --- the small BTF --- */

static u32 new_id(const struct selection *selection, u32 id)
{
	return id < selection->types->count ? selection->new_ids[id] : 0;
}

/* How many bytes it takes. */
static size_t write_type(const struct selection *selection, u32 id, struct btf_type *to)
{
	const struct btf_type *from = type_of(selection->types, id);
	struct btf_member *members = (struct btf_member *)(to + 1);
	struct btf_array *array = (struct btf_array *)(to + 1);

	memcpy(to, from, type_bytes(from));
	switch (BTF_INFO_KIND(from->info)) {
	case BTF_KIND_STRUCT:
	case BTF_KIND_UNION:
		for (u32 i = 0; i < BTF_INFO_VLEN(from->info); i++)
			members[i].type = new_id(selection, members[i].type);
		break;
	case BTF_KIND_ARRAY:
		array->type = new_id(selection, array->type);
		array->index_type = new_id(selection, array->index_type);
		break;
	case BTF_KIND_FUNC_PROTO:
		to->info &= ~0xffffu; /* without its parameters */
		to->type = 0;
		break;
	case BTF_KIND_PTR:
	case BTF_KIND_TYPEDEF:
	case BTF_KIND_VOLATILE:
	case BTF_KIND_CONST:
	case BTF_KIND_RESTRICT:
	case BTF_KIND_TYPE_TAG:
		to->type = new_id(selection, from->type);
		break;
	}
	return type_bytes(to);
}

static size_t bytes_of(const struct selection *selection)
{
	size_t bytes = 0;

	for (u32 i = 0; i < selection->count; i++)
		bytes += type_bytes(type_of(selection->types, selection->taken[i]));
	return bytes;
}

/* With all strings of the whole: they are where they were. */
static void write_all(const struct selection *selection, char *to)
{
	const struct types *types = selection->types;
	struct btf_header *header = (struct btf_header *)to;
	char *records = to + sizeof(*header);
	size_t bytes = 0;

	for (u32 i = 0; i < selection->count; i++)
		bytes += write_type(selection, selection->taken[i],
				    (struct btf_type *)(records + bytes));
	*header = (struct btf_header){
		.magic = BTF_MAGIC,
		.version = types->header->version,
		.hdr_len = sizeof(*header),
		.type_len = (u32)bytes,
		.str_off = (u32)bytes,
		.str_len = types->header->str_len,
	};
	memcpy(records + bytes, types->strings, types->header->str_len);
}

static int write_file(const struct selection *selection)
{
	size_t size =
		sizeof(struct btf_header) + bytes_of(selection) + selection->types->header->str_len;
	int fd = memfd_create("kernel-types", MFD_CLOEXEC), err;
	char *to;

	if (fd < 0)
		return -errno;
	to = ftruncate(fd, (off_t)size) ? MAP_FAILED
					: mmap(NULL, size, PROT_WRITE, MAP_SHARED, fd, 0);
	if (to == MAP_FAILED) {
		err = -errno;
		close(fd);
		return err;
	}
	write_all(selection, to);
	munmap(to, size);
	return fd;
}

int kernel_types_select(const struct kernel_types_wanted *wanted, const void *btf, size_t size)
{
	struct types types;
	int result = open_types(btf, size, &types);
	_cleanup_free_ u32 *new_ids = result ? NULL : calloc(types.count, sizeof(*new_ids));
	_cleanup_free_ u32 *taken = result ? NULL : calloc(types.count, sizeof(*taken));
	struct selection selection = {.types = &types, .new_ids = new_ids, .taken = taken};

	if (!result && (!new_ids || !taken))
		result = -ENOMEM;
	if (!result) {
		take_all(&selection, wanted);
		result = write_file(&selection);
	}
	close_types(&types);
	return result;
}
