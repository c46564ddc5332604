/* SPDX-License-Identifier: Apache-2.0 OR GPL-2.0-only */
/*
 * The only header that a probe includes: kernel types, the contract, the shared maps and
 * knobs (core.bpf.c owns them), the filter and the way out.
 */
#ifndef DWELL_COMMON_BPF_H
#define DWELL_COMMON_BPF_H

#include <vmlinux.h> /* ours, or a generated one: the build says which */

#include <bpf/bpf_helpers.h>
#include <bpf/bpf_core_read.h>
#include <bpf/bpf_tracing.h>

#include "../abi/config.h"
#include "../abi/func.h"
#include "../abi/records.h"
#include "../abi/thread_context.h"
#include "compat.bpf.h"

#define KNOB(name, ...) extern const volatile u32 name;
FROZEN_KNOBS(KNOB)
#undef KNOB

struct records_map {
	__uint(type, BPF_MAP_TYPE_RINGBUF);
	__uint(max_entries, RING_BYTES_DEFAULT);
};

struct emit_counts_map {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, 1);
	__type(key, u32);
	__type(value, struct emit_counts);
};

struct live_configs_map {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, 1);
	__type(key, u32);
	__type(value, struct live_config);
};

struct filters_map {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, FILTERS_MAX);
	__type(key, struct filter_key);
	__type(value, u8);
};

extern struct records_map records SEC(".maps");
extern struct records_map records_nmi SEC(".maps"); /* see nmi.bpf.h */
extern struct emit_counts_map emit_counts SEC(".maps");
extern struct live_configs_map live_configs SEC(".maps");
extern struct filters_map filters SEC(".maps");

#include "filter.bpf.h"
#include "emit.bpf.h"
#include "path.bpf.h"
#include "object.bpf.h"
#include "socket.bpf.h"
#include "ledger.bpf.h"
#include "ledger_rivals.bpf.h"
#include "ledger_chain.bpf.h"
#include "ledger_copy.bpf.h"
#include "ledger_mark.bpf.h"
#include "split.bpf.h"
#include "account.bpf.h"
#include "nmi.bpf.h"
#include "uprobe.bpf.h"
#include "stack.bpf.h"
#include "sampler.bpf.h"
#include "series.bpf.h"
#include "pair.bpf.h"
#include "slow.bpf.h"
#include "label.bpf.h"
#include "disk.bpf.h"
#include "lock.bpf.h"

#endif
