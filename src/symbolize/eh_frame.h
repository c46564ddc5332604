/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The functions that .eh_frame of an ELF file describes, sorted by address, none within another,
 * and the programs that they have there. libdw reads the section's entries. Owns the array of
 * functions; the bytes are the ELF file's. Called by row_table.c and row_cache.c.
 */
#ifndef DWELL_SYMBOLIZE_EH_FRAME_H
#define DWELL_SYMBOLIZE_EH_FRAME_H

#include "cfi_program.h"
#include "elf_file.h"

#define EH_FRAME_SIZE_MAX (64u << 20)

struct eh_function {
	u32 begin, end;		  /* addresses */
	u32 cie;		  /* offset in the section, as are those: */
	u32 program, program_end; /* its instructions */
};

struct eh_frame {
	Elf_Data *data;			/* NULL: there is none */
	unsigned char ident[EI_NIDENT]; /* of the file: libdw wants it */
	u64 displacement;		/* see cfi_take_address() */
	struct eh_function *functions;
	size_t count;
	bool is_cut; /* some were left out: too many, too far off, or not understood */

	/* The last one that was read, and how many bytes may still be read so. */
	struct cfi_cie cie;
	u64 cie_offset; /* of one that cannot be understood, too */
	bool is_cie_good;
	u64 cie_bytes_left;
};

/* Of the section; 0: there is none that can be used. */
u64 eh_frame_size(const struct elf_file *file);

/* 0, also where there is no such section, or -errno. The file must stay open. */
int eh_frame_read(const struct elf_file *file, struct eh_frame *ret_eh_frame);
void eh_frame_close(struct eh_frame *eh_frame); /* of a zeroed one, too */

/* Makes ret_run ready for its program; NULL: it is one too many to be read. */
const struct cfi_cie *eh_frame_run(struct eh_frame *eh_frame, const struct eh_function *function,
				   struct cfi_run *ret_run);

#endif
