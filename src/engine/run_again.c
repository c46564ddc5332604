// SPDX-License-Identifier: Apache-2.0
#include "run_again.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>

#include "../config/option_kind.h"

void run_again_note(struct run_again *again, const struct option *longs, int option,
		    const char *value)
{
	const struct option *found = option_by_value(longs, option);

	if (option == '?' || (found && option_kinds(found->name) & OPTION_BESIDE))
		return;
	if (again->count == RUN_AGAIN_MAX) {
		again->cut++;
		return;
	}
	again->options[again->count++] = (struct run_again_option){
		.name = found ? found->name : NULL,
		.letter = (char)(option < 0x80 && isalpha(option) ? option : 0),
		.is_optional = found && found->has_arg == optional_argument,
		.value = value,
	};
}

/* They add up: half of a list and the other half are the list. */
static bool takes_a_list(const struct run_again_option *option)
{
	return option->name && option_kinds(option->name) & OPTION_LISTS;
}

static int write_one(const struct run_again_option *option, const char *value, size_t length,
		     char ret_text[RUN_AGAIN_BYTES])
{
	char name[40];

	if (option->letter)
		snprintf(name, sizeof(name), "-%c", option->letter);
	else
		snprintf(name, sizeof(name), "--%s", option->name);
	if (!value)
		return snprintf(ret_text, RUN_AGAIN_BYTES, "%s", name);
	return snprintf(ret_text, RUN_AGAIN_BYTES, "%s%s%.*s", name,
			option->is_optional ? "=" : " ", (int)length, value);
}

/* How much of a list fits into one text, without its last comma. */
static size_t part_length(const char *list)
{
	size_t most = RUN_AGAIN_BYTES - 40, length = strlen(list);

	if (length <= most)
		return length;
	for (length = most; length && list[length] != ',';)
		length--;
	return length;
}

size_t run_again_list(const struct run_again *again,
		      void (*on_one)(void *context, const char *text), void *context)
{
	size_t cut = again->cut;
	char text[RUN_AGAIN_BYTES];

	for (size_t i = 0; i < again->count; i++) {
		const struct run_again_option *option = &again->options[i];
		const char *value = option->value;

		while (value && takes_a_list(option) && part_length(value) < strlen(value)) {
			size_t length = part_length(value);

			if (!length)
				break;
			write_one(option, value, length, text);
			on_one(context, text);
			value += length + 1;
		}
		if (write_one(option, value, value ? strlen(value) : 0, text) < RUN_AGAIN_BYTES)
			on_one(context, text);
		else
			cut++;
	}
	return cut;
}
