/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What is on the screen, and what keys do to it: the table, the detail of a line, the help. Draws
 * into a grid and knows no terminal. Owns its rows. Called by the screen, --batch and tests.
 */
#ifndef DWELL_TOP_VIEW_H
#define DWELL_TOP_VIEW_H

#include "grid.h"
#include "live.h"
#include "model.h"
#include "rows.h"

#define VIEW_WIDTH_MIN	80
#define VIEW_HEIGHT_MIN 24
#define VIEW_DEPTH_MAX	2 /* a line, then a thread of it */
#define VIEW_HEAD_LINES 4

enum view_action { VIEW_STAY, VIEW_QUIT, VIEW_SAVE, VIEW_PAGE };

/* Keys that have no character of their own, whatever the terminal sends for them. */
enum view_key {
	VIEW_KEY_UP = 0x110000,
	VIEW_KEY_DOWN,
	VIEW_KEY_LEFT,
	VIEW_KEY_RIGHT,
	VIEW_KEY_PAGE_UP,
	VIEW_KEY_PAGE_DOWN,
	VIEW_KEY_HOME,
	VIEW_KEY_END,
	VIEW_KEY_ENTER,
	VIEW_KEY_BACK, /* Backspace */
	VIEW_KEY_ESCAPE,
};

/* A list that is longer than the screen. */
struct view_list {
	int cursor, first;
};

struct view {
	struct rows_options options;
	struct rows rows;	      /* of the table, as it was drawn last */
	struct rows_subject selected; /* the line of the cursor, which it follows ... */
	bool has_selected;	      /* ... once somebody has moved it */
	struct view_list table, detail[VIEW_DEPTH_MAX];
	struct rows_subject trail[VIEW_DEPTH_MAX]; /* what was opened */
	int depth;				   /* 0: the table */
	u64 cursor_thread;			   /* id of the detail's thread at its cursor */
	int detail_lines;
	bool is_paused, has_help, is_filtering;
	bool has_idle; /* bars show all of the time, idle included */
	int page;      /* lines of the list that fit */
	char host[64];
	char tier;
	u64 screen_ns; /* CPU time of this process in the last window */
	char status[256];
	int status_windows; /* for how many more it is shown */
	bool is_alarm;	    /* the status says what went wrong */
};

void view_init(struct view *view);
void view_close(struct view *view);

void view_say(struct view *view, bool is_alarm, const char *text);

/* A window has ended. */
void view_age_status(struct view *view);

/* All of it; a terminal that is too small says so. */
void view_draw(struct view *view, const struct model *model, const struct live *live,
	       struct grid *grid);
enum view_action view_press(struct view *view, const struct model *model, struct live *live,
			    int key);

/* Between its files. */
void view_draw_head(const struct view *view, const struct model *model, struct grid *grid);
void view_draw_table(struct view *view, const struct model *model, struct grid *grid);
void view_draw_detail(struct view *view, const struct model *model, const struct live *live,
		      struct grid *grid);
void view_draw_help(struct grid *grid);
int view_draw_bar(struct grid *grid, int y, int x, int width, const u64 ns[PART_COUNT],
		  u64 whole_ns, bool is_busy_only);
/* "12.3", "-" for nothing: percent of a window */
const char *view_percent(u64 ns, u64 window_ns, char buf[16]);
void view_scroll(struct view_list *list, int count, int page);
/* A state's name, without what all that wait have in common. */
const char *view_state_name(unsigned int state);

#endif
