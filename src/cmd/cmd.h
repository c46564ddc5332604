/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The sub-commands. To add one: a file src/cmd/<name>.c with its run function, and its row in
 * commands.def. Owns nothing. main.c dispatches through the table.
 */
#ifndef DWELL_CMD_CMD_H
#define DWELL_CMD_CMD_H

#include <stdbool.h>

#include "../../abi/types.h"
#include "../base/exit_status.h"

struct command {
	const char *name;
	const char *about; /* one line, for the list of commands */
	int (*run)(int argc, char **argv);
};

/* -v and -q mean the same everywhere: true if it was one of them, and is done. */
bool cmd_common_option(int option);

/* --color=auto|always|never, of what goes to stdout: 0, or -EINVAL, told. */
int cmd_parse_color(const char *when, bool *ret_color);

/*
 * As wide as the terminal, 0: not known. Elsewhere as COLUMNS says, and no name need be cut
 * (*ret_whole): whoever searches in a file or a pipe wants all of it.
 */
int cmd_columns(bool *ret_whole);

/* "cpu.user", or "blocked" for all that begin so: 0, or -EINVAL, told with all that there are. */
int cmd_parse_state(const char *option, const char *name, const char **ret_state);

/*
 * What could not be written must not look like success; a reader that has left is no error. The
 * status to end with.
 */
int cmd_check_stdout(int status);

/* Prints to stdout and releases it; NULL stands for a lack of memory, which is told. The status. */
struct json_t;
int cmd_print_json(struct json_t *root);

/* What stdout is, if it was made another file: for errors. */
void cmd_stdout_is(const char *path);

#define COMMAND(name, about) int cmd_##name(int argc, char **argv);
#include "commands.def"
#undef COMMAND

#endif
