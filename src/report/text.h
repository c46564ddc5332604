/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The parts of the report that a person reads, in the order in which they are printed.
 * Own nothing. Called by report.c.
 */
#ifndef DWELL_REPORT_TEXT_H
#define DWELL_REPORT_TEXT_H

#include "digest.h"
#include "format.h"

void text_quality(const struct digest *digest, const struct page *page);
void text_verdict(const struct digest *digest, const struct page *page);
void text_where(const struct digest *digest, const struct page *page);
void text_processes(const struct digest *digest, const struct page *page);
int text_why(const struct digest *digest, const struct page *page);
int text_calls(const struct digest *digest, const struct page *page);
void text_again(const struct digest *digest, const struct page *page);

/* Each instead of all that comes after the quality. */
void text_cpus(const struct digest *digest, const struct page *page);
void text_execs(const struct digest *digest, const struct page *page);

/* The states of an account, longest first, as indices: how many are not empty. */
int sorted_states(const struct account *account, int order[STATE_LIMIT]);

#endif
