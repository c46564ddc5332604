// SPDX-License-Identifier: Apache-2.0
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "../../abi/config.h"
#include "../base/clock.h"
#include "../base/log.h"
#include "../base/text.h"
#include "../model/profile.h"
#include "../model/state.h"
#include "../report/report.h"
#include "../symbolize/debuginfod.h"
#include "cmd.h"

#define DEBUGINFOD_LIMIT_S     10
#define DEBUGINFOD_LIMIT_MAX_S 3600

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

static bool terminal_has_color(void)
{
	const char *terminal = getenv("TERM");

	return isatty(STDOUT_FILENO) && !getenv("NO_COLOR") &&
	       !(terminal && !strcmp(terminal, "dumb"));
}

int cmd_parse_ids(const char *option, const char *list, u32 *ids, size_t max, size_t *ret_count)
{
	if (!text_parse_list(list, 1, PID_LIMIT, ids, max, ret_count))
		return 0;
	log_error("%s takes a comma-separated list of up to %zu numbers, not '%s'", option, max,
		  list);
	return -EINVAL;
}

int cmd_parse_kind(const char *name, u32 *ret_kind)
{
	for (u32 i = 0; i < SAMPLE_KIND_COUNT; i++)
		if (!strcmp(name, profile_kind_name(i))) {
			*ret_kind = i;
			return 0;
		}
	log_error("--kind is cpu or blocked, not '%s'", name);
	return -EINVAL;
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

int cmd_parse_debuginfod(const char *time, struct fetch_request *ret_request)
{
	u64 limit_ns = DEBUGINFOD_LIMIT_S * NS_PER_S;

	if (time &&
	    text_parse_seconds(time, NS_PER_S, DEBUGINFOD_LIMIT_MAX_S * NS_PER_S, &limit_ns)) {
		log_error("--debuginfod takes a time from 1s to %ds: seconds, or " TEXT_TIME_FORMS
			  ", not '%s'",
			  DEBUGINFOD_LIMIT_MAX_S, time);
		return -EINVAL;
	}
	if (!debuginfod_has_servers()) {
		log_error(
			"--debuginfod has no server to ask: name some in DEBUGINFOD_URLS, such as "
			"your distribution's; behind sudo, with "
			"sudo --preserve-env=DEBUGINFOD_URLS");
		return -EINVAL;
	}
	ret_request->limit_ms = limit_ns / NS_PER_MS;
	ret_request->is_cache_private = geteuid() == 0;
	return 0;
}

int cmd_parse_session(const char *text, char **ret_path, u64 *ret_from_ns, u64 *ret_to_ns)
{
	char *at;

	*ret_path = strdup(text);
	if (!*ret_path)
		return -ENOMEM;
	at = strrchr(*ret_path, '@');
	if (!at || !access(*ret_path, F_OK))
		return 0;
	*at = '\0';
	if (!report_parse_slice(at + 1, ret_from_ns, ret_to_ns))
		return 0;
	log_error("cannot take '%s' as a part of a session: it is FROM-TO, with FROM before TO, as "
		  "in "
		  "10s-1m, 90s-, -500ms; each is seconds, or " TEXT_TIME_FORMS,
		  at + 1);
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
