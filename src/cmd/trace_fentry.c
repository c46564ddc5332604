// SPDX-License-Identifier: Apache-2.0
/*
 * One function of the kernel by fentry and fexit, which cost less than kprobes, as there is no
 * trap. Their programs are loaded for the function, each for one: so there is one, or kprobes are
 * put at all of them.
 */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "../base/cleanup.h"
#include "../base/log.h"
#include "../base/pattern.h"
#include "trace.h"

/* They do not return, and what fexit puts around a call stays for as long as that lasts. */
static const char *const never_returning[] = {
	"do_exit",
	"do_group_exit",
	"*_sys_exit",
	"*_sys_exit_group",
	"*make_task_dead",
	"kthread_exit",
	"*kthread_complete_and_exit",
	"*module_put_and_kthread_exit",
	"rewind_stack_and_make_dead",
	"*panic",
	"cpu_startup_entry",
	"do_task_dead",
};

static bool returns(const char *function)
{
	for (size_t i = 0; i < ARRAY_SIZE(never_returning); i++)
		if (pattern_matches(never_returning[i], function))
			return false;
	return true;
}

/* Of several functions of one name, types and address may be different ones'. */
static bool is_unique(const char *function)
{
	_cleanup_fclose_ FILE *file = fopen("/proc/kallsyms", "re");
	char line[512], name[160];
	u32 found = 0;

	while (file && fgets(line, sizeof(line), file))
		found += trace_read_symbol(line, name) && !strcmp(name, function);
	return found == 1;
}

/* NULL: it can be tried. */
static const char *reason_against(struct trace_place *place)
{
	s8 sizes[FUNC_ARGS_MAX];
	int count;

	if (!returns(place->function))
		return "it does not return";
	if (!is_unique(place->function))
		return "several functions have its name";
	count = capture_function_args(place->function, sizes, FUNC_ARGS_MAX);
	if (count == -ENOENT)
		return "the kernel's types do not have it";
	if (count < 0)
		return "not all of its arguments are in registers";
	for (int i = 0; i < count; i++)
		place->spec.args[i].size = sizes[i];
	place->spec.slots = (u8)count;
	return NULL;
}

void trace_choose_fentry(struct trace *trace)
{
	struct trace_place *first = &trace->places[FUNC_FENTRY_PLACE], *place = NULL, other;
	u32 count = 0;

	for (u32 i = 0; i < trace->place_count; i++) {
		if (trace->places[i].kind != TRACE_KERNEL)
			continue;
		place = &trace->places[i];
		count++;
	}
	if (!count)
		return;
	trace->no_fentry = count > 1 ? "it is for one function at a time" : reason_against(place);
	if (trace->no_fentry)
		return;
	other = *first;
	*first = *place;
	*place = other;
	first->is_fentry = true;
}

void trace_tell_hook(struct trace *trace, const struct capture *capture)
{
	struct trace_place *place = &trace->places[FUNC_FENTRY_PLACE];
	bool has_entry = capture_is_attached(capture, "func_fentry");
	bool has_exit = capture_is_attached(capture, "func_fexit"), is_refused;

	if (place->is_fentry && has_entry == place->has_entry && has_exit == place->has_return) {
		log_info("%s: by %s%s%s", place->label, has_entry ? "fentry" : "",
			 has_entry && has_exit ? " and " : "", has_exit ? "fexit" : "");
		return;
	}
	is_refused = place->is_fentry;
	if (is_refused)
		trace->no_fentry = "this kernel does not take it; -v tells why";
	place->is_fentry = false;
	if (trace->no_fentry)
		log_info("by kprobes, not by fentry: %s", trace->no_fentry);
	if (is_refused)
		trace_tell_prices(trace);
}
