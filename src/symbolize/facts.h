/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What goes between the symbolizer, which reads files, and the process that places addresses as
 * records come in: facts one way (which modules there are, what is mapped where, names), questions
 * the other. A message each, over a SOCK_SEQPACKET pair. No holes, no pointers. Whoever takes them
 * believes nothing: the symbolizer may have been taken over by a file.
 */
#ifndef DWELL_SYMBOLIZE_FACTS_H
#define DWELL_SYMBOLIZE_FACTS_H

#include "../model/resolver.h"
#include "elf_file.h"

enum fact_kind {
	FACT_MODULE = 1,    /* struct fact_module */
	FACT_MODULE_GONE,   /* struct fact_head: its number is not used again */
	FACT_MAPPINGS,	    /* struct fact_mappings: of a generation, in parts */
	FACT_MAPPINGS_GONE, /* struct fact_head */
	FACT_NAMES,	    /* struct fact_names: the answer to QUESTION_FUNCTION */
	FACT_VARIABLE,	    /* struct fact_variable: the answer to QUESTION_VARIABLE */
};

struct fact_head {
	u32 kind;
	u32 number; /* of a module, or a generation */
};

#define FACT_PATH_BYTES 1024

struct fact_module {
	struct fact_head head;
	u64 identity;
	u32 module_kind; /* enum module_kind */
	char build_id[2 * BUILD_ID_MAX + 4];
	char path[FACT_PATH_BYTES]; /* both end with NUL */
};

struct fact_mapping {
	u64 begin;
	u64 end;
	u64 bias;
	u32 module;
	u32 unused;
};

#define FACT_MAPPINGS_PART 128

struct fact_mappings {
	struct fact_head head;
	u32 total; /* of the generation, and */
	u32 first; /* the place of the first of these among them */
	u32 count;
	u32 unused;
	struct fact_mapping mappings[FACT_MAPPINGS_PART]; /* count of them are sent */
};

#define FACT_TEXT_BYTES 1024 /* of one text, with its NUL */

struct fact_name {
	u32 source; /* enum name_source */
	u32 line;
	u16 name_size; /* with NUL; 0: there is none */
	u16 file_size; /* likewise */
	u32 is_line_refused;
};

struct fact_names {
	struct fact_head head;
	u64 address;
	u32 count; /* 1 to FRAME_NAMES_MAX, as resolver.name() has them */
	u32 texts_size;
	struct fact_name names[FRAME_NAMES_MAX];
	char texts[2 * FRAME_NAMES_MAX * FACT_TEXT_BYTES]; /* of each name, then of its file */
};

struct fact_variable {
	struct fact_head head;
	u64 address;
	char name[FACT_TEXT_BYTES]; /* empty: it is none that is known */
};

union fact {
	struct fact_head head;
	struct fact_module module;
	struct fact_mappings mappings;
	struct fact_names names;
	struct fact_variable variable;
};

enum question_kind {
	QUESTION_FUNCTION = 1,
	QUESTION_VARIABLE,
};

struct question {
	u32 kind;
	u32 module; /* as the symbolizer counts them */
	u64 address;
};

#define QUESTIONS_MAX 128 /* of one message */

#endif
