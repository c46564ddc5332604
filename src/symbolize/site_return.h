/* SPDX-License-Identifier: Apache-2.0 */
/*
 * How the end of a function's calls can be told: whether a return probe may be there, and if not,
 * which of its instructions return. For sites alone; everything it reads is hostile.
 */
#ifndef DWELL_SYMBOLIZE_SITE_RETURN_H
#define DWELL_SYMBOLIZE_SITE_RETURN_H

#include "sites.h"
#include "spans.h"

bool site_returns_oddly(const char *name);
bool site_is_mangled(const char *name);
/* The part of a function that is rarely needed, put elsewhere: jumped to, never called. */
bool site_is_cold(const char *name);
/* Is there C++ or Rust in it, whose exceptions pass its functions, also those of C? */
bool site_file_has_exceptions(const struct elf_file *file);

enum site_return site_judge_return(const struct sites_facts *facts, const struct span *span,
				   const char *name);

/* Of places that were found among these names: what is known of their returns. */
void site_settle_returns(const struct elf_file *file, const struct spans *spans,
			 struct sites *sites);

/* A function of Go is in one piece. Only where it returns is noted: no return probe may be there.
 */
void site_note_go_returns(const struct elf_file *file, struct sites *sites);

/* One stretch of a function's code: as a whole, or the part that is put elsewhere. */
struct site_piece {
	u64 offset; /* in the file */
	u32 size;
};

#define SITE_PIECES_MAX 2

/*
 * All places of these pieces where the function returns: how many; 0 if not all of them can be
 * known: as an instruction is not understood, or a jump that says where to leads out of it.
 */
u32 site_find_returns(const struct elf_file *file, const struct site_piece *pieces, size_t count,
		      u64 ret_offsets[SITE_RETURNS_MAX]);

#endif
