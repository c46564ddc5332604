/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Who is in the page: groups, processes and threads, the kernel's own too, and their places. Owns
 * nothing: the places are the page data's. Called by page.c, before any part is written.
 */
#ifndef DWELL_PAGE_SUBJECTS_H
#define DWELL_PAGE_SUBJECTS_H

#include "data.h"

/* 0 or -ENOMEM */
int subjects_find(struct page_data *data);

#endif
