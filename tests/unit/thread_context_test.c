// SPDX-License-Identifier: Apache-2.0
/*
 * Where a file keeps the pointer to the trace context of a thread: in an executable, in libraries
 * of each model of thread-local storage, and in files that are not as they should be.
 */
#include "unit.h"

#include <errno.h>

#include "../../src/symbolize/thread_context.h"
#include "elf_image.h"

#if defined(__x86_64__)
#define BY_OFFSET     R_X86_64_TPOFF64
#define BY_DESCRIPTOR R_X86_64_TLSDESC
#define BY_MODULE     R_X86_64_DTPMOD64
#define IN_EXECUTABLE (-32 + 8) /* of a block of 0x14 bytes, in steps of 16, that ends there */
#else
#define BY_OFFSET     R_AARCH64_TLS_TPREL
#define BY_DESCRIPTOR R_AARCH64_TLSDESC
#define BY_MODULE     R_AARCH64_TLS_DTPMOD
#define IN_EXECUTABLE (16 + 8)
#endif

enum { OTHER = 1, OURS = 2 }; /* numbers of symbols */

static struct elf_image image;
static struct elf_file file;
static struct thread_context found;

static void begin(const char *name, unsigned char type)
{
	const struct image_symbol symbols[] = {
		{"another", 0, 8, STT_TLS, STB_GLOBAL, 1},
		{name, 8, 8, type, STB_GLOBAL, 1},
		{"GLIBC_2.2.5", 0, 0, STT_NOTYPE, STB_GLOBAL, 0},
	};

	image_begin(&image);
	image_symbols(&image, ".dynsym", SHT_DYNSYM, symbols, 3);
}

static void add_dynamic(Elf64_Sxword tag, Elf64_Xword value)
{
	const Elf64_Shdr header = {.sh_type = SHT_DYNAMIC};
	const Elf64_Dyn entries[] = {{.d_tag = tag, .d_un.d_val = value}, {.d_tag = DT_NULL}};

	image_section(&image, ".dynamic", header, entries, sizeof(entries));
}

static void add_relocation(u32 symbol, u32 type, Elf64_Sxword addend, u64 slot)
{
	const Elf64_Shdr header = {.sh_type = SHT_RELA, .sh_flags = SHF_ALLOC};
	const Elf64_Rela relocation = {slot, ELF64_R_INFO((u64)symbol, type), addend};

	image_section(&image, ".rela.dyn", header, &relocation, sizeof(relocation));
}

/* 0 or the error; align 0: it has no variables of threads. */
static int end(u64 align, bool has_interpreter)
{
	const Elf64_Phdr segments[] = {
		{.p_type = align ? PT_TLS : PT_NULL,
		 .p_vaddr = 0x4000,
		 .p_memsz = 0x14,
		 .p_align = align},
		{.p_type = has_interpreter ? PT_INTERP : PT_NULL},
	};
	Elf64_Ehdr header;
	int err;

	image_end(&image);
	memcpy(&header, image.bytes, sizeof(header));
	header.e_phoff = image_put(&image, segments, sizeof(segments));
	header.e_phnum = 2;
	header.e_phentsize = sizeof(segments[0]);
	memcpy(image.bytes, &header, sizeof(header));
	assert_int_equal(elf_file_open_memory(image.bytes, image.size, &file), 0);
	err = thread_context_find(&file, &found);
	elf_file_close(&file);
	return err;
}

static void executable_is_placed_by_its_segment(void **state)
{
	(void)state;
	begin(THREAD_CONTEXT_SYMBOL, STT_TLS);
	add_dynamic(DT_FLAGS_1, DF_1_PIE);
	assert_int_equal(end(16, true), 0);
	assert_int_equal(found.kind, THREAD_CONTEXT_STATIC);
	assert_int_equal(found.offset, IN_EXECUTABLE);
	assert_true(found.is_glibc);
	/* Of a linker that does not say that it is one. */
	begin(THREAD_CONTEXT_SYMBOL, STT_TLS);
	add_dynamic(DT_NEEDED, 1);
	assert_int_equal(end(16, true), 0);
	assert_int_equal(found.kind, THREAD_CONTEXT_STATIC);
}

static void library_is_placed_by_a_relocation(void **state)
{
	static const struct {
		u32 type, kind;
	} ways[] = {{BY_OFFSET, THREAD_CONTEXT_SLOT},
		    {BY_DESCRIPTOR, THREAD_CONTEXT_DESCRIPTOR},
		    {BY_MODULE, THREAD_CONTEXT_MODULE}};

	(void)state;
	for (size_t i = 0; i < 3; i++) {
		begin(THREAD_CONTEXT_SYMBOL, STT_TLS);
		add_dynamic(DT_SONAME, 1);
		add_relocation(OTHER, ways[i].type, 0, 0x4000); /* another variable's */
		add_relocation(OURS, ways[i].type, 0, 0x5000 + i);
		assert_int_equal(end(8, true), 0);
		assert_int_equal(found.kind, ways[i].kind);
		assert_int_equal(found.slot, 0x5000 + i);
		assert_int_equal(found.offset, 8);
	}
}

/* As with -Bsymbolic: the value is in the relocation, and no symbol. */
static void symbol_need_not_be_named(void **state)
{
	(void)state;
	begin(THREAD_CONTEXT_SYMBOL, STT_TLS);
	add_relocation(0, BY_OFFSET, 0, 0x4000);
	add_relocation(0, BY_OFFSET, 8, 0x5000);
	assert_int_equal(end(8, false), 0);
	assert_int_equal(found.slot, 0x5000);
}

static void way_with_fewest_steps_is_taken(void **state)
{
	(void)state;
	begin(THREAD_CONTEXT_SYMBOL, STT_TLS);
	add_relocation(OURS, BY_MODULE, 0, 0x4000);
	add_relocation(OURS, BY_OFFSET, 0, 0x5000);
	add_relocation(OURS, BY_DESCRIPTOR, 0, 0x6000);
	assert_int_equal(end(8, false), 0);
	assert_int_equal(found.kind, THREAD_CONTEXT_SLOT);
	assert_int_equal(found.slot, 0x5000);
}

static void others_have_none(void **state)
{
	(void)state;
	begin("otel_thread_ctx_v2", STT_TLS);
	assert_int_equal(end(8, false), -ENOENT);
	begin(THREAD_CONTEXT_SYMBOL "0", STT_TLS);
	assert_int_equal(end(8, false), -ENOENT);
	begin(THREAD_CONTEXT_SYMBOL, STT_OBJECT);
	assert_int_equal(end(8, false), -ENOENT);
	begin(THREAD_CONTEXT_SYMBOL, STT_TLS);
	assert_int_equal(end(0, false), -ENOENT);
	assert_int_equal(found.kind, THREAD_CONTEXT_NONE);
}

static void what_is_not_known_is_refused(void **state)
{
	(void)state;
	begin(THREAD_CONTEXT_SYMBOL, STT_TLS); /* a library that nothing relocates */
	assert_int_equal(end(8, false), -ENOTSUP);
	begin(THREAD_CONTEXT_SYMBOL, STT_TLS);
	add_dynamic(DT_FLAGS_1, DF_1_PIE);
	assert_int_equal(end(12, true), -ENOTSUP); /* no alignment */
	assert_int_equal(found.kind, THREAD_CONTEXT_NONE);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(executable_is_placed_by_its_segment),
		cmocka_unit_test(library_is_placed_by_a_relocation),
		cmocka_unit_test(symbol_need_not_be_named),
		cmocka_unit_test(way_with_fewest_steps_is_taken),
		cmocka_unit_test(others_have_none),
		cmocka_unit_test(what_is_not_known_is_refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
