// SPDX-License-Identifier: Apache-2.0
#include "thread_context.h"

#include <errno.h>
#include <gelf.h>
#include <string.h>

#include "../base/cleanup.h"
#include "elf_section.h"

#define SYMBOLS_BYTES_MAX     (16u << 20)
#define NAMES_BYTES_MAX	      (16u << 20)
#define RELOCATIONS_BYTES_MAX (32u << 20) /* of one section */
#define DYNAMIC_BYTES_MAX     (64u << 10)
#define SECTIONS_MAX	      256 /* that are looked at for relocations */
#define SEGMENTS_MAX	      64

#if defined(__x86_64__)
#define RELOCATION_OFFSET     R_X86_64_TPOFF64
#define RELOCATION_DESCRIPTOR R_X86_64_TLSDESC
#define RELOCATION_MODULE     R_X86_64_DTPMOD64
#elif defined(__aarch64__)
#define RELOCATION_OFFSET     R_AARCH64_TLS_TPREL
#define RELOCATION_DESCRIPTOR R_AARCH64_TLSDESC
#define RELOCATION_MODULE     R_AARCH64_TLS_DTPMOD
#define TCB_BYTES	      16 /* between the thread pointer and the executable's block */
#endif

struct variable {
	u32 symbol; /* its number in the table of dynamic symbols */
	u64 value;
	bool is_glibc; /* the file needs functions of that */
};

/* --- segments --- */

static bool find_segment(const struct elf_file *file, u32 type, GElf_Phdr *ret_segment)
{
	size_t count;

	if (elf_getphdrnum(file->elf, &count))
		return false;
	for (size_t i = 0; i < count && i < SEGMENTS_MAX; i++)
		if (gelf_getphdr(file->elf, (int)i, ret_segment) && ret_segment->p_type == type)
			return true;
	return false;
}

/* A library is placed by what the loader chose, an executable by its own segment alone. */
static bool is_executable(const struct elf_file *file)
{
	_cleanup_elf_bytes_ struct elf_bytes bytes = {0};
	bool has_name = false;
	GElf_Phdr segment;
	GElf_Shdr header;
	GElf_Ehdr ehdr;
	Elf64_Dyn entry;

	if (!gelf_getehdr(file->elf, &ehdr))
		return false;
	if (ehdr.e_type == ET_EXEC)
		return true;
	if (!elf_section_find(file, ".dynamic", &header) ||
	    elf_section_read(file, &header, DYNAMIC_BYTES_MAX, &bytes))
		return false;
	for (size_t at = 0; at + sizeof(entry) <= bytes.size; at += sizeof(entry)) {
		memcpy(&entry, bytes.bytes + at, sizeof(entry));
		if (entry.d_tag == DT_NULL)
			break;
		if (entry.d_tag == DT_FLAGS_1 && entry.d_un.d_val & DF_1_PIE)
			return true;
		has_name |= entry.d_tag == DT_SONAME;
	}
	/* Of a linker that does not say so. The C library has an interpreter, too, and a name. */
	return !has_name && find_segment(file, PT_INTERP, &segment);
}

/* As each linker computes it: blocks end at the thread pointer, or begin behind what it points to.
 */
static s64 static_offset(const GElf_Phdr *tls, u64 value)
{
	u64 align = tls->p_align ? tls->p_align : 1;

#if defined(__x86_64__)
	return (s64)(value - tls->p_memsz - ((-tls->p_vaddr - tls->p_memsz) & (align - 1)));
#elif defined(__aarch64__)
	return (s64)(value + TCB_BYTES + ((tls->p_vaddr - TCB_BYTES) & (align - 1)));
#endif
}

/* --- the variable --- */

/* Its name, or that of a version of its functions. */
static bool needs_glibc(const struct elf_bytes *names)
{
	static const char library[] = "libc.so.6", version[] = "GLIBC_";

	return memmem(names->bytes, names->size, library, sizeof(library)) ||
	       memmem(names->bytes, names->size, version, sizeof(version) - 1);
}

static int find_variable(const struct elf_file *file, struct variable *ret_variable)
{
	_cleanup_elf_bytes_ struct elf_bytes symbols = {0}, names = {0};
	static const char name[] = THREAD_CONTEXT_SYMBOL;
	GElf_Shdr header;
	Elf64_Sym symbol;

	if (!elf_section_find(file, ".dynsym", &header) ||
	    elf_section_read(file, &header, SYMBOLS_BYTES_MAX, &symbols) ||
	    !gelf_getshdr(elf_getscn(file->elf, header.sh_link), &header) ||
	    elf_section_read(file, &header, NAMES_BYTES_MAX, &names))
		return -ENOENT;
	for (size_t at = 0; at + sizeof(symbol) <= symbols.size; at += sizeof(symbol)) {
		memcpy(&symbol, symbols.bytes + at, sizeof(symbol));
		if (ELF64_ST_TYPE(symbol.st_info) != STT_TLS || symbol.st_shndx == SHN_UNDEF ||
		    symbol.st_name >= names.size || names.size - symbol.st_name < sizeof(name) ||
		    memcmp(names.bytes + symbol.st_name, name, sizeof(name)) != 0)
			continue;
		*ret_variable = (struct variable){
			.symbol = (u32)(at / sizeof(symbol)),
			.value = symbol.st_value,
			.is_glibc = needs_glibc(&names),
		};
		return 0;
	}
	return -ENOENT;
}

/* Lower kinds need fewer reads. */
static void take(struct thread_context *context, u32 kind, u64 slot)
{
	if (context->kind != THREAD_CONTEXT_NONE && context->kind <= kind)
		return;
	context->kind = kind;
	context->slot = slot;
}

/*
 * A symbol that nobody else can define need not be named: its value is in the relocation then.
 * Some linkers write that beside the name, too: what the loader made of it, the process uses.
 */
static void look_at(const Elf64_Rela *relocation, const struct variable *variable,
		    struct thread_context *context)
{
	u32 symbol = (u32)ELF64_R_SYM(relocation->r_info);
	bool is_named = symbol == variable->symbol;
	bool is_meant = is_named || (!symbol && (u64)relocation->r_addend == variable->value);

	switch (ELF64_R_TYPE(relocation->r_info)) {
	case RELOCATION_OFFSET:
		if (is_meant)
			take(context, THREAD_CONTEXT_SLOT, relocation->r_offset);
		break;
	case RELOCATION_DESCRIPTOR:
		if (is_meant)
			take(context, THREAD_CONTEXT_DESCRIPTOR, relocation->r_offset);
		break;
	case RELOCATION_MODULE: /* the same for all variables that the file defines */
		if (is_named || !symbol)
			take(context, THREAD_CONTEXT_MODULE, relocation->r_offset);
		break;
	}
}

static void read_relocations(const struct elf_file *file, const GElf_Shdr *header,
			     const struct variable *variable, struct thread_context *context)
{
	_cleanup_elf_bytes_ struct elf_bytes bytes = {0};
	Elf64_Rela relocation;

	if (elf_section_read(file, header, RELOCATIONS_BYTES_MAX, &bytes))
		return;
	for (size_t at = 0; at + sizeof(relocation) <= bytes.size; at += sizeof(relocation)) {
		memcpy(&relocation, bytes.bytes + at, sizeof(relocation));
		look_at(&relocation, variable, context);
	}
}

static void find_slot(const struct elf_file *file, const struct variable *variable,
		      struct thread_context *context)
{
	Elf_Scn *section = NULL;
	GElf_Shdr header;

	for (u32 i = 0; i < SECTIONS_MAX && (section = elf_nextscn(file->elf, section)); i++)
		if (gelf_getshdr(section, &header) && header.sh_type == SHT_RELA &&
		    header.sh_flags & SHF_ALLOC)
			read_relocations(file, &header, variable, context);
}

int thread_context_find(const struct elf_file *file, struct thread_context *ret_context)
{
	struct thread_context context = {0};
	struct variable variable;
	GElf_Phdr tls;
	int err;

	*ret_context = context;
	if (!find_segment(file, PT_TLS, &tls)) /* most files end here */
		return -ENOENT;
	err = find_variable(file, &variable);
	if (err)
		return err;
	if (tls.p_align & (tls.p_align - 1) || variable.value >= tls.p_memsz ||
	    tls.p_memsz > INT32_MAX)
		return -ENOTSUP;
	context.is_glibc = variable.is_glibc;
	context.offset = (s64)variable.value;
	if (is_executable(file)) {
		context.kind = THREAD_CONTEXT_STATIC;
		context.offset = static_offset(&tls, variable.value);
	} else {
		find_slot(file, &variable, &context);
	}
	if (context.kind == THREAD_CONTEXT_NONE)
		return -ENOTSUP;
	*ret_context = context;
	return 0;
}
