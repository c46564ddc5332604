// SPDX-License-Identifier: Apache-2.0
#include "effective.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "../../abi/types.h"
#include "../base/cleanup.h"
#include "option_kind.h"
#include "spelling.h"

static int compare_values(const char *a, const char *b)
{
	if (!a || !b)
		return !!a - !!b;
	return strcmp(a, b);
}

/* Where it belongs among the values of its key, which are the last items: -EEXIST: it is there. */
static int find_place(const struct effective *effective, const char *key, const char *value,
		      size_t *ret_place)
{
	size_t place = effective->count;

	while (place > 0 && !strcmp(effective->items[place - 1].key, key)) {
		int order = compare_values(effective->items[place - 1].value, value);

		if (!order)
			return -EEXIST;
		if (order < 0)
			break;
		place--;
	}
	*ret_place = place;
	return 0;
}

static int add_one(struct effective *effective, const char *key, const char *value, size_t length)
{
	_cleanup_free_ char *typed = value ? strndup(value, length) : NULL;
	char *copy = typed ? spelling_of(option_value(key), typed) : NULL;
	size_t place = effective->count;
	int err = value && !copy ? -ENOMEM : 0;

	if (!err && option_kinds(key) & OPTION_ADDS_UP)
		err = find_place(effective, key, copy, &place);
	if (!err && effective->count == EFFECTIVE_MAX)
		err = -E2BIG;
	if (err) {
		free(copy);
		return err == -EEXIST ? 0 : err;
	}
	memmove(&effective->items[place + 1], &effective->items[place],
		(effective->count - place) * sizeof(effective->items[0]));
	effective->items[place] = (struct effective_item){key, copy};
	effective->count++;
	return 0;
}

int effective_add(struct effective *effective, const char *key, const char *value)
{
	int err = 0;

	if (!value || !(option_kinds(key) & OPTION_LISTS))
		return add_one(effective, key, value, value ? strlen(value) : 0);
	while (!err && value) {
		size_t length = strcspn(value, ",");

		err = add_one(effective, key, value, length);
		value = value[length] ? value + length + 1 : NULL;
	}
	return err;
}

/* --- YAML --- */

static int is_plain(const char *value)
{
	static const char plain[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"
				    "_./%@+-=";

	return *value && !strchr("-=.%@+", *value) && !value[strspn(value, plain)] &&
	       strcmp(value, "true") != 0 && strcmp(value, "false") != 0;
}

static int has_control(const char *value)
{
	for (; *value; value++)
		if ((unsigned char)*value < 0x20 || *value == 0x7f)
			return 1;
	return 0;
}

static void write_value(const char *value, FILE *out)
{
	const char *quote = has_control(value) ? "\"" : "'";

	if (is_plain(value)) {
		fputs(value, out);
		return;
	}
	fputs(quote, out);
	for (; *value; value++) {
		if (*quote == '\'' && *value == '\'')
			fputs("''", out);
		else if (*quote == '"' && ((unsigned char)*value < 0x20 || *value == 0x7f ||
					   *value == '"' || *value == '\\'))
			fprintf(out, "\\x%02x", (unsigned char)*value);
		else
			fputc(*value, out);
	}
	fputs(quote, out);
}

void effective_write(const struct effective *effective, FILE *out)
{
	for (size_t i = 0; i < effective->count; i++) {
		const struct effective_item *item = &effective->items[i];
		int is_first = !i || strcmp(item[-1].key, item->key) != 0;
		int is_last = i + 1 == effective->count || strcmp(item[1].key, item->key) != 0;

		if (is_first)
			fprintf(out, "%s: %s", item->key, is_last ? "" : "[");
		else
			fputs(", ", out);
		if (item->value)
			write_value(item->value, out);
		else
			fputs("true", out);
		if (is_last)
			fputs(is_first ? "\n" : "]\n", out);
	}
}

/* --- the run id --- */

static void add_text(u64 *hash, const char *text)
{
	for (; *text; text++)
		*hash = (*hash ^ (unsigned char)*text) * 0x100000001b3ULL;
}

static void add_line(u64 *hash, const char *key, const char *value)
{
	add_text(hash, key);
	if (value) {
		add_text(hash, " ");
		add_text(hash, value);
	}
	add_text(hash, "\n");
}

void effective_run_id(const struct effective *effective, const char *build_id,
		      const char *subcommand, const char *target, char ret_id[RUN_ID_BYTES])
{
	u64 hash = 0xcbf29ce484222325ULL;

	add_line(&hash, "dwell run id 1", NULL);
	add_line(&hash, build_id, NULL);
	add_line(&hash, subcommand, NULL);
	add_line(&hash, target, NULL);
	for (size_t i = 0; i < effective->count; i++)
		if (!(option_kinds(effective->items[i].key) & (OPTION_BESIDE | OPTION_WRITES)))
			add_line(&hash, effective->items[i].key, effective->items[i].value);
	snprintf(ret_id, RUN_ID_BYTES, "%016llx", (unsigned long long)hash);
}

void effective_free(struct effective *effective)
{
	for (size_t i = 0; i < effective->count; i++)
		free(effective->items[i].value);
	effective->count = 0;
}
