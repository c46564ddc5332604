// SPDX-License-Identifier: Apache-2.0
/*
 * Rows of an ELF file from elsewhere, and of a cache in which somebody else wrote. The first byte
 * says which the input is: an ELF file; .eh_frame of a sound one; or a cache's file.
 */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "../src/symbolize/row_rule.h"
#include "../src/symbolize/row_table.h"
#include "../tests/unit/tiny_elf.h"

enum { INPUT_ELF, INPUT_EH_FRAME, INPUT_CACHE, INPUT_COUNT };

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check(const struct row_table *table)
{
	size_t bad = 0;

	if (table->count > ROW_TABLE_MAX)
		abort();
	for (size_t i = 0; i < table->count; i++) {
		if (!row_rule_is_valid(&table->rows[i]) ||
		    (i && table->rows[i].pc <= table->rows[i - 1].pc))
			abort();
		bad += table->rows[i].kind == ROW_BAD;
	}
	if (bad != table->bad)
		abort();
}

static int file_with(const uint8_t *data, size_t size)
{
	int fd = memfd_create("fuzz", MFD_CLOEXEC);

	if (fd < 0 || pwrite(fd, data, size, 0) != (ssize_t)size)
		abort();
	return fd;
}

static void build(struct elf_file *file)
{
	struct row_table table;
	u64 bias;

	elf_file_bias(file, 0x7f0000001000, 0x1000, &bias);
	if (!row_table_build(file, &table)) {
		check(&table);
		row_table_close(&table);
	}
	elf_file_close(file);
}

/* Once as memory, and once as a file: libelf reads the two differently. */
static void read_elf(const uint8_t *data, size_t size)
{
	uint8_t *image = malloc(size);
	int fd = file_with(data, size);
	struct elf_file file;

	if (size)
		memcpy(image, data, size);
	if (!elf_file_open_memory(image, size, &file))
		build(&file);
	if (!elf_file_open(fd, &file))
		build(&file);
	free(image);
	close(fd);
}

static void read_eh_frame(const uint8_t *data, size_t size)
{
	struct tiny_elf tiny;

	tiny_elf_init(&tiny);
	tiny.eh_frame_size = 0;
	if (size > TINY_SIZE - TINY_EH_FRAME_AT)
		return;
	tiny_elf_put(&tiny, data, size);
	read_elf(tiny.bytes, TINY_EH_FRAME_AT + size); /* nothing is behind it */
}

static void read_cache(const uint8_t *data, size_t size)
{
	int fd = file_with(data, size);
	struct row_table table;
	struct tiny_elf tiny;
	struct elf_file file;

	tiny_elf_init(&tiny);
	if (elf_file_open_memory(tiny.bytes, TINY_SIZE, &file))
		abort();
	if (!row_table_read(fd, &file, &table)) {
		check(&table);
		row_table_close(&table);
	}
	elf_file_close(&file);
	close(fd);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	if (!size)
		return 0;
	switch (data[0] % INPUT_COUNT) {
	case INPUT_ELF:
		read_elf(data + 1, size - 1);
		break;
	case INPUT_EH_FRAME:
		read_eh_frame(data + 1, size - 1);
		break;
	default:
		read_cache(data + 1, size - 1);
	}
	return 0;
}
