// SPDX-License-Identifier: Apache-2.0
#include "process_keys.h"

#include <stdbool.h>
#include <string.h>

#include "../base/pattern.h"

#define WORD_BYTES 512

const struct process_key_row process_keys[PROCESS_KEY_COUNT] = {
#define KEY(NAME, name, column, fit) [PROCESS_KEY_##NAME] = {name, column, fit},
	PROCESS_KEYS(KEY)
#undef KEY
};

static bool fits_path(const char *word, const char *value)
{
	const char *slash = strrchr(value, '/');

	return !strchr(word, '/') && slash && pattern_matches(word, slash + 1);
}

/* /system.slice fits what is below it, and nothing that only begins so. */
static bool fits_tree(const char *word, const char *value)
{
	size_t length = strlen(word);

	while (length && word[length - 1] == '/')
		length--;
	return !strncmp(word, value, length) && (!value[length] || value[length] == '/');
}

static bool fits(enum process_fit fit, const char *word, const char *value)
{
	if (!*word || !*value)
		return false;
	switch (fit) {
	case FIT_PATH:
		return pattern_matches(word, value) || fits_path(word, value);
	case FIT_ID:
		return pattern_matches(word, value) || !strncmp(word, value, strlen(word));
	case FIT_TREE:
		return pattern_matches(word, value) || fits_tree(word, value);
	case FIT_NAME:
		return pattern_matches(word, value);
	case FIT_USER:
		return !strcmp(word, value);
	}
	return false;
}

_Bool process_key_fits(enum process_key key, const char *list, const char *value)
{
	char word[WORD_BYTES];

	for (const char *at = list; at; at = strchr(at, ',') ? strchr(at, ',') + 1 : NULL) {
		size_t length = strcspn(at, ",");

		if (length >= sizeof(word))
			continue;
		memcpy(word, at, length);
		word[length] = '\0';
		if (fits(process_keys[key].fit, word, value))
			return true;
	}
	return false;
}
