// SPDX-License-Identifier: Apache-2.0
/* Where a process publishes trace contexts: by those of its files that have the variable. */
#include <errno.h>

#include "internal.h"

void symbolize_seek_context(struct symbolize *symbolize, struct module *module)
{
	if (module->is_context_sought)
		return;
	module->is_context_sought = true;
	if (thread_context_find(&module->elf, &module->context) == -ENOTSUP)
		symbolize->counts.contexts_refused++;
}

/*
 * Where its threads' trace contexts are. An executable's variable is the one that all libraries
 * use, too.
 */
void symbolize_place_context(const struct symbolize *symbolize, u32 count,
			     struct thread_context *ret_context)
{
	*ret_context = (struct thread_context){0};
	for (u32 i = 0; i < count; i++) {
		const struct mapped *mapped = &symbolize->mapped[i];
		const struct module *module = modules_get(&symbolize->modules, mapped->module);

		if (!module || !module->elf.elf || !module->context.kind)
			continue;
		if (ret_context->kind && module->context.kind != THREAD_CONTEXT_STATIC)
			continue;
		*ret_context = module->context;
		ret_context->slot += mapped->bias;
	}
}
