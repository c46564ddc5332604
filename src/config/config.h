/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Options from elsewhere than the command line: a YAML file of --config, or a session of --like.
 * Each becomes (option's long name, value, where it stood), checked against the command's own table
 * of options; then the command's own parser takes it, so that no option is declared twice. Owns the
 * texts. Called by commands.
 *
 * The file is foreign: its size, the number of its entries and its depth are bounded; anchors,
 * aliases, tags and a second document are refused. It is read with libyaml's events. libcyaml,
 * which is built on it, wants a schema that repeats each option, and has no line for a wrong value.
 */
#ifndef DWELL_CONFIG_CONFIG_H
#define DWELL_CONFIG_CONFIG_H

#include <getopt.h>
#include <stdbool.h>
#include <stddef.h>

#define CONFIG_BYTES_MAX   (64u << 10)
#define CONFIG_ENTRIES_MAX 192

struct config_entry {
	char *key;	   /* an option's long name */
	char *value;	   /* NULL: an option without a value */
	unsigned int line; /* of the file; of a session: the number of the option */
	bool is_plain;	   /* not quoted: true and false mean that */
	unsigned int nth;  /* key of the file it is of: the values of a list have the same */
};

struct config {
	const char *name; /* of the file, for messages; the caller's */
	bool is_session;
	struct config_entry entries[CONFIG_ENTRIES_MAX];
	size_t count;
};

/* YAML into entries: 0 or -errno, told with file and line. config_free() in any case. */
int config_parse(const char *name, const void *bytes, size_t size, struct config *ret_config);

/* The same of a file, opened with the rights of who calls, or of the person behind sudo. */
int config_read(const char *path, struct config *ret_config);

/* One more entry: 0 or -errno, told. A value of NULL is none. */
int config_add(struct config *config, const char *key, const char *value, unsigned int line);

/* Where an entry stands, for messages: "run.yaml:7". */
void config_where(const struct config *config, const struct config_entry *entry, char *ret_text,
		  size_t size);

/*
 * Are these options of the command, with values where they have one, and none twice? Entries that
 * say "false" are removed: 0 or -EINVAL, told. The values are the command's own parser's business.
 */
int config_check(struct config *config, const struct option *longs);

void config_free(struct config *config);

#endif
