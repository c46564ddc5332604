/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Stacks in the report that a person reads. Own nothing. Called by report.c.
 */
#ifndef DWELL_REPORT_TEXT_STACKS_H
#define DWELL_REPORT_TEXT_STACKS_H

#include "stacks.h"
#include "text.h"

int text_stacks(const struct digest *digest, const struct page *page); /* --stacks */
int text_parts(const struct digest *digest, const struct page *page,
	       const struct stack_group *group);		      /* --by */
int text_state(const struct digest *digest, const struct page *page); /* --why STATE */
int text_hot(const struct digest *digest, const struct page *page);   /* of the report itself */
void text_stacks_quality(const struct digest *digest, const struct page *page);

/* A function's name and what it is, at most so many columns; escaped. */
void format_function(const struct profile *profile, u32 function, bool is_inlined, int columns,
		     char *buf, size_t size);

/* Where it is, if its name does not say so: [k], [jit] and "module+0xaddress" do. */
const char *function_module(const struct profile *profile, u32 function);
const char *function_suffix(const struct profile *profile, u32 function, bool is_inlined);

#endif
