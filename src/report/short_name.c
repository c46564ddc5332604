// SPDX-License-Identifier: Apache-2.0
#include "short_name.h"

#include <string.h>

#include "../base/cleanup.h"
#include "../base/utf8.h"
#include "format.h"

#define OPERATOR "operator"

/* Is this a sign of "operator<<", "operator->" and the like, and no bracket? */
static bool is_operator(const char *name, const char *at)
{
	static const char *const signs[] = {"<=>", "<<=", ">>=", "->*", "<<", ">>",
					    "<=",  ">=",  "->",	 "<",	">"};
	const char *first = at;

	while (first > name && at - first < 2 && strchr("<>-=", first[-1]))
		first--;
	if ((size_t)(first - name) < strlen(OPERATOR) ||
	    strncmp(first - strlen(OPERATOR), OPERATOR, strlen(OPERATOR)) != 0)
		return false;
	for (size_t i = 0; i < ARRAY_SIZE(signs); i++)
		if (!strncmp(first, signs[i], strlen(signs[i])))
			return at < first + strlen(signs[i]);
	return false;
}

/* Where the bracket that opens at this place is closed; NULL: it is not. */
static const char *closing(const char *name, const char *at, char open, char close)
{
	int depth = 0;

	for (; *at; at++) {
		if (is_operator(name, at))
			continue;
		if (*at == open)
			depth++;
		else if (*at == close && !--depth)
			return at;
	}
	return NULL;
}

static bool is_worth_folding(const char *at, const char *end)
{
	static const char namespace[] = "(anonymous namespace)";

	return end - at > 2 && strncmp(at, namespace, strlen(namespace)) != 0;
}

/*
 * What is in brackets becomes "…". Brackets that a name opens with are its own: of
 * "<Vec<T> as Drop>::drop" those of T are folded.
 */
static void fold(const char *name, char open, char close, char *buf, size_t size)
{
	const char *at = name;
	size_t used = 0;

	while (*at && used + 8 < size) {
		const char *end = *at == open && at > name && !is_operator(name, at)
					  ? closing(name, at, open, close)
					  : NULL;

		if (end && is_worth_folding(at, end)) {
			used += (size_t)snprintf(buf + used, size - used, "%c…%c", open, close);
			at = end + 1;
		} else {
			buf[used++] = *at++;
		}
	}
	buf[used] = '\0';
}

static bool fits(const char *name, int columns)
{
	char escaped[2 * PROFILE_NAME_BYTES];

	utf8_escape(escaped, sizeof(escaped), name);
	return utf8_columns(escaped) <= (size_t)columns;
}

/* "a-long-module…+0x4a10": 0 if the name is no such. */
static bool cut_module(const char *name, int columns, char *buf, size_t size)
{
	const char *address = strrchr(name, '+');

	if (!address || strncmp(address, "+0x", 3) != 0 ||
	    strspn(address + 3, "0123456789abcdef") != strlen(address + 3))
		return false;
	if (columns < (int)strlen(address) + 4)
		return false;
	format_cut(name, columns - (int)strlen(address), buf, size);
	format_add(buf, size, "%s", address);
	return true;
}

void short_name(const char *name, int columns, char *buf, size_t size)
{
	char types[PROFILE_NAME_BYTES], parameters[PROFILE_NAME_BYTES];

	if (columns < 1 || fits(name, columns) || strlen(name) >= sizeof(types) - 16) {
		format_cut(name, columns, buf, size);
		return;
	}
	if (cut_module(name, columns, buf, size))
		return;
	fold(name, '<', '>', types, sizeof(types));
	if (!fits(types, columns)) {
		fold(types, '(', ')', parameters, sizeof(parameters));
		format_cut(parameters, columns, buf, size);
		return;
	}
	format_cut(types, columns, buf, size);
}
