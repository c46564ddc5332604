// SPDX-License-Identifier: Apache-2.0
#include "grid.h"

#include <errno.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "../base/utf8.h"

#define TEXT_BYTES 2048

int grid_init(struct grid *grid, int width, int height)
{
	width = width > GRID_WIDTH_MAX ? GRID_WIDTH_MAX : width < 1 ? 1 : width;
	height = height > GRID_HEIGHT_MAX ? GRID_HEIGHT_MAX : height < 1 ? 1 : height;
	free(grid->cells);
	*grid = (struct grid){.width = width, .height = height, .is_ascii = grid->is_ascii};
	grid->cells = calloc((size_t)width * (size_t)height, sizeof(*grid->cells));
	if (!grid->cells)
		return -ENOMEM;
	grid_clear(grid);
	return 0;
}

void grid_free(struct grid *grid)
{
	free(grid->cells);
	grid->cells = NULL;
}

void grid_clear(struct grid *grid)
{
	for (size_t i = 0; i < (size_t)grid->width * (size_t)grid->height; i++)
		grid->cells[i] = (struct grid_cell){L' ', GRID_PLAIN};
}

/* One character of valid UTF-8: its bytes. */
static size_t decode(const char *text, wchar_t *ret_character)
{
	static const unsigned char masks[] = {0x7f, 0x7f, 0x1f, 0x0f, 0x07};
	unsigned char first = (unsigned char)text[0];
	size_t size = first < 0x80 ? 1 : first < 0xe0 ? 2 : first < 0xf0 ? 3 : 4;

	*ret_character = first & masks[size];
	for (size_t i = 1; i < size; i++) {
		if (((unsigned char)text[i] & 0xc0) != 0x80)
			return i; /* cannot be: it was made valid */
		*ret_character = *ret_character << 6 | ((unsigned char)text[i] & 0x3f);
	}
	return size;
}

/* Columns on the terminal; what has none there, or is not to be shown, becomes one. */
static int columns_of(const struct grid *grid, wchar_t *character)
{
	int columns;

	if (*character < 0x7f)
		return 1;
	columns = grid->is_ascii ? -1 : wcwidth(*character);
	if (columns == 1 || columns == 2)
		return columns;
	*character = L'?';
	return 1;
}

int grid_put(struct grid *grid, int y, int x, enum grid_ink ink, int columns, const char *text)
{
	int end = columns < 0 || columns > grid->width - x ? grid->width : x + columns;
	char escaped[TEXT_BYTES];
	struct grid_cell *line;

	if (y < 0 || y >= grid->height || x < 0)
		return x;
	utf8_escape(escaped, sizeof(escaped), text);
	line = grid->cells + (size_t)y * (size_t)grid->width;
	for (const char *at = escaped; *at;) {
		wchar_t character;
		int wide;

		at += decode(at, &character);
		wide = columns_of(grid, &character);
		if (x + wide > end)
			break;
		line[x++] = (struct grid_cell){character, (unsigned char)ink};
		if (wide == 2)
			line[x++] = (struct grid_cell){0, (unsigned char)ink};
	}
	return x;
}

int grid_format(struct grid *grid, int y, int x, enum grid_ink ink, const char *format, ...)
{
	char text[TEXT_BYTES];
	va_list args;

	va_start(args, format);
	vsnprintf(text, sizeof(text), format, args);
	va_end(args);
	return grid_put(grid, y, x, ink, -1, text);
}

static int fill(struct grid *grid, int y, int x, int end, enum grid_ink ink)
{
	while (x < end && x < grid->width)
		x = grid_put(grid, y, x, ink, 1, " ");
	return x;
}

int grid_put_left(struct grid *grid, int y, int x, enum grid_ink ink, int columns, const char *text)
{
	int end = grid_put(grid, y, x, ink, columns, text);

	return fill(grid, y, end, x + columns, ink);
}

/* Numbers of our own: one column a byte. */
int grid_put_right(struct grid *grid, int y, int x, enum grid_ink ink, int columns,
		   const char *text)
{
	int length = (int)strlen(text);

	x = fill(grid, y, x, x + columns - length, ink);
	return grid_put(grid, y, x, ink, columns < length ? columns : length, text);
}

void grid_ink_line(struct grid *grid, int y, enum grid_ink ink)
{
	if (y < 0 || y >= grid->height)
		return;
	for (int x = 0; x < grid->width; x++) {
		struct grid_cell *cell = &grid->cells[(size_t)y * (size_t)grid->width + (size_t)x];

		if (cell->ink < GRID_PART)
			cell->ink = (unsigned char)ink;
	}
}

size_t grid_encode(wchar_t character, char ret_bytes[5])
{
	unsigned int code = (unsigned int)character;
	size_t size = code < 0x80 ? 1 : code < 0x800 ? 2 : code < 0x10000 ? 3 : 4;
	static const unsigned char firsts[] = {0, 0, 0xc0, 0xe0, 0xf0};

	for (size_t i = size - 1; i > 0; i--, code >>= 6)
		ret_bytes[i] = (char)(0x80 | (code & 0x3f));
	ret_bytes[0] = (char)(firsts[size] | code);
	ret_bytes[size] = '\0';
	return size;
}

void grid_write(const struct grid *grid, int lines, FILE *out)
{
	for (int y = 0; y < lines && y < grid->height; y++) {
		const struct grid_cell *line = grid->cells + (size_t)y * (size_t)grid->width;
		int end = grid->width;

		while (end > 0 && line[end - 1].character == L' ')
			end--;
		for (int x = 0; x < end; x++) {
			char bytes[5];

			if (line[x].character)
				fwrite(bytes, 1, grid_encode(line[x].character, bytes), out);
		}
		fputc('\n', out);
	}
}
