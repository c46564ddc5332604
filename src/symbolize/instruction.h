/* SPDX-License-Identifier: Apache-2.0 */
/*
 * One instruction of this machine: how long it is, and whether it returns or jumps. For who has to
 * find the instructions of a function one after the other. What it does not know it says so of:
 * nothing is guessed. Owns nothing; the bytes are anybody's.
 */
#ifndef DWELL_SYMBOLIZE_INSTRUCTION_H
#define DWELL_SYMBOLIZE_INSTRUCTION_H

#include <stdbool.h>
#include <stddef.h>

#include "../../abi/types.h"

enum instruction_kind {
	INSTRUCTION_OTHER,
	INSTRUCTION_RETURN,
	INSTRUCTION_JUMP, /* to where the bytes themselves say, on a condition or always */
	INSTRUCTION_ODD,  /* returns or jumps out of what a function is */
};

struct instruction {
	u8 kind; /* enum instruction_kind */
	u8 length;
	s32 jump; /* how far from its end a jump leads */
};

/* False: it is not known, or ends beyond size. */
bool instruction_read(const u8 *code, size_t size, struct instruction *ret_instruction);

#endif
