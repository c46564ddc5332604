/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reads the session that is being written into the model: after each window what is new in it, and
 * on demand names and stacks of one subject. Runs in the process without privileges. Owns the
 * descriptors that it is given, and what it knows of stacks. Called by the screen and by --batch.
 */
#ifndef DWELL_TOP_LIVE_H
#define DWELL_TOP_LIVE_H

#include "../store/reader.h"
#include "model.h"
#include "rows.h"

#define LIVE_STACKS_MAX 20000
#define LIVE_TEXT_BYTES 256

/* Stacks of a subject, since it was opened. */
struct live_stack {
	u64 stack, kind, state; /* the key */
	u64 waker_stack;
	u64 weight_ns, count;
};

struct live {
	int db_fd, wal_fd; /* -1: none yet */
	u64 inode;	   /* of the file that is read */
	u64 file_begin_ns; /* of its first window, which is this one: */
	s64 first_window;
	s64 ledger_row, process_row, loss_row, cpu_row, queue_row, sample_row;
	struct session *session; /* as it was after the last window; NULL: none */
	struct hash stacks;	 /* struct live_stack, of the subject */
	struct rows_subject subject;
	bool has_subject;
	u64 stacks_since_ns; /* of the first window that they are of */
};

void live_init(struct live *live);
void live_close(struct live *live);

/* Takes both descriptors, and reads what has come: 0 or -errno. */
int live_read(struct live *live, int db_fd, int wal_fd, struct model *model);

/* Stacks are read of this subject from now on, and what the file has of it; NULL: of none. */
void live_watch(struct live *live, const struct model *model, const struct rows_subject *subject);

/* Names, as the session has them; "" if there is none. Not escaped. */
void live_call_name(const struct live *live, u32 call, char ret_text[LIVE_TEXT_BYTES]);
void live_object_name(const struct live *live, u64 object, char ret_text[LIVE_TEXT_BYTES]);
/* "inner < caller < ...", some functions; without those of the kernel, if there are others. */
void live_stack_text(const struct live *live, u64 stack, bool is_user_only, char *ret_text,
		     size_t size);

#endif
