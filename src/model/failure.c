// SPDX-License-Identifier: Apache-2.0
#include "failure.h"

#include <errno.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

const char *const gate_names[GATE_COUNT] = {
	[GATE_ENVIRONMENT] = "environment",
	[GATE_LOAD] = "load",
	[GATE_ATTACH] = "attach",
	[GATE_DELIVERY] = "delivery",
};

bool failure_may_pass(int err)
{
	switch (err) {
	case ENOMEM:
	case EMFILE:
	case ENFILE:
	case ENOSPC:
	case EAGAIN:
	case EINTR:
	case EIO:
		return true;
	default:
		return false;
	}
}

bool failure_is_shortage(int err)
{
	return err == ENOMEM || err == EMFILE || err == ENFILE;
}

int failure_shortage_in(const char *message)
{
	const char *minus = strrchr(message, '-');
	char *end;
	long err;

	if (strstr(message, ": out of memory")) /* libelf's words */
		return ENOMEM;
	if (!minus || minus == message || !strchr(" (", minus[-1]))
		return 0;
	err = strtol(minus + 1, &end, 10);
	if (end == minus + 1 || end[strspn(end, ").\n")] || err > INT_MAX)
		return 0;
	return failure_may_pass((int)err) ? (int)err : 0;
}

#define VERIFIER_BEGIN "BEGIN PROG LOAD LOG"
#define VERIFIER_END   "END PROG LOAD LOG"

/* Lines that follow every failure and explain none. */
static bool is_noise(const char *line, size_t length)
{
	static const char *const noise[] = {
		"processed ",
		"verification time",
		"stack depth",
		"libbpf: failed to load object",
		"libbpf: failed to load BPF skeleton",
		VERIFIER_BEGIN,
		VERIFIER_END,
		"BPF program load failed",
		"failed to load: -",
		"failed to prepare load attributes",
		"try raising 'ulimit -l'", /* libbpf's guess at any EPERM */
	};

	if (length == 0)
		return true;
	for (size_t i = 0; i < sizeof(noise) / sizeof(noise[0]); i++)
		if (memmem(line, length, noise[i], strlen(noise[i])))
			return true;
	return false;
}

/* The last meaningful line within [from, to), without "libbpf: ". */
static bool last_line(const char *from, const char *to, char *ret_line, size_t size)
{
	while (to > from) {
		const char *start = to;
		size_t length;

		while (start > from && start[-1] != '\n')
			start--;
		length = (size_t)(to - start);
		if (!is_noise(start, length)) {
			if (length > 8 && !strncmp(start, "libbpf: ", 8)) {
				start += 8;
				length -= 8;
			}
			snprintf(ret_line, size, "%.*s", (int)(length < size ? length : size - 1),
				 start);
			return true;
		}
		to = start > from ? start - 1 : from;
	}
	return false;
}

void failure_excerpt(struct failure *failure)
{
	const char *log = failure->log;
	const char *begin = log ? strstr(log, VERIFIER_BEGIN) : NULL;
	const char *end = begin ? strstr(begin, VERIFIER_END) : NULL;

	while (end && end > begin && end[-1] != '\n')
		end--; /* the marker's own line starts before its words */
	failure->excerpt[0] = '\0';
	failure->from_verifier = false;
	if (!log)
		return;
	if (begin && end && (begin = strchr(begin, '\n')) && begin < end &&
	    last_line(begin, end, failure->excerpt, sizeof(failure->excerpt))) {
		failure->from_verifier = true;
		return;
	}
	last_line(log, log + strlen(log), failure->excerpt, sizeof(failure->excerpt));
}
