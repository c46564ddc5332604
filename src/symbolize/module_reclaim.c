// SPDX-License-Identifier: Apache-2.0
/*
 * Which modules are given up, so that a recording of any length holds as many as are in use: those
 * of no process, but for some files, as the program that ran a moment ago is likely to run again.
 */
#include <stdlib.h>

#include "../base/cleanup.h"
#include "modules.h"

/* The kernel's own are few, and never mapped. */
static bool is_idle(const struct module *module)
{
	return !module->is_needed && (module->kind == MODULE_FILE || module->kind == MODULE_JIT);
}

static int by_use(const void *a, const void *b)
{
	const struct module *left = *(struct module *const *)a;
	const struct module *right = *(struct module *const *)b;

	return left->used < right->used ? -1 : left->used > right->used;
}

/* Idle files, least recently used first; code that a process made ends with it. */
static u32 list_idle(struct modules *modules, struct module **ret_files)
{
	u32 count = 0;

	for (u32 i = modules->all.count; i > 0; i--) {
		struct module *module = modules->all.items[i - 1].thing;

		if (!is_idle(module))
			continue;
		if (module->kind == MODULE_FILE)
			ret_files[count++] = module;
		else
			modules_remove(modules, module);
	}
	qsort(ret_files, count, sizeof(struct module *), by_use);
	return count;
}

/* Only what can be read again. */
static void unload_unused(struct modules *modules, u64 now_ns)
{
	for (u32 i = 0; i < modules->all.count; i++) {
		struct module *module = modules->all.items[i].thing;

		if (module->symbols && module->elf.elf && module->named_ns + NAMES_IDLE_NS < now_ns)
			modules_unload(modules, module);
	}
}

u64 modules_reclaim(struct modules *modules, u64 now_ns)
{
	_cleanup_free_ struct module **idle =
		calloc((size_t)modules->all.count + 1, sizeof(struct module *));
	u32 before = modules->all.count, count = idle ? list_idle(modules, idle) : 0;

	for (u32 i = 0; i + MODULES_IDLE_MAX < count; i++)
		modules_remove(modules, idle[i]);
	if (modules->all.count != before)
		modules_forget_keys(modules);
	unload_unused(modules, now_ns);
	modules->reclaimed += before - modules->all.count;
	return before - modules->all.count;
}
