/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the tables of processes, threads and groups share: an account as a few characters, and in
 * words. Owns nothing.
 */
#ifndef DWELL_REPORT_TEXT_WHERE_H
#define DWELL_REPORT_TEXT_WHERE_H

#include "digest.h"
#include "format.h"

#define SMALL_BAR 10

/* Each part has at least its rounded share. */
void small_bar(const struct account *account, char bar[SMALL_BAR + 1]);

/* As many of its states as there is room for, and the line's end. */
void print_mostly(const struct digest *digest, const struct page *page,
		  const struct account *account, int room);

#endif
