// SPDX-License-Identifier: Apache-2.0
/* Stacks as a table of functions, or of modules. */
#include <string.h>

#include "../base/utf8.h"
#include "text_stacks.h"

#define PARTS_SHOWN 20

/* The module too, if there is room for both. */
static void part_name(const struct profile *profile, const struct stack_part *part, bool by_module,
		      int columns, char *buf, size_t size)
{
	const char *module;

	if (by_module) {
		module = profile_module_name(profile, part->index);
		format_cut(*module ? module : "(no module)", columns, buf, size);
		return;
	}
	module = function_module(profile, part->index);
	format_function(profile, part->index, false, columns, buf, size);
	if (*module && utf8_columns(buf) + 2 + utf8_columns(ESCAPED(module)) <= (size_t)columns)
		format_add(buf, size, "  %s", ESCAPED(module));
}

static void print_heads(const struct page *page, const struct report_options *options,
			bool with_effective)
{
	int at = fprintf(page->out, "%s%7s%s %7s%s %8s%s %7s%s  ", page_ink(page, INK_FAINT),
			 "self", options->sort == STACKS_SORT_SELF ? "*" : " ", "total",
			 options->sort == STACKS_SORT_TOTAL ? "*" : " ", "weighted",
			 options->sort == STACKS_SORT_WEIGHTED ? "*" : " ", "samples",
			 with_effective ? " effective" : "");
	const char *what = "function, module";

	at -= (int)strlen(page_ink(page, INK_FAINT));
	if (options->by == STACKS_BY_MODULE)
		what = "module";
	else if (at + (int)strlen(what) > page->columns)
		what = "function"; /* nor is there room for modules */
	fprintf(page->out, "%s%s\n", what, page_ink(page, INK_PLAIN));
}

int text_parts(const struct digest *digest, const struct page *page,
	       const struct stack_group *group)
{
	const struct report_options *options = digest->options;
	bool by_self = options->sort == STACKS_SORT_SELF;
	bool with_effective = !profile_is_even(&group->sum);
	struct profile_sum left = {0};
	struct hash parts;
	double weighted;
	int err = stacks_parts(&digest->profile, group, options, &parts, &weighted);
	size_t shown = 0;

	print_heads(page, options, with_effective);
	for (; !err && shown < parts.count && shown < page_rows(digest, PARTS_SHOWN); shown++) {
		const struct stack_part *part = hash_item(&parts, shown);
		const struct profile_sum *sum = by_self ? &part->self : &part->total;
		char name[2 * PROFILE_NAME_BYTES];
		int at;

		if (!sum->count)
			break; /* nor have those that follow */
		at = fprintf(page->out, "%7s  %7s  %8s  %7s",
			     COLUMN_SHARE(part->self.weight_ns, group->sum.weight_ns),
			     COLUMN_SHARE(part->total.weight_ns, group->sum.weight_ns),
			     COLUMN_SHARE((u64)(part->weighted < 1e18 ? part->weighted : 1e18),
					  (u64)(weighted < 1e18 ? weighted : 1e18)),
			     NUMBER(sum->count));
		if (with_effective)
			at += fprintf(page->out, " %9s", EFFECTIVE(sum));
		at += fprintf(page->out, "  ");
		part_name(&digest->profile, part, options->by == STACKS_BY_MODULE,
			  page_room(page, page->columns - at), name, sizeof(name));
		fprintf(page->out, "%s\n", name);
	}
	for (size_t i = shown; !err && i < parts.count; i++)
		left.weight_ns += ((struct stack_part *)hash_item(&parts, i))->self.weight_ns;
	if (!err && parts.count > shown)
		fprintf(page->out, "%7s  and %s more\n",
			COLUMN_SHARE(left.weight_ns, group->sum.weight_ns),
			NUMBER(parts.count - shown));
	hash_free(&parts);
	return err;
}
