/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The programs of .eh_frame: instructions that say, from one address of a function to its end,
 * where the frame of its caller is. One pass over the instructions, however many rows they make, in
 * memory of one size; libdw's own dwarf_cfi_addrframe() begins anew for each row, and allocates
 * what the program asks for. Only what a row of abi/unwind.h can say is followed: the CFA, and
 * where the frame pointer and the return address are. Owns nothing. Called by row_table.c.
 */
#ifndef DWELL_SYMBOLIZE_CFI_PROGRAM_H
#define DWELL_SYMBOLIZE_CFI_PROGRAM_H

#include "cfi_bytes.h"

/* DWARF's numbers of x86-64's registers. */
#define REGISTER_FP	6
#define REGISTER_SP	7
#define REGISTER_RETURN 16

#define CFI_SAVED_MAX 16 /* states that a program may remember at a time; compilers do with one */

enum cfi_rule_kind {
	RULE_UNSAID,	/* as it is where nothing was said: fp the same, return address undefined */
	RULE_UNDEFINED, /* there is none */
	RULE_SAME,	/* still in its register */
	RULE_OFFSET,	/* saved at CFA + offset */
	RULE_EXPRESSION, /* saved at the address that the expression yields */
	RULE_OTHER,
};

struct cfi_rule {
	enum cfi_rule_kind kind;
	s64 offset;
	struct bytes expression;
};

enum cfi_cfa_kind {
	CFA_UNSAID,
	CFA_REGISTER, /* register + offset */
	CFA_EXPRESSION,
};

struct cfi_cfa {
	enum cfi_cfa_kind kind;
	u64 reg;
	s64 offset;
	struct bytes expression;
};

/* What holds at one address. */
struct cfi_state {
	struct cfi_cfa cfa;
	struct cfi_rule fp, ra;
};

/* What functions have in common. */
struct cfi_cie {
	u64 code_factor;
	s64 data_factor;
	u8 encoding; /* of addresses: DW_EH_PE_x */
	bool is_signal;
	bool has_data; /* functions have bytes of their own before their program */
	struct cfi_state initial;
};

struct cfi_run {
	const struct cfi_cie *cie;
	struct bytes rest;
	u64 displacement; /* see cfi_take_address() */
	u64 pc, next;	  /* state holds from pc up to next */
	u64 end;
	struct cfi_state state;
	struct cfi_state saved[CFI_SAVED_MAX];
	u32 saved_count;
};

/* A CIE's own program gives the initial state; false: it cannot be understood. */
bool cfi_run_cie(struct cfi_cie *cie, struct bytes program);

/* Then next is begin, and no state holds yet. */
void cfi_run_begin(struct cfi_run *run, const struct cfi_cie *cie, struct bytes program,
		   u64 displacement, u64 begin, u64 end);
/* From next on, which is before end; false: it cannot be understood from there on. */
bool cfi_run_next(struct cfi_run *run);

/*
 * An address as encoding has it: false if it cannot be known. Some count from where they stand, so
 * displacement is what is to be added to a byte's place in our memory for its place in the module.
 */
bool cfi_take_address(struct bytes *bytes, u8 encoding, u64 displacement, u64 *ret_value);
/* Likewise a length, which counts from nowhere. */
bool cfi_take_length(struct bytes *bytes, u8 encoding, u64 *ret_value);

#endif
