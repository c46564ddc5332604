/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Which code an address is, and how to walk a stack through it: who is asked for by number of
 * process is looked at (a scan), its files become modules with tables for the kernel side, and
 * addresses of its stacks become places and names. Owns all of it. Runs in the unprivileged
 * process, which is handed descriptors; called by the worker's unwinding.c.
 */
#ifndef DWELL_SYMBOLIZE_SYMBOLIZE_H
#define DWELL_SYMBOLIZE_SYMBOLIZE_H

#include "../model/resolver.h"
#include "modules.h"
#include "unwind_tables.h"

struct symbolize;

int symbolize_create(struct symbolize **ret_symbolize);
void symbolize_free(struct symbolize *symbolize); /* NULL is allowed */
struct resolver *symbolize_resolver(struct symbolize *symbolize);

/*
 * The kernel side's tables; without them no process can be looked at. Once: 0 or -errno. A process
 * before this one may have given out generations up to this one; 0: there was none.
 */
int symbolize_give_tables(struct symbolize *symbolize, const struct unwind_memory *memory,
			  u32 generation);

/* What names come with; neither is there from the start. */
void symbolize_want(struct symbolize *symbolize, bool lines, bool inlined);

/* The descriptor is taken, and read again when an address is in nothing that is known. */
int symbolize_kallsyms(struct symbolize *symbolize, int fd);
void symbolize_read_kallsyms(struct symbolize *symbolize); /* now, rather than then */

/* --- a process is looked at: one at a time --- */

/* Files that it has mapped as code, each once: how many, or -errno. One before is given up. */
int symbolize_scan(struct symbolize *symbolize, u32 tgid, int maps_fd);

/* Where file i of the scan is mapped: this names it to the kernel. */
bool symbolize_scan_file(const struct symbolize *symbolize, u32 i, u64 *ret_begin, u64 *ret_end);

enum file_refusal {
	FILE_TAKEN,
	FILE_UNREACHABLE, /* it could not be opened: gone, or not allowed */
	FILE_NOT_REGULAR,
	FILE_MAY_BLOCK,	 /* another program answers for it (FUSE), and may not */
	FILE_NO_PROGRAM, /* its first bytes are not those of an ELF file */
	FILE_REFUSAL_COUNT
};

struct file_facts {
	struct file_key key;
	u32 is_trusted; /* root's own, and nobody else can write it */
	u32 refusal;	/* enum file_refusal */
};

/* False: its descriptor is wanted, by symbolize_take_file(). */
bool symbolize_knows_file(struct symbolize *symbolize, u32 i, const struct file_facts *facts);

/* What is wanted for a file that was taken. */
struct file_wants {
	u8 build_id[BUILD_ID_MAX];
	u32 build_id_size;
	bool rows;  /* symbolize_read_rows() or symbolize_build_rows() */
	bool cache; /* they are worth being kept on disk: by build id, of a file to be trusted */
	bool debug; /* symbolize_take_debug_file(): it has few names itself */
};

/* The descriptor is taken; -1 with a refusal in facts. */
int symbolize_take_file(struct symbolize *symbolize, u32 i, const struct file_facts *facts, int fd,
			struct file_wants *ret_wants);
int symbolize_take_debug_file(struct symbolize *symbolize, u32 i, int fd);

/* Its rows from a file that symbolize_write_rows() wrote: 0, or -errno if they are to be built. */
int symbolize_read_rows(struct symbolize *symbolize, u32 i, int fd);
/* Its rows from itself; *ret_is_worthy: they took long enough to be kept. */
int symbolize_build_rows(struct symbolize *symbolize, u32 i, bool *ret_is_worthy);
/* Those built last, until the next of these calls. */
int symbolize_write_rows(struct symbolize *symbolize, u32 i, int fd);

/*
 * All files are known, or never will be: for the kernel side. *ret_has_jit: it has code that is in
 * no file, for which there may be a map of names. ret_context: where it publishes trace contexts.
 */
int symbolize_finish(struct symbolize *symbolize, struct unwind_process *ret_process,
		     struct thread_context *ret_context, bool *ret_has_jit);

/* --- what becomes of processes --- */

int symbolize_forked(struct symbolize *symbolize, u32 tgid, u32 generation); /* -ESTALE: scan it */
void symbolize_gone(struct symbolize *symbolize, u32 tgid, u32 generation);
/* Its map of names, of which only what was added is read: 0 or -errno; -EAGAIN: ask again later. */
int symbolize_perf_map(struct symbolize *symbolize, u32 tgid, int fd);

/*
 * The walk of a stack came to a page of the tables that is not loaded: it is loaded, if there is
 * room; or, when all that were asked for are, those near it.
 */
void symbolize_load_page(struct symbolize *symbolize, u32 table, u32 place);
void symbolize_load_near(struct symbolize *symbolize, u32 table, u32 place);

/*
 * A window has ended, and all that was placed has its name: modules that no process has mapped any
 * more are given up, and their memory and descriptors with them.
 */
void symbolize_reclaim(struct symbolize *symbolize, u64 now_ns);

/*
 * --- in two processes ---
 *
 * One reads files, and tells the other what it knows of modules and mappings; that one places
 * addresses, names the kernel's functions, and asks for other names, which it gets some time later.
 * So it never waits for a file. Each takes its end of a socket pair, again when the other was
 * replaced, and owns it.
 */

/* The one that reads files: all that is known is told at once. */
void symbolize_publish(struct symbolize *symbolize, int sock);
int symbolize_questions_fd(const struct symbolize *symbolize); /* -1: nobody asks */
/* Takes the next few questions, if there are any, and all before have been answered. */
void symbolize_take_questions(struct symbolize *symbolize);
bool symbolize_answer_one(struct symbolize *symbolize); /* false: there is nothing to answer */

/* The other: 0 or -ENOMEM. */
int symbolize_mirror(struct symbolize *symbolize, int sock);
int symbolize_facts_fd(const struct symbolize *symbolize);	/* -1: nobody answers */
void symbolize_take_facts(struct symbolize *symbolize);		/* all that were told by now */
void symbolize_send_questions(struct symbolize *symbolize);	/* as many as find room now */
void symbolize_send_due_questions(struct symbolize *symbolize); /* if one waits for long */
size_t symbolize_names_pending(const struct symbolize *symbolize);
u64 symbolize_names_lost(const struct symbolize *symbolize); /* that nobody will answer */
/* Modules that come get numbers above this: the session has others up to it. */
void symbolize_number_above(struct symbolize *symbolize, u32 number);
/* Until none is pending, or then. */
void symbolize_wait_for_names(struct symbolize *symbolize, u64 until_ns);

/* What there is, and what there was no room for. */
struct symbolize_counts {
	u64 scans;
	u64 processes;
	u64 modules;
	u64 modules_reclaimed;
	u64 builds; /* of rows, and */
	u64 build_ns;
	u64 cached;			 /* read from disk instead */
	u64 pages_unread;		 /* pages that were asked for when their file was closed */
	u64 refused[FILE_REFUSAL_COUNT]; /* files */
	u64 modules_refused;
	u64 perf_map_unfit; /* lines of maps of names */
	u64 processes_refused;
	u64 no_symbols;
	u64 contexts_refused; /* files that publish trace contexts in a way that is not known */
	struct unwind_counts tables;
};

void symbolize_counts(const struct symbolize *symbolize, struct symbolize_counts *ret_counts);

#endif
