/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The table of what dwell can use of a kernel: one row per feature, one program of the canary
 * each. To add one, write its program in signals/canary/canary.bpf.c and its row here.
 */
#ifndef DWELL_DOCTOR_FEATURES_H
#define DWELL_DOCTOR_FEATURES_H

#include <stdbool.h>

#include "../model/probe.h"
#include "facts.h"
#include "trigger.h"

#define FEATURE_KCONFIGS_MAX 3
#define FALLBACK_CORE	     "core" /* needs nothing beyond what dwell cannot do without */

/* What a feature asks of the one who uses it, beyond CAP_BPF and CAP_PERFMON. */
enum feature_need { NEEDS_NOTHING_MORE, NEEDS_TRACEFS, NEEDS_PERF_PROBE, NEEDS_BTF };

struct feature {
	const char *name;
	const char *group;
	struct probe probe;
	enum trigger_kind trigger;
	u64 least_value;      /* the canary's value says that it worked */
	const char *loses;    /* what dwell cannot do without it */
	const char *fallback; /* a feature that then serves instead, FALLBACK_CORE, or NULL */
	const char *instead;  /* and how; said when it does */
	int since_major, since_minor; /* first kernel that has it; 0: all that dwell supports */
	enum kconfig kconfig[FEATURE_KCONFIGS_MAX];
	enum feature_need need;
	bool core; /* dwell cannot run without it */
};

extern const struct feature features[];
extern const size_t feature_count;

#endif
