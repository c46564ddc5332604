/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Foreign text made fit to be shown: names of threads and files are bytes that anyone can choose.
 * Owns nothing. Whoever shows or writes such text passes it through here.
 */
#ifndef DWELL_BASE_UTF8_H
#define DWELL_BASE_UTF8_H

#include <stddef.h>

/*
 * Copies at most length bytes, up to a NUL, as valid UTF-8: what is not becomes U+FFFD. Cut at a
 * character's end if to is too small; always ended by NUL.
 */
void utf8_copy(char *to, size_t size, const void *from, size_t length);

/*
 * Copies valid UTF-8 for a terminal: control characters, and those that turn the direction of
 * writing, become \xNN or \uNNNN. Cut likewise.
 */
void utf8_escape(char *to, size_t size, const char *from);

/* How many characters, each taken to be one column wide. */
size_t utf8_columns(const char *text);

#endif
