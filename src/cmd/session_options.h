/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The options that report and export share: what of a session is asked for, and the session itself.
 * Owns nothing.
 */
#ifndef DWELL_CMD_SESSION_OPTIONS_H
#define DWELL_CMD_SESSION_OPTIONS_H

#include "../store/session_part.h"
#include "../symbolize/fetched_names.h"

#define SESSION_OPTION_KEY 1000 /* what getopt_long() returns for them, plus enum process_key */

/* --comm, --exe, ...: a row for each of process_keys.h. */
#define SESSION_OPTION_OF_KEY(NAME, name, column, fit)                                             \
	{name, required_argument, NULL, SESSION_OPTION_KEY + PROCESS_KEY_##NAME},

#define SESSION_OPTIONS_SHORTS "p:t:hvq"

/* Rows of a struct option. */
#define SESSION_OPTIONS_LONGS                                                                      \
	PROCESS_KEYS(SESSION_OPTION_OF_KEY){"pid", required_argument, NULL, 'p'},                  \
		{"tid", required_argument, NULL, 't'}, {"kernel", no_argument, NULL, 'k'},         \
		{"kind", required_argument, NULL, 'K'}, {"state", required_argument, NULL, 'z'},   \
		{"debuginfod", optional_argument, NULL, 'd'}, {"verbose", no_argument, NULL, 'v'}, \
		{"quiet", no_argument, NULL, 'q'},                                                 \
	{                                                                                          \
		"help", no_argument, NULL, 'h'                                                     \
	}

struct session_options {
	struct session_part *part;
	struct fetch_request *debuginfod;
	char **path; /* without FROM-TO; the caller's to free, also after an error */
	bool help;
};

/* One of those above, with optarg: 0; -ENOENT if it is none of them; -EINVAL, told. */
int session_option(int option, struct session_options *options);

/* The one argument that is left, FILE or FILE@FROM-TO: 0 or -errno, told with the example. */
int session_argument(int argc, char **argv, const char *command, const char *example,
		     struct session_options *options);

/*
 * FILE or FILE@FROM-TO, unless a file has that very name: 0 or -EINVAL, told. *ret_path is the
 * caller's to free, also after an error.
 */
int session_parse(const char *text, char **ret_path, u64 *ret_from_ns, u64 *ret_to_ns);

#endif
