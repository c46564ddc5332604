// SPDX-License-Identifier: Apache-2.0
/*
 * Functions of the kernel and its tracepoints, as the kernel itself lists them.
 */
#include <errno.h>
#include <glob.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "../base/cleanup.h"
#include "../base/log.h"
#include "../base/pattern.h"
#include "trace.h"

#define FIELDS_SKIPPED 8 /* bytes: what all tracepoints have, which programs do not get to see */

static const char *const tracefs[] = {"/sys/kernel/tracing", "/sys/kernel/debug/tracing"};

/* --- functions --- */

static int take_function(struct trace *trace, const struct trace_word *word, const char *name,
			 bool is_one_of_many)
{
	struct trace_place *place;

	if (trace_check_danger(is_one_of_many && !trace->force ? NULL : trace, name, true)) {
		trace->skipped += is_one_of_many;
		return is_one_of_many ? 0 : -EPERM;
	}
	place = trace_place_add(trace, word, name);
	if (!place)
		return -E2BIG;
	snprintf(place->function, sizeof(place->function), "%.150s", name);
	if (!word->role && !trace->count_only) {
		place->spec.role = FUNC_CALL;
		place->has_return = true;
	}
	return 0;
}

/* "ffffffff81000000 T name [module]" */
bool trace_read_symbol(const char *line, char ret_name[160])
{
	char type;

	return sscanf(line, "%*x %c %159s", &type, ret_name) == 2 && (type == 't' || type == 'T');
}

int trace_find_kernel(struct trace *trace, const struct trace_word *word)
{
	_cleanup_fclose_ FILE *file = fopen("/proc/kallsyms", "re");
	bool is_pattern = strpbrk(word->name, "*?");
	char line[512], name[160], last[160] = "";
	u32 found = 0;
	int err = 0;

	while (file && !err && fgets(line, sizeof(line), file)) {
		if (!trace_read_symbol(line, name) || !pattern_matches(word->name, name) ||
		    !strcmp(name, last) || (is_pattern && strchr(name, '.')))
			continue;
		strcpy(last, name);
		if (++found > trace->limit) {
			log_error("-k %s fits more than --limit %u functions: choose a narrower "
				  "pattern, or a higher limit",
				  word->name, trace->limit);
			return -E2BIG;
		}
		err = take_function(trace, word, name, is_pattern);
		if (!is_pattern)
			return err;
	}
	if (err)
		return err;
	if (!found) {
		log_error(
			"the kernel has no function %s: it may be inlined, or in a module that is "
			"not loaded",
			word->name);
		return -ENOENT;
	}
	log_info("-k %s: %u functions", word->name, found);
	return 0;
}

/* --- tracepoints --- */

static const char *events_dir(void)
{
	static char path[64];

	for (size_t i = 0; i < ARRAY_SIZE(tracefs); i++) {
		snprintf(path, sizeof(path), "%s/events", tracefs[i]);
		if (!access(path, R_OK))
			return path;
	}
	return NULL;
}

/* "	field:int prev_pid;	offset:24;	size:4;	signed:1;": those beyond what is common. */
static void read_fields(const char *path, struct trace_place *place)
{
	_cleanup_fclose_ FILE *file = fopen(path, "re");
	u32 count = 0;
	char line[512];

	memset(place->spec.args, 0, sizeof(place->spec.args));
	while (file && count < FUNC_ARGS_MAX && fgets(line, sizeof(line), file)) {
		const char *offset_at = strstr(line, "offset:"), *field = strstr(line, "field:");
		int offset, size, is_signed;

		if (!field || !offset_at || strstr(field, "common_") == field + 6 ||
		    sscanf(offset_at, "offset:%d; size:%d; signed:%d", &offset, &size,
			   &is_signed) != 3 ||
		    offset < FIELDS_SKIPPED || strstr(line, " common_"))
			continue;
		place->spec.args[count++] = (struct func_arg){
			.kind = FUNC_ARG_CONTEXT,
			.size = (s8)(size == 1 || size == 2 || size == 4
					     ? (is_signed ? -size : size)
					     : 8),
			.value = offset,
		};
	}
}

static int take_event(struct trace *trace, const struct trace_word *word, const char *path)
{
	const char *event = strrchr(path, '/') + 1, *category = event - 2;
	char name[160], format[512];
	struct trace_place *place;

	while (category > path && category[-1] != '/')
		category--;
	snprintf(name, sizeof(name), "%.*s:%.90s", (int)(event - category - 1), category, event);
	if (trace_check_event(trace, name))
		return -EPERM;
	place = trace_place_add(trace, word, name);
	if (!place)
		return -E2BIG;
	snprintf(place->function, sizeof(place->function), "%s", name);
	snprintf(format, sizeof(format), "%.480s/format", path);
	read_fields(format, place);
	return 0;
}

int trace_find_tracepoint(struct trace *trace, const struct trace_word *word)
{
	const char *dir = events_dir(), *colon = strchr(word->name, ':');
	char pattern[512];
	glob_t found;
	int err = 0;

	if (!dir) {
		log_error("cannot list tracepoints: tracefs is not mounted → mount -t tracefs "
			  "tracefs /sys/kernel/tracing");
		return -ENOENT;
	}
	snprintf(pattern, sizeof(pattern), "%s/%.*s/%s", dir, (int)(colon - word->name), word->name,
		 colon + 1);
	if (strchr(word->name, '/') || glob(pattern, GLOB_ONLYDIR, NULL, &found)) {
		log_error("the kernel has no tracepoint %s: %s lists them", word->name, dir);
		return -ENOENT;
	}
	if (found.gl_pathc > trace->limit) {
		log_error("-t %s fits %zu tracepoints, more than --limit %u", word->name,
			  found.gl_pathc, trace->limit);
		err = -E2BIG;
	}
	for (size_t i = 0; i < found.gl_pathc && !err; i++)
		err = take_event(trace, word, found.gl_pathv[i]);
	if (!err && found.gl_pathc > 1)
		log_info("-t %s: %zu tracepoints", word->name, found.gl_pathc);
	globfree(&found);
	return err;
}
