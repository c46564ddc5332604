/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A recording in several files (--rotate, --keep): names them, opens the next one before the one
 * that is written ends, and removes the oldest. A recording with --warmup begins with a file in
 * memory, which is discarded: then everything is warm, dwell's own tables too. Owns the next file,
 * and what it knows of those that were written. Called by engine.c, which owns the file that is
 * written.
 */
#ifndef DWELL_ENGINE_ROTATION_H
#define DWELL_ENGINE_ROTATION_H

#include <limits.h>

#include "../store/files.h"
#include "../worker/worker.h"

#define ROTATION_NUMBER_MAX 999999999ULL

/* A file that was written, and is to be removed when there are more than --keep. */
struct rotation_file {
	u64 number;
	struct files_identity identity;
};

struct rotation {
	const char *output; /* as -o has it */
	u64 every_ns;	    /* 0: there is one file */
	u64 keep;	    /* files, the one that is written included; 0: all */
	u64 number;	    /* of the file that is written */
	u64 due_ns;	    /* when the next one is to begin */

	u64 warmup_ns;	    /* the first file is discarded after so long; 0: there is none such */
	bool is_warming;    /* it is the one that is written */
	u64 memory_bytes;   /* the most of a file in memory */
	bool may_have_next; /* else `next` was never set */
	bool has_next;	    /* it is open, also in the worker */
	struct session_files next;
	char next_path[PATH_MAX]; /* "": in memory */

	struct rotation_file *written; /* keep of them, oldest first; NULL: --keep was not given */
	size_t written_count;
	u64 made;	    /* files with windows in them, the one that is written included */
	u64 removed;	    /* of these */
	u64 not_removed;    /* they stay, though they are too many */
	u64 missing;	    /* somebody else has removed, renamed or replaced them */
	u64 incomplete;	    /* they need their -wal */
	u64 longest_ns;	    /* that it took from one file to the next, ... */
	u64 longest_end_ns; /* ... and to make the old one complete */
};

/* FILE.dwell becomes FILE.0001.dwell: 0 or -ENAMETOOLONG. */
int rotation_name(const char *output, u64 number, char *ret_path, size_t size);

/* The highest number that a file of this name has; 0: there is none. */
u64 rotation_highest(const char *output);

/* The first file's name, whose number is above those that are there: 0 or -errno, told. */
int rotation_open(struct rotation *rotation, const char *output, u64 every_ns, u64 keep,
		  char *ret_path, size_t size);
void rotation_close(struct rotation *rotation);

/*
 * The file that is written first is to be discarded; the one of this name (NULL: in memory) comes
 * after it, and is opened now: 0 or -errno, told.
 */
int rotation_warm_up(struct rotation *rotation, struct worker *worker, u64 warmup_ns,
		     const char *path, u64 memory_bytes);

/* The next file that was opened is removed: whoever would write it is gone. */
void rotation_drop_next(struct rotation *rotation);

/* The first file begins now. */
void rotation_begin(struct rotation *rotation, u64 begin_ns);

/* Opens the next file. If that fails, it is told, and the file that is written goes on. */
void rotation_prepare(struct rotation *rotation, struct worker *worker);

/*
 * The next file is the one that is written, from now on; *files is the old one, and then
 * the new one, whose name is in path. 0, or -errno if neither can be written any more.
 */
int rotation_turn(struct rotation *rotation, struct worker *worker, u64 begin_ns,
		  struct session_files *files, char *path, size_t size);

#endif
