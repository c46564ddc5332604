// SPDX-License-Identifier: Apache-2.0
#include <errno.h>
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "../base/log.h"
#include "../base/text.h"
#include "../model/profile.h"
#include "../model/state.h"
#include "cmd.h"

bool cmd_common_option(int option)
{
	if (option != 'v' && option != 'q')
		return false;
	log_set_level(option == 'v' ? LOG_VERBOSE : LOG_QUIET);
	return true;
}

static const char *stdout_name = "to stdout";

void cmd_stdout_is(const char *path)
{
	stdout_name = path;
}

int cmd_check_stdout(int status)
{
	if (!fflush(stdout) && !ferror(stdout))
		return status;
	if (errno == EPIPE)
		return status;
	log_error("cannot write %s: %s", stdout_name, strerror(errno));
	return EXIT_FAILED;
}

int cmd_print_json(json_t *root)
{
	int err = root ? json_dumpf(root, stdout, JSON_INDENT(2) | JSON_ENSURE_ASCII) : -1;

	json_decref(root);
	if (!err)
		putchar('\n');
	if (!err || ferror(stdout))
		return EXIT_OK; /* what could not be written, cmd_check_stdout() tells */
	log_error("cannot print the JSON: not enough memory");
	return EXIT_FAILED;
}

static bool terminal_has_color(void)
{
	const char *terminal = getenv("TERM");

	return isatty(STDOUT_FILENO) && !getenv("NO_COLOR") &&
	       !(terminal && !strcmp(terminal, "dumb"));
}

int cmd_columns(bool *ret_whole)
{
	const char *columns = getenv("COLUMNS");
	struct winsize size = {0};
	u64 wanted;

	*ret_whole = ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) != 0;
	if (*ret_whole && columns && !text_parse_u64(columns, 1, 10000, &wanted))
		return (int)wanted;
	return size.ws_col;
}

int cmd_parse_state(const char *option, const char *name, const char **ret_state)
{
	char list[1024] = "";

	for (int i = 0; i < STATE_COUNT; i++) {
		if (profile_state_fits(name, state_names[i])) {
			*ret_state = name;
			return 0;
		}
		snprintf(list + strlen(list), sizeof(list) - strlen(list), "%s%s", i ? ", " : "",
			 state_names[i]);
	}
	log_error("%s takes a state of the ledger, not '%s': a prefix such as runq or blocked, or "
		  "one of %s",
		  option, name, list);
	return -EINVAL;
}

int cmd_parse_color(const char *when, bool *ret_color)
{
	if (!strcmp(when, "auto")) {
		*ret_color = terminal_has_color();
	} else if (!strcmp(when, "always") || !strcmp(when, "never")) {
		*ret_color = !strcmp(when, "always");
	} else {
		log_error("--color is auto, always or never, not '%s'", when);
		return -EINVAL;
	}
	return 0;
}
