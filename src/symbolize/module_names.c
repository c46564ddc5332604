// SPDX-License-Identifier: Apache-2.0
/*
 * Names and lines of a module, read when somebody asks for the first time: most modules are never
 * asked.
 */
#include <errno.h>

#include "modules.h"

/* libelf keeps what it read of a file until the end: hence a fresh start after much reading. */
void modules_forget_bytes(struct module *module)
{
	int fd = module->elf.fd;

	if (fd < 0)
		return; /* the vdso is small */
	elf_file_close(&module->elf);
	if (elf_file_open(fd, &module->elf))
		module->elf.fd = fd; /* cut meanwhile; the descriptor is still ours to close */
}

static void unload(struct modules *modules, struct module *module)
{
	modules->symbol_bytes -= symbols_bytes(module->symbols);
	symbols_close(module->symbols);
	module->symbols = NULL;
	module->are_symbols_tried = false;
}

/* Only what can be read again is given up. */
static bool unload_one(struct modules *modules, const struct module *but)
{
	struct module *oldest = NULL;

	for (u32 i = MODULE_KERNEL_ID; i < modules->count; i++) {
		struct module *module = modules->all[i];

		if (module != but && module->symbols && module->elf.elf &&
		    (!oldest || module->used < oldest->used))
			oldest = module;
	}
	if (oldest)
		unload(modules, oldest);
	return oldest != NULL;
}

static void hold_bound(struct modules *modules, struct module *module)
{
	while (modules->symbol_bytes > SYMBOLS_BYTES_MAX && unload_one(modules, module))
		;
	if (modules->symbol_bytes <= SYMBOLS_BYTES_MAX)
		return;
	unload(modules, module);
	module->are_symbols_tried = true;
	modules->no_symbols++;
}

const struct symbols *modules_symbols(struct modules *modules, struct module *module)
{
	struct elf_file debug = {.fd = -1};
	bool has_debug;

	module->used = ++modules->turn;
	if (module->are_symbols_tried || !module->elf.elf)
		return module->symbols;
	module->are_symbols_tried = true;
	has_debug = module->debug_fd >= 0 && !elf_file_open(module->debug_fd, &debug);
	if (symbols_build(&module->elf, has_debug ? &debug : NULL, &module->symbols))
		module->symbols = NULL;
	elf_file_close(&debug);
	modules_forget_bytes(module);
	if (!module->symbols)
		return NULL;
	modules->symbol_bytes += symbols_bytes(module->symbols);
	hold_bound(modules, module);
	return module->symbols;
}

/* A handle of their own, since they keep it: 0 or -errno. */
static int open_lines(struct module *module, int fd)
{
	int err = fd < 0 ? -ENOENT : elf_file_open(fd, &module->lines_elf);

	if (!err)
		err = lines_open(&module->lines_elf, &module->lines);
	if (err)
		elf_file_close(&module->lines_elf);
	return err;
}

void modules_close_lines(struct modules *modules, struct module *module)
{
	modules->lines -= module->lines != NULL;
	lines_close(module->lines);
	module->lines = NULL;
	module->are_lines_tried = false;
	elf_file_close(&module->lines_elf);
}

static void close_oldest_lines(struct modules *modules)
{
	struct module *oldest = NULL;

	for (u32 i = MODULE_KERNEL_ID; i < modules->count; i++) {
		struct module *module = modules->all[i];

		if (module->lines && (!oldest || module->used < oldest->used))
			oldest = module;
	}
	if (oldest)
		modules_close_lines(modules, oldest);
}

struct lines *modules_lines(struct modules *modules, struct module *module)
{
	module->used = ++modules->turn;
	if (module->are_lines_tried || module->kind != MODULE_FILE || !module->elf.elf)
		return module->lines;
	module->are_lines_tried = true;
	if (modules->lines >= LINES_OPEN_MAX)
		close_oldest_lines(modules);
	if (open_lines(module, module->debug_fd) && open_lines(module, module->elf.fd))
		module->lines = NULL;
	modules->lines += module->lines != NULL;
	return module->lines;
}
