// SPDX-License-Identifier: Apache-2.0
#include "unwinding_facts.h"

#include "../worker/unwinding.h"

static const char *const refusal_keys[FILE_REFUSAL_COUNT] = {
	[FILE_TAKEN] = "",
	[FILE_UNREACHABLE] = "unwind_files_unreachable",
	[FILE_NOT_REGULAR] = "unwind_files_not_regular",
	[FILE_MAY_BLOCK] = "unwind_files_may_block",
	[FILE_NO_PROGRAM] = "unwind_files_no_program",
};

static u64 cut_of(const struct symbolize_counts *counts)
{
	return counts->tables.cut + counts->tables.mappings_cut;
}

static u64 full_of(const struct symbolize_counts *counts)
{
	return counts->tables.full + counts->tables.mappings_full + counts->processes_refused;
}

static u64 refused_of(const struct symbolize_counts *counts)
{
	return counts->modules_refused + counts->no_symbols;
}

void unwinding_facts_read(const struct mappings *mappings, const struct helpers *helpers,
			  struct unwinding_counts *ret_counts)
{
	mappings_counts(mappings, &ret_counts->here);
	opener_counts(helpers->opener, &ret_counts->opener);
	ret_counts->is_worker_known =
		!worker_unwinding_counts(helpers->symbolizer, &ret_counts->there);
}

void unwinding_facts_add(const struct unwinding_counts *now, const struct unwinding_counts *before,
			 unwinding_fact_fn *add, void *context)
{
	const struct mappings_counts *here = &now->here;
	const struct symbolize_counts *there = &now->there;
	const struct opener_counts *opener = &now->opener;

	add(context, "opener_hangs", opener->hangs - before->opener.hangs);
	add(context, "opener_replaced", opener->replaced - before->opener.replaced);
	add(context, "unwind_scans", here->scans - before->here.scans);
	add(context, "unwind_scan_ns", here->scan_ns - before->here.scan_ns);
	add(context, "unwind_processes_refused",
	    here->refused + here->unpublished - before->here.refused - before->here.unpublished);
	add(context, "unwind_mappings_lost", here->lost - before->here.lost);
	if (!now->is_worker_known)
		return;
	add(context, "unwind_rows", there->tables.rows);
	add(context, "unwind_rows_most", there->tables.pages.most);
	add(context, "unwind_rows_capacity", there->tables.capacity);
	add(context, "unwind_pages_asked",
	    there->tables.pages.asked - before->there.tables.pages.asked);
	add(context, "unwind_pages_again",
	    there->tables.pages.again - before->there.tables.pages.again);
	add(context, "unwind_pages_refused",
	    there->tables.pages.refused - before->there.tables.pages.refused);
	add(context, "unwind_pages_evicted",
	    there->tables.pages.evicted - before->there.tables.pages.evicted);
	add(context, "unwind_pages_unread", there->pages_unread - before->there.pages_unread);
	add(context, "unwind_modules", there->tables.modules);
	add(context, "unwind_builds", there->builds - before->there.builds);
	add(context, "unwind_build_ns", there->build_ns - before->there.build_ns);
	add(context, "unwind_cached", there->cached - before->there.cached);
	add(context, "unwind_tables_cut", cut_of(there) - cut_of(&before->there));
	add(context, "unwind_tables_full", full_of(there) - full_of(&before->there));
	add(context, "unwind_modules_refused", refused_of(there) - refused_of(&before->there));
	add(context, "unwind_modules_reclaimed",
	    there->modules_reclaimed - before->there.modules_reclaimed);
	add(context, "jit_names_refused", there->perf_map_unfit - before->there.perf_map_unfit);
	add(context, "trace_contexts_refused",
	    there->contexts_refused - before->there.contexts_refused);
	for (int i = FILE_UNREACHABLE; i < FILE_REFUSAL_COUNT; i++)
		add(context, refusal_keys[i], there->refused[i] - before->there.refused[i]);
}
