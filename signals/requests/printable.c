// SPDX-License-Identifier: Apache-2.0
#include "printable.h"

#include <string.h>

#define CUT "..."

void printable_begin(struct printable *line, char *to, size_t size)
{
	*line = (struct printable){.to = to, .size = size};
	to[0] = '\0';
}

static void add_byte(struct printable *line, u8 byte)
{
	if (line->is_cut)
		return;
	if (line->length + 1 >= line->size) {
		line->is_cut = true;
		memcpy(line->to + line->size - sizeof(CUT), CUT, sizeof(CUT));
		return;
	}
	if (byte < ' ' || byte > '~' || byte == '"' || byte == '\'' || byte == '\\' || byte == '`')
		byte = '?';
	line->to[line->length++] = (char)byte;
	line->to[line->length] = '\0';
}

void printable_add(struct printable *line, struct bytes bytes)
{
	for (size_t i = 0; i < bytes.length; i++)
		add_byte(line, bytes.at[i]);
}

void printable_add_upper(struct printable *line, struct bytes bytes)
{
	for (size_t i = 0; i < bytes.length; i++)
		add_byte(line, byte_upper(bytes.at[i]));
}

void printable_add_text(struct printable *line, const char *text)
{
	printable_add(line, (struct bytes){(const u8 *)text, strlen(text)});
}

void printable_set(char *to, size_t size, const char *text)
{
	struct printable line;

	printable_begin(&line, to, size);
	printable_add_text(&line, text);
}
