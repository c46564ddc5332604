// SPDX-License-Identifier: Apache-2.0
#include "process_filter.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../base/cleanup.h"
#include "../base/log.h"
#include "../base/strings.h"
#include "../base/text.h"
#include "../base/utf8.h"
#include "query.h"

#define PROCESSES_MAX 1000000
#define VALUE_BYTES   256
#define TEXTS_BYTES   (256 << 20)
#define VALUES_MAX    20000 /* different ones that are looked at for a message */
#define NEAREST	      5	    /* names in it */
#define NEAR_BYTES    64    /* of a name that are compared */

/* Opens with its key. */
struct candidate {
	struct process_id id;
	u32 values[PROCESS_KEY_COUNT]; /* texts */
	u32 unused;
};

struct reading {
	const struct session_part *part;
	struct hash candidates;
	struct strings texts;
};

bool session_part_has_pid(const struct session_part *part, u64 pid)
{
	if (!session_part_lists(part->pids, part->pid_count, pid))
		return false;
	for (size_t i = 0; part->chosen && i < part->chosen->count; i++)
		if (((struct process_id *)hash_item(part->chosen, i))->pid == pid)
			return true;
	return !part->chosen;
}

static int take_text(struct reading *reading, sqlite3_stmt *row, int column, u32 *ret_text)
{
	char text[VALUE_BYTES];

	query_text(row, column, text, sizeof(text));
	*ret_text = strings_add(&reading->texts, text);
	return *ret_text == STRINGS_NONE ? -ENOMEM : 0;
}

static int on_process(sqlite3_stmt *row, void *context)
{
	struct reading *reading = context;
	const struct process_id id = {query_count(row, 0), query_count(row, 1)};
	struct candidate *candidate = hash_add(&reading->candidates, &id);
	int err = candidate ? 0 : -ENOMEM;

	for (int key = 0; !err && key < PROCESS_KEY_COUNT; key++)
		err = take_text(reading, row, 2 + key, &candidate->values[key]);
	return err;
}

/* A process is called as its leader is, last of all after an exec: as in the report. */
static int on_thread(sqlite3_stmt *row, void *context)
{
	struct reading *reading = context;
	const struct process_id id = {query_count(row, 0), query_count(row, 1)};
	struct candidate *candidate = hash_add(&reading->candidates, &id);
	u32 comm = 0;
	int err = candidate ? take_text(reading, row, 3, &comm) : -ENOMEM;

	/* 0 is the empty text. */
	if (!err &&
	    ((id.pid == query_count(row, 2) && comm) || !candidate->values[PROCESS_KEY_COMM]))
		candidate->values[PROCESS_KEY_COMM] = comm;
	return err;
}

static int read_candidates(sqlite3 *db, struct reading *reading)
{
	char columns[256] = "pid, start_ns";
	size_t used = strlen(columns);
	int err;

	for (int key = 0; key < PROCESS_KEY_COUNT; key++) {
		const char *column = process_keys[key].column;

		used += (size_t)snprintf(columns + used, sizeof(columns) - used, ", %s",
					 query_has_column(db, "processes", column) ? column : "''");
	}
	strings_init(&reading->texts, TEXTS_BYTES);
	hash_init(&reading->candidates, sizeof(struct candidate), sizeof(struct process_id),
		  PROCESSES_MAX);
	err = query_table(db, "processes", columns, NULL, on_process, reading);
	return err ? err
		   : query_table(db, "threads", "pid, process_start_ns, tid, comm", "id", on_thread,
				 reading);
}

static const char *value_of(const struct reading *reading, const struct candidate *candidate,
			    int key)
{
	return strings_get(&reading->texts, candidate->values[key]);
}

static bool fits(const struct reading *reading, const struct candidate *candidate, int key)
{
	const char *list = reading->part->keys[key];

	return !list ||
	       process_key_fits((enum process_key)key, list, value_of(reading, candidate, key));
}

static int choose(const struct reading *reading, struct hash *chosen)
{
	for (size_t i = 0; i < reading->candidates.count; i++) {
		const struct candidate *candidate = hash_item(&reading->candidates, i);
		bool is_chosen = true;

		for (int key = 0; is_chosen && key < PROCESS_KEY_COUNT; key++)
			is_chosen = fits(reading, candidate, key);
		if (is_chosen && !hash_add(chosen, &candidate->id))
			return -ENOMEM;
	}
	return 0;
}

/* --- what there is, where nothing fits --- */

/* How many characters differ: inserted, left out or others; of the beginnings of long ones. */
static unsigned int distance(const char *a, const char *b)
{
	unsigned int row[NEAR_BYTES + 1];
	size_t length_a = strnlen(a, NEAR_BYTES), length_b = strnlen(b, NEAR_BYTES);

	for (size_t i = 0; i <= length_b; i++)
		row[i] = (unsigned int)i;
	for (size_t i = 1; i <= length_a; i++) {
		unsigned int diagonal = row[0];

		row[0] = (unsigned int)i;
		for (size_t j = 1; j <= length_b; j++) {
			unsigned int changed = diagonal + (a[i - 1] != b[j - 1]), least = row[j];

			diagonal = row[j];
			least = row[j - 1] < least ? row[j - 1] : least;
			row[j] = changed < least + 1 ? changed : least + 1;
		}
	}
	return row[length_b];
}

struct near {
	char value[VALUE_BYTES]; /* the key */
	unsigned int distance;
};

static int by_distance(const void *a, const void *b)
{
	const struct near *x = a, *y = b;

	if (x->distance != y->distance)
		return x->distance < y->distance ? -1 : 1;
	return strcmp(x->value, y->value);
}

/* As long as what was typed, or the end of a path as long. */
static unsigned int likeness(const char *typed, const char *value)
{
	const char *slash = strrchr(value, '/');
	unsigned int whole = distance(typed, value);
	unsigned int end = slash ? distance(typed, slash + 1) : whole;

	return end < whole ? end : whole;
}

static int tell_nearest(const struct reading *reading, int key)
{
	const char *typed = reading->part->keys[key];
	char list[NEAREST * VALUE_BYTES] = "", first[VALUE_BYTES];
	unsigned int limit;
	struct hash values;
	size_t used = 0;

	text_copy(first, sizeof(first), typed);
	first[strcspn(first, ",")] = '\0';
	limit = 1 + (unsigned int)strlen(first) / 4;
	hash_init(&values, sizeof(struct near), VALUE_BYTES, VALUES_MAX);
	for (size_t i = 0; i < reading->candidates.count; i++) {
		const struct candidate *candidate = hash_item(&reading->candidates, i);
		char value[VALUE_BYTES] = "";
		struct near *near;

		text_copy(value, sizeof(value), value_of(reading, candidate, key));
		near = *value ? hash_add(&values, value) : NULL;
		if (near)
			near->distance = likeness(first, value);
	}
	if (values.count)
		qsort(values.items, values.count, sizeof(struct near), by_distance);
	for (size_t i = 0; i < values.count && i < NEAREST; i++) {
		const struct near *near = hash_item(&values, i), *nearest = hash_item(&values, 0);
		char shown[VALUE_BYTES];

		/* Where one is written alike, those that are not are no help. */
		if (nearest->distance <= limit && near->distance > limit)
			break;

		utf8_escape(shown, sizeof(shown), near->value);
		used += (size_t)snprintf(list + used, sizeof(list) - used, "%s%s", i ? ", " : "",
					 shown);
	}
	log_error("no process of the session has --%s %s; %s%s%s", process_keys[key].name, typed,
		  values.count ? "there is " : "none of them has one", list,
		  values.count > NEAREST ? ", ..." : "");
	hash_free(&values);
	return -ENOENT;
}

/* The first option that fits no process by itself is to blame, else that they are together. */
static int tell_none(const struct reading *reading)
{
	char filter[1024];

	for (int key = 0; key < PROCESS_KEY_COUNT; key++) {
		bool any = false;

		for (size_t i = 0; !any && i < reading->candidates.count; i++)
			any = fits(reading, hash_item(&reading->candidates, i), key);
		if (!any)
			return tell_nearest(reading, key);
	}
	process_filter_text(reading->part, filter, sizeof(filter));
	log_error("no process of the session has all of %s: leave one out", filter);
	return -ENOENT;
}

int process_filter_read(sqlite3 *db, struct session_part *part)
{
	struct reading reading = {.part = part};
	struct hash *chosen;
	bool is_asked = false;
	int err;

	for (int key = 0; key < PROCESS_KEY_COUNT; key++)
		is_asked |= part->keys[key] != NULL;
	if (!is_asked)
		return 0;
	chosen = malloc(sizeof(*chosen));
	err = chosen ? read_candidates(db, &reading) : -ENOMEM;
	if (chosen)
		hash_init(chosen, sizeof(struct process_id), sizeof(struct process_id),
			  PROCESSES_MAX);
	if (!err)
		err = choose(&reading, chosen);
	if (!err && !chosen->count)
		err = tell_none(&reading);
	if (err == -ENOMEM)
		log_error("not enough memory to choose among the session's processes: use --pid");
	hash_free(&reading.candidates);
	strings_free(&reading.texts);
	part->chosen = chosen;
	if (err)
		process_filter_free(part);
	return err;
}

void process_filter_free(struct session_part *part)
{
	if (part->chosen)
		hash_free(part->chosen);
	free(part->chosen);
	part->chosen = NULL;
}

static void add_list(const char *name, const u32 *list, size_t count, char *text, size_t size)
{
	for (size_t i = 0; i < count; i++) {
		size_t used = strlen(text);

		snprintf(text + used, size - used, "%s%s%u",
			 i	? ","
			 : used ? ", "
				: "",
			 i ? "" : name, list[i]);
	}
}

void process_filter_text(const struct session_part *part, char *text, size_t size)
{
	*text = '\0';
	add_list("pid ", part->pids, part->pid_count, text, size);
	add_list("tid ", part->tids, part->tid_count, text, size);
	for (int key = 0; key < PROCESS_KEY_COUNT; key++) {
		size_t used = strlen(text);
		char shown[VALUE_BYTES];

		if (!part->keys[key])
			continue;
		utf8_escape(shown, sizeof(shown), part->keys[key]);
		snprintf(text + used, size - used, "%s%s %s", used ? ", " : "",
			 process_keys[key].name, shown);
	}
}
