// SPDX-License-Identifier: Apache-2.0
/*
 * Variables by their addresses: a lock that is one. They are asked for rarely, and then for several
 * of one file: so the variables of one file are kept at a time.
 *
 * Only code is known of a process's mappings. A file's variables follow its code, before any other
 * file's begins; whether an address is one of them, the file's own symbols say.
 */
#include <stdio.h>

#include "internal.h"

static struct symbolize *of(struct resolver *resolver)
{
	return (struct symbolize *)resolver;
}

bool resolve_place_data(struct resolver *resolver, u32 generation, u64 address,
			struct place *ret_place)
{
	struct symbolize *symbolize = of(resolver);
	const struct mapped *mapped;
	const struct module *module;

	if (!generation) {
		*ret_place = (struct place){MODULE_KERNEL_ID, address};
		return true;
	}
	if (symbolize->mirror && !processes_knows(&symbolize->processes, generation))
		symbolize_take_facts(symbolize);
	mapped = processes_find_below(&symbolize->processes, generation, address);
	module = mapped && mapped->module ? modules_get(&symbolize->modules, mapped->module) : NULL;
	if (!module || module->kind != MODULE_FILE)
		return false;
	*ret_place = (struct place){mapped->module, address - mapped->bias};
	return true;
}

static void load_data(struct symbolize *symbolize, struct module *module)
{
	struct elf_file debug = {.fd = -1};
	bool has_debug;

	symbols_close(symbolize->data);
	symbolize->data = NULL;
	symbolize->data_module = module->id;
	if (!module->elf.elf)
		return;
	has_debug = module->debug_fd >= 0 && !elf_file_open(module->debug_fd, &debug);
	if (symbols_build_data(&module->elf, has_debug ? &debug : NULL, &symbolize->data))
		symbolize->data = NULL;
	elf_file_close(&debug);
	modules_forget_bytes(module);
}

static const char *kernel_variable(struct symbolize *symbolize, u64 address, u64 *ret_offset)
{
	struct kernel_names *names = &symbolize->kernel_names;
	const char *part;

	if (!symbolize->is_kernel_data_tried && names->fd >= 0 &&
	    kallsyms_read_data(names->fd, &symbolize->kernel_data))
		symbolize->kernel_data = NULL;
	symbolize->is_kernel_data_tried = true;
	if (!symbolize->kernel_data)
		return NULL;
	return kallsyms_find(symbolize->kernel_data, address, &part, ret_offset);
}

static const char *file_variable(struct symbolize *symbolize, const struct place *place,
				 u64 *ret_offset)
{
	struct module *module = modules_get(&symbolize->modules, place->module);

	if (!module || module->kind != MODULE_FILE)
		return NULL;
	if (symbolize->data_module != module->id)
		load_data(symbolize, module);
	return symbolize->data ? symbols_name_at(symbolize->data, place->address, ret_offset)
			       : NULL;
}

enum name_answer resolve_name_data(struct resolver *resolver, const struct place *place,
				   char *ret_name, size_t size)
{
	struct symbolize *symbolize = of(resolver);
	const char *name;
	u64 offset = 0;

	if (place->module == MODULE_KERNEL_ID)
		name = kernel_variable(symbolize, place->address, &offset);
	else if (symbolize->mirror)
		return mirror_name_data(symbolize, place, ret_name, size);
	else
		name = file_variable(symbolize, place, &offset);
	if (!name)
		return NAME_ABSENT;
	if (offset)
		snprintf(ret_name, size, "%s+0x%llx", name, (unsigned long long)offset);
	else
		snprintf(ret_name, size, "%s", name);
	return NAME_FOUND;
}
