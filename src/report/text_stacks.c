// SPDX-License-Identifier: Apache-2.0
/* Stacks as a person reads them: a tree with its hottest path open, or a table of functions. */
#include <errno.h>
#include <inttypes.h>

#include "../model/calltree.h"
#include "text_stacks.h"

#define GROUPS_SHOWN   6
#define GROUP_SHARE    100 /* one in so many of all is worth a tree */
#define SIBLINGS_SHOWN 4
#define SIBLING_SHARE  100 /* one in so many of its group is worth a line */
#define PATH_SHARE     20  /* a path is followed as long as it has one in so many */
#define CHAIN_BEGIN    3   /* of a chain of calls without a branch, this many at its begin */
#define USER_CALLS     6   /* and at its end, of the program's own */
#define KERNEL_CALLS   3   /* and of the kernel's */
#define INDENT_MAX     24
#define SUM_COLUMNS    30 /* of what print_sum() prints, at most */
#define KEY_COLUMNS    24 /* of "= stack " and the key */
#define PROCESSES_OPEN 3
#define OPEN_SHARE     5 /* one in so many */
#define OPEN_MAX       OPEN_SHARE

struct printer {
	const struct digest *digest;
	const struct page *page;
	const struct calltree *tree;
	bool with_effective; /* where they differ from the samples */
	int *opened;	     /* paths beside the hottest */
};

static const struct profile_sum *whole_of(const struct printer *printer)
{
	return &calltree_node(printer->tree, 0)->sum;
}

/* What a line of the tree opens with; what comes after has the rest of the page. */
static int print_sum(const struct printer *printer, const struct profile_sum *sum)
{
	FILE *out = printer->page->out;
	int at = fprintf(out, "%9s %8s", COLUMN_SHARE(sum->weight_ns, whole_of(printer)->weight_ns),
			 NUMBER(sum->count));

	if (printer->with_effective)
		at += fprintf(out, " %9s", EFFECTIVE(sum));
	return at + fprintf(out, "  ");
}

/* Half of what the numbers leave, so that names have the other half. */
static int indent_max(const struct printer *printer)
{
	int half = (printer->page->columns - SUM_COLUMNS) / 2;

	return half < INDENT_MAX ? half : INDENT_MAX;
}

/*
 * What is deeper than there is room for says how much: "[+3] ". It would pass for its caller's
 * sibling otherwise. Returns the columns that it took.
 */
static int print_indent(const struct printer *printer, int depth)
{
	int max = indent_max(printer);

	if (depth <= max)
		return fprintf(printer->page->out, "%*s", depth, "");
	return fprintf(printer->page->out, "%*s[+%d] ", max, "", depth - max);
}

static void print_node(const struct printer *printer, u32 index, int depth, bool is_closed)
{
	const struct calltree_node *node = calltree_node(printer->tree, index);
	int at = print_sum(printer, &node->sum) + print_indent(printer, depth);
	char name[2 * PROFILE_NAME_BYTES];

	is_closed = is_closed && node->first_child != PROFILE_NONE;
	at += 2 * is_closed;
	format_function(&printer->digest->profile, node->function, node->is_inlined,
			page_room(printer->page, printer->page->columns - at), name, sizeof(name));
	fprintf(printer->page->out, "%s%s\n", is_closed ? "+ " : "", name);
}

/* A line that stands for something else than a function. */
static void print_rest(const struct printer *printer, const struct profile_sum *sum, int depth,
		       const char *what)
{
	int at = print_sum(printer, sum) + print_indent(printer, depth);
	char cut[128];

	format_cut(what, page_room(printer->page, printer->page->columns - at), cut, sizeof(cut));
	fprintf(printer->page->out, "%s%s%s\n", page_ink(printer->page, INK_FAINT), cut,
		page_ink(printer->page, INK_PLAIN));
}

static void print_path(const struct printer *printer, u32 index, int first_depth);

/*
 * Those beside the one that is open: those that are heavy too are opened (few can be), a line each
 * for others, one for the rest.
 */
static void print_siblings(const struct printer *printer, u32 index, int indent)
{
	u64 least = whole_of(printer)->weight_ns / SIBLING_SHARE;
	struct profile_sum rest = {0};
	int shown = 0;
	u64 more = 0;

	for (; index != PROFILE_NONE; index = calltree_node(printer->tree, index)->next) {
		const struct calltree_node *node = calltree_node(printer->tree, index);

		if (node->sum.weight_ns > whole_of(printer)->weight_ns / OPEN_SHARE &&
		    *printer->opened < OPEN_MAX) { /* a session may lie about sums */
			++*printer->opened;
			print_path(printer, index, indent);
			continue;
		}
		if (shown < SIBLINGS_SHOWN && node->sum.weight_ns >= least) {
			print_node(printer, index, indent, true);
			shown++;
			continue;
		}
		more++;
		rest.count += node->sum.count;
		rest.weight_ns += node->sum.weight_ns;
		rest.squares += node->sum.squares;
	}
	if (more) {
		char what[64] = "";

		format_add(what, sizeof(what), "+ %s more", NUMBER(more));
		print_rest(printer, &rest, indent, what);
	}
}

static bool is_kernel(const struct printer *printer, u32 index)
{
	return profile_function(&printer->digest->profile,
				calltree_node(printer->tree, index)->function)
		       ->look == FUNCTION_KERNEL;
}

/*
 * How many calls follow each other from here without a branch, or time of their own: all of them
 * the kernel's, or none.
 */
static int chain_length(const struct printer *printer, u32 index, bool *ret_is_kernel)
{
	int length = 0;

	*ret_is_kernel = false;
	for (;; length++) {
		const struct calltree_node *node = calltree_node(printer->tree, index);

		if (node->child_count != 1 || node->self.count)
			return length;
		index = node->first_child;
		if (!length)
			*ret_is_kernel = is_kernel(printer, index);
		else if (is_kernel(printer, index) != *ret_is_kernel)
			return length;
	}
}

static u32 skip(const struct calltree *tree, u32 index, int count)
{
	while (count--)
		index = calltree_node(tree, index)->first_child;
	return index;
}

/* What is still to be told at a depth of the path: after what is inside. */
struct beside {
	u32 siblings;			/* the first of them */
	const struct profile_sum *self; /* of the caller; NULL: it has no time of its own */
};

/* The end of a path is a stack, which has a key. */
static void print_end(const struct printer *printer, const struct calltree_node *node, int depth)
{
	int at = (printer->with_effective ? SUM_COLUMNS : 20) + /* as print_sum() has it */
		 (depth < indent_max(printer) ? depth : indent_max(printer));
	int last = printer->page->columns - KEY_COLUMNS;

	if (node->stack)
		fprintf(printer->page->out, "%*s%s= stack %016" PRIx64 "%s\n",
			at < last ? at : last, "", page_ink(printer->page, INK_FAINT),
			(uint64_t)node->stack, page_ink(printer->page, INK_PLAIN));
}

/* How many of these calls are of the caller itself. */
static int recursion_length(const struct calltree *tree, u32 index, int length)
{
	int same = 0;

	for (u32 inner = index; same < length; same++) {
		inner = calltree_node(tree, inner)->first_child;
		if (calltree_node(tree, inner)->function != calltree_node(tree, index)->function)
			break;
	}
	return same;
}

/* Of a long chain of calls without a branch, the middle in one line: where it ends. */
static u32 fold_chain(const struct printer *printer, u32 index, int depth)
{
	bool of_kernel;
	int length = chain_length(printer, index, &of_kernel);
	int folded = recursion_length(printer->tree, index, length);
	char what[64] = "";

	if (folded >= 2) {
		format_add(what, sizeof(what), "… %d more calls of itself", folded);
	} else {
		folded = length - (of_kernel ? KERNEL_CALLS : USER_CALLS);
		if (folded < 2 || depth < CHAIN_BEGIN)
			return index;
		format_add(what, sizeof(what), "… %d more calls%s", folded,
			   of_kernel ? " [k]" : "");
	}
	index = skip(printer->tree, index, folded);
	print_rest(printer, &calltree_node(printer->tree, index)->sum, depth + 1, what);
	return index;
}

static void print_beside(const struct printer *printer, const struct beside *beside, int depth)
{
	if (beside->self)
		print_rest(printer, beside->self, depth, "itself");
	print_siblings(printer, beside->siblings, depth);
}

/* The hottest path from a node on, and at each branch what is beside it. */
static void print_path(const struct printer *printer, u32 index, int first_depth)
{
	const struct calltree *tree = printer->tree;
	struct beside besides[PROFILE_STEPS_MAX + 2];
	int depth = first_depth;

	while (true) {
		const struct calltree_node *node, *inner;
		u32 folded;

		print_node(printer, index, depth, false);
		folded = fold_chain(printer, index, depth);
		if (folded != index)
			besides[++depth] = (struct beside){PROFILE_NONE, NULL};
		node = calltree_node(tree, folded);
		index = node->first_child;
		inner = index == PROFILE_NONE ? NULL : calltree_node(tree, index);
		if (!inner || depth >= PROFILE_STEPS_MAX) {
			print_end(printer, node, depth);
			break;
		}
		besides[++depth] =
			(struct beside){inner->next, node->self.count ? &node->self : NULL};
		if (node->self.weight_ns >= inner->sum.weight_ns) {
			besides[depth].siblings = index;
			print_rest(printer, &node->self, depth, "itself");
			print_end(printer, node, depth);
			besides[depth].self = NULL;
			break;
		}
		if (inner->sum.weight_ns < whole_of(printer)->weight_ns / PATH_SHARE) {
			besides[depth].siblings = index; /* not hot any more */
			break;
		}
	}
	for (; depth > first_depth; depth--)
		print_beside(printer, &besides[depth], depth);
}

/* Each process that has much is opened; the others are folded. */
static void print_processes(const struct printer *printer)
{
	u64 whole = whole_of(printer)->weight_ns;
	u32 index = calltree_node(printer->tree, 0)->first_child;

	for (int opened = 0; index != PROFILE_NONE; opened++) {
		const struct calltree_node *node = calltree_node(printer->tree, index);

		if (opened &&
		    (opened >= PROCESSES_OPEN || node->sum.weight_ns < whole / OPEN_SHARE))
			break;
		print_path(printer, index, 0);
		index = node->next;
	}
	print_siblings(printer, index, 0);
}

static int print_tree(const struct digest *digest, const struct page *page,
		      const struct stack_group *group)
{
	const struct profile *profile = &digest->profile;
	struct calltree tree;
	int opened = 0;
	struct printer printer = {digest, page, &tree, !profile_is_even(&group->sum), &opened};
	int err = calltree_init(&tree);

	for (size_t i = 0; !err && i < profile->samples.count; i++) {
		const struct profile_sample *sample = hash_item(&profile->samples, i);

		if (sample->kind == group->kind && sample->state == group->state)
			calltree_add(&tree, profile, sample, true);
	}
	if (!err)
		err = calltree_sort(&tree, profile, false);
	if (!err) {
		fprintf(page->out, "%s%9s %8s%s  calls, the outermost first%s\n",
			page_ink(page, INK_FAINT), "share", "samples",
			printer.with_effective ? " effective" : "", page_ink(page, INK_PLAIN));
		print_processes(&printer);
		if (tree.cut)
			fprintf(page->out,
				"  inner calls of %s samples are not shown: the tree is full\n",
				NUMBER(tree.cut));
	}
	calltree_free(&tree);
	return err;
}

static void print_group_heading(const struct digest *digest, const struct page *page,
				const struct stack_group *group)
{
	const char *state = digest->state_names[group->state];
	char about[256] = "";

	format_add(about, sizeof(about), " %s", ESCAPED(state));
	if (!profile_state_is_of_kind(state, group->kind))
		format_add(about, sizeof(about), " by the ledger, but sampled as %s",
			   profile_kind_name(group->kind));
	format_add(about, sizeof(about), ": %s, by %s", DURATION(group->sum.weight_ns),
		   SAMPLES(&group->sum));
	page_heading(page, "STACKS", about);
}

int text_stacks(const struct digest *digest, const struct page *page)
{
	struct stack_group groups[STACK_GROUPS_MAX];
	size_t count = stacks_groups(&digest->profile, groups);
	u64 least = digest->profile.all.weight_ns / GROUP_SHARE;
	int err = 0;

	if (!count)
		fputs("\nThe session has no stacks of what was asked for.\n", page->out);
	for (size_t i = 0; !err && i < count; i++) {
		print_group_heading(digest, page, &groups[i]);
		if (i >= GROUPS_SHOWN || groups[i].sum.weight_ns < least)
			continue;
		err = digest->options->by == STACKS_BY_TREE ? print_tree(digest, page, &groups[i])
							    : text_parts(digest, page, &groups[i]);
	}
	return err;
}
