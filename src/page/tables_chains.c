// SPDX-License-Identifier: Apache-2.0
/* Chains of waits: one row each, and what each thread in them did, which the page draws. */
#include "../base/cleanup.h"
#include "../report/chain_text.h"
#include "../report/finding.h"
#include "table.h"

int tables_chains(struct table_list *list)
{
	enum { THREAD, STATE, WHAT, NS, ALIKE, ALIKE_NS, TEXT };
	static const struct table_column columns[] = {
		[THREAD] = {"thread", "", TABLE_THREAD},
		[STATE] = {"state", "", TABLE_STATE},
		[WHAT] = {"what", "for", TABLE_TEXT},
		[NS] = {"ns", "waited", TABLE_NS},
		[ALIKE] = {"alike", "threads alike", TABLE_COUNT},
		[ALIKE_NS] = {"alike_ns", "they waited", TABLE_NS},
		[TEXT] = {"text", "what was behind it", TABLE_TEXT},
	};
	struct page_table table = {
		.id = "chains",
		.tab = "waits",
		.title = "Chains",
		.about = "a wait, who held it up, what that thread did meanwhile, and "
			 "who held that up; the longest",
		.columns = columns,
		.column_count = ARRAY_SIZE(columns)};
	const struct findings *findings = list->data->digest->findings;

	table_begin(list, &table);
	for (size_t i = 0; i < findings->chain_count && table_row(&table); i++) {
		const struct chain *chain = &findings->chains[i];
		char what[CHAIN_TEXT] = "";

		chain_add_what(list->data->digest, chain->state, 0, chain->object, what);
		table_at(&table, THREAD, list->data->thread_at[chain->thread]);
		table_number(&table, STATE, chain->state);
		table_text(&table, WHAT, what);
		table_number(&table, NS, (s64)chain->ns);
		table_number(&table, ALIKE, (s64)chain->alike);
		table_number(&table, ALIKE_NS, (s64)chain->alike_ns);
		table_text(&table, TEXT, chain->sentence);
	}
	return table_end(list, &table);
}

enum {
	LINK_CHAIN,
	LINK_NUMBER,
	LINK_THREAD,
	LINK_NAME,
	LINK_WAIT,
	LINK_STATE,
	LINK_WHAT,
	LINK_NS,
	LINK_FOLLOWED,
};

/* Where a link is: of which chain, and how many come before it. */
struct link_place {
	size_t chain, number;
};

static bool begin_row(struct page_table *table, const struct link_place *place,
		      const struct chain_link *link, u64 ns, const char *what)
{
	if (!ns || !table_row(table))
		return false;
	table_number(table, LINK_CHAIN, (s64)place->chain);
	table_number(table, LINK_NUMBER, (s64)place->number);
	table_at(table, LINK_THREAD, page_tid_at(table->data, link->tid));
	table_text(table, LINK_NAME, link->comm);
	table_number(table, LINK_WAIT, (s64)link->ns);
	table_text(table, LINK_WHAT, what);
	table_number(table, LINK_NS, (s64)ns);
	table_number(table, LINK_FOLLOWED, 0);
	return true;
}

static void add_link(struct page_table *table, const struct link_place *place,
		     const struct chain_link *link)
{
	for (size_t i = 0; i < link->part_count; i++) {
		const struct link_part *part = &link->parts[i];
		char what[CHAIN_TEXT] = "";

		chain_add_what(table->data->digest, part->state, part->call, part->object, what);
		if (!begin_row(table, place, link, part->ns, what))
			continue;
		table_number(table, LINK_STATE, part->state);
		table_number(table, LINK_FOLLOWED, i == link->next);
	}
	begin_row(table, place, link, link->other_ns, "other");
	begin_row(table, place, link, link->unknown_ns, "not known");
}

int tables_chain_links(struct table_list *list)
{
	static const struct table_column columns[] = {
		[LINK_CHAIN] = {"chain", "", TABLE_ID},
		[LINK_NUMBER] = {"link", "", TABLE_ID},
		[LINK_THREAD] = {"thread", "", TABLE_THREAD},
		[LINK_NAME] = {"name", "its name", TABLE_TEXT},
		[LINK_WAIT] = {"wait_ns", "of a wait of", TABLE_NS},
		[LINK_STATE] = {"state", "", TABLE_STATE},
		[LINK_WHAT] = {"what", "what it did", TABLE_TEXT},
		[LINK_NS] = {"ns", "for", TABLE_NS},
		[LINK_FOLLOWED] = {"followed", "explained by the next link", TABLE_COUNT},
	};
	struct page_table table = {.id = "chain_links",
				   .tab = "chains",
				   .title = "Links of chains",
				   .about = "what each thread of a chain did while the one before "
					    "it waited; chains and "
					    "links count from 0",
				   .columns = columns,
				   .column_count = ARRAY_SIZE(columns)};
	const struct findings *findings = list->data->digest->findings;

	table_begin(list, &table);
	for (size_t i = 0; i < findings->chain_count; i++)
		for (size_t l = 0; l < findings->chains[i].link_count; l++)
			add_link(&table, &(struct link_place){i, l}, &findings->chains[i].links[l]);
	return table_end(list, &table);
}
