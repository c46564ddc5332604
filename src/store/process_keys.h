/* SPDX-License-Identifier: Apache-2.0 */
/*
 * By what processes are chosen and grouped beside their pid, declared once: a row is an option of
 * report and export, a value of --group-by, and a column of the table `processes`. Owns nothing.
 */
#ifndef DWELL_STORE_PROCESS_KEYS_H
#define DWELL_STORE_PROCESS_KEYS_H

/* How what was typed fits a value. Patterns: * is any text, ? any character (base/pattern.h). */
enum process_fit {
	FIT_NAME, /* a pattern */
	FIT_PATH, /* a pattern of the path, or without a / in it of the file's name */
	FIT_ID,	  /* a pattern, or the beginning of an id */
	FIT_TREE, /* a pattern, or a path above it */
	FIT_USER, /* the number; names are resolved where they are typed */
};

/* KEY(NAME, "option, and word of --group-by", "column", fit) */
#define PROCESS_KEYS(KEY)                                                                          \
	KEY(COMM, "comm", "comm", FIT_NAME)                                                        \
	KEY(EXE, "exe", "exe", FIT_PATH)                                                           \
	KEY(SERVICE, "service", "service", FIT_NAME)                                               \
	KEY(CONTAINER, "container", "container", FIT_ID)                                           \
	KEY(POD, "pod", "pod", FIT_ID)                                                             \
	KEY(CGROUP, "cgroup", "cgroup", FIT_TREE)                                                  \
	KEY(USER, "user", "uid", FIT_USER)

enum process_key {
#define KEY(NAME, name, column, fit) PROCESS_KEY_##NAME,
	PROCESS_KEYS(KEY)
#undef KEY
		PROCESS_KEY_COUNT
};

struct process_key_row {
	const char *name, *column;
	enum process_fit fit;
};

extern const struct process_key_row process_keys[PROCESS_KEY_COUNT];

/* Does a value, as the session has it, fit one of a comma-separated list? */
_Bool process_key_fits(enum process_key key, const char *list, const char *value);

#endif
