// SPDX-License-Identifier: Apache-2.0
/* What the fields of a series' key are called. */
#include <inttypes.h>
#include <string.h>

#include "../model/syscall.h"
#include "format.h"
#include "signals.h"

#define DEVICE_MINOR_BITS 20 /* as the kernel numbers devices */

static const char *label_of(const struct digest *digest, const struct measured *of, u64 id)
{
	const u64 key[2] = {of->id, id};
	const struct label_row *label = hash_find(&digest->signals.labels, key);

	return label && *label->name ? label->name : NULL;
}

static void name_size(u64 log2, char *buf, size_t size)
{
	static const char *const units[] = {"B", "KiB", "MiB", "GiB", "TiB", "PiB", "EiB"};

	if (!log2)
		snprintf(buf, size, "any");
	else if (log2 < 64)
		snprintf(buf, size, "<= %llu %s", 1ULL << log2 % 10, units[log2 / 10]);
	else
		snprintf(buf, size, "%" PRIu64, (uint64_t)log2);
}

static void name_errno(u64 value, char *buf, size_t size)
{
	const char *name = value && value < 4096 ? strerrorname_np((int)value) : NULL;

	if (name || !value)
		snprintf(buf, size, "%s", name ? name : "ok");
	else
		snprintf(buf, size, "error %" PRIu64, (uint64_t)value);
}

static void name_label(const struct digest *digest, const struct measured *of,
		       const struct series_field *field, u64 value, char *buf, size_t size)
{
	const char *label = label_of(digest, of, value);

	if (label)
		snprintf(buf, size, "%s", label);
	else if (field->kind == FIELD_DEVICE)
		snprintf(buf, size, "%" PRIu64 ":%" PRIu64, (uint64_t)(value >> DEVICE_MINOR_BITS),
			 (uint64_t)(value & ((1 << DEVICE_MINOR_BITS) - 1)));
	else if (field->kind == FIELD_LABEL && hash_find(&digest->objects, &value))
		format_object(digest, value, buf, size);
	else if (field->kind == FIELD_ADDRESS)
		snprintf(buf, size, "0x%" PRIx64, (uint64_t)value);
	else if (value)
		snprintf(buf, size, "#%" PRIu64, (uint64_t)value);
}

static void name_text(const char *text, u64 value, char *buf, size_t size)
{
	if (text && *text)
		snprintf(buf, size, "%s", text);
	else
		snprintf(buf, size, "%" PRIu64, (uint64_t)value);
}

void series_field_text(const struct digest *digest, const struct measured *of,
		       const struct series_field *field, u64 value, char *buf, size_t size)
{
	char call[SYSCALL_NAME_BYTES];

	*buf = '\0';
	switch (field->kind) {
	case FIELD_NONE:
		return;
	case FIELD_NAME:
		name_text(value < field->name_count ? field->names[value] : NULL, value, buf, size);
		return;
	case FIELD_SYSCALL:
		snprintf(buf, size, "%s", digest_call_name(digest, (u32)value, call, sizeof(call)));
		return;
	case FIELD_STATE:
		name_text(value < STATE_LIMIT ? digest->state_names[value] : NULL, value, buf,
			  size);
		return;
	case FIELD_OBJECT:
		format_object(digest, value, buf, size);
		return;
	case FIELD_SIZE:
		name_size(value, buf, size);
		return;
	case FIELD_STACK:
		series_stack_text(digest, value, PROFILE_STEPS_MAX, buf, size);
		return;
	case FIELD_ERRNO:
		name_errno(value, buf, size);
		return;
	case FIELD_DEVICE:
	case FIELD_ADDRESS:
	case FIELD_LABEL:
		name_label(digest, of, field, value, buf, size);
		return;
	case FIELD_CPU:
		if (value == SERIES_NO_CPU)
			return;
		/* fallthrough */
	case FIELD_NUMBER:
		name_text(NULL, value, buf, size);
		return;
	}
}

/* 0 in each series of a measure: says something only if that is a name, a state or a CPU. */
static bool means_something(const struct series_field *field)
{
	switch (field->kind) {
	case FIELD_NAME:
		return field->name_count && *field->names[0] && strcmp(field->names[0], "-") != 0;
	case FIELD_STATE:
	case FIELD_CPU:
		return true;
	default:
		return false;
	}
}

const struct series_field *series_field_at(const struct measured *of, const struct series_key *key,
					   int at, u64 *ret_value)
{
	const struct series_field *fields[FIELDS] = {&of->view->detail, &of->view->object,
						     &of->view->more};
	const u64 values[FIELDS] = {key->detail, key->object, key->more};

	/* What stands for others has at most their detail. */
	if (series_is_other(key) && (at != 0 || key->detail == SERIES_ANY_DETAIL))
		return NULL;
	if (fields[at]->kind == FIELD_NONE ||
	    (!of->measures[key->kind].uses[at] && !means_something(fields[at])))
		return NULL;
	*ret_value = values[at];
	return fields[at];
}

/* All processes of a command share a series where there are too many of them. */
static const char *command_of(const struct digest *digest, u64 id)
{
	const u64 key[2] = {SIG_SERIES, id};
	const struct label_row *label =
		id & SERIES_COMMAND ? hash_find(&digest->signals.labels, key) : NULL;

	return label ? label->name : "";
}

const char *series_comm(const struct digest *digest, u64 pid, u64 start_ns)
{
	const struct process *process = pid ? digest_process(digest, pid, start_ns) : NULL;
	const struct thread *leader = pid && !process ? digest_by_tid(digest, (u32)pid) : NULL;

	if (!pid)
		return command_of(digest, start_ns);

	return process ? process->comm : leader ? leader->comm : "";
}

static unsigned long long processes_of(const struct digest *digest, const char *comm)
{
	unsigned long long count = 0;

	for (size_t i = 0; i < digest->process_count; i++)
		count += !strcmp(digest->processes[i].comm, comm);
	return count;
}

void series_process_text(const struct digest *digest, u64 pid, u64 start_ns, char *buf, size_t size)
{
	const char *comm = series_comm(digest, pid, start_ns);

	*buf = '\0';
	if (*comm && !pid)
		snprintf(buf, size, "%s (%llu processes)", comm, processes_of(digest, comm));
	else if (*comm)
		snprintf(buf, size, "%s (%" PRIu64 ")", comm, (uint64_t)pid);
	else if (pid)
		snprintf(buf, size, "pid %" PRIu64, (uint64_t)pid);
}

bool signals_want(const struct digest *digest, u64 pid, u64 start_ns, bool *ret_is_kernel)
{
	const struct report_options *options = digest->options;
	const struct process *process = pid ? digest_process(digest, pid, start_ns) : NULL;

	*ret_is_kernel = false;
	if (!session_part_has_process(&options->part, pid, start_ns) ||
	    (options->part.tid_count && (!process || !process->is_wanted)))
		return false;
	*ret_is_kernel = process && process->is_kernel && !options->part.kernel;
	return !*ret_is_kernel;
}

/* Where not all fit, people look for their own functions: how many of the kernel's come before. */
static size_t kernel_steps(const struct profile *profile, const struct profile_step *steps,
			   size_t count)
{
	for (size_t i = 0; i < count; i++)
		if (profile_function(profile, steps[i].function)->look != FUNCTION_KERNEL)
			return i;
	return 0;
}

void series_steps_text(const struct profile *profile, const struct profile_step *steps,
		       size_t count, char *buf, size_t size)
{
	size_t length = 0;

	*buf = '\0';
	for (size_t i = 0; i < count; i++) {
		const char *name = profile_function_name(profile, steps[i].function);
		size_t needed = strlen(name) + (i ? 3 : 0);

		if (length + needed + sizeof(" < …") > size) {
			format_add(buf, size, "%s", " < …");
			return;
		}
		format_add(buf, size, "%s%s", i ? " < " : "", name);
		length += needed;
	}
}

void series_stack_text(const struct digest *digest, u64 stack, size_t most, char *buf, size_t size)
{
	const struct profile *profile = &digest->profile;
	struct profile_step steps[PROFILE_STEPS_MAX];
	size_t count = stack ? profile_steps(profile, stack, STOP_END, steps) : 0;
	size_t first = count > most ? kernel_steps(profile, steps, count) : 0;
	size_t shown = count - first < most ? count - first : most;

	series_steps_text(profile, steps + first, shown, buf, size);
}

static void add_word(char *buf, size_t size, const char *word)
{
	if (*word)
		format_add(buf, size, "%s%s", *buf ? " " : "", word);
}

void series_row_text(const struct digest *digest, const struct measured *of,
		     const struct series_row *row, char *buf, size_t size)
{
	char word[SIGNALS_NAME_BYTES];

	*buf = '\0';
	if (of->view->kind_count > 1)
		add_word(buf, size, of->view->kinds[row->key.kind].name);
	add_word(buf, size, row->process);
	for (int at = 0; at < FIELDS; at++) {
		u64 value;
		const struct series_field *field = series_field_at(of, &row->key, at, &value);

		if (!field || field->kind == FIELD_STACK)
			continue;
		series_field_text(digest, of, field, value, word, sizeof(word));
		add_word(buf, size, word);
	}
}
