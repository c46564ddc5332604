// SPDX-License-Identifier: Apache-2.0
/*
 * Addresses to places, places to names: what signals ask of the symbolizer.
 */
#include "internal.h"

static struct symbolize *of(struct resolver *resolver)
{
	return (struct symbolize *)resolver;
}

/* --- the kernel --- */

static u64 text_begin(const struct kallsyms *kallsyms)
{
	return kallsyms ? kallsyms_text(kallsyms) : 0;
}

static const char *find_kernel(const struct kallsyms *kallsyms, u64 address, const char **ret_part)
{
	u64 offset;

	*ret_part = NULL;
	return kallsyms ? kallsyms_find(kallsyms, address, ret_part, &offset) : NULL;
}

/* What is not found may be found in what the kernel says now. */
static void place_kernel(struct symbolize *symbolize, u64 address, struct place *ret_place)
{
	const struct kallsyms *kallsyms = kernel_names_get(&symbolize->kernel_names);
	const struct module *module = NULL;
	const char *part, *name = find_kernel(kallsyms, address, &part);

	if (!name) {
		kallsyms = kernel_names_refresh(&symbolize->kernel_names, address);
		name = find_kernel(kallsyms, address, &part);
	}
	if (name && part)
		module = modules_kernel_part(&symbolize->modules, part);
	if (module)
		*ret_place = (struct place){module->id, address};
	else
		*ret_place = (struct place){MODULE_KERNEL_ID, address - text_begin(kallsyms)};
}

/*
 * The call is before its return address, which may be another function's. Who was interrupted did
 * not call: its address is as it is, and may be the first one of its function.
 */
static void place_caller(struct resolver *resolver, u64 address, u64 callee,
			 struct place *ret_place)
{
	struct symbolize *symbolize = of(resolver);
	const struct kallsyms *kallsyms = kernel_names_get(&symbolize->kernel_names);
	bool is_exact = kallsyms && kallsyms_is_interrupt(kallsyms, callee - 1);
	const char *part;

	if (!is_exact)
		is_exact = !find_kernel(kallsyms, address - 1, &part) &&
			   find_kernel(kallsyms, address, &part);
	place_kernel(symbolize, address - !is_exact, ret_place);
}

static const char *kernel_name(struct symbolize *symbolize, const struct module *module,
			       u64 address)
{
	const struct kallsyms *kallsyms = symbolize->kernel_names.kallsyms;
	const char *part;

	if (module->kind == MODULE_KERNEL)
		address += text_begin(kallsyms);
	return find_kernel(kallsyms, address, &part);
}

/* --- places --- */

static void place(struct resolver *resolver, u32 generation, u64 address, struct place *ret_place)
{
	struct symbolize *symbolize = of(resolver);
	const struct mapped *mapped;

	if (!generation) {
		place_kernel(symbolize, address, ret_place);
		return;
	}
	/* What a record names was told before the record was sent, but perhaps not read yet. */
	if (symbolize->mirror && !processes_knows(&symbolize->processes, generation))
		symbolize_take_facts(symbolize);
	mapped = processes_find(&symbolize->processes, generation, address);
	if (mapped && mapped->module)
		*ret_place = (struct place){mapped->module, address - mapped->bias};
	else
		*ret_place = (struct place){0, address};
}

static void describe(struct resolver *resolver, u32 id, struct module_info *ret_info)
{
	const struct module *module = modules_get(&of(resolver)->modules, id);

	*ret_info =
		(struct module_info){.kind = MODULE_UNKNOWN, .path = "[unknown]", .build_id = ""};
	if (module)
		*ret_info = (struct module_info){
			.kind = module->kind,
			.path = module->path,
			.build_id = module->build_id,
			.identity = module->identity,
		};
}

/* --- names --- */

static void name_by_symbol(struct symbolize *symbolize, struct module *module, u64 address,
			   struct frame_name *ret_name)
{
	const struct symbols *symbols = modules_symbols(&symbolize->modules, module);
	const char *name = symbols ? symbols_find(symbols, address, &ret_name->source) : NULL;

	*ret_name =
		(struct frame_name){.name = name, .source = name ? ret_name->source : NAME_NONE};
}

/* By DWARF, as far as somebody asked for what only that knows: how many; 0: it does not say. */
static size_t name_by_lines(struct symbolize *symbolize, struct module *module, u64 address,
			    struct frame_name ret_names[FRAME_NAMES_MAX])
{
	bool is_wanted = symbolize->wants_lines || symbolize->wants_inlined;
	size_t count =
		is_wanted ? modules_find_lines(&symbolize->modules, module, address, ret_names) : 0;

	for (size_t i = 0; i < count; i++) {
		if (ret_names[i].name)
			ret_names[i].source = module->debug_fd >= 0 ? NAME_DEBUG_FILE : NAME_SYMTAB;
		if (!symbolize->wants_lines) {
			ret_names[i].file = NULL;
			ret_names[i].line = 0;
		}
	}
	return count;
}

/* The function proper has the name of its symbol, if it has one, as without DWARF. */
static size_t name_by_both(struct symbolize *symbolize, struct module *module, u64 address,
			   struct frame_name ret_names[FRAME_NAMES_MAX])
{
	size_t count = name_by_lines(symbolize, module, address, ret_names);
	struct frame_name proper, *last = &ret_names[count ? count - 1 : 0];

	name_by_symbol(symbolize, module, address, &proper);
	if (!count) {
		*last = proper;
		return 1;
	}
	if (proper.name) {
		last->name = proper.name;
		last->source = proper.source;
	}
	if (symbolize->wants_inlined)
		return count;
	/* where the code is, is still said by what was inlined */
	last->file = ret_names[0].file;
	last->line = ret_names[0].line;
	ret_names[0] = *last;
	return 1;
}

static size_t name_file(struct symbolize *symbolize, struct module *module, u64 address,
			struct frame_name ret_names[FRAME_NAMES_MAX])
{
	size_t count = name_by_both(symbolize, module, address, ret_names);

	ret_names[0].is_line_refused =
		symbolize->wants_lines && !ret_names[0].file && modules_lack_lines(module);
	return count;
}

static void name_by_text(const char *name, enum name_source source, struct frame_name *ret_name)
{
	*ret_name = (struct frame_name){.name = name, .source = name ? source : NAME_NONE};
}

/* Unlike the kernel's own. */
static bool is_of_process(const struct module *module)
{
	return module->kind == MODULE_FILE || module->kind == MODULE_VDSO ||
	       module->kind == MODULE_JIT;
}

/* Names of code that a process makes are read when a window ends: not before. */
static void expect(struct resolver *resolver, const struct place *at)
{
	struct symbolize *symbolize = of(resolver);
	const struct module *module = modules_get(&symbolize->modules, at->module);

	if (symbolize->mirror && module && module->kind != MODULE_JIT && is_of_process(module))
		mirror_expect(symbolize, at);
}

static size_t name(struct resolver *resolver, const struct place *at,
		   struct frame_name ret_names[FRAME_NAMES_MAX])
{
	struct symbolize *symbolize = of(resolver);
	struct module *module = modules_get(&symbolize->modules, at->module);
	size_t count = 1;

	/* A module that is not known any more may have had one. */
	ret_names[0] = (struct frame_name){.source = at->module && !module ? NAME_LOST : NAME_NONE};
	if (symbolize->mirror && module && is_of_process(module))
		return mirror_name(symbolize, at, ret_names);
	switch (module ? module->kind : MODULE_UNKNOWN) {
	case MODULE_KERNEL:
	case MODULE_KERNEL_OTHER:
		name_by_text(kernel_name(symbolize, module, at->address), NAME_KALLSYMS, ret_names);
		return 1; /* never mangled */
	case MODULE_JIT:
		name_by_text(module->perf_map ? perf_map_find(module->perf_map, at->address) : NULL,
			     NAME_PERF_MAP, ret_names);
		return 1;
	case MODULE_FILE:
	case MODULE_VDSO:
		count = name_file(symbolize, module, at->address, ret_names);
		break;
	case MODULE_UNKNOWN:
		break;
	}
	for (size_t i = 0; i < count; i++) {
		if (!ret_names[i].name)
			continue;
		demangle(ret_names[i].name, symbolize->texts[i], sizeof(symbolize->texts[i]));
		ret_names[i].name = symbolize->texts[i];
	}
	return count;
}

void resolve_init(struct resolver *resolver)
{
	*resolver = (struct resolver){.place = place,
				      .describe = describe,
				      .name = name,
				      .expect = expect,
				      .place_data = resolve_place_data,
				      .name_data = resolve_name_data,
				      .place_caller = place_caller};
}

void symbolize_read_kallsyms(struct symbolize *symbolize)
{
	kernel_names_get(&symbolize->kernel_names);
}

struct resolver *symbolize_resolver(struct symbolize *symbolize)
{
	return &symbolize->resolver;
}
