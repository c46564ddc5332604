/* SPDX-License-Identifier: Apache-2.0 */
/*
 * How a report writes things: durations, shares, bars, causes, paragraphs. Owns nothing.
 * Called by the parts of the report. Names out of a session are escaped where this says so; what is
 * not must be ESCAPED() before it reaches a terminal.
 */
#ifndef DWELL_REPORT_FORMAT_H
#define DWELL_REPORT_FORMAT_H

#include "../base/figures.h"
#include "digest.h"

#define FORMAT_BYTES  FIGURE_BYTES
#define SAMPLES_BYTES 96
#define CAUSE_BYTES   640

enum ink { INK_PLAIN, INK_STRONG, INK_FAINT, INK_WARN, INK_GOOD };

/* Where a report goes, and how. */
struct page {
	FILE *out;
	int columns;
	bool color;
	bool whole; /* names are not cut: it is no terminal */
};

/* Columns that a name may have: all that it needs where names are not cut. */
#define COLUMNS_WHOLE 4000
static inline int page_room(const struct page *page, int room)
{
	return page->whole ? COLUMNS_WHOLE : room;
}

/* Rows of a table: --top, or as many as it usually has. */
static inline size_t page_rows(const struct digest *digest, size_t usual)
{
	return digest->options->top ? digest->options->top : usual;
}

const char *page_ink(const struct page *page, enum ink ink);
void page_heading(const struct page *page, const char *heading, const char *about);

/* A paragraph of words, wrapped; each line but the first begins with indent spaces. Without
 * page->out it is only counted: how many lines. */
int page_wrap(const struct page *page, int at, int indent, const char *text);

/* Room for one value each, in the calling block. */
#define DURATION(ns)		  format_duration(ns, (char[FORMAT_BYTES]){0})
#define NUMBER(number)		  figure_number(number, (char[FORMAT_BYTES]){0})
#define SHARE(part, whole)	  format_share(part, whole, (char[FORMAT_BYTES]){0})
#define COLUMN_SHARE(part, whole) format_column_share(part, whole, (char[FORMAT_BYTES]){0})
#define EFFECTIVE(sum)		  format_effective(sum, (char[FORMAT_BYTES]){0})
#define SAMPLES(sum)		  format_samples(sum, (char[SAMPLES_BYTES]){0})
#define BYTES(bytes)		  format_bytes(bytes, (char[FORMAT_BYTES]){0})
#define ESCAPED(text)		  format_escaped(text, (char[2 * DIGEST_TEXT]){0}, 2 * DIGEST_TEXT)

const char *format_duration(u64 ns, char *buf);		  /* 1.234 s, 56.78 ms, 12 us: 4 digits */
const char *format_share(u64 part, u64 whole, char *buf); /* 61 %, 0.3 %, <0.1 % */
const char *format_column_share(u64 part, u64 whole, char *buf); /* 61.2 %: digits line up */
const char *format_bytes(u64 bytes, char *buf);
const char *format_effective(const struct profile_sum *sum, char *buf); /* 48,000; 3.4 */
/* "1 sample", "415 samples (369 effective)": what says nothing new is left out */
const char *format_samples(const struct profile_sum *sum, char *buf);
const char *format_escaped(const char *text, char *buf, size_t size);
double percent(u64 part, u64 whole);

/* "worker-7 (4711)", or "tid 4711"; escaped */
void format_tid(const struct digest *digest, u32 tid, char *buf, size_t size);

/* What was waited for, in short: "futex 0x7ffe…", "read pipe:[123]"; "" for nothing known. Not
 * escaped. */
void format_cause(const struct digest *digest, const struct cause *cause, char *buf, size_t size);
void format_object(const struct digest *digest, u64 object, char *buf, size_t size);

/* At most so many columns of it, with … where it was cut; escaped. */
void format_cut(const char *text, int columns, char *buf, size_t size);

/* Adds to a text in buf, cutting if need be. */
void format_add(char *buf, size_t size, const char *format, ...)
	__attribute__((format(printf, 3, 4)));

const char *context_name(u32 kind);

#endif
