// SPDX-License-Identifier: Apache-2.0
#include "rotation.h"

#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../base/clock.h"
#include "../base/log.h"
#include "../base/person.h"
#include "../base/text.h"
#include "../worker/session.h"

#define SUFFIX	   ".dwell"
#define DIGITS_MIN 4

/* --- names --- */

/* How much of the name comes before the number. */
static size_t stem_length(const char *name)
{
	size_t length = strlen(name), suffix = strlen(SUFFIX);

	return length > suffix && !strcmp(name + length - suffix, SUFFIX) ? length - suffix
									  : length;
}

int rotation_name(const char *output, u64 number, char *ret_path, size_t size)
{
	size_t stem = stem_length(output);
	int length = snprintf(ret_path, size, "%.*s.%0*llu%s", (int)stem, output, DIGITS_MIN,
			      (unsigned long long)number, output + stem);

	return length < 0 || (size_t)length >= size ? -ENAMETOOLONG : 0;
}

/* The number in a file's name, or 0: it is not one of this recording's names. */
static u64 number_of(const char *file, const char *base)
{
	size_t stem = stem_length(base), digits;
	char text[12];
	u64 number;

	if (strncmp(file, base, stem) || file[stem] != '.')
		return 0;
	file += stem + 1;
	digits = strspn(file, "0123456789");
	if (digits < DIGITS_MIN || digits >= sizeof(text) ||
	    strncmp(file + digits, base + stem, strlen(base + stem)))
		return 0;
	snprintf(text, sizeof(text), "%.*s", (int)digits, file);
	return text_parse_u64(text, 1, ROTATION_NUMBER_MAX, &number) ? 0 : number;
}

u64 rotation_highest(const char *output)
{
	const char *slash = strrchr(output, '/'), *base = slash ? slash + 1 : output;
	char folder[PATH_MAX] = ".";
	struct person person;
	struct dirent *entry;
	u64 highest = 0;
	DIR *dir;

	if (slash)
		snprintf(folder, sizeof(folder), "%.*s", (int)(slash - output + 1), output);
	person_find(&person);
	if (person_begin(&person))
		return 0;
	dir = opendir(folder);
	person_end(&person);
	while (dir && (entry = readdir(dir))) {
		u64 number = number_of(entry->d_name, base);

		highest = number > highest ? number : highest;
	}
	if (dir)
		closedir(dir);
	return highest;
}

/* --- files --- */

int rotation_open(struct rotation *rotation, const char *output, u64 every_ns, u64 keep,
		  char *ret_path, size_t size)
{
	u64 highest = rotation_highest(output);

	*rotation = (struct rotation){
		.output = output,
		.every_ns = every_ns,
		.keep = keep,
		.number = highest + 1,
		.next = {.db_fd = -1, .wal_fd = -1},
		.may_have_next = true,
	};
	if (keep) {
		rotation->written = calloc(keep, sizeof(*rotation->written));
		if (!rotation->written) {
			log_error("cannot start: there is no memory for --keep %llu; use less",
				  (unsigned long long)keep);
			return -ENOMEM;
		}
	}
	if (highest)
		log_info("files of an earlier recording are there: this one begins with number "
			 "%04llu, and leaves them alone",
			 (unsigned long long)highest + 1);
	if (!rotation_name(output, rotation->number, ret_path, size))
		return 0;
	log_error("cannot create a session: the name after -o is too long");
	return -ENAMETOOLONG;
}

void rotation_drop_next(struct rotation *rotation)
{
	if (rotation->may_have_next && rotation->next.db_fd >= 0)
		files_close(&rotation->next, FILES_UNUSED);
	rotation->has_next = false;
}

void rotation_close(struct rotation *rotation)
{
	if (!rotation->may_have_next)
		return;
	rotation_drop_next(rotation);
	free(rotation->written);
	rotation->written = NULL;
}

void rotation_begin(struct rotation *rotation, u64 begin_ns)
{
	u64 after_ns = rotation->is_warming ? rotation->warmup_ns : rotation->every_ns;

	rotation->due_ns = after_ns ? begin_ns + after_ns : ~0ULL;
	rotation->made = 1;
}

static int open_next(struct rotation *rotation, struct worker *worker)
{
	bool is_in_memory = !*rotation->next_path;
	int err = is_in_memory ? files_create_in_memory(&rotation->next)
			       : files_create(rotation->next_path, &rotation->next);

	if (!err)
		err = worker_session_open(worker, rotation->next.db_fd, rotation->next.wal_fd,
					  is_in_memory ? rotation->memory_bytes : 0);
	rotation->has_next = !err;
	if (err)
		rotation_drop_next(rotation);
	return err;
}

int rotation_warm_up(struct rotation *rotation, struct worker *worker, u64 warmup_ns,
		     const char *path, u64 memory_bytes)
{
	rotation->warmup_ns = warmup_ns;
	rotation->is_warming = true;
	rotation->memory_bytes = memory_bytes;
	rotation->next = (struct session_files){.db_fd = -1, .wal_fd = -1};
	rotation->may_have_next = true;
	text_copy(rotation->next_path, sizeof(rotation->next_path), path ? path : "");
	return open_next(rotation, worker);
}

void rotation_prepare(struct rotation *rotation, struct worker *worker)
{
	int err = 0;

	if (!rotation->is_warming)
		err = rotation->number < ROTATION_NUMBER_MAX
			      ? rotation_name(rotation->output, rotation->number + 1,
					      rotation->next_path, sizeof(rotation->next_path))
			      : -ERANGE;
	if (!err)
		err = open_next(rotation, worker);
	if (!err)
		return;
	rotation->due_ns += rotation->is_warming ? NS_PER_S : rotation->every_ns;
	log_error("cannot begin the next file of the recording: %s; file %04llu goes on, and the "
		  "next one is tried again when it would end",
		  strerror(-err), (unsigned long long)rotation->number);
}

static void remove_oldest(struct rotation *rotation)
{
	const struct rotation_file oldest = rotation->written[0];
	char path[PATH_MAX];
	int err;

	memmove(rotation->written, rotation->written + 1,
		--rotation->written_count * sizeof(*rotation->written));
	rotation_name(rotation->output, oldest.number, path, sizeof(path));
	err = files_remove(path, &oldest.identity);
	if (!err) {
		rotation->removed++;
	} else if (err == -ESTALE) {
		rotation->missing++;
		log_info("%s is not the file that dwell wrote any more: nothing is removed", path);
	} else {
		rotation->not_removed++;
		log_error("cannot remove %s, which is older than --keep %llu allows: %s; the "
			  "recording goes on, remove it by hand",
			  path, (unsigned long long)rotation->keep, strerror(-err));
	}
}

/* The one that is written counts, too. */
static void note_written(struct rotation *rotation, const struct files_identity *identity)
{
	if (!rotation->keep)
		return;
	rotation->written[rotation->written_count++] =
		(struct rotation_file){rotation->number, *identity};
	if (rotation->written_count == rotation->keep)
		remove_oldest(rotation);
}

static u64 longer(u64 a, u64 b)
{
	return a > b ? a : b;
}

int rotation_turn(struct rotation *rotation, struct worker *worker, u64 begin_ns,
		  struct session_files *files, char *path, size_t size)
{
	u64 started_ns = clock_now_ns(), turned_ns;
	struct files_identity identity;
	int err = worker_session_rotate(worker);

	if (err)
		return err;
	turned_ns = clock_now_ns();
	files_identify(files, &identity);
	/* What the writer itself could not do, it has told: the -wal stays beside the file. */
	err = worker_session_finish(worker);
	files_close(files, err ? FILES_NEED_WAL : FILES_COMPLETE);
	if (!rotation->is_warming) {
		rotation->incomplete += err != 0;
		note_written(rotation, &identity);
		rotation->number++;
		rotation->made++;
	}
	*files = rotation->next;
	text_copy(path, size, rotation->next_path);
	files->path = *path ? path : NULL;
	rotation->next = (struct session_files){.db_fd = -1, .wal_fd = -1};
	rotation->has_next = rotation->is_warming = false;
	rotation->due_ns = rotation->every_ns ? begin_ns + rotation->every_ns : ~0ULL;
	rotation->longest_ns = longer(rotation->longest_ns, turned_ns - started_ns);
	rotation->longest_end_ns = longer(rotation->longest_end_ns, clock_now_ns() - turned_ns);
	return 0;
}
