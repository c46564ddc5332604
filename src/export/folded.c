// SPDX-License-Identifier: Apache-2.0
/*
 * "process;outermost;...;innermost 42": what perf's and inferno's scripts make and flame graph
 * tools read. Marks as there: _[k] of the kernel, _[i] inlined, _[j] compiled at run time.
 */
#include <errno.h>
#include <inttypes.h>
#include <string.h>

#include "../base/log.h"
#include "../base/utf8.h"
#include "../model/calltree.h"
#include "export.h"

#define DEPTH_MAX (PROFILE_STEPS_MAX + 2)

/* A semicolon parts functions, and a line ends: neither may be in a name. */
static void write_name(const char *name, size_t length, FILE *out)
{
	char plain[PROFILE_NAME_BYTES], escaped[4 * PROFILE_NAME_BYTES];

	utf8_copy(plain, sizeof(plain), name, length);
	utf8_escape(escaped, sizeof(escaped), plain);
	for (char *at = strchr(escaped, ';'); at; at = strchr(at, ';'))
		*at = ':';
	fputs(escaped, out);
}

static void write_node(const struct profile *profile, const struct calltree_node *node, FILE *out)
{
	static const char *const marks[] = {[FUNCTION_KERNEL] = "_[k]", [FUNCTION_JIT] = "_[j]"};
	const struct profile_function *function = profile_function(profile, node->function);
	const char *name = profile_text(profile, function->name);
	const char *end = name + strlen(name);

	if (function->look == FUNCTION_PROCESS && strrchr(name, '('))
		end = strrchr(name, '(') - 1; /* its number is not part of what people look for */
	write_name(name, (size_t)(end - name), out);
	if (node->is_inlined)
		fputs("_[i]", out);
	else if (function->look == FUNCTION_KERNEL || function->look == FUNCTION_JIT)
		fputs(marks[function->look], out);
}

static void write_line(const struct profile *profile, const struct calltree *tree,
		       const struct calltree_node *node, u64 value, FILE *out)
{
	const struct calltree_node *path[DEPTH_MAX];
	int depth = 0;

	for (; node->parent != PROFILE_NONE && depth < DEPTH_MAX;
	     node = calltree_node(tree, node->parent))
		path[depth++] = node;
	while (depth--) {
		write_node(profile, path[depth], out);
		fputc(depth ? ';' : ' ', out);
	}
	fprintf(out, "%" PRIu64 "\n", (uint64_t)value);
}

int export_folded(const struct export_source *source, const struct export_options *options,
		  FILE *out)
{
	const struct profile *profile = source->profile;
	bool by_count = options->weight != WEIGHT_NS;
	struct calltree tree;
	int err = calltree_init(&tree);

	for (size_t i = 0; !err && i < profile->samples.count; i++)
		calltree_add(&tree, profile, hash_item(&profile->samples, i), true);
	err = tree.err;
	for (u32 i = 1; !err && i < tree.nodes.count; i++) {
		const struct calltree_node *node = calltree_node(&tree, i);
		u64 value = export_value(&node->self, by_count);

		if (value)
			write_line(profile, &tree, node, value, out);
	}
	if (!err && tree.cut)
		log_info("folded: too many different stacks: of %" PRIu64
			 " samples the innermost functions are left out; take fewer with --pid",
			 (uint64_t)tree.cut);
	calltree_free(&tree);
	return err;
}
