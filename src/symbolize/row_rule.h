/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What .eh_frame says of an address, as a row of abi/unwind.h: the one place that knows which rules
 * a row can hold. Owns nothing. Called by row_table.c.
 */
#ifndef DWELL_SYMBOLIZE_ROW_RULE_H
#define DWELL_SYMBOLIZE_ROW_RULE_H

#include "../../abi/unwind.h"
#include "cfi_program.h"

/* All but its pc. Any rule has one, if only ROW_BAD. */
struct unwind_row row_rule(const struct cfi_state *state);

/* Is it one that row_rule() yields, or a gap, a signal's frame? */
bool row_rule_is_valid(const struct unwind_row *row);

#endif
