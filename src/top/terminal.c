// SPDX-License-Identifier: Apache-2.0
#include "terminal.h"

#include <curses.h>
#include <errno.h>
#include <stdlib.h>

#include "../base/log.h"
#include "view.h"

#define ESCAPE_MS 25 /* what follows an Esc in this time is a key's sequence */

#define DARK  16
#define LIGHT 255

/* Each ink is a pair of colours of the same number. */
static bool has_color;

static void init_part(enum part part)
{
	const struct part_kind *kind = &part_kinds[part];
	short pair = (short)(GRID_PART + part);

	if (COLORS >= 256)
		init_pair(pair, part == PART_UNATTRIBUTED || part == PART_SLEEP ? LIGHT : DARK,
			  kind->color);
	else
		init_pair(pair, part == PART_UNATTRIBUTED ? COLOR_WHITE : COLOR_BLACK,
			  kind->basic_color);
}

static void init_colors(void)
{
	has_color = !getenv("NO_COLOR") && has_colors() && start_color() != ERR;
	if (!has_color)
		return;
	use_default_colors();
	init_pair(GRID_WARN, COLOR_RED, -1);
	for (enum part part = 0; part < PART_COUNT; part++)
		init_part(part);
	/* Most of the screen would be bright else. */
	init_pair(GRID_PART + PART_IDLE, COLORS >= 256 ? 245 : -1, -1);
}

static attr_t attributes_of(enum grid_ink ink)
{
	switch (ink) {
	case GRID_STRONG:
		return A_BOLD;
	case GRID_FAINT:
		return A_DIM;
	case GRID_HEADING:
		return A_UNDERLINE;
	case GRID_CURSOR:
		return A_REVERSE;
	case GRID_WARN:
		return A_BOLD;
	default:
		return A_NORMAL;
	}
}

int terminal_open(void)
{
	const char *kind = getenv("TERM");

	if (!newterm(NULL, stdout, stdin)) {
		log_error("cannot use this terminal: its kind '%s' is not known here; set TERM, as "
			  "in TERM=xterm, or use 'dwell top --batch 1'",
			  kind ? kind : "");
		return -ENOTTY;
	}
	set_escdelay(ESCAPE_MS);
	raw();
	noecho();
	nonl();
	keypad(stdscr, TRUE);
	nodelay(stdscr, TRUE);
	curs_set(0);
	init_colors();
	return 0;
}

void terminal_close(void)
{
	endwin();
}

void terminal_size(int *ret_width, int *ret_height)
{
	getmaxyx(stdscr, *ret_height, *ret_width);
}

static void show_run(int y, int x, const struct grid_cell *cells, int count)
{
	enum grid_ink ink = cells[0].ink;
	wchar_t text[GRID_WIDTH_MAX];
	int length = 0;

	for (int i = 0; i < count; i++)
		if (cells[i].character)
			text[length++] = cells[i].character;
	attr_set(attributes_of(ink), has_color && (ink >= GRID_PART || ink == GRID_WARN) ? ink : 0,
		 NULL);
	mvaddnwstr(y, x, text, length);
}

void terminal_show(const struct grid *grid)
{
	for (int y = 0; y < grid->height; y++) {
		const struct grid_cell *line = grid->cells + (size_t)y * (size_t)grid->width;

		for (int x = 0, end; x < grid->width; x = end) {
			for (end = x + 1; end < grid->width && line[end].ink == line[x].ink; end++)
				;
			show_run(y, x, line + x, end - x);
		}
	}
	refresh();
}

static int special_key(wint_t key)
{
	switch (key) {
	case KEY_UP:
		return VIEW_KEY_UP;
	case KEY_DOWN:
		return VIEW_KEY_DOWN;
	case KEY_LEFT:
		return VIEW_KEY_LEFT;
	case KEY_RIGHT:
		return VIEW_KEY_RIGHT;
	case KEY_PPAGE:
		return VIEW_KEY_PAGE_UP;
	case KEY_NPAGE:
		return VIEW_KEY_PAGE_DOWN;
	case KEY_HOME:
		return VIEW_KEY_HOME;
	case KEY_END:
		return VIEW_KEY_END;
	case KEY_ENTER:
		return VIEW_KEY_ENTER;
	case KEY_BACKSPACE:
		return VIEW_KEY_BACK;
	default:
		return 0; /* a new size, or none that means anything */
	}
}

int terminal_key(void)
{
	wint_t key;
	int kind = get_wch(&key);

	if (kind == ERR)
		return -1;
	if (kind == KEY_CODE_YES)
		return special_key(key);
	switch (key) {
	case '\r':
	case '\n':
		return VIEW_KEY_ENTER;
	case 8:
	case 127:
		return VIEW_KEY_BACK;
	case 27:
		return VIEW_KEY_ESCAPE;
	default:
		return (int)key;
	}
}
