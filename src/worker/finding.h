/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Where probes can be put: the worker looks into an ELF file that it is handed, and answers with
 * places (src/symbolize/sites.h). The first part is for commands, the second is the worker's own.
 * The worker may have been taken over by what it read: an answer is checked here, and an offset is
 * a suggestion that the kernel checks again.
 *
 *	worker_finding_open()     one file at a time; another one closes the one before
 *	worker_finding_debug()    its debug file, if there is one
 *	worker_finding_search()   by name, pattern, offset; or USDT probes
 *	worker_finding_sites()    what was found, page by page
 */
#ifndef DWELL_WORKER_FINDING_H
#define DWELL_WORKER_FINDING_H

#include "../symbolize/sites.h"
#include "worker.h"

#define FINDING_PATTERN_MAX 256 /* bytes, with the NUL */

struct finding_file {
	u8 build_id[BUILD_ID_MAX];
	u32 build_id_size; /* 0: it has none */
	u32 is_go;
	u32 is_full; /* all symbols are there, not only exported ones */
	u32 has_dwarf;
	u32 is_position_independent;
};

/* A descriptor that stays the caller's: 0 or -errno; -ENOEXEC: no ELF file of this machine. */
int worker_finding_open(struct worker *worker, int fd, struct finding_file *ret_file);
/* What it adds is in *ret_file. */
int worker_finding_debug(struct worker *worker, int fd, struct finding_file *ret_file);

enum finding_what { FINDING_FUNCTIONS, FINDING_SYMBOL, FINDING_OFFSET, FINDING_USDT };

struct finding_result {
	u32 count;	/* of places, up to SITES_MAX; each is there once */
	u32 is_inlined; /* none was found, but DWARF tells of a function that was inlined */
	u64 matched;	/* all that fit */
};

/*
 * FINDING_FUNCTIONS: a name or pattern, as people write it, which can take seconds for a large file
 * of C++; FINDING_SYMBOL: the symbol's own name, and several searches cost little more than one;
 * FINDING_OFFSET: offset is looked at; FINDING_USDT: "provider:name". 0 or -errno; -ERANGE: an
 * offset that is in no executable segment.
 */
int worker_finding_search(struct worker *worker, enum finding_what what, const char *pattern,
			  u64 offset, struct finding_result *ret_result);

/* Places first and on of the last search: how many, or -errno. */
int worker_finding_sites(struct worker *worker, u32 first, struct site *ret_sites, u32 max);

/* The file is let go. */
int worker_finding_close(struct worker *worker);

/* The same in one: places of the functions of a file that fit, by at most max: how many, or -errno.
 */
int worker_find_functions(struct worker *worker, int fd, const char *pattern,
			  struct finding_file *ret_file, struct site *ret_sites, u32 max);

/* Inside the worker. */
enum finding_job {
	FINDING_JOB_OPEN,
	FINDING_JOB_DEBUG,
	FINDING_JOB_SEARCH,
	FINDING_JOB_SITES,
	FINDING_JOB_CLOSE,
	FINDING_JOB_COUNT
};
#define FINDING_JOB_FIRST 0xfffd0000u

struct finding_search {
	u32 what;
	u32 unused;
	u64 offset;
	char pattern[FINDING_PATTERN_MAX];
};

struct finding_inside {
	struct elf_file file, debug_file; /* zeroed: none */
	int fd, debug_fd;		  /* 0: none; standard files are never programs */
	struct spans names;		  /* of its symbols; zeroed: not read yet */
	struct sites sites;
};

/* Runs one job: the reply's size or -errno. A descriptor that it keeps becomes -1. */
ssize_t finding_inside_run(struct finding_inside *finding, enum finding_job job, int *fd,
			   const void *request, size_t size, void *reply, size_t reply_size);

#endif
