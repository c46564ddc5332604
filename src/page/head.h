/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The parts of the head that have a file of their own. Own nothing. Called by head.c. NULL: no
 * memory.
 */
#ifndef DWELL_PAGE_HEAD_H
#define DWELL_PAGE_HEAD_H

#include <jansson.h>

#include "data.h"

json_t *head_trust(const struct page_data *data);
json_t *head_run_again(const struct page_data *data);
json_t *head_findings(const struct page_data *data);
json_t *head_marks(struct page_data *data); /* which adds a limit if there are too many */
json_t *head_empty(const struct page_data *data);

#endif
