// SPDX-License-Identifier: Apache-2.0
/*
 * Names and lines of a module, read when somebody asks for the first time: most modules are never
 * asked.
 */
#include <errno.h>

#include "../base/clock.h"
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

void modules_unload(struct modules *modules, struct module *module)
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

	for (u32 i = 0; i < modules->all.count; i++) {
		struct module *module = modules->all.items[i].thing;

		if (module != but && module->symbols && module->elf.elf &&
		    (!oldest || module->used < oldest->used))
			oldest = module;
	}
	if (oldest)
		modules_unload(modules, oldest);
	return oldest != NULL;
}

static void hold_bound(struct modules *modules, struct module *module)
{
	while (modules->symbol_bytes > SYMBOLS_BYTES_MAX && unload_one(modules, module))
		;
	if (modules->symbol_bytes <= SYMBOLS_BYTES_MAX)
		return;
	modules_unload(modules, module);
	module->are_symbols_tried = true;
	modules->no_symbols++;
}

const struct symbols *modules_symbols(struct modules *modules, struct module *module)
{
	struct elf_file debug = {.fd = -1};
	bool has_debug;

	module->used = ++modules->turn;
	module->named_ns = clock_now_ns();
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

void modules_close_lines(struct modules *modules, struct module *module)
{
	if (module->lines) {
		modules->lines--;
		modules->lines_bytes -= lines_bytes(module->lines);
		module->lines_spent_ns = lines_spent_ns(module->lines);
		lines_close(module->lines);
	}
	module->lines = NULL;
	module->are_lines_tried = false;
	elf_file_close(&module->lines_elf);
}

static bool close_oldest_lines(struct modules *modules)
{
	struct module *oldest = NULL;

	for (u32 i = 0; i < modules->all.count; i++) {
		struct module *module = modules->all.items[i].thing;

		if (module->lines && (!oldest || module->used < oldest->used))
			oldest = module;
	}
	if (oldest)
		modules_close_lines(modules, oldest);
	return oldest != NULL;
}

/* A handle of their own, since they keep it: 0 or -errno. */
static int open_lines(struct modules *modules, struct module *module, int fd)
{
	size_t bytes = 0;
	int err = fd < 0 ? -ENOENT : elf_file_open(fd, &module->lines_elf);

	if (!err)
		err = lines_check_sections(module->lines_elf.elf, &bytes);
	while (!err &&
	       (modules->lines >= LINES_OPEN_MAX ||
		modules->lines_bytes + bytes > LINES_BYTES_MAX) &&
	       close_oldest_lines(modules))
		;
	if (!err)
		err = lines_open(&module->lines_elf, module->lines_spent_ns, &module->lines);
	if (err)
		elf_file_close(&module->lines_elf);
	return err;
}

static void read_lines(struct modules *modules, struct module *module)
{
	int err = open_lines(modules, module, module->debug_fd);
	bool is_too_large = err == -EFBIG;

	if (err)
		err = open_lines(modules, module, module->elf.fd);
	if (err) {
		module->lines = NULL;
		module->are_lines_too_large = is_too_large || err == -EFBIG;
		return;
	}
	modules->lines++;
	modules->lines_bytes += lines_bytes(module->lines);
}

size_t modules_find_lines(struct modules *modules, struct module *module, u64 address,
			  struct frame_name ret_names[FRAME_NAMES_MAX])
{
	module->used = ++modules->turn;
	if (!module->are_lines_tried && module->kind == MODULE_FILE && module->elf.elf) {
		module->are_lines_tried = true;
		read_lines(modules, module);
	}
	return module->lines ? lines_find(module->lines, address, ret_names) : 0;
}

bool modules_lack_lines(const struct module *module)
{
	return module->lines ? lines_are_cut(module->lines) : module->are_lines_too_large;
}
