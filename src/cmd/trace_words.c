// SPDX-License-Identifier: Apache-2.0
#include <errno.h>
#include <string.h>

#include "../base/cleanup.h"
#include "../base/log.h"
#include "../base/text.h"
#include "trace.h"

/* How each kind is written, for who wrote it otherwise. */
static const struct {
	const char *form, *example;
	char letter;
	bool has_return;
} kinds[TRACE_KIND_COUNT] = {
	[TRACE_USER] = {"BIN:SYMBOL or BIN:0xOFFSET", "libpq.so.5:PQexec", 'u', true},
	[TRACE_KERNEL] = {"FUNCTION", "tcp_sendmsg", 'k', true},
	[TRACE_TRACEPOINT] = {"CATEGORY:EVENT", "sched:sched_switch", 't', false},
	[TRACE_USDT] = {"[BIN:]PROVIDER:PROBE", "postgres:query__start", 'U', false},
};

static int refuse(enum trace_kind kind, const char *text)
{
	log_error("'%s' is no probe: it is %s, as in %s", text, kinds[kind].form,
		  kinds[kind].example);
	return -EINVAL;
}

static bool copy_part(char *to, size_t size, const char *from, size_t length)
{
	if (!length || length >= size)
		return false;
	memcpy(to, from, length);
	to[length] = '\0';
	return true;
}

/* Where the file's name ends: symbols of C++ have colons, too, so the first one counts. */
static const char *file_end(enum trace_kind kind, const char *text)
{
	const char *first = strchr(text, ':');

	if (kind == TRACE_USER)
		return first;
	if (kind == TRACE_USDT && first && strchr(first + 1, ':'))
		return first;
	return NULL;
}

int trace_word_parse(enum trace_kind kind, const char *text, struct trace_word *ret_word)
{
	const char *end = file_end(kind, text), *name = end ? end + 1 : text;

	*ret_word = (struct trace_word){.kind = kind};
	if (kind == TRACE_USER && !end)
		return refuse(kind, text);
	if (end && !copy_part(ret_word->file, sizeof(ret_word->file), text, (size_t)(end - text)))
		return refuse(kind, text);
	if (!copy_part(ret_word->name, sizeof(ret_word->name), name, strlen(name)))
		return refuse(kind, text);
	if (kind == TRACE_KERNEL && (!text_is_symbol(name) || strchr(name, ':')))
		return refuse(kind, text);
	if ((kind == TRACE_TRACEPOINT || kind == TRACE_USDT) && !strchr(name, ':'))
		return refuse(kind, text);
	return 0;
}

int trace_word_parse_whole(const char *text, struct trace_word *ret_word)
{
	for (int kind = 0; kind < TRACE_KIND_COUNT; kind++) {
		bool at_return = kinds[kind].has_return && text[0] && text[1] == 'r';
		int err;

		if (text[0] != kinds[kind].letter || text[1 + at_return] != ':')
			continue;
		err = trace_word_parse((enum trace_kind)kind, text + 2 + at_return, ret_word);
		ret_word->at_return = at_return;
		return err;
	}
	log_error(
		"'%s' is no probe: here it begins with its kind, as in u:BIN:SYM, ur:BIN:SYM (its "
		"return), k:FUNC, kr:FUNC, t:CATEGORY:EVENT or U:BIN:PROVIDER:PROBE",
		text);
	return -EINVAL;
}
