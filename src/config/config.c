// SPDX-License-Identifier: Apache-2.0
/* Entries of a configuration: made, checked against a command's table of options, released. */
#include "config.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../base/log.h"
#include "../base/utf8.h"
#include "option_kind.h"
#include "similar.h"

#define WHERE_BYTES 512

void config_where(const struct config *config, const struct config_entry *entry, char *ret_text,
		  size_t size)
{
	char name[WHERE_BYTES / 2];

	utf8_escape(name, sizeof(name), config->name);
	snprintf(ret_text, size, config->is_session ? "%s: option.%u" : "%s:%u", name, entry->line);
}

static int __attribute__((format(printf, 3, 4)))
refuse(const struct config *config, const struct config_entry *entry, const char *format, ...)
{
	char where[WHERE_BYTES], text[1024];
	va_list args;

	config_where(config, entry, where, sizeof(where));
	va_start(args, format);
	vsnprintf(text, sizeof(text), format, args);
	va_end(args);
	log_error("%s: %s", where, text);
	return -EINVAL;
}

/* Characters that end a line for YAML, or that no terminal shows, in UTF-8. */
static bool begins_with_unseen(const unsigned char *text)
{
	if (*text < 0x20 || *text == 0x7f)
		return true;
	if (text[0] == 0xc2 && text[1] >= 0x80 && text[1] <= 0x9f)
		return true; /* C1 controls, U+0085 among them */
	if (text[0] == 0xe2 && text[1] == 0x80 && (text[2] == 0xa8 || text[2] == 0xa9))
		return true; /* U+2028, U+2029 */
	return text[0] == 0xef && text[1] == 0xbb && text[2] == 0xbf;
}

static bool has_control(const char *text)
{
	for (; *text; text++)
		if (begins_with_unseen((const unsigned char *)text))
			return true;
	return false;
}

int config_add(struct config *config, const char *key, const char *value, unsigned int line)
{
	struct config_entry entry = {.line = line, .is_plain = true};

	if (has_control(key) || (value && has_control(value)))
		return refuse(config, &entry,
			      "a key or value has a control character; write it on one line");
	if (config->count == CONFIG_ENTRIES_MAX)
		return refuse(config, &entry, "more than %d options; dwell takes no more",
			      CONFIG_ENTRIES_MAX);
	entry.key = strdup(key);
	entry.value = value ? strdup(value) : NULL;
	config->entries[config->count++] = entry;
	if (entry.key && (entry.value || !value))
		return 0;
	log_error("cannot read %s: not enough memory", config->name);
	return -ENOMEM;
}

static void free_entry(struct config_entry *entry)
{
	free(entry->key);
	free(entry->value);
}

void config_free(struct config *config)
{
	for (size_t i = 0; i < config->count; i++)
		free_entry(&config->entries[i]);
	config->count = 0;
}

/* --- checks --- */

static int refuse_unknown(const struct config *config, const struct config_entry *entry,
			  const struct option *longs)
{
	const char *best = NULL;
	size_t least = SIMILAR_NEVER;
	char key[128];

	utf8_escape(key, sizeof(key), entry->key);
	for (; longs->name; longs++) {
		size_t distance = similar_distance(entry->key, longs->name);

		if (distance < least && !(option_kinds(longs->name) & OPTION_NOT_IN_FILE)) {
			least = distance;
			best = longs->name;
		}
	}
	if (!strcmp(entry->key, "command"))
		return refuse(config, entry,
			      "a command is not an option: write it on the command line, after --");
	if (best)
		return refuse(config, entry, "there is no option '%s'; did you mean '%s'?", key,
			      best);
	return refuse(config, entry,
		      "there is no option '%s'; a key is an option's long name, without --", key);
}

static bool is_word(const struct config_entry *entry, const char *word)
{
	return entry->is_plain && entry->value && !strcmp(entry->value, word);
}

/* What the table says of values. *ret_is_off: the entry says that the option is not given. */
static int check_value(const struct config *config, struct config_entry *entry, int has_arg,
		       bool *ret_is_off)
{
	char value[128];

	*ret_is_off = false;
	if (has_arg == required_argument) {
		if (entry->value && (*entry->value || !entry->is_plain))
			return 0;
		return refuse(config, entry, "'%s' has no value", entry->key);
	}
	if (!entry->value && config->is_session)
		return 0;
	if (is_word(entry, "true") || is_word(entry, "false")) {
		*ret_is_off = is_word(entry, "false");
		free(entry->value);
		entry->value = NULL;
		return 0;
	}
	if (has_arg == optional_argument && entry->value && *entry->value)
		return 0;
	utf8_escape(value, sizeof(value), entry->value ? entry->value : "");
	return refuse(config, entry, "'%s' is true or false%s, not '%s'", entry->key,
		      has_arg == optional_argument ? ", or has a value" : "", value);
}

/* A key of a file stands there once; its values may be several. */
static int check_repeats(const struct config *config, size_t index)
{
	const struct config_entry *entry = &config->entries[index];
	bool adds_up = option_kinds(entry->key) & OPTION_ADDS_UP;

	for (size_t i = 0; i < index; i++) {
		const struct config_entry *other = &config->entries[i];

		if (strcmp(other->key, entry->key) != 0 || config->is_session)
			continue;
		if (other->nth != entry->nth)
			return refuse(config, entry, "'%s' is there twice, first in line %u",
				      entry->key, other->line);
		if (!adds_up)
			return refuse(config, entry, "'%s' takes one value, not a list",
				      entry->key);
	}
	return 0;
}

static int check_entry(const struct config *config, struct config_entry *entry,
		       const struct option *longs, bool *ret_is_off)
{
	const struct option *row = option_by_name(longs, entry->key);

	if (!row)
		return refuse_unknown(config, entry, longs);
	if (option_kinds(row->name) & OPTION_NOT_IN_FILE)
		return refuse(config, entry, "'%s' belongs on the command line, not into a file",
			      entry->key);
	return check_value(config, entry, row->has_arg, ret_is_off);
}

int config_check(struct config *config, const struct option *longs)
{
	bool is_off[CONFIG_ENTRIES_MAX];
	size_t kept = 0;

	for (size_t i = 0; i < config->count; i++)
		if (check_entry(config, &config->entries[i], longs, &is_off[i]) ||
		    check_repeats(config, i))
			return -EINVAL;
	for (size_t i = 0; i < config->count; i++) {
		if (is_off[i])
			free_entry(&config->entries[i]);
		else
			config->entries[kept++] = config->entries[i];
	}
	config->count = kept;
	return 0;
}
