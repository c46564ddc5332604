/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The configuration that holds in the end: defaults, then a file or a session, then the command
 * line. As YAML that --config reads back to the same, and as the run id. Owns its texts. Filled by
 * commands, a key after the other; called by them and by nobody else.
 */
#ifndef DWELL_CONFIG_EFFECTIVE_H
#define DWELL_CONFIG_EFFECTIVE_H

#include <stddef.h>
#include <stdio.h>

#define EFFECTIVE_MAX 4096 /* values; more than the commands' parsers let pass */
#define RUN_ID_BYTES  17   /* 16 hexadecimal digits */

struct effective_item {
	const char *key; /* the caller's */
	char *value;	 /* NULL: an option without a value */
};

struct effective {
	struct effective_item items[EFFECTIVE_MAX];
	size_t count;
};

/*
 * One more value of a key, in one spelling (spelling.h). Values of a list become several; values
 * that add up are kept in order and once, so that two ways to write the same are the same: 0 or
 * -errno.
 */
int effective_add(struct effective *effective, const char *key, const char *value);

void effective_write(const struct effective *effective, FILE *out);

/*
 * 64 bits of FNV-1a, as hexadecimal digits, over these lines: "dwell run id 1", the build id of
 * dwell, the sub-command, the name of the target command, and "key value" of each item that shapes
 * the measurement. Not in it: where the result goes, labels and notes, the command's arguments.
 */
void effective_run_id(const struct effective *effective, const char *build_id,
		      const char *subcommand, const char *target, char ret_id[RUN_ID_BYTES]);

void effective_free(struct effective *effective);

#endif
