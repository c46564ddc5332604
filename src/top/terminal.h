/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The terminal, by ncurses: keys in, a grid out. Owns it from terminal_open() to terminal_close().
 * Called by the screen.
 */
#ifndef DWELL_TOP_TERMINAL_H
#define DWELL_TOP_TERMINAL_H

#include "grid.h"

/* 0, or -ENOTTY, told: ncurses does not know this kind. Reads files: before the sandbox. */
int terminal_open(void);
void terminal_close(void);
void terminal_size(int *ret_width, int *ret_height);
void terminal_show(const struct grid *grid);

/*
 * The next key that was pressed, a character or enum view_key; 0: the size has changed, or the key
 * means nothing; -1: none. Never waits.
 */
int terminal_key(void);

#endif
