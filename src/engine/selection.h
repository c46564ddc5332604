/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Which tasks a person wants measured: the options that many commands share, from words to filters
 * that the kernel side understands. Owns nothing. Called by each command that measures.
 */
#ifndef DWELL_ENGINE_SELECTION_H
#define DWELL_ENGINE_SELECTION_H

#include <getopt.h>

#include "../capture/capture.h"

enum select_option {
	SELECT_PID = 'p',
	SELECT_TID = 't',
	SELECT_ALL = 'a',
	SELECT_COMM = 0x200,
	SELECT_EXE,
	SELECT_UID,
	SELECT_CGROUP,
	SELECT_CONTAINER,
};

/* For getopt_long(): rows of the command's own table, and letters of its own string. */
#define SELECT_LETTERS "p:t:a"
#define SELECT_LONGS                                                                               \
	{"pid", required_argument, NULL, SELECT_PID},                                              \
		{"tid", required_argument, NULL, SELECT_TID},                                      \
		{"all", no_argument, NULL, SELECT_ALL},                                            \
		{"comm", required_argument, NULL, SELECT_COMM},                                    \
		{"exe", required_argument, NULL, SELECT_EXE},                                      \
		{"uid", required_argument, NULL, SELECT_UID},                                      \
		{"cgroup", required_argument, NULL, SELECT_CGROUP},                                \
	{                                                                                          \
		"container", required_argument, NULL, SELECT_CONTAINER                             \
	}

/* For the command's --help. */
#define SELECT_USAGE                                                                               \
	"  -a, --all            measure every task of the host\n"                                  \
	"  -p, --pid LIST       measure these processes, by number: 12,34\n"                       \
	"  -t, --tid LIST       measure these threads, by number\n"                                \
	"  --comm NAME          measure threads of this name\n"                                    \
	"  --exe FILE           measure processes that run this file\n"                            \
	"  --uid USER           measure tasks of this user, by name or number\n"                   \
	"  --cgroup PATH        measure tasks in this cgroup and below\n"                          \
	"  --container ID       measure this container; the start of its id is enough\n"

#define SELECT_TEXT_BYTES 1024
#define SELECT_WORD_BYTES 256

struct selection {
	bool all;
	size_t count;
	struct filter_key filters[FILTERS_MAX];
	char words[FILTER_KIND_COUNT][SELECT_WORD_BYTES]; /* what was asked for, by kind */
};

/* 0; -ENOENT if the option is none of these; other -errno, told on stderr. */
int select_take(struct selection *selection, int option, const char *value);

/* Is it one of these? */
bool select_is_option(int option);

/* After the last option: -EINVAL, told, if nothing was chosen, or all and not all. */
int select_finish(const struct selection *selection);

/* selection must outlive capture_open(). */
void select_apply(const struct selection *selection, struct capture_config *config);

/* "all", or "pid 1,2 and comm nginx". */
void select_describe(const struct selection *selection, char *ret_text, size_t size);

extern const char *const select_kind_names[FILTER_KIND_COUNT];

/* Between its files: one filter more, and its word (NULL: none): 0, or -E2BIG, told. */
int select_add(struct selection *selection, struct filter_key filter, const char *word);
int select_take_cgroup(struct selection *selection, const char *path);
int select_take_container(struct selection *selection, const char *id);

#endif
