// SPDX-License-Identifier: Apache-2.0
#include "modules.h"

#include <elf.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/resource.h>
#include <unistd.h>

#include "../../abi/unwind.h"
#include "../base/text.h"
#include "../base/utf8.h"

#define DESCRIPTORS_SPARED 128 /* for the rest of the process */
#define PART_NAME_BYTES	   64
#define VDSO_BYTES_MAX	   65536

struct file_item {
	struct file_key key;
	u64 id;
};

/* One build, and of one size: who claims another's build id is at least to be as large. */
struct build_key {
	u8 build_id[BUILD_ID_MAX];
	u64 build_id_size;
	u64 file_size;
};

struct build_item {
	struct build_key key;
	u64 id;
};

struct part_item {
	char name[PART_NAME_BYTES];
	u64 id;
};

static size_t descriptors_max(void)
{
	struct rlimit limit;

	if (getrlimit(RLIMIT_NOFILE, &limit))
		return MODULES_OPEN_MAX / 8;
	if (limit.rlim_cur < limit.rlim_max && limit.rlim_cur < 4 * MODULES_OPEN_MAX) {
		limit.rlim_cur = limit.rlim_max < 4 * MODULES_OPEN_MAX ? limit.rlim_max
								       : 4 * MODULES_OPEN_MAX;
		setrlimit(RLIMIT_NOFILE, &limit);
		getrlimit(RLIMIT_NOFILE, &limit);
	}
	if (limit.rlim_cur >= MODULES_OPEN_MAX + DESCRIPTORS_SPARED)
		return MODULES_OPEN_MAX;
	return limit.rlim_cur > 2 * DESCRIPTORS_SPARED ? limit.rlim_cur - DESCRIPTORS_SPARED
						       : limit.rlim_cur / 2;
}

static u64 fnv(const void *bytes, size_t size)
{
	const unsigned char *byte = bytes;
	u64 hash = 0xcbf29ce484222325ULL;

	for (size_t i = 0; i < size; i++)
		hash = (hash ^ byte[i]) * 0x100000001b3ULL;
	return hash;
}

/* NULL: no memory, or no number left. */
static struct module *add(struct modules *modules, enum module_kind kind, const char *path)
{
	struct module *module;
	char text[1024];

	module = calloc(1, sizeof(*module));
	if (!module)
		return NULL;
	utf8_copy(text, sizeof(text), path, strlen(path));
	module->path = strdup(text);
	if (!module->path) {
		free(module);
		return NULL;
	}
	module->kind = kind;
	module->id = modules->last_id + 1;
	module->elf.fd = module->debug_fd = -1;
	module->table = UNWIND_NO_TABLE;
	module->identity = fnv(module->path, strlen(module->path));
	module->used = ++modules->turn;
	if (number_map_set(&modules->all, module->id, module)) {
		modules->refused++;
		free(module->path);
		free(module);
		return NULL;
	}
	modules->last_id++;
	return module;
}

int modules_init(struct modules *modules)
{
	*modules = (struct modules){.open_max = descriptors_max()};
	hash_init(&modules->files, sizeof(struct file_item), sizeof(struct file_key),
		  MODULE_FILES_MAX);
	hash_init(&modules->builds, sizeof(struct build_item), sizeof(struct build_key),
		  MODULES_MAX);
	hash_init(&modules->names, sizeof(struct part_item), PART_NAME_BYTES, KERNEL_PARTS_MAX);
	if (number_map_init(&modules->all, MODULES_MAX) ||
	    !add(modules, MODULE_KERNEL, "[kernel]")) {
		modules_free(modules);
		return -ENOMEM;
	}
	return 0;
}

static void free_module(struct module *module)
{
	lines_close(module->lines);
	elf_file_close(&module->lines_elf);
	symbols_close(module->symbols);
	perf_map_close(module->perf_map);
	if (module->elf.fd >= 0)
		close(module->elf.fd);
	elf_file_close(&module->elf);
	if (module->debug_fd >= 0)
		close(module->debug_fd);
	free(module->image);
	free(module->path);
	free(module);
}

void modules_free(struct modules *modules)
{
	for (u32 i = 0; i < modules->all.count; i++)
		free_module(modules->all.items[i].thing);
	number_map_free(&modules->all);
	hash_free(&modules->files);
	hash_free(&modules->builds);
	hash_free(&modules->names);
	*modules = (struct modules){0};
}

void modules_remove(struct modules *modules, struct module *module)
{
	if (modules->on_remove)
		modules->on_remove(modules->context, module);
	modules_close_files(modules, module);
	modules_unload(modules, module);
	modules->perf_maps -= module->perf_map != NULL;
	modules->perf_bytes -= perf_map_bytes(module->perf_map);
	number_map_remove(&modules->all, module->id);
	free_module(module);
}

static bool is_file_known(const void *item, const void *modules)
{
	return modules_get(modules, (u32)((const struct file_item *)item)->id);
}

static bool is_build_known(const void *item, const void *modules)
{
	return modules_get(modules, (u32)((const struct build_item *)item)->id);
}

void modules_forget_keys(struct modules *modules)
{
	hash_retain(&modules->files, is_file_known, modules);
	hash_retain(&modules->builds, is_build_known, modules);
}

struct module *modules_get(const struct modules *modules, u32 id)
{
	return number_map_find(&modules->all, id);
}

struct module *modules_find_file(struct modules *modules, const struct file_key *key)
{
	const struct file_item *item = hash_find(&modules->files, key);
	struct module *module = item ? modules_get(modules, (u32)item->id) : NULL;

	if (module)
		module->used = ++modules->turn;
	return module;
}

/* --- descriptors --- */

/* Whoever was not used for longest makes room; what names it has are read before. */
static void close_one(struct modules *modules, const struct module *but)
{
	struct module *oldest = NULL;

	for (u32 i = 0; i < modules->all.count; i++) {
		struct module *module = modules->all.items[i].thing;

		if (module != but && (module->elf.fd >= 0 || module->debug_fd >= 0) &&
		    (!oldest || module->used < oldest->used))
			oldest = module;
	}
	if (!oldest)
		return;
	modules_symbols(modules, oldest);
	modules_close_files(modules, oldest);
}

static void make_room(struct modules *modules, const struct module *but)
{
	if (modules->open >= modules->open_max)
		close_one(modules, but);
	modules->open++;
}

void modules_close_files(struct modules *modules, struct module *module)
{
	int fd = module->elf.fd;

	modules_close_lines(modules, module); /* they read from it */
	elf_file_close(&module->elf);
	if (fd >= 0) {
		close(fd);
		modules->open--;
	}
	if (module->debug_fd >= 0) {
		close(module->debug_fd);
		modules->open--;
		module->debug_fd = -1;
	}
}

/* --- files --- */

static void describe_build(struct module *module)
{
	const struct elf_file *elf = &module->elf;

	for (size_t i = 0; i < elf->build_id_size; i++)
		snprintf(module->build_id + 2 * i, 3, "%02x", elf->build_id[i]);
	if (elf->build_id_size)
		module->identity = fnv(elf->build_id, elf->build_id_size);
}

/* Its build tells which one it is, if its file comes again. */
static bool has_no_build(const void *item, const void *modules)
{
	const struct module *module =
		modules_get(modules, (u32)((const struct file_item *)item)->id);

	return module && !module->is_shared;
}

/* A file of each container, of one build: there may be any number while their module lives. */
static void forget_files(struct modules *modules)
{
	size_t before = modules->files.count;

	hash_retain(&modules->files, has_no_build, modules);
	if (hash_is_full(&modules->files))
		hash_clear(&modules->files);
	modules->files_forgotten += before - modules->files.count;
}

static void remember_file(struct modules *modules, const struct file_key *key, u32 id)
{
	struct file_item *item;

	if (hash_is_full(&modules->files))
		forget_files(modules);
	item = hash_add(&modules->files, key);
	if (item)
		item->id = id;
}

static void find_build(const struct elf_file *elf, u64 file_size, struct build_key *ret_key)
{
	*ret_key = (struct build_key){.build_id_size = elf->build_id_size, .file_size = file_size};
	memcpy(ret_key->build_id, elf->build_id, elf->build_id_size);
}

/* A file of the same build that is known already; NULL: none, or it cannot be believed. */
static struct module *find_shared(struct modules *modules, const struct elf_file *elf,
				  u64 file_size)
{
	const struct build_item *item;
	struct build_key key;

	if (!elf->build_id_size)
		return NULL;
	find_build(elf, file_size, &key);
	item = hash_find(&modules->builds, &key);
	return item ? modules_get(modules, (u32)item->id) : NULL;
}

static void share(struct modules *modules, struct module *module, u64 file_size)
{
	struct build_item *item;
	struct build_key key;

	if (!module->elf.build_id_size)
		return;
	find_build(&module->elf, file_size, &key);
	item = hash_add(&modules->builds, &key);
	if (item && !modules_get(modules, (u32)item->id))
		item->id = module->id;
	module->is_shared = item && item->id == module->id;
}

void modules_open_again(struct modules *modules, struct module *module, int fd)
{
	if (module->elf.elf || !module->is_elf || elf_file_open(fd, &module->elf)) {
		if (fd >= 0)
			close(fd);
		return;
	}
	make_room(modules, module);
	module->used = ++modules->turn;
}

struct module *modules_add_file(struct modules *modules, const struct file_key *key, int fd,
				const char *path, bool is_trusted)
{
	struct elf_file elf = {.fd = -1};
	bool is_elf = fd >= 0 && !elf_file_open(fd, &elf);
	struct module *module = is_elf && is_trusted ? find_shared(modules, &elf, key->size) : NULL;

	if (module) {
		remember_file(modules, key, module->id);
		elf_file_close(&elf);
		modules_open_again(modules, module, fd);
		return module;
	}
	module = add(modules, MODULE_FILE, path);
	if (!module || !is_elf) {
		elf_file_close(&elf);
		if (fd >= 0)
			close(fd);
		if (module)
			remember_file(modules, key, module->id);
		return module;
	}
	module->is_elf = true;
	module->elf = elf;
	make_room(modules, module);
	describe_build(module);
	remember_file(modules, key, module->id);
	if (is_trusted)
		share(modules, module, key->size);
	return module;
}

int modules_add_debug_file(struct modules *modules, struct module *module, int fd)
{
	struct elf_file debug = {.fd = -1};
	int err = module->elf.elf && module->debug_fd < 0 ? elf_file_open(fd, &debug) : -EINVAL;

	if (!err && (debug.build_id_size != module->elf.build_id_size ||
		     memcmp(debug.build_id, module->elf.build_id, debug.build_id_size)))
		err = -EINVAL;
	if (!err && module->symbols) {
		modules->symbol_bytes -= symbols_bytes(module->symbols);
		symbols_add(module->symbols, &debug, NAME_DEBUG_FILE);
		modules->symbol_bytes += symbols_bytes(module->symbols);
	}
	elf_file_close(&debug);
	if (err) {
		close(fd);
		return err;
	}
	module->debug_fd = fd;
	make_room(modules, module);
	return 0;
}

/* --- what is no file --- */

/* Its image is in our own memory, too, and ends with its section headers, as the kernel links it.
 */
struct module *modules_add_vdso(struct modules *modules)
{
	const Elf64_Ehdr *header = (const Elf64_Ehdr *)getauxval(AT_SYSINFO_EHDR);
	struct module *module;
	size_t size;

	if (!header || memcmp(header->e_ident, ELFMAG, SELFMAG))
		return NULL;
	size = header->e_shoff + (size_t)header->e_shnum * header->e_shentsize;
	if (size > VDSO_BYTES_MAX)
		return NULL;
	module = add(modules, MODULE_VDSO, "[vdso]");
	if (!module)
		return NULL;
	module->image = malloc(size);
	if (!module->image)
		return module;
	memcpy(module->image, header, size);
	module->is_elf = !elf_file_open_memory(module->image, size, &module->elf);
	describe_build(module);
	return module;
}

struct module *modules_add_jit(struct modules *modules)
{
	return add(modules, MODULE_JIT, "[jit]");
}

struct module *modules_add_told(struct modules *modules, enum module_kind kind, const char *path,
				const char *build_id, u64 identity)
{
	struct module *module = add(modules, kind, path);

	if (!module)
		return NULL;
	text_copy(module->build_id, sizeof(module->build_id), build_id);
	module->identity = identity;
	return module;
}

struct module *modules_kernel_part(struct modules *modules, const char *name)
{
	char key[PART_NAME_BYTES] = {0}, path[PART_NAME_BYTES + 2];
	struct module *module;
	struct part_item *item;

	text_copy(key, sizeof(key), name);
	item = hash_add(&modules->names, key);
	if (!item)
		return NULL; /* too many: it counts as the kernel itself */
	if (item->id)
		return modules_get(modules, (u32)item->id);
	snprintf(path, sizeof(path), "[%s]", key);
	module = add(modules, MODULE_KERNEL_OTHER, path);
	if (module)
		item->id = module->id;
	return module;
}
