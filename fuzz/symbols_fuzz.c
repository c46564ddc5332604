// SPDX-License-Identifier: Apache-2.0
/*
 * An ELF file of anybody's: its symbols, what is packed in it, and its DWARF.
 */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "../src/symbolize/lines.h"
#include "../src/symbolize/symbols.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* Reads every byte of it, so that the sanitizer sees where it ends. */
static size_t touch(const char *text)
{
	return text ? strlen(text) : 0;
}

static size_t name(struct elf_file *file)
{
	struct symbols *symbols = NULL;
	size_t sum = 0;

	if (symbols_build(file, NULL, &symbols))
		return 0;
	for (u64 address = 0; address < 0x4000; address += 16) {
		enum name_source source = NAME_NONE;

		sum += touch(symbols_find(symbols, address, &source));
		sum += touch(symbols_name(symbols, address, &source));
	}
	if (!symbols_add(symbols, file, NAME_DEBUG_FILE))
		sum += symbols_count(symbols);
	symbols_close(symbols);
	return sum;
}

static size_t find_lines(struct elf_file *file)
{
	struct frame_name frames[FRAME_NAMES_MAX];
	struct lines *lines = NULL;
	size_t sum = 0;

	if (lines_open(file, 0, &lines))
		return 0;
	for (u64 address = 0; address < 0x4000; address += 16) {
		size_t count = lines_find(lines, address, frames);

		if (count > FRAME_NAMES_MAX)
			abort();
		for (size_t i = 0; i < count; i++)
			sum += touch(frames[i].name) + touch(frames[i].file);
	}
	lines_close(lines);
	return sum;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	char *image = malloc(size ? size : 1); /* libelf may write into it */
	struct elf_file file;

	memcpy(image, data, size);
	if (!elf_file_open_memory(image, size, &file)) {
		size_t sum = symbols_are_full(&file) + name(&file) + find_lines(&file);

		elf_file_close(&file);
		__asm__ volatile("" ::"r"(sum)); /* it was all looked at */
	}
	free(image);
	return 0;
}
