// SPDX-License-Identifier: Apache-2.0
/* One more place to trace, as the command line asks for it; who found it adds where it is. */
#include <stdio.h>
#include <string.h>

#include "../base/log.h"
#include "../base/utf8.h"
#include "trace.h"

#if defined(__x86_64__)
/* rdi, rsi, rdx, rcx, r8, r9: in words of struct pt_regs. */
static const u8 argument_registers[FUNC_ARGS_MAX] = {14, 13, 12, 11, 9, 8};
#else
static const u8 argument_registers[FUNC_ARGS_MAX] = {0, 1, 2, 3, 4, 5};
#endif

static void set_label(const struct trace_word *word, const char *name, char ret_label[LABEL_BYTES])
{
	const char *slash = strrchr(word->file, '/');
	const char *file = slash ? slash + 1 : word->file;
	char whole[LABEL_BYTES + 256];

	snprintf(whole, sizeof(whole), "%s%s%s", file, *file ? ":" : "", name);
	utf8_copy(ret_label, LABEL_BYTES, whole, strlen(whole));
}

struct trace_place *trace_place_add(struct trace *trace, const struct trace_word *word,
				    const char *label)
{
	struct trace_place *place;

	if (trace->place_count == FUNC_PLACES_MAX) {
		log_error("more than %d probe sites: choose fewer, or a narrower pattern",
			  FUNC_PLACES_MAX);
		return NULL;
	}
	place = &trace->places[trace->place_count];
	*place = (struct trace_place){
		.kind = word->kind,
		.has_entry = !word->at_return,
		.has_return = word->at_return,
		.spec = {.label = trace->place_count + 1,
			 .role = word->role ? word->role : FUNC_COUNT,
			 .by = trace->by,
			 .by_arg = trace->by_arg,
			 .key = trace->key,
			 .is_kernel = word->kind == TRACE_KERNEL,
			 .has_class = !trace->no_classes},
	};
	set_label(word, label, place->label);
	for (size_t i = 0; i < FUNC_ARGS_MAX; i++)
		place->spec.args[i] = (struct func_arg){
			.kind = FUNC_ARG_REGISTER, .place = argument_registers[i], .size = 8};
	trace->place_count++;
	return place;
}
