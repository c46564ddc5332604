// SPDX-License-Identifier: Apache-2.0
#include "symbolize.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "../base/clock.h"
#include "internal.h"

#define TABLE_AGAIN_NS (10 * NS_PER_S) /* before one for which there was no room is built again */
#define WORTHY_NS      (5 * NS_PER_MS) /* to build: below that, the disk is no faster */

static void add_vdso(struct symbolize *symbolize)
{
	const struct module *vdso = modules_add_vdso(&symbolize->modules);

	symbolize->vdso = vdso ? vdso->id : 0;
}

int symbolize_create(struct symbolize **ret_symbolize)
{
	struct symbolize *symbolize = calloc(1, sizeof(*symbolize));
	int err;

	if (!symbolize)
		return -ENOMEM;
	symbolize->kernel_names.fd = -1;
	symbolize->publisher.sock = -1;
	resolve_init(&symbolize->resolver);
	symbolize->mapped = calloc(SCAN_MAPPINGS_MAX, sizeof(*symbolize->mapped));
	err = symbolize->mapped ? 0 : -ENOMEM;
	if (!err)
		err = modules_init(&symbolize->modules);
	if (!err)
		err = processes_init(&symbolize->processes);
	if (!err)
		err = scan_init(&symbolize->scan);
	if (err) {
		symbolize_free(symbolize);
		return err;
	}
	add_vdso(symbolize);
	*ret_symbolize = symbolize;
	return 0;
}

void symbolize_free(struct symbolize *symbolize)
{
	if (!symbolize)
		return;
	mirror_free(symbolize);
	scan_free(&symbolize->scan);
	processes_free(&symbolize->processes);
	modules_free(&symbolize->modules);
	unwind_tables_free(symbolize->tables);
	row_store_free(&symbolize->rows);
	symbols_close(symbolize->data);
	kallsyms_close(symbolize->kernel_data);
	kernel_names_close(&symbolize->kernel_names);
	free(symbolize->mapped);
	free(symbolize);
}

int symbolize_kallsyms(struct symbolize *symbolize, int fd)
{
	return kernel_names_open(&symbolize->kernel_names, fd);
}

int symbolize_give_tables(struct symbolize *symbolize, const struct unwind_memory *memory,
			  u32 generation)
{
	return symbolize->tables ? -EBUSY
				 : unwind_tables_create(memory, generation, &symbolize->tables);
}

void symbolize_want(struct symbolize *symbolize, bool lines, bool inlined)
{
	symbolize->wants_lines = lines;
	symbolize->wants_inlined = inlined;
}

/* --- rows of modules --- */

/* Until then it does without; the kernel side tries the frame pointer. */
static bool wants_rows(const struct symbolize *symbolize, const struct module *module)
{
	if (!module->is_elf)
		return false;
	if (!module->is_table_tried)
		return true;
	if (module->table == UNWIND_NO_TABLE) /* it has no rows, or there was no room for them */
		return module->table_again_ns && module->table_again_ns <= clock_now_ns();
	return !unwind_tables_has(symbolize->tables, module->table, module->id);
}

static void put_rows(struct symbolize *symbolize, struct module *module,
		     const struct row_table *rows)
{
	u64 now_ns = clock_now_ns();

	module->is_table_tried = true;
	module->table = unwind_tables_add(symbolize->tables, rows, module->id, now_ns);
	module->table_again_ns =
		module->table == UNWIND_NO_TABLE && rows->count ? now_ns + TABLE_AGAIN_NS : 0;
}

/* They are done with, unless pages of them will be asked for. */
static void end_rows(struct symbolize *symbolize, const struct module *module,
		     struct row_table *rows)
{
	if (rows->count && module && !unwind_tables_is_whole(symbolize->tables, module->table))
		row_store_put(&symbolize->rows, module->id, rows);
	row_table_close(rows);
}

/* Those of the scan, which were kept to be written to disk. */
static void end_built_rows(struct symbolize *symbolize)
{
	struct scan *scan = &symbolize->scan;

	end_rows(symbolize, modules_get(&symbolize->modules, scan->rows_module), &scan->rows);
}

/* The kernel has one for all processes, and it is small. */
static void build_vdso_rows(struct symbolize *symbolize)
{
	struct module *vdso = modules_get(&symbolize->modules, symbolize->vdso);
	struct row_table rows = {0};

	if (!vdso || !wants_rows(symbolize, vdso))
		return;
	if (!row_table_build(&vdso->elf, &rows))
		put_rows(symbolize, vdso, &rows);
	vdso->is_table_tried = true;
	end_rows(symbolize, vdso, &rows);
}

/* --- a process is looked at --- */

int symbolize_scan(struct symbolize *symbolize, u32 tgid, int maps_fd)
{
	if (!symbolize->tables)
		return -ENOTCONN;
	if (!tgid)
		return -EINVAL;
	symbolize->counts.scans++;
	end_built_rows(symbolize);
	build_vdso_rows(symbolize);
	return scan_read(&symbolize->scan, tgid, maps_fd);
}

bool symbolize_scan_file(const struct symbolize *symbolize, u32 i, u64 *ret_begin, u64 *ret_end)
{
	const struct proc_mapping *mapping = scan_mapping_of(&symbolize->scan, i);

	if (!mapping)
		return false;
	*ret_begin = mapping->begin;
	*ret_end = mapping->end;
	return true;
}

/* Memory that has no name in any folder is where compilers put their code, not a program. */
static void set_module(struct symbolize *symbolize, u32 i, const struct module *module)
{
	const struct proc_mapping *mapping = scan_mapping_of(&symbolize->scan, i);
	struct scan_file *file = &symbolize->scan.files[i];

	file->module = module ? module->id : 0;
	file->is_jit = module && !module->is_elf &&
		       (mapping->is_deleted || !strncmp(mapping->path, "/memfd:", 7));
}

/* Of one that could not be asked, the kernel's list of mappings still says which it is. */
static struct file_key key_of(const struct proc_mapping *mapping, const struct file_facts *facts)
{
	if (facts->refusal != FILE_UNREACHABLE)
		return facts->key;
	return (struct file_key){.dev = (u64)mapping->major << 32 | mapping->minor,
				 .inode = mapping->inode};
}

bool symbolize_knows_file(struct symbolize *symbolize, u32 i, const struct file_facts *facts)
{
	const struct proc_mapping *mapping = scan_mapping_of(&symbolize->scan, i);
	struct module *module;
	struct file_key key;

	if (!mapping)
		return true;
	key = key_of(mapping, facts);
	module = modules_find_file(&symbolize->modules, &key);
	if (!module || (module->is_elf && !module->elf.elf) || wants_rows(symbolize, module))
		return false;
	set_module(symbolize, i, module);
	return true;
}

static struct module *find_or_add(struct symbolize *symbolize, u32 i,
				  const struct file_facts *facts, int fd)
{
	const struct proc_mapping *mapping = scan_mapping_of(&symbolize->scan, i);
	struct file_key key = key_of(mapping, facts);
	struct module *module = modules_find_file(&symbolize->modules, &key);

	if (module) {
		modules_open_again(&symbolize->modules, module, fd);
		return module;
	}
	if (facts->refusal < FILE_REFUSAL_COUNT)
		symbolize->counts.refused[facts->refusal] += facts->refusal != FILE_TAKEN;
	return modules_add_file(&symbolize->modules, &key, fd, mapping->path, facts->is_trusted);
}

int symbolize_take_file(struct symbolize *symbolize, u32 i, const struct file_facts *facts, int fd,
			struct file_wants *ret_wants)
{
	struct module *module;

	*ret_wants = (struct file_wants){0};
	if (!scan_mapping_of(&symbolize->scan, i)) {
		if (fd >= 0)
			close(fd);
		return -EINVAL;
	}
	module = find_or_add(symbolize, i, facts, fd);
	set_module(symbolize, i, module);
	if (!module)
		return -ENOSPC;
	if (!module->elf.elf)
		return 0;
	symbolize_seek_context(symbolize, module);
	memcpy(ret_wants->build_id, module->elf.build_id, module->elf.build_id_size);
	ret_wants->build_id_size = (u32)module->elf.build_id_size;
	ret_wants->rows = wants_rows(symbolize, module);
	ret_wants->cache = ret_wants->rows && facts->is_trusted && module->elf.build_id_size;
	ret_wants->debug = !module->is_debug_sought && module->elf.build_id_size &&
			   !symbols_are_full(&module->elf);
	module->is_debug_sought = true;
	return 0;
}

/* The module of a file of the scan that can be read; NULL: there is none. */
static struct module *open_module(const struct symbolize *symbolize, u32 i)
{
	struct module *module;

	if (!scan_mapping_of(&symbolize->scan, i))
		return NULL;
	module = modules_get(&symbolize->modules, symbolize->scan.files[i].module);
	return module && module->elf.elf ? module : NULL;
}

int symbolize_take_debug_file(struct symbolize *symbolize, u32 i, int fd)
{
	struct module *module = open_module(symbolize, i);

	if (module)
		return modules_add_debug_file(&symbolize->modules, module, fd);
	close(fd);
	return -EINVAL;
}

int symbolize_read_rows(struct symbolize *symbolize, u32 i, int fd)
{
	struct module *module = open_module(symbolize, i);
	struct row_table rows = {0};
	int err = module ? row_table_read(fd, &module->elf, &rows) : -EINVAL;

	if (!err) {
		symbolize->counts.cached++;
		put_rows(symbolize, module, &rows);
	}
	end_rows(symbolize, module, &rows);
	return err;
}

int symbolize_build_rows(struct symbolize *symbolize, u32 i, bool *ret_is_worthy)
{
	struct module *module = open_module(symbolize, i);
	struct scan *scan = &symbolize->scan;
	u64 begin_ns = clock_now_ns();
	int err;

	*ret_is_worthy = false;
	if (!module)
		return -EINVAL;
	end_built_rows(symbolize);
	err = row_table_build(&module->elf, &scan->rows);
	module->is_table_tried = true;
	module->table = UNWIND_NO_TABLE;
	if (!err)
		put_rows(symbolize, module, &scan->rows);
	modules_forget_bytes(module);
	scan->rows_file = i;
	scan->rows_module = module->id;
	begin_ns = clock_now_ns() - begin_ns;
	symbolize->counts.builds++;
	symbolize->counts.build_ns += begin_ns;
	*ret_is_worthy = !err && scan->rows.count && begin_ns >= WORTHY_NS;
	return err;
}

int symbolize_write_rows(struct symbolize *symbolize, u32 i, int fd)
{
	const struct module *module = open_module(symbolize, i);
	struct scan *scan = &symbolize->scan;
	int err = -EINVAL;

	if (module && scan->rows_file == i && scan->rows.count)
		err = row_table_write(fd, &module->elf, &scan->rows);
	end_built_rows(symbolize);
	return err;
}

/* The module of code that the process makes; a child has its own from its first scan on. */
static u32 jit_of(struct symbolize *symbolize, u32 tgid)
{
	const struct mapset *before = processes_get(&symbolize->processes, tgid);
	const struct module *module;

	if (before && before->owner == tgid && before->jit)
		return before->jit;
	module = modules_add_jit(&symbolize->modules);
	return module ? module->id : 0;
}

int symbolize_finish(struct symbolize *symbolize, struct unwind_process *ret_process,
		     struct thread_context *ret_context, bool *ret_has_jit)
{
	struct scan *scan = &symbolize->scan;
	u32 tgid = scan->tgid, jit = 0, count;
	int err;

	*ret_has_jit = false;
	if (!tgid)
		return -EINVAL;
	*ret_has_jit = scan_has_jit(scan);
	if (*ret_has_jit)
		jit = jit_of(symbolize, tgid);
	count = scan_result(scan, &symbolize->modules, symbolize->tables, symbolize->vdso, jit,
			    symbolize->mapped);
	symbolize_place_context(symbolize, count, ret_context);
	end_built_rows(symbolize);
	scan->tgid = 0;
	err = processes_set(&symbolize->processes, symbolize->tables, tgid, symbolize->mapped,
			    count, jit, clock_now_ns(), ret_process);
	if (!err) /* before the kernel side can name it in a record */
		publish_mappings(symbolize, processes_get(&symbolize->processes, tgid));
	return err;
}

/* --- what becomes of processes --- */

int symbolize_forked(struct symbolize *symbolize, u32 tgid, u32 generation)
{
	return symbolize->tables ? processes_share(&symbolize->processes, symbolize->tables, tgid,
						   generation, clock_now_ns())
				 : -ENOTCONN;
}

void symbolize_gone(struct symbolize *symbolize, u32 tgid, u32 generation)
{
	if (symbolize->tables)
		processes_drop(&symbolize->processes, symbolize->tables, tgid, generation,
			       clock_now_ns());
}

int symbolize_perf_map(struct symbolize *symbolize, u32 tgid, int fd)
{
	const struct mapset *set = processes_get(&symbolize->processes, tgid);
	struct module *module = NULL;
	struct stat stat;

	if (set && set->owner == tgid) /* a child that shares has no code of its own yet */
		module = modules_get(&symbolize->modules, set->jit);
	if (!module)
		return -ENOENT;
	if (fstat(fd, &stat))
		return -errno;
	return modules_read_perf_map(&symbolize->modules, module, fd, stat.st_uid);
}

/* The rows of a module: as they were kept, or built again. NULL: they cannot be. */
static const struct row_table *rows_of(struct symbolize *symbolize, struct module *module)
{
	const struct row_table *kept = row_store_get(&symbolize->rows, module->id);
	u64 begin_ns = clock_now_ns();
	struct row_table rows = {0};

	if (kept || !module->elf.elf)
		return kept;
	symbolize->counts.builds++;
	if (!row_table_build(&module->elf, &rows) && rows.count)
		row_store_put(&symbolize->rows, module->id, &rows);
	row_table_close(&rows);
	modules_forget_bytes(module);
	symbolize->counts.build_ns += clock_now_ns() - begin_ns;
	return row_store_get(&symbolize->rows, module->id);
}

void symbolize_load_page(struct symbolize *symbolize, u32 table, u32 place)
{
	const struct row_table *rows;
	struct module *module;
	u32 owner;

	if (!symbolize->tables || unwind_tables_is_loaded(symbolize->tables, place) ||
	    !unwind_tables_owner(symbolize->tables, table, place, &owner))
		return;
	module = modules_get(&symbolize->modules, owner);
	rows = module ? rows_of(symbolize, module) : NULL;
	if (rows)
		unwind_tables_load(symbolize->tables, table, place, rows, clock_now_ns());
	else
		symbolize->counts.pages_unread++;
}

void symbolize_load_near(struct symbolize *symbolize, u32 table, u32 place)
{
	const struct row_table *rows;
	u32 owner;

	if (!symbolize->tables || !unwind_tables_owner(symbolize->tables, table, place, &owner))
		return;
	rows = row_store_get(&symbolize->rows, owner);
	if (rows)
		unwind_tables_load_near(symbolize->tables, table, place, rows, clock_now_ns());
}

void symbolize_counts(const struct symbolize *symbolize, struct symbolize_counts *ret_counts)
{
	*ret_counts = symbolize->counts;
	ret_counts->processes = symbolize->processes.by_tgid.count;
	ret_counts->modules = symbolize->modules.all.count;
	ret_counts->modules_reclaimed = symbolize->modules.reclaimed;
	ret_counts->modules_refused = symbolize->modules.refused;
	ret_counts->perf_map_unfit = symbolize->modules.perf_unfit;
	ret_counts->processes_refused = symbolize->processes.refused;
	ret_counts->no_symbols = symbolize->modules.no_symbols;
	if (symbolize->tables)
		unwind_tables_counts(symbolize->tables, &ret_counts->tables);
	ret_counts->tables.mappings_cut += symbolize->scan.cut;
}
