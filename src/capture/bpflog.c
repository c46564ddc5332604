// SPDX-License-Identifier: Apache-2.0
#include "bpflog.h"

#include <bpf/libbpf.h>
#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../base/log.h"
#include "../base/text.h"
#include "../model/failure.h"

/* A refusal stands at the end of a verifier log, so of a longer one the end is kept. */
#define LOG_BYTES_MAX	  (4u << 20)
#define MESSAGE_BYTES_MAX (16u << 20)

/* libbpf's callback carries no context: the thread that is being served stands in for it. */
static _Thread_local struct bpflog *current_log;

static void append(struct bpflog *log, const char *text, size_t length)
{
	if (length > LOG_BYTES_MAX) {
		text += length - LOG_BYTES_MAX;
		length = LOG_BYTES_MAX;
	}
	if (log->length + length > LOG_BYTES_MAX)
		log->length = 0;
	if (log->length + length + 1 > log->room) {
		size_t room = (log->length + length + 1) * 2;
		char *grown = realloc(log->text, room);

		if (!grown)
			return; /* an explanation is lost, not a measurement */
		log->text = grown;
		log->room = room;
	}
	memcpy(log->text + log->length, text, length);
	log->length += length;
	log->text[log->length] = '\0';
}

/* From "libbpf: prog 'x': ..." or "libbpf: map 'x': ..." to x: who failed has no other way out. */
static void note_name(const char *message, const char *before, char *ret_name)
{
	const char *name = strstr(message, before);
	const char *end = name ? strchr(name + strlen(before), '\'') : NULL;

	if (!end)
		return;
	name += strlen(before);
	snprintf(ret_name, BPFLOG_NAME_MAX, "%.*s", (int)(end - name), name);
}

/* Of the many that are for libbpf's own developers only these tell what it met. */
static bool ends_with_errno(const char *format)
{
	const char *end = strrchr(format, ':');

	return end && !strcmp(end, ": %d\n");
}

/*
 * What libbpf tries fails in silence, and libbpf goes on as if the kernel lacked a feature. But
 * errno still has the reason when libbpf speaks next.
 */
static void note_trial(struct bpflog *log, int last_errno)
{
	if (last_errno == log->last_errno)
		return;
	log->last_errno = last_errno;
	if (!log->trial_shortage && failure_is_shortage(last_errno))
		log->trial_shortage = last_errno;
}

static int keep(enum libbpf_print_level level, const char *format, va_list args)
{
	struct bpflog *log = current_log;
	int last_errno = errno, length;
	char *message;

	if (!log)
		return 0;
	note_trial(log, last_errno);
	if (level > LIBBPF_WARN && !ends_with_errno(format))
		return 0;
	length = vasprintf(&message, format, args);
	if (length < 0) {
		log->shortage = ENOMEM;
		return 0;
	}
	if (!log->shortage)
		log->shortage = failure_shortage_in(message);
	if (level > LIBBPF_WARN) {
		free(message);
		return 0;
	}
	if ((size_t)length < MESSAGE_BYTES_MAX)
		append(log, message, (size_t)length);
	if (!strstr(message, "BEGIN PROG LOAD LOG")) {
		note_name(message, "prog '", log->program);
		note_name(message, "map '", log->map);
	}
	free(message);
	return 0;
}

void bpflog_begin(struct bpflog *log)
{
	log->program[0] = '\0';
	log->map[0] = '\0';
	log->shortage = log->trial_shortage = log->last_errno = 0;
	log->length = 0;
	if (log->text)
		log->text[0] = '\0';
	current_log = log;
	libbpf_set_print(keep);
	errno = 0;
}

void bpflog_end(void)
{
	current_log = NULL;
}

char *bpflog_take(struct bpflog *log)
{
	char *text = log->length ? log->text : NULL;

	if (!text)
		return NULL;
	log->text = NULL;
	log->length = log->room = 0;
	return text;
}

void bpflog_free(struct bpflog *log)
{
	free(log->text);
	*log = (struct bpflog){0};
}
