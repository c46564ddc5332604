// SPDX-License-Identifier: Apache-2.0
/* Where the time went by what --group-by names: a row per service, cgroup, user, ... */
#include <ctype.h>
#include <string.h>

#include "../base/utf8.h"
#include "format_value.h"
#include "groups.h"
#include "text.h"
#include "text_where.h"

#define NAME_LEAST    16
#define OTHER_COLUMNS 58 /* of a line, beside the name: numbers, the bar and a state */
#define GROUPS_SHOWN  20
#define BUSY_SHARE    1000 /* of all work: a group with less is not worth a line */
#define ALWAYS_SHOWN  3

/* As much as names need, and the numbers and a state leave; where nothing is cut, all of it. */
static int name_columns(const struct page *page, const struct hash *groups, size_t shown)
{
	int most = NAME_LEAST, room = page->columns - OTHER_COLUMNS;

	for (size_t i = 0; i < shown; i++) {
		const struct process_group *group = hash_item(groups, i);
		int columns = (int)utf8_columns(ESCAPED(group->name));

		most = columns > most ? columns : most;
	}
	if (page->whole || most <= room)
		return most;
	return room > NAME_LEAST ? room : NAME_LEAST;
}

static void print_group(const struct digest *digest, const struct page *page,
			const struct process_group *group, int name_room)
{
	char bar[SMALL_BAR + 1], name[2 * DIGEST_TEXT];
	int at;

	small_bar(&group->account, bar);
	format_middle(group->name, name_room, name, sizeof(name));
	at = fprintf(page->out, "  %s%*s %5s %6s %8s %s ", name,
		     name_room - (int)utf8_columns(name), "", NUMBER(group->processes),
		     NUMBER(group->threads), DURATION(account_cpu(&group->account)), bar);
	at -= (int)(strlen(name) - utf8_columns(name));
	print_mostly(digest, page, &group->account, page->columns - at);
}

static size_t count_shown(const struct digest *digest, const struct hash *groups)
{
	size_t shown = 0;
	u64 all_ns = 0;

	for (size_t i = 0; i < groups->count; i++)
		all_ns += ((struct process_group *)hash_item(groups, i))->work_ns;
	while (shown < groups->count && shown < page_rows(digest, GROUPS_SHOWN) &&
	       (digest->options->top || shown < ALWAYS_SHOWN ||
		((struct process_group *)hash_item(groups, shown))->work_ns > all_ns / BUSY_SHARE))
		shown++;
	return shown;
}

int text_groups(const struct digest *digest, const struct page *page)
{
	char heading[32] = "BY ";
	struct hash groups;
	u64 rest_ns = 0;
	size_t shown;
	int room, err = groups_find(digest, &groups);

	if (err)
		return err;
	for (const char *at = groups_by(digest); *at; at++)
		format_add(heading, sizeof(heading), "%c", toupper((unsigned char)*at));
	shown = count_shown(digest, &groups);
	room = name_columns(page, &groups, shown);
	page_heading(page, heading,
		     "  # cpu  = waits for a CPU  - blocked  . idle  ? unattributed");
	fprintf(page->out, "%s  %-*s %5s %6s %8s %*s mostly%s\n", page_ink(page, INK_FAINT), room,
		groups_by(digest), "procs", "thr", "on CPU", SMALL_BAR, "",
		page_ink(page, INK_PLAIN));
	for (size_t i = 0; i < shown; i++)
		print_group(digest, page, hash_item(&groups, i), room);
	for (size_t i = shown; i < groups.count; i++)
		rest_ns += ((struct process_group *)hash_item(&groups, i))->work_ns;
	if (groups.count > shown)
		fprintf(page->out, "  and %s more, busy for %s in sum\n",
			NUMBER(groups.count - shown), DURATION(rest_ns));
	hash_free(&groups);
	return 0;
}
