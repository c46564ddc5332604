// SPDX-License-Identifier: Apache-2.0
#include "scan.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "../base/cleanup.h"

int scan_init(struct scan *scan)
{
	*scan = (struct scan){
		.mappings = calloc(SCAN_MAPPINGS_MAX, sizeof(*scan->mappings)),
		.file_of = calloc(SCAN_MAPPINGS_MAX, sizeof(*scan->file_of)),
		.files = calloc(SCAN_MAPPINGS_MAX, sizeof(*scan->files)),
	};
	if (scan->mappings && scan->file_of && scan->files)
		return 0;
	scan_free(scan);
	return -ENOMEM;
}

void scan_free(struct scan *scan)
{
	row_table_close(&scan->rows);
	free(scan->mappings);
	free(scan->file_of);
	free(scan->files);
	*scan = (struct scan){0};
}

static bool is_same_file(const struct proc_mapping *a, const struct proc_mapping *b)
{
	return a->inode == b->inode && a->major == b->major && a->minor == b->minor;
}

/* Mappings of one file mostly follow each other; one that comes again later is just asked twice. */
static u32 file_of(struct scan *scan, u32 i)
{
	const struct proc_mapping *mapping = &scan->mappings[i];

	if (!mapping->inode)
		return SCAN_NO_FILE;
	for (u32 k = scan->file_count; k > 0 && scan->file_count - k < 8; k--)
		if (is_same_file(&scan->mappings[scan->files[k - 1].mapping], mapping))
			return k - 1;
	scan->files[scan->file_count] = (struct scan_file){.mapping = i};
	return scan->file_count++;
}

int scan_read(struct scan *scan, u32 tgid, int maps_fd)
{
	ssize_t count = proc_maps_read(maps_fd, scan->mappings, SCAN_MAPPINGS_MAX);

	row_table_close(&scan->rows);
	scan->tgid = 0;
	scan->file_count = 0;
	if (count < 0)
		return (int)count;
	if (!count)
		return -ESRCH; /* its memory is gone already */
	if (count > SCAN_MAPPINGS_MAX) {
		scan->cut++;
		count = SCAN_MAPPINGS_MAX;
	}
	scan->tgid = tgid;
	scan->count = (u32)count;
	for (u32 i = 0; i < scan->count; i++)
		scan->file_of[i] = file_of(scan, i);
	return (int)scan->file_count;
}

const struct proc_mapping *scan_mapping_of(const struct scan *scan, u32 file)
{
	return scan->tgid && file < scan->file_count ? &scan->mappings[scan->files[file].mapping]
						     : NULL;
}

static bool is_jit(const struct scan *scan, u32 i)
{
	if (scan->file_of[i] == SCAN_NO_FILE)
		return !scan->mappings[i].is_vdso;
	return scan->files[scan->file_of[i]].is_jit;
}

bool scan_has_jit(const struct scan *scan)
{
	for (u32 i = 0; i < scan->count; i++)
		if (is_jit(scan, i))
			return true;
	return false;
}

/* A table may have made room for another file of the same process: then it is not named. */
static struct mapped result_of(const struct scan *scan, u32 i, const struct module *module,
			       const struct unwind_tables *tables)
{
	const struct proc_mapping *mapping = &scan->mappings[i];
	struct mapped mapped = {
		.begin = mapping->begin,
		.end = mapping->end,
		.bias = mapping->begin - mapping->offset,
		.module = module ? module->id : 0,
		.table = UNWIND_NO_TABLE,
	};

	if (!module || module->kind == MODULE_JIT)
		mapped.bias = 0;
	else if (module->elf.elf &&
		 elf_file_bias(&module->elf, mapping->begin, mapping->offset, &mapped.bias) &&
		 unwind_tables_has(tables, module->table, module->id))
		mapped.table = module->table;
	return mapped;
}

u32 scan_result(const struct scan *scan, const struct modules *modules,
		const struct unwind_tables *tables, u32 vdso, u32 jit, struct mapped *ret_mappings)
{
	u64 end = 0; /* of the one before: a search wants them in order */
	u32 count = 0;

	for (u32 i = 0; i < scan->count; i++) {
		u32 id = jit;

		if (scan->mappings[i].begin < end)
			continue;
		end = scan->mappings[i].end;
		if (scan->mappings[i].is_vdso)
			id = vdso;
		else if (!is_jit(scan, i))
			id = scan->files[scan->file_of[i]].module;
		ret_mappings[count++] = result_of(scan, i, modules_get(modules, id), tables);
	}
	return count;
}
