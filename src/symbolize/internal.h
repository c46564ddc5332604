/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The symbolizer as its own files see it; nobody else includes this.
 */
#ifndef DWELL_SYMBOLIZE_INTERNAL_H
#define DWELL_SYMBOLIZE_INTERNAL_H

#include "demangle.h"
#include "kernel_names.h"
#include "mirror.h"
#include "publish.h"
#include "row_store.h"
#include "scan.h"
#include "symbolize.h"

struct symbolize {
	struct resolver resolver; /* the first: it is how we are called */
	struct modules modules;
	struct processes processes;
	struct unwind_tables *tables; /* NULL: the kernel side has none */
	struct row_store rows;	      /* of those that are not whole there */
	struct scan scan;
	struct mapped *mapped; /* of the scan, when it is finished */
	u32 vdso;	       /* its module, or 0 */
	bool wants_lines, wants_inlined;

	struct symbols *data;	      /* variables of the module that was last asked for */
	u32 data_module;	      /* 0: none */
	struct kallsyms *kernel_data; /* the kernel's own, read when somebody asks */
	bool is_kernel_data_tried;

	struct kernel_names kernel_names;

	struct publisher publisher; /* what another process is told */
	struct mirror *mirror;	    /* what another process tells; NULL: files are read here */

	u64 reclaim_ns, trim_ns; /* when modules, and the heap's free memory, were last given up */
	u64 trimmed;		 /* modules.reclaimed at that time */

	struct symbolize_counts counts;
	char texts[FRAME_NAMES_MAX][DEMANGLED_MAX]; /* the names that were given out last */
};

/* resolve_data.c: variables; as struct resolver has them */
bool resolve_place_data(struct resolver *resolver, u32 generation, u64 address,
			struct place *ret_place);
enum name_answer resolve_name_data(struct resolver *resolver, const struct place *place,
				   char *ret_name, size_t size);

/* place_context.c: of a file, once; of the process that was scanned, as its files have it */
void symbolize_seek_context(struct symbolize *symbolize, struct module *module);
void symbolize_place_context(const struct symbolize *symbolize, u32 count,
			     struct thread_context *ret_context);

/* resolve.c */
void resolve_init(struct resolver *resolver);

#endif
