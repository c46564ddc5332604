// SPDX-License-Identifier: Apache-2.0
/*
 * A file of --config: parsed, and checked against a table of options. What was accepted, written
 * again, is read back to the same.
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../src/config/config.h"
#include "../src/config/effective.h"

int LLVMFuzzerInitialize(int *argc, char ***argv);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static const struct option longs[] = {
	{"all", no_argument, NULL, 'a'},	{"freq", required_argument, NULL, 'F'},
	{"kernel", optional_argument, NULL, 1}, {"signals", required_argument, NULL, 's'},
	{"label", required_argument, NULL, 2},	{"note", required_argument, NULL, 3},
	{"config", required_argument, NULL, 4}, {0},
};

/* Messages are not looked at; what the fuzzer itself says has a descriptor of its own. */
int LLVMFuzzerInitialize(int *argc, char ***argv)
{
	FILE *null = fopen("/dev/null", "w");

	(void)argc;
	(void)argv;
	if (null)
		stderr = null;
	return 0;
}

static char *write_again(const struct config *config)
{
	struct effective *effective = calloc(1, sizeof(*effective));
	char *text = NULL;
	size_t size;
	FILE *out = open_memstream(&text, &size);

	for (const struct option *row = longs; row->name; row++)
		for (size_t i = 0; i < config->count; i++)
			if (!strcmp(config->entries[i].key, row->name) &&
			    effective_add(effective, row->name, config->entries[i].value))
				abort();
	effective_write(effective, out);
	fclose(out);
	effective_free(effective);
	free(effective);
	return text;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct config config, again;
	char *text, *text_again;

	if (!config_parse("fuzz", data, size, &config) && !config_check(&config, longs)) {
		text = write_again(&config);
		if (config_parse("again", text, strlen(text), &again) ||
		    config_check(&again, longs))
			abort();
		text_again = write_again(&again);
		if (strcmp(text, text_again) != 0)
			abort();
		free(text);
		free(text_again);
		config_free(&again);
	}
	config_free(&config);
	return 0;
}
