// SPDX-License-Identifier: Apache-2.0
#include "format.h"

#include <ctype.h>
#include <inttypes.h>
#include <stdarg.h>
#include <string.h>

#include "../base/cleanup.h"
#include "../base/clock.h"
#include "../base/utf8.h"

static const char *const context_names[] = {
#define CONTEXT(NAME, name, meaning) [WAKER_##NAME] = name,
#include "../../abi/contexts.def"
#undef CONTEXT
};

static const char *const object_names[] = {
#define OBJECT(NAME, name, meaning) [OBJECT_##NAME] = name,
#include "../../abi/objects.def"
#undef OBJECT
};

const char *context_name(u32 kind)
{
	return kind < ARRAY_SIZE(context_names) ? context_names[kind] : "";
}

const char *page_ink(const struct page *page, enum ink ink)
{
	static const char *const inks[] = {
		[INK_PLAIN] = "\033[0m", [INK_STRONG] = "\033[1m", [INK_FAINT] = "\033[2m",
		[INK_WARN] = "\033[33m", [INK_GOOD] = "\033[32m",
	};

	return page->color ? inks[ink] : "";
}

void page_heading(const struct page *page, const char *heading, const char *about)
{
	fprintf(page->out, "\n%s%s%s", page_ink(page, INK_STRONG), heading,
		page_ink(page, INK_PLAIN));
	page_wrap(page, (int)strlen(heading), 2, about);
}

/* Colour takes no room. */
static int visible_columns(const char *word)
{
	int columns = (int)utf8_columns(word);

	for (const char *ink = strstr(word, "\033["); ink; ink = strstr(ink + 1, "\033["))
		columns -= (int)strcspn(ink, "m") + 1;
	return columns;
}

/* A number and its unit, a name and its number, stay on one line. */
static bool belongs_to_former(const char *word, const char *former, size_t former_length)
{
	static const char *const units[] = {"%", "s", "ms", "us", "ns", "x", "MiB", "KiB", "CPUs"};
	size_t length = strcspn(word, " .,;:)");

	if (*word == '(')
		return isdigit((unsigned char)word[1]);
	if (former_length >= 3 && !strncmp(former + former_length - 2, "id", 2)) /* pid, tid */
		return isdigit((unsigned char)*word);
	for (size_t i = 0;
	     isdigit((unsigned char)former[former_length - 1]) && i < ARRAY_SIZE(units); i++)
		if (length == strlen(units[i]) && !strncmp(word, units[i], length))
			return true;
	return false;
}

/* Bytes of what stays together at the start of text. */
static size_t word_length(const char *text)
{
	size_t length = strcspn(text, " ");

	while (length && text[length] == ' ' && belongs_to_former(text + length + 1, text, length))
		length += 1 + strcspn(text + length + 1, " ");
	return length;
}

static void put(const struct page *page, const char *text, int indent)
{
	if (page->out)
		fprintf(page->out, "%*s%s", indent, "", text);
}

int page_wrap(const struct page *page, int at, int indent, const char *text)
{
	bool is_first = true; /* of its line: stands there, however long */
	int lines = 1;

	while (*text) {
		size_t space = strspn(text, " "), length = word_length(text + space);
		char word[1024];
		int width;

		snprintf(word, sizeof(word), "%.*s", (int)length, text + space);
		text += space + length;
		width = visible_columns(word);
		if (!is_first && at + (int)space + width > page->columns) {
			put(page, "\n", 0);
			put(page, "", indent);
			at = indent;
			space = 0;
			lines++;
		}
		put(page, word, (int)space);
		at += (int)space + width;
		is_first = false;
	}
	put(page, "\n", 0);
	return lines;
}

const char *format_duration(u64 ns, char *buf)
{
	static const struct {
		double ns;
		const char *unit;
	} units[] = {{1e9, "s"}, {1e6, "ms"}, {1e3, "us"}};

	for (size_t i = 0; i < ARRAY_SIZE(units); i++) {
		double value = (double)ns / units[i].ns;

		/* 999.96 would print as 1000.0: what rounds up to a unit is one. */
		if (value < 0.99995)
			continue;
		snprintf(buf, FORMAT_BYTES, "%.*f %s",
			 value < 9.9995	  ? 3
			 : value < 99.995 ? 2
			 : value < 999.95 ? 1
					  : 0,
			 value, units[i].unit);
		return buf;
	}
	snprintf(buf, FORMAT_BYTES, "%" PRIu64 " ns", (uint64_t)ns);
	return buf;
}

double percent(u64 part, u64 whole)
{
	return whole ? 100.0 * (double)part / (double)whole : 0;
}

const char *format_share(u64 part, u64 whole, char *buf)
{
	double share = percent(part, whole);

	if (part && share < 0.05)
		snprintf(buf, FORMAT_BYTES, "<0.1 %%");
	else
		snprintf(buf, FORMAT_BYTES, "%.*f %%", share < 9.95 && part ? 1 : 0, share);
	return buf;
}

const char *format_column_share(u64 part, u64 whole, char *buf)
{
	if (part && percent(part, whole) < 0.05)
		return format_share(part, whole, buf);
	snprintf(buf, FORMAT_BYTES, "%.1f %%", percent(part, whole));
	return buf;
}

const char *format_bytes(u64 bytes, char *buf)
{
	if (bytes >= 10 << 20)
		snprintf(buf, FORMAT_BYTES, "%.0f MiB", (double)bytes / (1 << 20));
	else if (bytes >= 1 << 20)
		snprintf(buf, FORMAT_BYTES, "%.1f MiB", (double)bytes / (1 << 20));
	else
		snprintf(buf, FORMAT_BYTES, "%.0f KiB", (double)bytes / 1024);
	return buf;
}

const char *format_effective(const struct profile_sum *sum, char *buf)
{
	double effective = profile_effective(sum);

	/* Few of them are what matters: there a tenth is told. */
	if (effective < 9.95) {
		snprintf(buf, FORMAT_BYTES, "%.1f", effective);
		if (!strcmp(buf + 1, ".0"))
			buf[1] = '\0';
	} else {
		figure_number(effective < 1e18 ? (u64)(effective + 0.5) : (u64)1e18, buf);
	}
	return buf;
}

const char *format_samples(const struct profile_sum *sum, char *buf)
{
	*buf = '\0';
	format_add(buf, SAMPLES_BYTES, "%s sample%s", NUMBER(sum->count),
		   sum->count == 1 ? "" : "s");
	if (!profile_is_even(sum))
		format_add(buf, SAMPLES_BYTES, " (%s effective)", EFFECTIVE(sum));
	return buf;
}

const char *format_escaped(const char *text, char *buf, size_t size)
{
	utf8_escape(buf, size, text);
	return buf;
}

/* Where so many characters end. */
static size_t bytes_of_columns(const char *text, size_t columns)
{
	size_t at = 0;

	for (; text[at]; at++)
		if (((unsigned char)text[at] & 0xc0) != 0x80 && !columns--)
			break;
	return at;
}

void format_cut(const char *text, int columns, char *buf, size_t size)
{
	char escaped[2 * PROFILE_NAME_BYTES];

	utf8_escape(escaped, sizeof(escaped), text);
	if (columns < 1 || utf8_columns(escaped) <= (size_t)columns)
		snprintf(buf, size, "%s", columns < 1 ? "" : escaped);
	else
		snprintf(buf, size, "%.*s…", (int)bytes_of_columns(escaped, (size_t)columns - 1),
			 escaped);
}

void format_add(char *buf, size_t size, const char *format, ...)
{
	size_t length = strlen(buf);
	va_list arguments;

	va_start(arguments, format);
	vsnprintf(buf + length, size - length, format, arguments);
	va_end(arguments);
}

void format_tid(const struct digest *digest, u32 tid, char *buf, size_t size)
{
	const struct thread *thread = digest_by_tid(digest, tid);

	if (thread && *thread->comm)
		snprintf(buf, size, "%s (%u)", ESCAPED(thread->comm), tid);
	else
		snprintf(buf, size, "tid %u", tid);
}

void format_object(const struct digest *digest, u64 id, char *buf, size_t size)
{
	const struct object *object = hash_find(&digest->objects, &id);

	*buf = '\0';
	if (object && *object->name)
		snprintf(buf, size, "%s", object->name);
	else if (object && object->kind && object->kind < OBJECT_COUNT)
		snprintf(buf, size, "%s 0x%" PRIx64, object_names[object->kind], (uint64_t)id);
	else if (id)
		snprintf(buf, size, "0x%" PRIx64, (uint64_t)id);
}

void format_cause(const struct digest *digest, const struct cause *cause, char *buf, size_t size)
{
	char object[DIGEST_TEXT + 32], call_buf[64];
	const char *call = digest_call_name(digest, cause->call, call_buf, sizeof(call_buf));

	format_object(digest, cause->object, object, sizeof(object));
	snprintf(buf, size, "%s%s%s", call, *call && *object ? " " : "", object);
}
