// SPDX-License-Identifier: Apache-2.0
/* Single events that took long: what they were, what their time was, and from where. */
#include <inttypes.h>

#include "../base/clock.h"
#include "../base/utf8.h"
#include "text_signals.h"
#include "format_value.h"

#define SHOWN	     5
#define SHOWN_ALONE  20
#define STACK_FRAMES 6

static const char *const part_names[] = {
#define PART(NAME, name) [SLOW_PART_##NAME] = #name,
	SLOW_PARTS(PART)
#undef PART
};

static void add_parts(const struct slow_row *slow, char *line, size_t size)
{
	const char *before = "; ";

	for (int i = 0; i < SLOW_PART_COUNT; i++) {
		if (!slow->part[i])
			continue;
		format_add(line, size, "%s%s %s", before, part_names[i],
			   SHARE(slow->part[i], slow->ns));
		before = ", ";
	}
}

/* Their names say what they are, as those of lists' columns do. */
static void add_values(const struct digest *digest, const struct signal_view *view,
		       const struct slow_row *slow, char *line, size_t size)
{
	/* What has no values of its own, as a sync has no bytes. */
	if (!slow->value[0] && !slow->value[1])
		return;
	for (int i = 0; i < 2; i++) {
		char head[LIST_HEAD_BYTES], value[SIGNALS_NAME_BYTES];
		const char *name = view->value_names[i];

		/* Of a thread that is not known there is nothing to say. */
		if (!name || (list_is_tid(name) && !slow->value[i]))
			continue;
		list_head(name, head, sizeof(head));
		list_number(digest, name, (s64)slow->value[i], value, sizeof(value));
		format_add(line, size, ", %s %s", head, value);
	}
}

/*
 * What it was, escaped, on a line if it can be. Of what is too long the object gives way, mostly a
 * path: who did what to it has to stay. Where that leaves little of it, it gets a line of its own.
 */
static void add_subject(const char *text, const char *object, int columns, char *line, size_t size)
{
	const char *place = *object ? strstr(text, object) : NULL;
	char cut[2 * SIGNALS_NAME_BYTES], before[4 * SIGNALS_NAME_BYTES];
	int room = columns - (int)utf8_columns(text) + (int)utf8_columns(object);

	if (!place) {
		format_add(line, size, "%s", ESCAPED(text));
		return;
	}
	format_middle(object, room > columns / 3 ? room : columns, cut, sizeof(cut));
	snprintf(before, sizeof(before), "%.*s", (int)(place - text), text);
	format_add(line, size, "%s%s%s", ESCAPED(before), cut, ESCAPED(place + strlen(object)));
}

static void print_event(const struct digest *digest, const struct page *page,
			const struct measured *of, const struct slow_row *slow)
{
	u64 end_ns = slow->ts_ns > digest->start_ns ? slow->ts_ns - digest->start_ns : 0;
	char process[SIGNALS_NAME_BYTES], object[SIGNALS_NAME_BYTES], text[4 * SIGNALS_NAME_BYTES];
	char line[8 * SIGNALS_NAME_BYTES] = "";
	struct series_row row = {.key = slow->key, .process = process, .object_name = object};
	int at = fprintf(page->out, "  %7s  ", VALUE(UNIT_NS, slow->ns));

	series_process_text(digest, slow->key.tgid, slow->key.start_ns, process, sizeof(process));
	series_field_text(digest, of, &of->view->object, slow->key.object, object, sizeof(object));
	series_row_text(digest, of, &row, text, sizeof(text));
	add_subject(text, object, page_room(page, page->columns - at - 2), line, sizeof(line));
	if (slow->tid && slow->tid != slow->key.tgid)
		format_add(line, sizeof(line), ", tid %u", slow->tid);
	format_add(line, sizeof(line), ", until %s", DURATION(end_ns));
	add_values(digest, of->view, slow, line, sizeof(line));
	add_parts(slow, line, sizeof(line));
	page_wrap(page, at, at + 2, line);
	series_stack_text(digest, slow->stack, STACK_FRAMES, text, sizeof(text));
	if (*text) {
		fprintf(page->out, "%*s", at + 2, "");
		page_wrap(page, at + 2, at + 2, format_escaped(text, line, sizeof(line)));
	}
}

void text_slow(const struct digest *digest, const struct page *page, const struct measured *of)
{
	/* dwell trace has told them one by one. */
	bool are_told = of->view->is_not_offered;
	size_t most =
		page_rows(digest, digest->options->signals && !are_told ? SHOWN_ALONE : SHOWN);
	u64 all = of->slow_count + of->slow_left_out;

	if (!of->slow_count)
		return;
	fprintf(page->out, "  slowest of %s that took longer than --slow:\n", NUMBER(all));
	for (size_t i = 0; i < of->slow_count && i < most; i++)
		print_event(digest, page, of, &of->slow[i]);
}
