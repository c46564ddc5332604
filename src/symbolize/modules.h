/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Everything that code can be part of: files, the kernel and its parts, the vdso, code that a
 * process makes itself. A file is one module for all processes, and so are files of one build. Owns
 * the modules, their descriptors, names and lines. Called by symbolize, in the unprivileged
 * process.
 */
#ifndef DWELL_SYMBOLIZE_MODULES_H
#define DWELL_SYMBOLIZE_MODULES_H

#include "../base/hash.h"
#include "../base/number_map.h"
#include "../model/resolver.h"
#include "elf_file.h"
#include "lines.h"
#include "perf_map.h"
#include "symbols.h"
#include "thread_context.h"

#define MODULES_MAX	  16384 /* at a time: those that are mapped, and some that were */
#define MODULES_IDLE_MAX  128	/* files that no process has mapped any more: they may come back */
#define MODULE_FILES_MAX  65536 /* files that were told apart; of more, the builds are known */
#define KERNEL_PARTS_MAX  1024	/* modules of the kernel that have a name */
#define MODULES_OPEN_MAX  1024	/* descriptors that are kept, if the limit on them allows it */
#define SYMBOLS_BYTES_MAX (512u << 20) /* of names of files; names may be long, and the same */
#define PERF_MAPS_MAX	  256
#define PERF_BYTES_MAX	  (120u << 20)	 /* of all of these */
#define PERF_USER_BYTES	  (40u << 20)	 /* of those of one user */
#define LINES_OPEN_MAX	  32		 /* files whose DWARF is kept in memory */
#define NAMES_IDLE_NS	  20000000000ULL /* names that nobody asked for in so long are read again */

#define MODULE_KERNEL_ID 1

/* Which file it is; the privileged side asked the kernel. Compared as bytes. */
struct file_key {
	u64 dev;
	u64 inode;
	u64 size;
	u64 mtime_ns;
};

struct module {
	enum module_kind kind;
	u32 id;
	char *path;
	char build_id[2 * BUILD_ID_MAX + 1];
	u64 identity;

	bool is_shared;		 /* by all files of its build */
	bool is_elf;		 /* of this machine; else it has nothing below */
	struct elf_file elf;	 /* elf.elf is NULL: closed, since others were used more recently */
	int debug_fd;		 /* -1: none was found, or it is closed */
	void *image;		 /* of the vdso */
	struct symbols *symbols; /* NULL: nobody asked for a name yet */
	struct lines *lines;	 /* likewise */
	struct elf_file lines_elf; /* that they are read from */
	u64 lines_spent_ns;	   /* of CPU time, before these */
	bool are_symbols_tried, are_lines_tried, is_debug_sought;
	bool are_lines_too_large;
	struct perf_map *perf_map; /* of code that a process makes */
	u32 perf_user;		   /* whose file that is */
	bool is_map_refused;	   /* there are too many of them: counted once */

	struct thread_context context; /* where it publishes trace contexts */
	bool is_context_sought;

	u32 table; /* its number in the kernel side's tables, or UNWIND_NO_TABLE */
	bool is_table_tried;
	u64 table_again_ns; /* there was no room: not before then */
	u64 used;	    /* when, in turns of modules.turn */
	u64 named_ns;	    /* when somebody last asked for one of its names */
	bool is_needed;	    /* see modules_reclaim() */
	bool is_published;  /* another process was told of it */
	u32 their_id;	    /* of one that another process told us: its number there */
};

struct modules {
	struct number_map all; /* by id, struct module */
	u32 last_id;	       /* ids are never used twice */
	struct hash files;     /* struct file_key → id */
	struct hash builds;    /* build id and size of files that can be trusted → id */
	struct hash names;     /* of the kernel's parts → id */
	u64 turn;
	size_t open, open_max; /* descriptors */
	size_t symbol_bytes;
	size_t perf_maps, perf_bytes;
	u64 perf_unfit; /* lines of such maps for which there was no room */
	size_t lines;	/* that are open, and */
	size_t lines_bytes;
	u64 reclaimed;	     /* modules */
	u64 files_forgotten; /* keys of files, whose modules live */
	u64 refused;	     /* modules, and maps of their names, for which there was no room */
	u64 no_symbols;	     /* files of which no name can be had, as there are too many */
	void (*on_remove)(void *context, const struct module *module); /* NULL: nobody cares */
	void *context;
};

int modules_init(struct modules *modules);
void modules_free(struct modules *modules);

/* NULL: there is none, or no longer. Valid until modules_reclaim(). */
struct module *modules_get(const struct modules *modules, u32 id);
struct module *modules_find_file(struct modules *modules, const struct file_key *key);

/*
 * The module of a file: the descriptor is taken in any case. is_trusted: nobody but root can have
 * written it, so that its build id tells what it is. fd -1: a file that could not be opened, or is
 * no program. NULL: no memory, or no number left.
 */
struct module *modules_add_file(struct modules *modules, const struct file_key *key, int fd,
				const char *path, bool is_trusted);

/* The same for a file that was closed meanwhile. */
void modules_open_again(struct modules *modules, struct module *module, int fd);

/* Its separate debug file; the descriptor is taken: 0, or -EINVAL if it is another build's. */
int modules_add_debug_file(struct modules *modules, struct module *module, int fd);

void modules_close_lines(struct modules *modules, struct module *module);

/* Closes its descriptors; what was read of it stays. */
void modules_close_files(struct modules *modules, struct module *module);

/* What was read of its file is not kept in memory. */
void modules_forget_bytes(struct module *module);

/*
 * Gives up modules that are not marked as is_needed, but for the files that were used last, and
 * names that nobody asked for in a while. Called when nothing that was placed still waits for its
 * name; the caller has set the marks, and forgets ids that are gone. How many were given up.
 */
u64 modules_reclaim(struct modules *modules, u64 now_ns);

/* Its parts: one module; and the files and builds whose modules are gone. */
void modules_remove(struct modules *modules, struct module *module);
void modules_forget_keys(struct modules *modules);

/* What was read of its symbols is given up; it is read again when somebody asks. */
void modules_unload(struct modules *modules, struct module *module);

struct module *modules_add_vdso(struct modules *modules);
struct module *modules_add_jit(struct modules *modules);
/* One that another process has: nothing of it can be read here. NULL: no memory, or no room. */
struct module *modules_add_told(struct modules *modules, enum module_kind kind, const char *path,
				const char *build_id, u64 identity);
struct module *modules_kernel_part(struct modules *modules, const char *name);

/*
 * Reads what was added to a map of names, /tmp/perf-PID.map of that user, as far as the memory for
 * those of one user, and of all, suffices: 0 or -errno, as perf_map_update() has it.
 */
int modules_read_perf_map(struct modules *modules, struct module *module, int fd, u32 user);

/* Names, read at the first call; NULL: there are none. */
const struct symbols *modules_symbols(struct modules *modules, struct module *module);
/* As lines_find(); 0: also if there are none. */
size_t modules_find_lines(struct modules *modules, struct module *module, u64 address,
			  struct frame_name ret_names[FRAME_NAMES_MAX]);
/* Whether an address may have a line that was not found: the file is too large, or took too long.
 */
bool modules_lack_lines(const struct module *module);

#endif
