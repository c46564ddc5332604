/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What an address means: asked by signals that keep stacks, answered by src/symbolize, both in the
 * unprivileged worker. An address is placed (module and address within it) as soon as its record is
 * read, while the process's mappings are still kept; its name can be asked for at any later time.
 */
#ifndef DWELL_MODEL_RESOLVER_H
#define DWELL_MODEL_RESOLVER_H

#include <stdbool.h>
#include <stddef.h>

#include "../../abi/types.h"

enum module_kind {
	MODULE_UNKNOWN,	     /* module 0: no mapping was known; addresses are the process's own */
	MODULE_KERNEL,	     /* module 1: addresses count from the kernel's _text */
	MODULE_KERNEL_OTHER, /* a module of the kernel's, or its BPF programs */
	MODULE_FILE,	     /* addresses are link-time ones, as addr2line wants them */
	MODULE_VDSO,	     /* likewise */
	MODULE_JIT,	     /* anonymous code of one process: addresses are the process's own */
};

struct place {
	u32 module;  /* small, never used twice in a session */
	u64 address; /* within the module */
};

struct module_info {
	enum module_kind kind;
	const char *path;     /* as the process has it; "[kernel]", "[vdso]", "[jit]"; never NULL */
	const char *build_id; /* hexadecimal, or "" */
	u64 identity;	      /* the same in every session: from build id, else from the path */
};

/* Where a name came from; what each means is in src/symbolize. */
enum name_source {
	NAME_NONE, /* there is none: module+0xoffset */
	NAME_SYMTAB,
	NAME_DYNSYM,
	NAME_DEBUGDATA, /* .gnu_debugdata */
	NAME_DEBUG_FILE,
	NAME_DEBUGINFOD,
	NAME_KALLSYMS,
	NAME_PERF_MAP,
	NAME_LOST, /* nobody knows any more whether there is one */
};

/* One function at an address: the one that was called, and those inlined into it there. */
struct frame_name {
	const char *name; /* demangled; NULL: not known. Valid until the next call */
	const char *file; /* NULL: not known, or not asked for */
	u32 line;	  /* 0: likewise */
	enum name_source source;
	bool is_line_refused; /* the file has too much DWARF, or it took too long to read */
};

#define FRAME_NAMES_MAX 16

enum name_answer {
	NAME_FOUND,
	NAME_ABSENT,  /* there is none */
	NAME_PENDING, /* it is not known yet: ask again in the next window */
};

struct resolver {
	/* Never fails: what is in no mapping is in module 0. generation 0: of the kernel. */
	void (*place)(struct resolver *resolver, u32 generation, u64 address,
		      struct place *ret_place);
	void (*describe)(struct resolver *resolver, u32 module, struct module_info *ret_info);
	/*
	 * Innermost first: the last one is the function proper, the others were inlined into it.
	 * At least one, which may have no name; 0: that is not known yet, ask again in the next
	 * window.
	 */
	size_t (*name)(struct resolver *resolver, const struct place *place,
		       struct frame_name ret_names[FRAME_NAMES_MAX]);

	/* This one will be asked for its name: it may be looked up meanwhile. NULL: it is not. */
	void (*expect)(struct resolver *resolver, const struct place *place);

	/*
	 * The same for variables of files, and of the kernel (generation 0); false: it is none that
	 * is known. The name is "lock", or "pool+0x28" inside of one.
	 */
	bool (*place_data)(struct resolver *resolver, u32 generation, u64 address,
			   struct place *ret_place);
	enum name_answer (*name_data)(struct resolver *resolver, const struct place *place,
				      char *ret_name, size_t size);

	/* A frame of the kernel, and the frame that it called, or that interrupted it. */
	void (*place_caller)(struct resolver *resolver, u64 address, u64 callee,
			     struct place *ret_place);
};

/* One that knows nothing: every address is in module 0, and none has a name. */
void resolver_none(struct resolver *ret_resolver);

#endif
