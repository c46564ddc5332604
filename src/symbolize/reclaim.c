// SPDX-License-Identifier: Apache-2.0
/*
 * What no process has mapped any more: found by a walk over all that is mapped, rather than by
 * counts that each of its users would have to keep.
 */
#include <malloc.h>

#include "../base/clock.h"
#include "internal.h"

#define RECLAIM_NS NS_PER_S	   /* between two walks; windows may be shorter */
#define TRIM_NS	   (10 * NS_PER_S) /* between two looks at the whole heap */

static void need(const struct symbolize *symbolize, u32 id)
{
	struct module *module = modules_get(&symbolize->modules, id);

	if (module)
		module->is_needed = true;
}

static void need_mapped(const struct symbolize *symbolize)
{
	const struct number_map *sets = &symbolize->processes.by_generation;
	u32 last = 0; /* neighbours are often of one file */

	for (u32 i = 0; i < sets->count; i++) {
		const struct mapset *set = sets->items[i].thing;

		need(symbolize, set->jit);
		for (u32 at = 0; at < set->count; at++) {
			if (set->mappings[at].module != last)
				need(symbolize, set->mappings[at].module);
			last = set->mappings[at].module;
		}
	}
}

/* A process that is being looked at. */
static void need_scanned(const struct symbolize *symbolize)
{
	need(symbolize, symbolize->scan.rows_module);
	for (u32 i = 0; symbolize->scan.tgid && i < symbolize->scan.file_count; i++)
		need(symbolize, symbolize->scan.files[i].module);
}

/* What is kept beside a module by its number. */
static void forget_ids(struct symbolize *symbolize)
{
	for (u32 i = symbolize->rows.count; i > 0; i--)
		if (!modules_get(&symbolize->modules, symbolize->rows.items[i - 1].owner))
			row_store_drop(&symbolize->rows, symbolize->rows.items[i - 1].owner);
	if (modules_get(&symbolize->modules, symbolize->data_module))
		return;
	symbols_close(symbolize->data);
	symbolize->data = NULL;
	symbolize->data_module = 0;
}

/* What was freed between others is given back to the system. */
static void trim(struct symbolize *symbolize, u64 now_ns)
{
	if (symbolize->trimmed == symbolize->modules.reclaimed ||
	    now_ns - symbolize->trim_ns < TRIM_NS)
		return;
	symbolize->trim_ns = now_ns;
	symbolize->trimmed = symbolize->modules.reclaimed;
	malloc_trim(0);
}

void symbolize_reclaim(struct symbolize *symbolize, u64 now_ns)
{
	if (now_ns - symbolize->reclaim_ns < RECLAIM_NS)
		return;
	symbolize->reclaim_ns = now_ns;
	processes_forget(&symbolize->processes, now_ns);
	for (u32 i = 0; i < symbolize->modules.all.count; i++)
		((struct module *)symbolize->modules.all.items[i].thing)->is_needed = false;
	need_mapped(symbolize);
	need_scanned(symbolize);
	if (modules_reclaim(&symbolize->modules, now_ns))
		forget_ids(symbolize);
	trim(symbolize, now_ns);
}
