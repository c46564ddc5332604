// SPDX-License-Identifier: Apache-2.0
#include "like.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "../base/cleanup.h"
#include "../base/log.h"
#include "../base/utf8.h"
#include "../config/compare.h"
#include "../config/option_kind.h"
#include "../store/reader.h"
#include "cmd.h"
#include "reader_process.h"

#define DIFFERENCES_SHOWN 50

struct reading {
	const char *name;
	int db_fd, wal_fd;
	struct session_facts *facts;
};

static int read_inside(const void *context)
{
	const struct reading *reading = context;
	struct session *session;
	int err = session_open_fds(reading->db_fd, reading->wal_fd, reading->name, &session);

	if (err)
		return EXIT_FAILED;
	err = session_facts_read(session_db(session), reading->facts);
	session_close(session);
	return err ? EXIT_FAILED : EXIT_OK;
}

/* In a process without privileges: 0 or -errno, told. */
static int read_facts(const char *name, int db_fd, int wal_fd, struct session_facts **ret_facts)
{
	struct reading reading = {name, db_fd, wal_fd, session_facts_make()};

	*ret_facts = reading.facts;
	if (!reading.facts) {
		log_error("cannot read %s: not enough memory", name);
		return -ENOMEM;
	}
	return reader_process_run(read_inside, &reading, db_fd, wal_fd, NULL) ? -EBADMSG : 0;
}

/* --- options --- */

/* "-d 10", "--kernel=64K", "-a": as run_again.h writes them. */
static int add_option(struct config *options, const struct option *longs, const char *text,
		      unsigned int number)
{
	size_t length = strcspn(text, text[0] == '-' && text[1] == '-' ? " =" : " ");
	const char *value = text[length] ? text + length + 1 : NULL;
	const struct option *row = NULL;
	char name[64];

	snprintf(name, sizeof(name), "%.*s", (int)length, text);
	if (name[0] == '-' && name[1] && name[1] != '-' && !name[2])
		row = option_by_value(longs, name[1]);
	if (row)
		return config_add(options, row->name, value, number);
	return config_add(options, !strncmp(name, "--", 2) ? name + 2 : name, value, number);
}

static int add_options(struct config *options, const struct option *longs,
		       const struct session_facts *facts)
{
	int err = 0;

	for (unsigned int i = 0; !err && i < CONFIG_ENTRIES_MAX; i++) {
		const char *text;
		char key[32];

		snprintf(key, sizeof(key), "option.%u", i);
		text = session_facts_meta(facts, key);
		if (!*text)
			return 0;
		err = add_option(options, longs, text, i);
	}
	return err;
}

static int check(const char *path, const struct session_facts *facts, char **command)
{
	const char *kind = session_facts_meta(facts, "kind");
	const char *measured = session_facts_meta(facts, "command");
	char name[128];

	if (strcmp(kind, "record") != 0 && strcmp(kind, "run") != 0) {
		log_error("cannot measure like %s: %s; --like takes a session of 'dwell record' or "
			  "'dwell run'",
			  path,
			  *kind ? "it is of another command"
				: "an older dwell recorded it, and did not store its options");
		return -EINVAL;
	}
	if (strcmp(session_facts_meta(facts, "options_cut"), "") != 0) {
		log_error("cannot measure like %s: some of its options were too long to be stored; "
			  "give them all on the command line instead",
			  path);
		return -EINVAL;
	}
	if (!*measured || command)
		return 0;
	utf8_escape(name, sizeof(name), measured);
	log_error("cannot measure like %s: it is of the command '%s', and a session does not store "
		  "a command's arguments; add -- %s ARGS",
		  path, name, name);
	return -EINVAL;
}

int like_read(const char *path, const struct option *longs, char **command,
	      struct session_facts **ret_facts, struct config *ret_options)
{
	_cleanup_close_ int db_fd = -1, wal_fd = -1;
	int err = session_open_files(path, &db_fd, &wal_fd);

	*ret_options = (struct config){.name = path, .is_session = true};
	if (!err)
		err = read_facts(path, db_fd, wal_fd, ret_facts);
	if (!err)
		err = check(path, *ret_facts, command);
	return err ? err : add_options(ret_options, longs, *ret_facts);
}

/* --- what differs --- */

static void tell_difference(void *context, const char *text)
{
	u64 *told = context;

	if ((*told)++ < DIFFERENCES_SHOWN)
		log_info("differs: %s", text);
}

static void tell_sum(const char *path, const struct comparison *comparison, u64 told)
{
	char compared[256];

	snprintf(compared, sizeof(compared),
		 "%llu facts, %llu host settings, %llu hooks and %llu builds compared",
		 (unsigned long long)comparison->options, (unsigned long long)comparison->settings,
		 (unsigned long long)comparison->hooks, (unsigned long long)comparison->builds);
	if (told > DIFFERENCES_SHOWN)
		log_info("and %llu more differences",
			 (unsigned long long)(told - DIFFERENCES_SHOWN));
	if (comparison->settings_alone)
		log_info("%llu host settings are known of one of the two sessions only",
			 (unsigned long long)comparison->settings_alone);
	if (comparison->differences)
		log_info("%llu difference%s from %s; %s",
			 (unsigned long long)comparison->differences,
			 comparison->differences == 1 ? "" : "s", path, compared);
	else
		log_info("nothing differs from %s: %s", path, compared);
}

void like_compare(const char *path, const struct session_facts *there,
		  const struct engine_result *result)
{
	_cleanup_close_ int db_fd = -1, wal_fd = -1;
	struct session_facts *here = NULL;
	struct comparison comparison;
	u64 told = 0;
	int err = files_reopen(&result->files, result->files_end, &db_fd, &wal_fd);

	if (!err)
		err = read_facts("the session", db_fd, wal_fd, &here);
	if (!err)
		err = compare_facts(there, here, tell_difference, &told, &comparison);
	if (err)
		log_error("cannot compare with %s: %s", path, strerror(-err));
	else
		tell_sum(path, &comparison, told);
	session_facts_free(here);
}
