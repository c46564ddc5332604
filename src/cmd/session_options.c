// SPDX-License-Identifier: Apache-2.0
#include "session_options.h"

#include <errno.h>
#include <getopt.h>
#include <inttypes.h>
#include <pwd.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "../../abi/config.h"
#include "../../abi/records.h"
#include "../base/cleanup.h"
#include "../base/clock.h"
#include "../base/log.h"
#include "../base/text.h"
#include "../model/profile.h"
#include "../report/report.h"
#include "../symbolize/debuginfod.h"
#include "cmd.h"

#define DEBUGINFOD_LIMIT_S     10
#define DEBUGINFOD_LIMIT_MAX_S 3600

static int parse_ids(const char *option, u32 *ids, size_t *ret_count)
{
	if (!text_parse_list(optarg, 1, PID_LIMIT, ids, SESSION_PART_IDS_MAX, ret_count))
		return 0;
	log_error("%s takes a comma-separated list of up to %d numbers, not '%s'", option,
		  SESSION_PART_IDS_MAX, optarg);
	return -EINVAL;
}

static int parse_kind(const char *name, u32 *ret_kind)
{
	for (u32 i = 0; i < SAMPLE_KIND_COUNT; i++)
		if (!strcmp(name, profile_kind_name(i))) {
			*ret_kind = i;
			return 0;
		}
	log_error("--kind is cpu or blocked, not '%s'", name);
	return -EINVAL;
}

static int parse_debuginfod(const char *time, struct fetch_request *ret_request)
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

int session_parse(const char *text, char **ret_path, u64 *ret_from_ns, u64 *ret_to_ns)
{
	char *path = strdup(text), *at;

	*ret_path = path;
	if (!path) {
		log_error("cannot read %s: not enough memory", text);
		exit(EXIT_FAILED);
	}
	at = strrchr(path, '@');
	if (!at || !access(path, F_OK))
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

/* Numbers of users: whoever reads the session has no file with their names. */
static int parse_users(const char *list, struct session_part *part)
{
	size_t used = 0;

	part->users[0] = '\0';
	for (const char *at = list; at; at = strchr(at, ',') ? strchr(at, ',') + 1 : NULL) {
		size_t length = strcspn(at, ",");
		_cleanup_free_ char *name = strndup(at, length);
		const struct passwd *user;
		u64 uid;

		if (!name)
			return -ENOMEM;
		if (text_parse_u64(name, 0, U32_LIMIT - 1, &uid)) {
			user = *name ? getpwnam(name) : NULL;
			if (!user) {
				log_error(
					"cannot look for processes of '%s': this host has no such "
					"user, and a session has their numbers: use --user UID",
					name);
				return -EINVAL;
			}
			uid = user->pw_uid;
		}
		used += (size_t)snprintf(part->users + used, sizeof(part->users) - used,
					 "%s%" PRIu64, used ? "," : "", (uint64_t)uid);
		if (used >= sizeof(part->users)) {
			log_error("--user takes fewer users: up to %d bytes of numbers",
				  SESSION_PART_USERS);
			return -EINVAL;
		}
	}
	part->keys[PROCESS_KEY_USER] = part->users;
	return 0;
}

static int parse_key(enum process_key key, struct session_part *part)
{
	if (!*optarg) {
		log_error("--%s needs a name, or several, comma-separated", process_keys[key].name);
		return -EINVAL;
	}
	if (process_keys[key].fit == FIT_USER)
		return parse_users(optarg, part);
	part->keys[key] = optarg;
	return 0;
}

int session_option(int option, struct session_options *options)
{
	struct session_part *part = options->part;

	if (option >= SESSION_OPTION_KEY && option < SESSION_OPTION_KEY + PROCESS_KEY_COUNT)
		return parse_key((enum process_key)(option - SESSION_OPTION_KEY), part);
	switch (option) {
	case 'p':
		return parse_ids("--pid", part->pids, &part->pid_count);
	case 't':
		return parse_ids("--tid", part->tids, &part->tid_count);
	case 'k':
		part->kernel = true;
		return 0;
	case 'K':
		part->one_kind = true;
		return parse_kind(optarg, &part->kind);
	case 'z':
		return cmd_parse_state("--state", optarg, &part->state);
	case 'd':
		return parse_debuginfod(optarg, options->debuginfod);
	case 'h':
		options->help = true;
		return 0;
	}
	return cmd_common_option(option) ? 0 : -ENOENT;
}

int session_argument(int argc, char **argv, const char *command, const char *example,
		     struct session_options *options)
{
	if (argc - optind == 1)
		return session_parse(argv[optind], options->path, &options->part->from_ns,
				     &options->part->to_ns);
	if (optind < argc)
		log_error("%s takes one session, but got '%s' too", command, argv[optind + 1]);
	else
		log_error("%s needs a session: %s", command, example);
	return -EINVAL;
}
