// SPDX-License-Identifier: Apache-2.0 OR GPL-2.0-only
/*
 * What every object of dwell's holds once: licence, knobs, shared maps, record types.
 */
#include "common.bpf.h"

char LICENSE[] SEC("license") = "GPL";

#define KNOB(name, standard, ...) const volatile u32 name = standard;
FROZEN_KNOBS(KNOB)
#undef KNOB

struct records_map records SEC(".maps");
struct records_map records_nmi SEC(".maps");
struct emit_counts_map emit_counts SEC(".maps");
struct live_configs_map live_configs SEC(".maps");
struct filters_map filters SEC(".maps");
struct object_ids_map object_ids SEC(".maps");
struct listeners_map listeners SEC(".maps");
struct split_off_map split_off SEC(".maps");
struct ledger_tasks_map ledger_tasks SEC(".maps");
struct ledger_pids_map ledger_pids SEC(".maps");
struct ledger_cpus_map ledger_cpus SEC(".maps");
struct stack_scratches_map stack_scratches SEC(".maps");
struct stacks_seen_map stacks_seen SEC(".maps");
struct unwind_rows_map unwind_rows SEC(".maps");
struct unwind_pages_map unwind_pages SEC(".maps");
struct unwind_modules_map unwind_modules SEC(".maps");
struct unwind_mappings_map unwind_mappings SEC(".maps");
struct unwind_processes_map unwind_processes SEC(".maps");
struct unwind_requests_map unwind_requests SEC(".maps");
struct unwind_requests_map unwind_requests_nmi SEC(".maps");
struct unwind_ranges_map unwind_ranges SEC(".maps");
struct nmi_asks_map nmi_asks SEC(".maps");
struct uprobe_nowhere_map uprobe_nowhere SEC(".maps");
struct series_index_map series_index SEC(".maps");
struct series_slots_map series_slots SEC(".maps");
struct series_stripes_map series_stripes SEC(".maps");
struct series_free_map series_free SEC(".maps");
struct series_shares_map series_shares SEC(".maps");
struct pairs_map pairs SEC(".maps");
struct pairs_gone_map pairs_gone SEC(".maps");
struct slow_budgets_map slow_budgets SEC(".maps");
struct disk_waits_map disk_waits SEC(".maps");

/* A type is in an object's BTF only if something refers to it; field lists are read from there. */
#define BTF_NONE(name)
#define BTF_WHOLE(name)				       const struct rec_##name *btf_rec_##name __attribute__((unused));
#define BTF_FRAMES(name)			       BTF_WHOLE(name)
#define BTF_BUCKETS(name)			       BTF_WHOLE(name)
#define SIGNAL(id, NAME, name, version, class, extent) BTF_##extent(name)
#include "../abi/signals.def"
#undef SIGNAL
