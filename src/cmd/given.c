// SPDX-License-Identifier: Apache-2.0
#include "given.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../base/build_id.h"
#include "../base/log.h"
#include "../base/utf8.h"
#include "../config/option_kind.h"
#include "cmd.h"
#include "like.h"
#include "measure.h"

#define WHERE_BYTES 512

/* --- the command line --- */

static int collect(int argc, char **argv, const struct given_command *command, struct given *given)
{
	int option;

	while ((option = getopt_long(argc, argv, command->letters, command->longs, NULL)) != -1) {
		if (option == '?')
			return -EINVAL;
		if (given->count == GIVEN_MAX) {
			log_error("more than %d options; put values into one list: -p 1,2,3",
				  GIVEN_MAX);
			return -EINVAL;
		}
		given->options[given->count++] = (struct given_option){
			.option = option,
			.value = optarg,
		};
		if (option == GIVEN_CONFIG)
			given->config = optarg;
		else if (option == GIVEN_LIKE)
			given->like = optarg;
	}
	if (optind < argc)
		command->engine->command = argv + optind;
	if (!given->config || !given->like)
		return 0;
	log_error("--config and --like both say what to measure: leave one of them out");
	return -EINVAL;
}

static bool line_has(const struct given *given, int option)
{
	for (size_t i = 0; i < given->count; i++)
		if (given->options[i].option == option)
			return true;
	return false;
}

static bool line_chooses(const struct given *given, const struct given_command *command)
{
	for (size_t i = 0; command->chooses_tasks && i < given->count; i++)
		if (command->chooses_tasks(given->options[i].option))
			return true;
	return command->engine->command;
}

/* --- the file --- */

static bool is_replaced(const struct given *given, const struct given_command *command,
			const struct option *row)
{
	if (line_has(given, row->val))
		return true;
	return command->chooses_tasks && command->chooses_tasks(row->val) &&
	       line_chooses(given, command);
}

static bool is_taken(const struct given *given, const struct given_command *command,
		     const struct config_entry *entry)
{
	const struct option *row = option_by_name(command->longs, entry->key);

	/* Who sends a session does not say which files are written. */
	if (given->like && option_kinds(row->name) & (OPTION_WRITES | OPTION_BESIDE))
		return false;
	return !is_replaced(given, command, row);
}

static void drop_replaced(struct given *given, const struct given_command *command)
{
	size_t kept = 0;

	for (size_t i = 0; i < given->file.count; i++) {
		struct config_entry *entry = &given->file.entries[i];

		if (is_taken(given, command, entry)) {
			given->file.entries[kept++] = *entry;
		} else {
			free(entry->key);
			free(entry->value);
		}
	}
	given->file.count = kept;
}

static int read_file(struct given *given, const struct given_command *command)
{
	int err;

	if (given->like)
		err = like_read(given->like, command->longs, command->engine->command,
				&given->like_facts, &given->file);
	else
		err = config_read(given->config, &given->file);
	if (!err)
		err = config_check(&given->file, command->longs);
	if (!err)
		drop_replaced(given, command);
	return err;
}

/* --- all of them --- */

static int take_one(const struct given_command *command, int option, const char *value)
{
	int err = command->take(command->options, option, value);

	if (err)
		return -EINVAL; /* whatever is wrong with it, it was typed */
	run_again_note(&command->engine->again, command->longs, option, value);
	return 0;
}

static int take_entry(const struct given *given, const struct given_command *command,
		      const struct config_entry *entry)
{
	const struct option *row = option_by_name(command->longs, entry->key);
	char where[WHERE_BYTES];
	int err;

	config_where(&given->file, entry, where, sizeof(where));
	log_set_place(where);
	if (row->val == MEASURE_SIGNALS && !strcmp(entry->value, "help")) {
		log_error("'help' is for the command line: dwell record -s help");
		err = -EINVAL;
	} else {
		err = take_one(command, row->val, entry->value);
	}
	log_set_place(NULL);
	return err;
}

/* A session may be anybody's: what it makes dwell do is shown. */
static void tell_taken(const struct given *given)
{
	for (size_t i = 0; given->like && i < given->file.count; i++) {
		const struct config_entry *entry = &given->file.entries[i];
		char value[256];

		utf8_escape(value, sizeof(value), entry->value ? entry->value : "");
		log_info("from %s: --%s%s%s", given->like, entry->key, *value ? " " : "", value);
	}
}

int given_parse(int argc, char **argv, const struct given_command *command, struct given *given)
{
	int err = collect(argc, argv, command, given);

	if (!err && (given->config || given->like) && !line_has(given, 'h'))
		err = read_file(given, command);
	for (size_t i = 0; !err && i < given->file.count; i++)
		err = take_entry(given, command, &given->file.entries[i]);
	for (size_t i = 0; !err && i < given->count; i++)
		if (given->options[i].option != GIVEN_CONFIG &&
		    given->options[i].option != GIVEN_LIKE)
			err = take_one(command, given->options[i].option, given->options[i].value);
	if (!err)
		tell_taken(given);
	return err;
}

int given_status(int err, const char *command)
{
	if (err != -EINVAL)
		return EXIT_FAILED;
	fprintf(stderr, "Try 'dwell %s --help'.\n", command);
	return EXIT_USAGE;
}

/* --- what holds --- */

/* Of values that do not add up the last one holds. */
static int add_row(const struct given *given, const struct given_command *command,
		   const struct option *row, struct effective *effective)
{
	const char *held = measure_default(command->engine, row->val), *const none = "";
	bool adds_up = option_kinds(row->name) & OPTION_ADDS_UP, has_any = held;
	int err = 0;

	for (size_t i = 0; !err && i < given->file.count + given->count; i++) {
		size_t line = i - given->file.count;
		bool is_of_file = i < given->file.count;
		const char *value =
			is_of_file ? given->file.entries[i].value : given->options[line].value;

		if (is_of_file ? strcmp(given->file.entries[i].key, row->name) != 0
			       : given->options[line].option != row->val)
			continue;
		has_any = true;
		held = value ? value : none;
		if (adds_up)
			err = effective_add(effective, row->name, value);
	}
	if (err || adds_up || !has_any)
		return err;
	return effective_add(effective, row->name, held == none ? NULL : held);
}

int given_effective(const struct given *given, const struct given_command *command,
		    struct effective *ret_effective)
{
	int err = 0;

	ret_effective->count = 0;
	for (const struct option *row = command->longs; !err && row->name; row++)
		if (!(option_kinds(row->name) & OPTION_NOT_IN_FILE))
			err = add_row(given, command, row, ret_effective);
	if (err)
		log_error("cannot keep the options: %s", strerror(-err));
	return err;
}

static const char *name_of(char **command)
{
	const char *slash = command ? strrchr(command[0], '/') : NULL;

	return !command ? "" : slash ? slash + 1 : command[0];
}

int given_identify(const struct given *given, const struct given_command *command)
{
	struct effective *effective = calloc(1, sizeof(*effective));
	char build_id[BUILD_ID_TEXT_BYTES];
	int err = effective ? given_effective(given, command, effective) : -ENOMEM;

	if (!effective)
		log_error("cannot start: not enough memory for the options");
	build_id_own(build_id);
	if (!err)
		effective_run_id(effective, build_id, command->name,
				 name_of(command->engine->command), command->engine->run_id);
	if (effective)
		effective_free(effective);
	free(effective);
	return err;
}

void given_compare(const struct given *given, const struct engine_result *result)
{
	if (given->like_facts)
		like_compare(given->like, given->like_facts, result);
}

void given_free(struct given *given)
{
	config_free(&given->file);
	session_facts_free(given->like_facts);
	given->like_facts = NULL;
}
