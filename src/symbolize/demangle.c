// SPDX-License-Identifier: Apache-2.0
#include "demangle.h"

#include <libiberty/demangle.h>
#include <setjmp.h>
#include <stdbool.h>
#include <string.h>

#include "../base/text.h"
#include "../base/utf8.h"

/*
 * libiberty's parser goes as deep as its input is long, and its printer's stack grows with the
 * square of it. It refuses what is longer than half of its limit; so do we, before it is asked.
 */
#define MANGLED_MAX (DEMANGLE_RECURSION_LIMIT / 2)

/* Back-references let a short name stand for 2^100 bytes: when this much was said, we leave. */
#define SAID_MAX (16 * DEMANGLED_MAX)

/* Parameters that are templates, beneath a conversion operator: see is_slow(). */
#define TEMPLATE_PARAMETERS_MAX 8

#define CXX_OPTIONS (DMGL_PARAMS | DMGL_ANSI | DMGL_RET_DROP)

/* Written by say(), which the demangler calls and which it cannot be told to end by. */
struct said {
	char text[DEMANGLED_MAX];
	size_t length;
	size_t in_all;
	jmp_buf enough;
};

static void say(const char *text, size_t length, void *context)
{
	struct said *said = context;
	size_t room = sizeof(said->text) - 1 - said->length;
	size_t taken = length < room ? length : room;

	if (!length)
		return; /* then there may be no text either */
	memcpy(said->text + said->length, text, taken);
	said->length += taken;
	said->in_all += length;
	if (said->in_all > SAID_MAX)
		longjmp(said->enough, 1); /* nothing is allocated in there meanwhile */
}

/* The same, but an identifier that was decoded is in allocated memory; it cannot begin like this.
 */
static void say_rust(const char *text, size_t length, void *context)
{
	const struct said *said = context;

	if (said->in_all + length <= SAID_MAX || (length && strchr(" :<>,()[]{}&*;-", text[0])))
		say(text, length, context);
}

/*
 * In the type of a conversion operator ("cv") the parser tries what follows a template parameter
 * ("T_I…") twice, and so doubles its time with each one inside the other: 30 take a minute.
 */
static bool is_slow(const char *name)
{
	size_t count = 0;

	if (!strstr(name, "cv"))
		return false;
	for (const char *at = name; (at = strchr(at, 'T')); at++) {
		size_t digits = strspn(at + 1, "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ");

		count += at[1 + digits] == '_' && at[2 + digits] == 'I';
	}
	return count > TEMPLATE_PARAMETERS_MAX;
}

/* A function of its own: what it is given is still whole after the jump. */
static bool ask(struct said *said, const char *name)
{
	if (setjmp(said->enough))
		return true;
	if (rust_demangle_callback(name, DMGL_NO_OPTS, say_rust, said))
		return true;
	said->length = said->in_all = 0;
	return name[1] == 'Z' && cplus_demangle_v3_callback(name, CXX_OPTIONS, say, said);
}

void demangle(const char *name, char *ret_text, size_t size)
{
	size_t length = strnlen(name, MANGLED_MAX + 1), plain = length;
	struct said said = {.length = 0};
	char mangled[MANGLED_MAX + 1];

	if (length > MANGLED_MAX || name[0] != '_' || (name[1] != 'Z' && name[1] != 'R')) {
		utf8_escape(ret_text, size, name);
		return;
	}
	text_copy(mangled, sizeof(mangled), name);
	if (length > 4 && !strcmp(mangled + length - 4, "@plt"))
		mangled[plain -= 4] = '\0';
	if (is_slow(mangled) || !ask(&said, mangled)) {
		utf8_escape(ret_text, size, name);
		return;
	}
	said.text[said.length] = '\0';
	if (said.length + length - plain < sizeof(said.text))
		text_copy(said.text + said.length, sizeof(said.text) - said.length, name + plain);
	utf8_escape(ret_text, size, said.text);
}
