// SPDX-License-Identifier: Apache-2.0
/*
 * ELF files of others: which are taken, their build ids, and where processes have them.
 */
#include "unit.h"

#include <errno.h>
#include <fcntl.h>
#include <link.h>
#include <stdio.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/mman.h>
#include <unistd.h>

#include "../../src/base/cleanup.h"
#include "../../src/symbolize/elf_file.h"
#include "../../src/symbolize/proc_maps.h"
#include "tiny_elf.h"

static int open_both_ways(struct tiny_elf *tiny, struct elf_file *ret_file)
{
	_cleanup_close_ int fd = memfd_create("elf", MFD_CLOEXEC);
	int of_memory, of_file;

	assert_int_equal(write(fd, tiny->bytes, TINY_SIZE), TINY_SIZE);
	of_memory = elf_file_open_memory(tiny->bytes, TINY_SIZE, ret_file);
	if (!of_memory)
		elf_file_close(ret_file);
	of_file = elf_file_open(fd, ret_file);
	assert_int_equal(of_file, of_memory);
	if (!of_file)
		elf_file_close(ret_file);
	return of_memory;
}

static void other_files_are_refused(void **state)
{
	struct elf_file file;
	struct tiny_elf tiny;
	size_t ident[] = {0, 3, EI_CLASS, EI_DATA, EI_VERSION};

	(void)state;
	tiny_elf_init(&tiny);
	assert_int_equal(open_both_ways(&tiny, &file), 0);
	for (size_t i = 0; i < ARRAY_SIZE(ident); i++) {
		tiny_elf_init(&tiny);
		tiny.bytes[ident[i]] ^= 3;
		assert_int_equal(open_both_ways(&tiny, &file), -ENOEXEC);
	}
	tiny_elf_init(&tiny);
	tiny.header->e_machine = EM_386;
	assert_int_equal(open_both_ways(&tiny, &file), -ENOEXEC);
	/* numbers that stand elsewhere, and may be anything */
	tiny_elf_init(&tiny);
	tiny.header->e_shnum = 0;
	assert_int_equal(open_both_ways(&tiny, &file), -EFBIG);
	tiny_elf_init(&tiny);
	tiny.header->e_phnum = PN_XNUM;
	assert_int_equal(open_both_ways(&tiny, &file), -EFBIG);
	tiny_elf_init(&tiny);
	tiny.sections[2].sh_size = 1ULL << 40;
	assert_int_equal(open_both_ways(&tiny, &file), -EFBIG);
	tiny_elf_init(&tiny);
	assert_int_equal(elf_file_open_memory(tiny.bytes, 63, &file), -ENOEXEC);
	assert_int_equal(elf_file_open_memory("!<arch>\n", 8, &file), -ENOEXEC);
	assert_int_equal(elf_file_open(-1, &file), -EBADF);
	file = (struct elf_file){0};
	elf_file_close(&file);
}

static size_t build_id_size(struct tiny_elf *tiny)
{
	struct elf_file file;
	size_t size;

	assert_int_equal(elf_file_open_memory(tiny->bytes, TINY_SIZE, &file), 0);
	size = file.build_id_size;
	if (size)
		assert_memory_equal(file.build_id, tiny->note + 16, size);
	elf_file_close(&file);
	return size;
}

static void build_ids_are_found_within_bounds(void **state)
{
	struct tiny_elf tiny;

	(void)state;
	tiny_elf_init(&tiny);
	assert_int_equal(build_id_size(&tiny), 4);
	tiny.note[4] = BUILD_ID_MAX; /* bytes of it */
	tiny.segments[1].p_filesz = 200;
	assert_int_equal(build_id_size(&tiny), BUILD_ID_MAX);
	tiny.note[4] = BUILD_ID_MAX + 1;
	assert_int_equal(build_id_size(&tiny), 0);
	tiny.note[4] = 0;
	assert_int_equal(build_id_size(&tiny), 0);

	tiny_elf_init(&tiny);
	tiny.note[12] = 'X'; /* "GNU" */
	assert_int_equal(build_id_size(&tiny), 0);
	tiny_elf_init(&tiny);
	tiny.note[8] = NT_GNU_ABI_TAG;
	assert_int_equal(build_id_size(&tiny), 0);
	tiny_elf_init(&tiny);
	memset(tiny.note + 4, 0xff, 4);
	assert_int_equal(build_id_size(&tiny), 0);
	tiny_elf_init(&tiny);
	tiny.segments[1].p_offset = TINY_SIZE - 8;
	assert_int_equal(build_id_size(&tiny), 0);

	/* without segments, as in debug files, from a section */
	tiny_elf_init(&tiny);
	tiny.header->e_phnum = 0;
	assert_int_equal(build_id_size(&tiny), 0);
	tiny.sections[1].sh_type = SHT_NOTE;
	tiny.sections[1].sh_offset = TINY_NOTE_AT;
	tiny.sections[1].sh_size = 20;
	tiny.sections[1].sh_addralign = 4;
	assert_int_equal(build_id_size(&tiny), 4);
}

static void bias_is_that_of_the_segment(void **state)
{
	struct elf_file file;
	struct tiny_elf tiny;
	u64 bias;

	(void)state;
	tiny_elf_init(&tiny);
	/* Two that share a page of the file, as linkers lay them out, and are apart in memory. */
	tiny.segments[0].p_offset = 0x1100;
	tiny.segments[0].p_vaddr = 0x401100;
	tiny.segments[0].p_filesz = 0x2200; /* up to 0x3300 */
	tiny.segments[2] = tiny.segments[0];
	tiny.segments[2].p_offset = 0x3300;
	tiny.segments[2].p_vaddr = 0x804300;
	tiny.segments[2].p_filesz = 0x100;
	assert_int_equal(elf_file_open_memory(tiny.bytes, TINY_SIZE, &file), 0);
	assert_true(elf_file_bias(&file, 0x501000, 0x1000, &bias));
	assert_int_equal(bias, 0x100000);
	assert_true(elf_file_bias(&file, 0x502000, 0x2000, &bias)); /* cut in two by mprotect */
	assert_int_equal(bias, 0x100000);
	assert_true(elf_file_bias(&file, 0x904000, 0x3000, &bias));
	assert_int_equal(bias, 0x100000);
	assert_true(elf_file_bias(&file, 0x1000, 0x1000, &bias)); /* below: it wraps */
	assert_int_equal(0x1100 - bias, 0x401100);
	assert_false(elf_file_bias(&file, 0x500000, 0, &bias));
	assert_false(elf_file_bias(&file, 0x500000, 0x4000, &bias));
	elf_file_close(&file);

	tiny.segments[0].p_flags = tiny.segments[2].p_flags = PF_R;
	assert_int_equal(elf_file_open_memory(tiny.bytes, TINY_SIZE, &file), 0);
	assert_false(elf_file_bias(&file, 0x501000, 0x1000, &bias));
	elf_file_close(&file);
}

/* What the dynamic linker says of this process is what we find by its maps. */
struct loaded {
	u64 bias[64];
	size_t count;
};

static int note_loaded(struct dl_phdr_info *info, size_t size, void *context)
{
	struct loaded *loaded = context;

	(void)size;
	if (loaded->count < ARRAY_SIZE(loaded->bias))
		loaded->bias[loaded->count++] = info->dlpi_addr;
	return 0;
}

static bool is_loaded_at(const struct loaded *loaded, u64 bias)
{
	for (size_t i = 0; i < loaded->count; i++)
		if (loaded->bias[i] == bias)
			return true;
	return false;
}

static void own_modules_are_where_the_linker_put_them(void **state)
{
	static struct proc_mapping mappings[1000];
	struct loaded loaded = {.count = 0};
	size_t files = 0;
	ssize_t count;

	(void)state;
	dl_iterate_phdr(note_loaded, &loaded);
	_cleanup_close_ int maps = open("/proc/self/maps", O_RDONLY | O_CLOEXEC);
	count = proc_maps_read(maps, mappings, ARRAY_SIZE(mappings));
	assert_in_range(count, 2, ARRAY_SIZE(mappings));
	for (ssize_t i = 0; i < count; i++) {
		const struct proc_mapping *mapping = &mappings[i];
		struct elf_file file;
		u64 bias;

		if (!mapping->inode && !mapping->is_vdso)
			continue;
		_cleanup_close_ int fd =
			mapping->is_vdso ? -1 : open(mapping->path, O_RDONLY | O_CLOEXEC);
		if (mapping->is_vdso)
			assert_int_equal(elf_file_open_memory((void *)(size_t)mapping->begin,
							      mapping->end - mapping->begin, &file),
					 0);
		else
			assert_int_equal(elf_file_open(fd, &file), 0);
		assert_true(elf_file_bias(&file, mapping->begin, mapping->offset, &bias));
		if (!is_loaded_at(&loaded, bias))
			fail_msg("%s: nothing is at %llx", mapping->path, bias);
		assert_true(file.build_id_size > 0);
		elf_file_close(&file);
		files++;
	}
	assert_true(files >= 2);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(other_files_are_refused),
		cmocka_unit_test(build_ids_are_found_within_bounds),
		cmocka_unit_test(bias_is_that_of_the_segment),
		cmocka_unit_test(own_modules_are_where_the_linker_put_them),
	};

	return cmocka_run_group_tests_name("elf", tests, NULL, NULL);
}
