// SPDX-License-Identifier: Apache-2.0
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>

#include "../base/version.h"
#include "eh_frame.h"
#include "row_rule.h"
#include "row_table.h"

#define FORMAT	     2 /* one more whenever the same .eh_frame makes other rows */
#define VERSION_SIZE 32

static const char magic[8] = "dwlrows";

/* Of the file, and then there are count rows. */
struct cache_header {
	char magic[8];
	u32 format;
	u32 row_size;
	char version[VERSION_SIZE]; /* of dwell */
	u8 build_id[BUILD_ID_MAX];
	u32 build_id_size;
	u32 is_cut;
	u64 eh_frame_size;
	u64 count;
	u32 checksum; /* of all the rest: this header with zero here, and the rows */
	u32 unused;
};

_Static_assert(sizeof(struct cache_header) == 8 + 8 + VERSION_SIZE + BUILD_ID_MAX + 8 + 16 + 8,
	       "the header has no holes");

static u32 checksum(struct cache_header header, const struct unwind_row *rows)
{
	uLong crc = crc32(0, NULL, 0);

	header.checksum = 0;
	crc = crc32(crc, (const Bytef *)&header, sizeof(header));
	if (header.count)
		crc = crc32(crc, (const Bytef *)rows, (uInt)(header.count * sizeof(*rows)));
	return (u32)crc;
}

/* What a file of the cache for this ELF file begins with, but for what its rows say. */
static void describe(const struct elf_file *file, struct cache_header *ret_header)
{
	*ret_header = (struct cache_header){
		.format = FORMAT,
		.row_size = sizeof(struct unwind_row),
		.build_id_size = (u32)file->build_id_size,
		.eh_frame_size = eh_frame_size(file),
	};
	memcpy(ret_header->magic, magic, sizeof(magic));
	strncpy(ret_header->version, DWELL_VERSION, VERSION_SIZE - 1);
	memcpy(ret_header->build_id, file->build_id, file->build_id_size);
}

static bool is_for(const struct cache_header *header, const struct elf_file *file)
{
	struct cache_header expected;

	describe(file, &expected);
	expected.is_cut = header->is_cut;
	expected.count = header->count;
	expected.checksum = header->checksum;
	return !memcmp(header, &expected, sizeof(expected)) && header->is_cut <= 1 &&
	       header->count <= ROW_TABLE_MAX;
}

/* All that row_table.h promises of them. */
static bool are_rows(const struct unwind_row *rows, size_t count)
{
	for (size_t i = 0; i < count; i++) {
		const struct unwind_row *row = &rows[i], *last = i ? row - 1 : NULL;

		if (!row_rule_is_valid(row))
			return false;
		if (last && (row->pc <= last->pc || (row->cfa == last->cfa && row->fp == last->fp &&
						     row->kind == last->kind)))
			return false;
	}
	return true;
}

static int read_all(int fd, void *to, size_t size, off_t at)
{
	for (size_t done = 0; done < size;) {
		ssize_t now = pread(fd, (char *)to + done, size - done, at + (off_t)done);

		if (now < 0 && errno == EINTR)
			continue;
		if (now <= 0)
			return now ? -errno : -EBADMSG;
		done += (size_t)now;
	}
	return 0;
}

static int write_all(int fd, const void *from, size_t size, off_t at)
{
	for (size_t done = 0; done < size;) {
		ssize_t now = pwrite(fd, (const char *)from + done, size - done, at + (off_t)done);

		if (now < 0 && errno == EINTR)
			continue;
		if (now <= 0)
			return now ? -errno : -EIO;
		done += (size_t)now;
	}
	return 0;
}

static int read_rows(int fd, const struct cache_header *header, struct row_table *ret_table)
{
	struct row_table table = {.count = header->count, .is_cut = header->is_cut};
	int err;

	if (table.count) {
		table.rows = calloc(table.count, sizeof(*table.rows));
		if (!table.rows)
			return -ENOMEM;
	}
	err = read_all(fd, table.rows, table.count * sizeof(*table.rows), sizeof(*header));
	if (!err && (checksum(*header, table.rows) != header->checksum ||
		     !are_rows(table.rows, table.count)))
		err = -EBADMSG;
	if (err) {
		row_table_close(&table);
		return err;
	}
	for (size_t i = 0; i < table.count; i++)
		table.bad += table.rows[i].kind == ROW_BAD;
	*ret_table = table;
	return 0;
}

int row_table_read(int fd, const struct elf_file *file, struct row_table *ret_table)
{
	struct cache_header header;
	struct stat stat;
	int err;

	if (!file->build_id_size)
		return -EINVAL; /* then nothing tells that it is this file */
	err = read_all(fd, &header, sizeof(header), 0);
	if (err)
		return err;
	if (!is_for(&header, file))
		return -EBADMSG;
	if (fstat(fd, &stat) < 0)
		return -errno;
	if ((u64)stat.st_size != sizeof(header) + header.count * sizeof(struct unwind_row))
		return -EBADMSG;
	return read_rows(fd, &header, ret_table);
}

int row_table_write(int fd, const struct elf_file *file, const struct row_table *table)
{
	struct cache_header header;
	int err;

	if (!file->build_id_size)
		return -EINVAL;
	describe(file, &header);
	header.is_cut = table->is_cut;
	header.count = table->count;
	header.checksum = checksum(header, table->rows);
	err = write_all(fd, &header, sizeof(header), 0);
	if (err)
		return err;
	return write_all(fd, table->rows, table->count * sizeof(*table->rows), sizeof(header));
}
