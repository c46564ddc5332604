/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What another process, the symbolizer, knows of modules and mappings, as it tells it (facts.h),
 * and the names that it was asked for: so that addresses are placed at once, and nobody waits for
 * names. Part of a struct symbolize that reads no files itself. Owns the socket, and answers that
 * were not used yet. Called by mirror's own symbolize, in the process that writes the session.
 */
#ifndef DWELL_SYMBOLIZE_MIRROR_H
#define DWELL_SYMBOLIZE_MIRROR_H

#include "../base/hash.h"
#include "../base/number_map.h"
#include "facts.h"

struct symbolize;

#define MIRROR_QUESTIONS_MAX (96u << 10) /* more than a window can have new frames, and locks */
#define MIRROR_BYTES_MAX     (32u << 20) /* of answers that were not used yet */

struct mirror {
	int sock;		  /* -1: the symbolizer is gone */
	struct number_map theirs; /* modules by the symbolizer's numbers, struct module */
	struct hash questions;	  /* struct asked */
	size_t unsent;		  /* from this item on, they have not been asked */
	u64 send_ns;		  /* when they are, at the latest */
	size_t waiting;		  /* for an answer */
	size_t used;		  /* whose answer was used: to be forgotten */
	u64 tidy_ns;		  /* when they are, at the latest */
	size_t answer_bytes;
	u64 lost; /* questions that nobody will answer, or whose answer found no room */
};

/* The first symbolizer, or another one after the last has died. The socket is taken. */
int mirror_attach(struct symbolize *symbolize, int sock);
void mirror_free(struct symbolize *symbolize);

/* How many there are; 0: not answered yet, ask again. As resolver.name(). */
size_t mirror_name(struct symbolize *symbolize, const struct place *place,
		   struct frame_name ret_names[FRAME_NAMES_MAX]);
void mirror_expect(struct symbolize *symbolize, const struct place *place);
enum name_answer mirror_name_data(struct symbolize *symbolize, const struct place *place,
				  char *ret_name, size_t size);

/* One message of the symbolizer's: false, if it is none. Called by mirror.c, and fuzzed. */
bool mirror_take(struct symbolize *symbolize, const void *message, size_t size);

/* --- mirror_names.c, for mirror.c --- */

#define MIRROR_ORPHAN 0 /* a module of a symbolizer that is gone has no number there */

void mirror_names_init(struct mirror *mirror);
void mirror_names_free(struct mirror *mirror);
/* Those that were not asked yet, at most QUESTIONS_MAX; the first that is not among them. */
size_t mirror_fill_questions(struct symbolize *symbolize, struct question *questions,
			     size_t *ret_next);
bool mirror_take_names(struct symbolize *symbolize, const struct fact_names *fact, size_t size);
bool mirror_take_variable(struct symbolize *symbolize, const struct fact_variable *fact,
			  size_t size);
/* What was asked of a module, 0: of all, gets no answer any more. */
void mirror_end_questions(struct mirror *mirror, u32 module);
void mirror_forget_used(struct mirror *mirror);

#endif
