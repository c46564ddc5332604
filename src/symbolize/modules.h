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
#include "../model/resolver.h"
#include "elf_file.h"
#include "lines.h"
#include "perf_map.h"
#include "symbols.h"

#define MODULES_MAX	  16384 /* of a session: numbers are not used twice */
#define MODULE_FILES_MAX  65536 /* files that were told apart */
#define MODULES_OPEN_MAX  1024	/* descriptors that are kept, if the limit on them allows it */
#define SYMBOLS_BYTES_MAX (512u << 20) /* of names of files; names may be long, and the same */
#define PERF_MAPS_MAX	  256
#define PERF_BYTES_MAX	  (512u << 20) /* of all of these */
#define LINES_OPEN_MAX	  32	       /* files whose DWARF is kept in memory */

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

	bool is_elf;		 /* of this machine; else it has nothing below */
	struct elf_file elf;	 /* elf.elf is NULL: closed, since others were used more recently */
	int debug_fd;		 /* -1: none was found, or it is closed */
	void *image;		 /* of the vdso */
	struct symbols *symbols; /* NULL: nobody asked for a name yet */
	struct lines *lines;	 /* likewise */
	struct elf_file lines_elf; /* that they are read from */
	bool are_symbols_tried, are_lines_tried, is_debug_sought;
	struct perf_map *perf_map; /* of code that a process makes */

	u32 table; /* its number in the kernel side's tables, or UNWIND_NO_TABLE */
	bool is_table_tried;
	u64 table_again_ns; /* there was no room: not before then */
	u64 used;	    /* when, in turns of modules.turn */
};

struct modules {
	struct module **all; /* by id; [0] stays empty */
	u32 count;
	struct hash files;  /* struct file_key → id */
	struct hash builds; /* build id and size of files that can be trusted → id */
	struct hash names;  /* of the kernel's parts → id */
	u64 turn;
	size_t open, open_max; /* descriptors */
	size_t symbol_bytes;
	size_t perf_maps, perf_bytes;
	size_t lines;	/* that are open */
	u64 refused;	/* modules, and maps of their names, for which there was no room */
	u64 no_symbols; /* files of which no name can be had, as there are too many */
};

int modules_init(struct modules *modules);
void modules_free(struct modules *modules);

/* NULL: there is none. Valid for good. */
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

struct module *modules_add_vdso(struct modules *modules);
struct module *modules_add_jit(struct modules *modules);
struct module *modules_kernel_part(struct modules *modules, const char *name);

/* The map is taken; one before is closed. */
void modules_set_perf_map(struct modules *modules, struct module *module, struct perf_map *map);

/* Names, read at the first call; NULL: there are none. */
const struct symbols *modules_symbols(struct modules *modules, struct module *module);
struct lines *modules_lines(struct modules *modules, struct module *module);

#endif
