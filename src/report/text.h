/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The parts of the report that a person reads, in the order in which they are printed.
 * Own nothing. Called by report.c.
 */
#ifndef DWELL_REPORT_TEXT_H
#define DWELL_REPORT_TEXT_H

#include "digest.h"
#include "format.h"

/* What was measured, and how far it can be trusted. */
void text_head(const struct digest *digest, const struct page *page);
void text_overhead(const struct digest *digest, const struct page *page);
void text_quality(const struct digest *digest, const struct page *page);

/* The same in the report: a line and what is worst; the details come at its end. */
void text_quality_brief(const struct digest *digest, const struct page *page);
void text_quality_details(const struct digest *digest, const struct page *page);

/* Head, quality, verdict, who uses the CPUs, findings: within a screen. */
int text_first(const struct digest *digest, const struct page *page);
void text_host(const struct digest *digest, const struct page *page);
void text_where(const struct digest *digest, const struct page *page);
int text_groups(const struct digest *digest, const struct page *page); /* --group-by */
int text_processes(const struct digest *digest, const struct page *page);
int text_why(const struct digest *digest, const struct page *page);
int text_calls(const struct digest *digest, const struct page *page);
void text_again(const struct digest *digest, const struct page *page);

/* Each instead of all that comes after the quality. */
void text_cpus(const struct digest *digest, const struct page *page);
void text_execs(const struct digest *digest, const struct page *page);

#endif
