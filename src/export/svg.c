// SPDX-License-Identifier: Apache-2.0
/*
 * A flame graph that stands alone: one file, no network. A panel for each kind of samples, the
 * outermost call on top, so that it is in view however deep the stacks are, and the heaviest on the
 * left. It reads without its script, too, at its own width: each box has a title. Names are
 * hostile: all of them are escaped, and the script takes them as text only.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "../base/cleanup.h"
#include "../base/utf8.h"
#include "../model/calltree.h"
#include "svg_paint.h"

#define WIDTH	   1200
#define MARGIN	   10
#define INNER	   (WIDTH - 2 * MARGIN)
#define BOX	   17	/* pixels high */
#define COLUMN	   6.63 /* pixels of a character */
#define HEAD	   96
#define PANEL_HEAD 26
#define BOXES_MAX  20000
#define NARROWEST  0.1 /* pixels; what is less is left out, and counted */

static const char css[] = {
#include "flame_css.inc"
	0};
static const char script[] = {
#include "flame_js.inc"
	0};

/* The samples of one kind, and where their boxes are. */
struct panel {
	u32 kind;
	struct calltree tree;
	double *xs;   /* of nodes: where they begin, as a share; below 0: not drawn */
	u32 *depths;  /* of nodes */
	u32 *numbers; /* of nodes: their place in the file */
	u32 deepest;
	u64 left_out;
};

struct drawing {
	const struct profile *profile;
	const struct export_options *options;
	FILE *out;
	bool by_count;
	double narrowest; /* as a share */
	u32 box_count;
	u32 looks; /* a bit each: those that boxes have */
	struct panel panels[PROFILE_KINDS];
	size_t panel_count;
};

static void panel_free(struct panel *panel)
{
	calltree_free(&panel->tree);
	free(panel->xs);
	free(panel->depths);
	free(panel->numbers);
}

static double share_of(const struct drawing *drawing, const struct panel *panel, u32 node)
{
	u64 whole = export_value(&calltree_node(&panel->tree, 0)->sum, drawing->by_count);

	return whole ? (double)export_value(&calltree_node(&panel->tree, node)->sum,
					    drawing->by_count) /
			       (double)whole
		     : 0;
}

/* From the inside of a node on to the next, without what is not drawn. */
static u32 next_node(const struct panel *panel, u32 node)
{
	const struct calltree_node *at = calltree_node(&panel->tree, node);

	if (at->first_child != PROFILE_NONE && panel->xs[at->first_child] >= 0)
		return at->first_child;
	while (node && (at->next == PROFILE_NONE || panel->xs[at->next] < 0)) {
		node = at->parent; /* siblings are in order: those that follow are narrower still */
		at = calltree_node(&panel->tree, node);
	}
	return node ? at->next : PROFILE_NONE;
}

/* Places the children of every node that is drawn: how many boxes there are. */
static u32 place(const struct drawing *drawing, struct panel *panel)
{
	u32 count = 0;

	panel->deepest = 0;
	panel->left_out = panel->tree.nodes.count;
	for (u32 node = 0; node != PROFILE_NONE; node = next_node(panel, node), count++) {
		double x = panel->xs[node];
		u32 child = calltree_node(&panel->tree, node)->first_child;

		panel->numbers[node] = count;
		panel->left_out--;
		if (panel->depths[node] > panel->deepest)
			panel->deepest = panel->depths[node];
		for (; child != PROFILE_NONE; child = calltree_node(&panel->tree, child)->next) {
			double share = share_of(drawing, panel, child);

			panel->depths[child] = panel->depths[node] + 1;
			panel->xs[child] = share > 0 && share >= drawing->narrowest ? x : -1;
			x += share;
		}
	}
	return count;
}

static int build_panel(struct drawing *drawing, u32 kind)
{
	const struct profile *profile = drawing->profile;
	struct panel *panel = &drawing->panels[drawing->panel_count++];
	int err = calltree_init(&panel->tree);

	panel->kind = kind;
	for (size_t i = 0; !err && i < profile->samples.count; i++) {
		const struct profile_sample *sample = hash_item(&profile->samples, i);

		if (sample->kind == kind)
			calltree_add(&panel->tree, profile, sample, true);
	}
	if (!err)
		err = calltree_sort(&panel->tree, profile, drawing->by_count);
	panel->xs = calloc(panel->tree.nodes.count + 1, sizeof(*panel->xs));
	panel->depths = calloc(panel->tree.nodes.count + 1, sizeof(*panel->depths));
	panel->numbers = calloc(panel->tree.nodes.count + 1, sizeof(*panel->numbers));
	if (!panel->xs || !panel->depths || !panel->numbers)
		return -ENOMEM;
	return err;
}

static int build(struct drawing *drawing)
{
	bool has_kind[PROFILE_KINDS] = {false};
	u32 boxes;
	int err = 0;

	for (size_t i = 0; i < drawing->profile->samples.count; i++)
		has_kind[((struct profile_sample *)hash_item(&drawing->profile->samples, i))
				 ->kind] = true;
	for (u32 kind = 0; !err && kind < PROFILE_KINDS; kind++)
		if (has_kind[kind])
			err = build_panel(drawing, kind);
	drawing->narrowest = NARROWEST / INNER;
	do {
		boxes = 0;
		for (size_t i = 0; !err && i < drawing->panel_count; i++)
			boxes += place(drawing, &drawing->panels[i]);
		drawing->narrowest *= boxes > BOXES_MAX ? 2 : 1;
	} while (boxes > BOXES_MAX);
	return err;
}

static enum look look_of(const struct drawing *drawing, const struct calltree_node *node)
{
	if (node->parent == PROFILE_NONE)
		return LOOK_ALL;
	if (node->is_inlined)
		return LOOK_INLINED;
	/* The first looks are those of functions. */
	return (enum look)profile_function(drawing->profile, node->function)->look;
}

static const char *kind_title(u32 kind)
{
	return kind == SAMPLE_CPU ? "on CPU" : kind == SAMPLE_BLOCKED ? "blocked" : "other";
}

/* "name", and in lines of their own what it is, and how much. */
static void write_title(const struct drawing *drawing, const struct panel *panel, u32 index,
			const char *name)
{
	const struct profile *profile = drawing->profile;
	const struct calltree_node *node = calltree_node(&panel->tree, index);
	char buf[SVG_DURATION], samples[SVG_SAMPLES];

	fputs("<title>", drawing->out);
	svg_escaped(name, drawing->out);
	if (index && node->frame != PROFILE_NONE) {
		const struct profile_frame *frame = hash_item(&profile->frames, node->frame);

		fputs("\n[", drawing->out);
		svg_escaped(profile_module_name(profile, frame->module), drawing->out);
		fprintf(drawing->out, "%s%s", node->is_inlined ? ", inlined" : "",
			frame->source ? ", named by " : "");
		svg_escaped(profile_text(profile, frame->source), drawing->out);
		fputc(']', drawing->out);
	}
	fprintf(drawing->out, "\n%.2f %% of %s: %s, %s; itself %s</title>",
		100 * share_of(drawing, panel, index), kind_title(panel->kind),
		svg_duration(node->sum.weight_ns, buf), svg_samples(&node->sum, samples),
		svg_duration(node->self.weight_ns, (char[SVG_DURATION]){0}));
}

/* As much of a name as fits into a box. */
static void write_label(const char *name, double pixels, FILE *out)
{
	int columns = (int)((pixels - 6) / COLUMN), at = 0;
	char escaped[4 * PROFILE_NAME_BYTES];

	if (columns < 3)
		return;
	utf8_escape(escaped, sizeof(escaped), name);
	if (utf8_columns(escaped) <= (size_t)columns) {
		svg_escaped(escaped, out);
		return;
	}
	for (; escaped[at]; at++)
		if (((u8)escaped[at] & 0xc0) != 0x80 && !--columns)
			break;
	escaped[at] = '\0';
	svg_escaped(escaped, out);
	fputs("…", out);
}

static void write_box(struct drawing *drawing, const struct panel *panel, u32 index, int top)
{
	const struct calltree_node *node = calltree_node(&panel->tree, index);
	const char *name = index ? profile_function_name(drawing->profile, node->function)
				 : kind_title(panel->kind);
	double share = share_of(drawing, panel, index);
	double x = MARGIN + panel->xs[index] * INNER, width = share * INNER;
	int y = top + (int)panel->depths[index] * BOX;
	enum look look = look_of(drawing, node);
	FILE *out = drawing->out;

	fprintf(out, "<g class=\"f\" tabindex=\"%d\" data-x=\"%.7f\" data-w=\"%.7f\" data-p=\"",
		index ? -1 : 0, panel->xs[index], share);
	if (index)
		fprintf(out, "%u", drawing->box_count + panel->numbers[node->parent]);
	fputs("\">", out);
	write_title(drawing, panel, index, name);
	fprintf(out, "<rect x=\"%.2f\" y=\"%d\" width=\"%.2f\" height=\"%d\" rx=\"1.5\" fill=\"", x,
		y, width - (width < 3 ? width / 5 : 0.6),
		BOX - 1); /* a gap, as the script has it */
	drawing->looks |= 1U << look;
	svg_color(look, name, out);
	fprintf(out, "\"/><text x=\"%.2f\" y=\"%d\">", x + 3, y + BOX - 5);
	write_label(name, width, out);
	fputs("</text></g>\n", out);
}

static int panel_height(const struct panel *panel)
{
	return PANEL_HEAD + ((int)panel->deepest + 1) * BOX + 8;
}

static void write_panel(struct drawing *drawing, const struct panel *panel, int top)
{
	const struct profile_sum *sum = &calltree_node(&panel->tree, 0)->sum;
	char duration[SVG_DURATION], samples[SVG_SAMPLES];

	fprintf(drawing->out, "<text class=\"kind\" x=\"%d\" y=\"%d\">%s</text>\n", MARGIN,
		top + 17, kind_title(panel->kind));
	fprintf(drawing->out, "<text class=\"note\" x=\"%d\" y=\"%d\">%s, %s", MARGIN + 70,
		top + 17, svg_duration(sum->weight_ns, duration), svg_samples(sum, samples));
	if (panel->left_out)
		fprintf(drawing->out, "; %" PRIu64 " boxes are too narrow, and left out",
			(uint64_t)panel->left_out);
	if (panel->tree.cut)
		fprintf(drawing->out, "; %" PRIu64 " samples are cut: too many nodes",
			(uint64_t)panel->tree.cut);
	fprintf(drawing->out, "</text>\n<g class=\"p\" data-kind=\"%s\">\n",
		kind_title(panel->kind));
	for (u32 node = 0; node != PROFILE_NONE; node = next_node(panel, node))
		write_box(drawing, panel, node, top + PANEL_HEAD);
	fputs("</g>\n", drawing->out);
	drawing->box_count += (u32)(panel->tree.nodes.count - panel->left_out);
}

/* Of what there is. */
static void write_legend(const struct drawing *drawing)
{
	static const enum look order[] = {LOOK_USER,	LOOK_INLINED, LOOK_KERNEL, LOOK_JIT,
					  LOOK_UNNAMED, LOOK_MARK,    LOOK_PROCESS};
	int x = MARGIN;

	for (size_t i = 0; i < ARRAY_SIZE(order); i++) {
		const char *name = svg_look_name(order[i]);

		if (!(drawing->looks & 1U << order[i]))
			continue;
		fprintf(drawing->out,
			"<rect x=\"%d\" y=\"50\" width=\"12\" height=\"12\" "
			"rx=\"1.5\" fill=\"",
			x);
		svg_color(order[i], "", drawing->out);
		fprintf(drawing->out, "\"/><text x=\"%d\" y=\"60\">%s</text>\n", x + 17, name);
		x += 17 + (int)((double)strlen(name) * COLUMN) + 18;
	}
}

static void write_head(const struct drawing *drawing)
{
	static const char hint[] = "click or Enter: zoom; Ctrl-F or /: search; n: next match; "
				   "arrows: move; Esc: all";
	const struct profile *profile = drawing->profile;
	FILE *out = drawing->out;

	fprintf(out,
		"<g class=\"head\"><rect class=\"wide\" width=\"%d\" height=\"%d\" "
		"fill=\"#fff\"/>\n"
		"<text class=\"title\" x=\"%d\" y=\"22\">",
		WIDTH, HEAD - 4, MARGIN);
	svg_escaped(drawing->options->title ? drawing->options->title : "dwell", out);
	fprintf(out, "</text>\n<text class=\"note\" x=\"%d\" y=\"40\">", MARGIN);
	fprintf(out,
		"width: %s; %" PRIu64 " samples, %.1f %% with complete stacks; ledger mismatches "
		"%" PRIu64,
		drawing->by_count ? "samples" : "time", (uint64_t)profile->all.count,
		profile->all.count ? 100.0 * (double)profile->complete / (double)profile->all.count
				   : 0,
		(uint64_t)profile->mismatches);
	fputs("</text>\n", out);
	write_legend(drawing);
	fprintf(out,
		"<foreignObject class=\"script\" x=\"%d\" y=\"6\" width=\"400\" height=\"26\">"
		"<div xmlns=\"http://www.w3.org/1999/xhtml\" class=\"box\">"
		"<input type=\"search\" placeholder=\"search: a regular expression\" "
		"aria-label=\"search\"/><button>all</button></div></foreignObject>\n",
		WIDTH - MARGIN - 400);
	fprintf(out,
		"<text class=\"hint script\" x=\"%d\" y=\"44\" text-anchor=\"end\" "
		"data-text=\"%s\">%s</text>\n"
		"<text class=\"details\" x=\"%d\" y=\"82\"></text></g>\n",
		WIDTH - MARGIN, hint, hint, MARGIN);
}

static void draw(struct drawing *drawing)
{
	int height = HEAD + 8, top = HEAD;
	FILE *out = drawing->out;

	for (size_t i = 0; i < drawing->panel_count; i++)
		height += panel_height(&drawing->panels[i]);
	fprintf(out,
		"<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n"
		"<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"%d\" height=\"%d\" "
		"viewBox=\"0 0 %d %d\">\n<style><![CDATA[\n%s]]></style>\n",
		WIDTH, height, WIDTH, height, css);
	fprintf(out, "<rect class=\"wide\" width=\"%d\" height=\"%d\" fill=\"#fff\"/>\n", WIDTH,
		height);
	if (!drawing->panel_count)
		fprintf(out, "<text x=\"%d\" y=\"%d\">no samples</text>\n", MARGIN, HEAD + 4);
	for (size_t i = 0; i < drawing->panel_count; i++) {
		write_panel(drawing, &drawing->panels[i], top);
		top += panel_height(&drawing->panels[i]);
	}
	write_head(drawing); /* last: it is above all */
	fprintf(out, "<script><![CDATA[\n%s]]></script>\n</svg>\n", script);
}

int export_svg(const struct export_source *source, const struct export_options *options, FILE *out)
{
	const struct profile *profile = source->profile;
	struct drawing drawing = {.profile = profile,
				  .options = options,
				  .out = out,
				  .by_count = options->weight == WEIGHT_COUNT};
	int err = build(&drawing);

	if (!err)
		draw(&drawing);
	for (size_t i = 0; i < drawing.panel_count; i++)
		panel_free(&drawing.panels[i]);
	return err;
}
