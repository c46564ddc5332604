// SPDX-License-Identifier: Apache-2.0
#include "unit.h"

#include <errno.h>
#include <fcntl.h>
#include <link.h>
#include <lzma.h>
#include <stdio.h>
#include <sys/mman.h>
#include <unistd.h>

#include "../../src/symbolize/symbols.h"
#include "elf_image.h"

#define FUNC   STT_FUNC
#define GLOBAL STB_GLOBAL
#define WEAK   STB_WEAK
#define LOCAL  STB_LOCAL

static struct elf_image image;

static struct symbols *symbols_of(struct elf_image *from)
{
	struct symbols *symbols = NULL;
	struct elf_file file;

	assert_int_equal(elf_file_open_memory(from->bytes, from->size, &file), 0);
	assert_int_equal(symbols_build(&file, NULL, &symbols), 0);
	elf_file_close(&file);
	return symbols;
}

static void expect(const struct symbols *symbols, u64 address, const char *name,
		   enum name_source source)
{
	enum name_source found_source = NAME_NONE;
	const char *found = symbols_find(symbols, address, &found_source);

	if (!name) {
		assert_null(found);
		return;
	}
	assert_non_null(found);
	assert_string_equal(found, name);
	assert_int_equal(found_source, source);
}

/* .text is section 1, at 0x1000; .data is section 2. */
static void begin_with_code(void)
{
	const Elf64_Shdr data = {
		.sh_type = SHT_PROGBITS, .sh_flags = SHF_ALLOC | SHF_WRITE, .sh_addr = 0x20000};

	image_begin(&image);
	image_code(&image, ".text", 0x1000, NULL, 0x10000);
	image_section(&image, ".data", data, NULL, 0x1000);
}

static void name_is_found_inside_only(void **state)
{
	static const struct image_symbol table[] = {
		{"first", 0x1010, 0x20, FUNC, GLOBAL, 1},
		{"second", 0x1040, 0x10, FUNC, LOCAL, 1},
		{"resolver", 0x1060, 0x10, STT_GNU_IFUNC, GLOBAL, 1},
		{"variable", 0x20010, 0x10, STT_OBJECT, GLOBAL, 2},
		{"no_code", 0x20020, 0x10, STT_NOTYPE, GLOBAL, 2},
		{"undefined", 0x1080, 0x10, FUNC, GLOBAL, SHN_UNDEF},
		{"elsewhere", 0x90000, 0x10, FUNC, GLOBAL, 1},
	};
	struct symbols *symbols;

	(void)state;
	begin_with_code();
	image_symbols(&image, ".symtab", SHT_SYMTAB, table, 7);
	image_end(&image);
	symbols = symbols_of(&image);
	assert_int_equal(symbols_count(symbols), 3);
	assert_int_equal(symbols_refused(symbols), 0);
	expect(symbols, 0x100f, NULL, 0);
	expect(symbols, 0x1010, "first", NAME_SYMTAB);
	expect(symbols, 0x102f, "first", NAME_SYMTAB);
	expect(symbols, 0x1030, NULL, 0);
	expect(symbols, 0x1048, "second", NAME_SYMTAB);
	expect(symbols, 0x1060, "resolver", NAME_SYMTAB);
	expect(symbols, 0x1080, NULL, 0);
	expect(symbols, 0x20018, NULL, 0);
	expect(symbols, 0x90000, NULL, 0);
	expect(symbols, ~0ULL, NULL, 0);
	symbols_close(symbols);
}

static void best_name_of_an_address_is_the_known_one(void **state)
{
	static const struct image_symbol table[] = {
		{"__read", 0x1000, 8, FUNC, GLOBAL, 1},
		{"__libc_read", 0x1000, 8, FUNC, GLOBAL, 1},
		{"read", 0x1000, 8, FUNC, WEAK, 1},
		{"cfree", 0x1010, 8, FUNC, GLOBAL, 1},
		{"free@@GLIBC_2.2.5", 0x1010, 8, FUNC, GLOBAL, 1},
		{"label", 0x1020, 0, STT_NOTYPE, GLOBAL, 1},
		{"__proper", 0x1020, 8, FUNC, LOCAL, 1},
		{"_ZN3FooC2Ev", 0x1030, 8, FUNC, WEAK, 1},
		{"_ZN3FooC1Ev", 0x1030, 8, FUNC, WEAK, 1},
		{"helper", 0x1040, 8, FUNC, LOCAL, 1},
		{"global", 0x1040, 8, FUNC, GLOBAL, 1},
		{"go/pkg@v1.2/x.Do", 0x1050, 8, FUNC, LOCAL, 1},
	};
	struct symbols *symbols;

	(void)state;
	begin_with_code();
	image_symbols(&image, ".symtab", SHT_SYMTAB, table, 12);
	image_end(&image);
	symbols = symbols_of(&image);
	expect(symbols, 0x1004, "read", NAME_SYMTAB);
	expect(symbols, 0x1014, "free", NAME_SYMTAB);
	expect(symbols, 0x1024, "__proper", NAME_SYMTAB);
	expect(symbols, 0x1034, "_ZN3FooC1Ev", NAME_SYMTAB);
	expect(symbols, 0x1044, "global", NAME_SYMTAB);
	expect(symbols, 0x1054, "go/pkg@v1.2/x.Do", NAME_SYMTAB);
	symbols_close(symbols);
}

static void function_without_size_ends_at_the_next(void **state)
{
	static const struct image_symbol table[] = {
		{"start", 0x1000, 0, STT_NOTYPE, GLOBAL, 1},
		{"$x", 0x1008, 0, STT_NOTYPE, LOCAL, 1},
		{".Lloop", 0x1008, 0, STT_NOTYPE, LOCAL, 1},
		{"big", 0x1100, 0x100, FUNC, GLOBAL, 1},
		{"entry_in_big", 0x1140, 0, STT_NOTYPE, LOCAL, 1},
		{"after", 0x1200, 0, FUNC, LOCAL, 1},
		{"last", 0x10ff0, 0, FUNC, LOCAL, 1},
	};
	struct symbols *symbols;

	(void)state;
	begin_with_code();
	image_symbols(&image, ".symtab", SHT_SYMTAB, table, 7);
	image_end(&image);
	symbols = symbols_of(&image);
	expect(symbols, 0x10ff, "start", NAME_SYMTAB);
	expect(symbols, 0x1150, "big", NAME_SYMTAB);
	expect(symbols, 0x11ff, "big", NAME_SYMTAB);
	expect(symbols, 0x1200, "after", NAME_SYMTAB);
	expect(symbols, 0x51ff, "after", NAME_SYMTAB);
	expect(symbols, 0x5200, NULL, 0); /* nobody knows what that is */
	expect(symbols, 0x10fff, "last", NAME_SYMTAB);
	expect(symbols, 0x11000, NULL, 0); /* another section */
	symbols_close(symbols);
}

static void inner_function_does_not_hide_the_outer_one(void **state)
{
	static const struct image_symbol table[] = {
		{"outer", 0x1000, 0x100, FUNC, GLOBAL, 1},
		{"inner", 0x1040, 0x10, FUNC, LOCAL, 1},
		{"too_big", 0x10c0, ~0ULL, FUNC, LOCAL, 1},
	};
	struct symbols *symbols;

	(void)state;
	begin_with_code();
	image_symbols(&image, ".symtab", SHT_SYMTAB, table, 3);
	image_end(&image);
	symbols = symbols_of(&image);
	expect(symbols, 0x103f, "outer", NAME_SYMTAB);
	expect(symbols, 0x104f, "inner", NAME_SYMTAB);
	expect(symbols, 0x1050, "outer", NAME_SYMTAB);
	expect(symbols, 0x10c0, "too_big", NAME_SYMTAB);
	expect(symbols, 0x10fff, "too_big", NAME_SYMTAB);
	expect(symbols, 0x11000, NULL, 0);
	symbols_close(symbols);
}

static void what_is_there_stays(void **state)
{
	static const struct image_symbol few[] = {{"_shown", 0x1000, 0x10, FUNC, GLOBAL, 1}};
	static const struct image_symbol more[] = {{"shown_too", 0x1000, 0x10, FUNC, GLOBAL, 1},
						   {"hidden", 0x1010, 0x10, FUNC, LOCAL, 1}};
	struct symbols *symbols;
	struct elf_file file;

	(void)state;
	begin_with_code();
	image_symbols(&image, ".dynsym", SHT_DYNSYM, few, 1);
	image_end(&image);
	symbols = symbols_of(&image);
	expect(symbols, 0x1000, "_shown", NAME_DYNSYM);
	expect(symbols, 0x1010, NULL, 0);
	begin_with_code();
	image_symbols(&image, ".symtab", SHT_SYMTAB, more, 2);
	image_end(&image);
	assert_int_equal(elf_file_open_memory(image.bytes, image.size, &file), 0);
	assert_int_equal(symbols_add(symbols, &file, NAME_DEBUGINFOD), 0);
	elf_file_close(&file);
	expect(symbols, 0x1000, "_shown", NAME_DYNSYM);
	expect(symbols, 0x1010, "hidden", NAME_DEBUGINFOD);
	symbols_close(symbols);
}

static void name_is_shown_demangled(void **state)
{
	static const struct image_symbol table[] = {
		{"_ZN3foo3barEi", 0x1000, 0x10, FUNC, GLOBAL, 1},
		{"odd\x1b[J", 0x1010, 0x10, FUNC, LOCAL, 1}};
	enum name_source source = NAME_NONE;
	struct symbols *symbols;
	struct elf_file file;
	const char *name;

	(void)state;
	begin_with_code();
	image_symbols(&image, ".symtab", SHT_SYMTAB, table, 2);
	image_end(&image);
	symbols = symbols_of(&image);
	name = symbols_name(symbols, 0x1004, &source);
	assert_string_equal(name, "foo::bar(int)");
	assert_int_equal(source, NAME_SYMTAB);
	assert_string_equal(symbols_name(symbols, 0x1014, &source), "odd\\x1b[J");
	assert_ptr_equal(symbols_name(symbols, 0x1008, &source), name);
	assert_null(symbols_name(symbols, 0x1020, &source));
	assert_int_equal(elf_file_open_memory(image.bytes, image.size, &file), 0);
	assert_int_equal(symbols_add(symbols, &file, NAME_DEBUG_FILE), 0);
	elf_file_close(&file);
	assert_string_equal(symbols_name(symbols, 0x1004, &source), "foo::bar(int)");
	assert_int_equal(source, NAME_SYMTAB);
	symbols_close(symbols);
}

static void stubs_of_the_plt_have_names(void **state)
{
#if defined(__x86_64__)
	static const struct image_symbol table[] = {{"read", 0, 0, FUNC, GLOBAL, SHN_UNDEF},
						    {"_Znwm", 0, 0, FUNC, GLOBAL, SHN_UNDEF}};
	/* endbr64; bnd jmp *0x2ff5(%rip), and jmp *0x2ff0(%rip): the words at 0x4000 and 0x4008 */
	static const char stubs[] = "\xf3\x0f\x1e\xfa\xf2\xff\x25\xf5\x2f\0\0\x0f\x1f\x44\0\0"
				    "\xff\x25\xf2\x2f\0\0\x68\0\0\0\0\xe9\0\0\0\0";
	static const Elf64_Rela relocations[] = {{0x4008, ELF64_R_INFO(2, R_X86_64_JUMP_SLOT), 0},
						 {0x4000, ELF64_R_INFO(1, R_X86_64_JUMP_SLOT), 0}};
	const Elf64_Shdr header = {.sh_type = SHT_RELA, .sh_entsize = sizeof(Elf64_Rela)};
	struct symbols *symbols;

	(void)state;
	image_begin(&image);
	image_code(&image, ".plt.sec", 0x1000, stubs, 32);
	image_symbols(&image, ".dynsym", SHT_DYNSYM, table, 2);
	image_section(&image, ".rela.plt", header, relocations, sizeof(relocations));
	image_end(&image);
	symbols = symbols_of(&image);
	expect(symbols, 0x1004, "read@plt", NAME_DYNSYM);
	expect(symbols, 0x101f, "_Znwm@plt", NAME_DYNSYM);
	expect(symbols, 0x1020, NULL, 0);
	symbols_close(symbols);
#else
	(void)state;
	skip();
#endif
}

static void debugdata_is_unpacked(void **state)
{
	static const struct image_symbol table[] = {{"stripped", 0x1000, 0x10, FUNC, LOCAL, 1}};
	const Elf64_Shdr header = {.sh_type = SHT_PROGBITS};
	static u8 packed[1 << 16];
	struct symbols *symbols;
	struct elf_file file;
	size_t size = 0;

	(void)state;
	begin_with_code();
	image_symbols(&image, ".symtab", SHT_SYMTAB, table, 1);
	image_end(&image);
	assert_int_equal(lzma_easy_buffer_encode(6, LZMA_CHECK_CRC32, NULL, (u8 *)image.bytes,
						 image.size, packed, &size, sizeof(packed)),
			 LZMA_OK);
	begin_with_code();
	image_section(&image, ".gnu_debugdata", header, packed, size);
	image_end(&image);
	symbols = symbols_of(&image);
	expect(symbols, 0x1008, "stripped", NAME_DEBUGDATA);
	symbols_close(symbols);
	assert_int_equal(elf_file_open_memory(image.bytes, image.size, &file), 0);
	assert_true(symbols_are_full(&file));
	elf_file_close(&file);

	begin_with_code(); /* cut: as if it had none */
	image_section(&image, ".gnu_debugdata", header, packed, size / 2);
	image_end(&image);
	symbols = symbols_of(&image);
	assert_int_equal(symbols_count(symbols), 0);
	symbols_close(symbols);
}

/* Of many names of one place one is found, but all of them take memory. */
static void names_that_are_not_found_take_room(void **state)
{
	struct image_symbol table[32];
	char name[48];
	struct symbols *symbols;

	(void)state;
	memset(name, 'n', sizeof(name) - 1);
	name[sizeof(name) - 1] = '\0';
	for (size_t i = 0; i < 32; i++)
		table[i] = (struct image_symbol){name, 0x1010, 0x20, FUNC, GLOBAL, 1};
	begin_with_code();
	image_symbols(&image, ".symtab", SHT_SYMTAB, table, 32);
	image_end(&image);
	symbols = symbols_of(&image);
	assert_int_equal(symbols_count(symbols), 1);
	assert_true(symbols_bytes(symbols) >= 32 * sizeof(name));
	assert_int_equal(symbols_bytes(NULL), 0);
	symbols_close(symbols);
}

static void section_beyond_the_file_is_passed_over(void **state)
{
	static const struct image_symbol table[] = {{"a", 0x1000, 0x10, FUNC, LOCAL, 1}};
	int fd = memfd_create("image", 0);
	struct symbols *symbols = NULL;
	struct elf_file file;
	size_t number;

	(void)state;
	begin_with_code();
	number = image_symbols(&image, ".symtab", SHT_SYMTAB, table, 1);
	image.sections[number].sh_size = 100 << 20;
	image_end(&image);
	symbols = symbols_of(&image);
	assert_int_equal(symbols_count(symbols), 0);
	symbols_close(symbols);
	assert_int_equal(write(fd, image.bytes, image.size), (ssize_t)image.size);
	assert_int_equal(elf_file_open(fd, &file), 0);
	assert_int_equal(symbols_build(&file, NULL, &symbols), 0);
	assert_int_equal(symbols_count(symbols), 0);
	assert_true(symbols_are_full(&file));
	symbols_close(symbols);
	elf_file_close(&file);
	close(fd);
}

static int take_first(struct dl_phdr_info *info, size_t size, void *bias)
{
	(void)size;
	*(u64 *)bias = info->dlpi_addr;
	return 1;
}

static void own_functions_are_named(void **state)
{
	int fd = open("/proc/self/exe", O_RDONLY | O_CLOEXEC);
	struct symbols *symbols = NULL;
	struct elf_file file;
	u64 bias = 0;

	(void)state;
	assert_int_equal(elf_file_open(fd, &file), 0);
	assert_int_equal(symbols_build(&file, NULL, &symbols), 0);
	dl_iterate_phdr(take_first, &bias);
	expect(symbols, (u64)own_functions_are_named - bias + 1, "own_functions_are_named",
	       NAME_SYMTAB);
	expect(symbols, (u64)symbols_build - bias, "symbols_build", NAME_SYMTAB);
	symbols_close(symbols);
	elf_file_close(&file);
	close(fd);
}

static int known_variable[8] = {1};
int known_zeroes[4];

/* Those with values and those of zeroes alone; functions are none of them. */
static void own_variables_are_named(void **state)
{
	int fd = open("/proc/self/exe", O_RDONLY | O_CLOEXEC);
	struct symbols *symbols = NULL;
	struct elf_file file;
	u64 bias = 0, offset = 0;

	(void)state;
	assert_int_equal(elf_file_open(fd, &file), 0);
	assert_int_equal(symbols_build_data(&file, NULL, &symbols), 0);
	dl_iterate_phdr(take_first, &bias);
	assert_string_equal(symbols_name_at(symbols, (u64)&known_variable[2] - bias, &offset),
			    "known_variable");
	assert_int_equal(offset, 8);
	assert_string_equal(symbols_name_at(symbols, (u64)known_zeroes - bias, &offset),
			    "known_zeroes");
	assert_int_equal(offset, 0);
	assert_null(symbols_name_at(symbols, (u64)own_variables_are_named - bias, &offset));
	symbols_close(symbols);
	elf_file_close(&file);
	close(fd);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(name_is_found_inside_only),
		cmocka_unit_test(best_name_of_an_address_is_the_known_one),
		cmocka_unit_test(function_without_size_ends_at_the_next),
		cmocka_unit_test(inner_function_does_not_hide_the_outer_one),
		cmocka_unit_test(what_is_there_stays),
		cmocka_unit_test(name_is_shown_demangled),
		cmocka_unit_test(stubs_of_the_plt_have_names),
		cmocka_unit_test(debugdata_is_unpacked),
		cmocka_unit_test(names_that_are_not_found_take_room),
		cmocka_unit_test(section_beyond_the_file_is_passed_over),
		cmocka_unit_test(own_functions_are_named),
		cmocka_unit_test(own_variables_are_named),
	};

	return cmocka_run_group_tests_name("symbols", tests, NULL, NULL);
}
