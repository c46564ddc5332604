// SPDX-License-Identifier: Apache-2.0
/* One more filter of a selection, and the word for it that people read. */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "../base/log.h"
#include "selection.h"

const char *const select_kind_names[FILTER_KIND_COUNT] = {
#define KIND(NAME, name, ...) [FILTER_BY_##NAME] = name,
	FILTER_KINDS(KIND)
#undef KIND
};

/* What does not fit ends in "...": it is for people, the filters are whole. */
static void add_word(char *words, const char *word)
{
	static const char cut[] = ",...";
	size_t used = strlen(words);

	if (used + strlen(word) + 1 + sizeof(cut) <= SELECT_WORD_BYTES)
		snprintf(words + used, SELECT_WORD_BYTES - used, "%s%s", used ? "," : "", word);
	else if (used < sizeof(cut) || strcmp(words + used - sizeof(cut) + 1, cut))
		strcpy(words + used, cut);
}

int select_add(struct selection *selection, struct filter_key filter, const char *word)
{
	if (selection->count == FILTERS_MAX) {
		log_error("cannot add '%s': at most %d filters; a cgroup or a user may need fewer",
			  word ? word : select_kind_names[filter.kind], FILTERS_MAX);
		return -E2BIG;
	}
	selection->filters[selection->count++] = filter;
	if (word)
		add_word(selection->words[filter.kind], word);
	return 0;
}
