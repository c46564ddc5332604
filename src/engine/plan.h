/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a measurement does, decided once from its options and from what this kernel can: probes with
 * their fallbacks, maps and their sizes, knobs, filters, and how much it may cost. The engine
 * carries it out; --dry-run prints it. Owns copies of probes and filters. Called by engine_attach.c
 * and dry_run.c.
 */
#ifndef DWELL_ENGINE_PLAN_H
#define DWELL_ENGINE_PLAN_H

#include <stdio.h>

#include "engine.h"
#include "probes.h"

#define PLAN_QUEUE_BYTES  (8u << 20) /* rows are some 1.5 KB each, and come in thousands */
#define PLAN_MAPS_MAX	  128
#define PLAN_HOOK_BYTES	  160
#define PLAN_DEFERRED_MAX 2 /* signals that have deferred probes */

/* What is asked of the kernel before anything is decided. */
struct plan_facts {
	bool has_task_storage; /* from 5.12 on; also if it does not say */
	u32 cpus;	       /* online */
};

struct plan {
	enum tier tier;
	const char *tier_why; /* NULL: it is as was asked for, or the default */
	struct probe_list probes;
	struct selection selection;

	/* Probes, knobs, sizes of maps and filters; the processes and the queue are added when it
	 * is carried out. */
	struct capture_config config;

	/* What the governor may do. */
	double overhead_limit; /* of the host's CPU time; 0: no limit */
	bool has_stacks;       /* that it may thin and switch off */
	bool has_rates;
	u32 freq; /* samples a second on each CPU, of these; 0: none */

	/* Of deferred probes. */
	struct plan_deferred {
		int signal;   /* that has them; 0: none */
		double limit; /* most of one CPU's time */
	} deferred[PLAN_DEFERRED_MAX];
	bool is_for_all;   /* whoever maps a file is followed */
	bool is_forced;	   /* whatever they cost */
	bool tracks_lives; /* what a process has of theirs is followed until it is given back */
};

void plan_facts_read(struct plan_facts *ret_facts);

/* 0 or -EOPNOTSUPP, told: what was asked for is not replaced by less. */
int plan_make(const struct engine_options *options, const struct plan_facts *facts,
	      struct plan *ret_plan);

/* The command that is followed has this number. */
void plan_follow(struct plan *plan, pid_t pid);

/* --- what becomes of it on this host, as far as that is known without loading it --- */

enum plan_state {
	PLAN_ATTACHED,
	PLAN_IN_PLACE,	 /* attached in place of another, which this kernel does not take */
	PLAN_IF_REFUSED, /* attached if another cannot be, which the attempt shows */
	PLAN_NOT_NEEDED, /* the other one is there */
	PLAN_REFUSED,
};

struct plan_hook {
	const char *program;
	int signal; /* whose it is; 0: the command's own */
	enum plan_state state;
	const char *other;		  /* that it stands in for; NULL: none */
	char place[PLAN_HOOK_BYTES];	  /* where it is attached, or when it runs */
	char reason[2 * PLAN_HOOK_BYTES]; /* why it is refused */
};

struct plan_outlook {
	struct plan_hook hooks[CAPTURE_PROBES_MAX];
	size_t hook_count;
	struct capture_map maps[PLAN_MAPS_MAX];
	size_t map_count;
	u64 thread_bytes; /* more, for each thread that is measured */
};

/* 0 or -errno, told: a hook that it cannot do without is refused. */
int plan_foresee(const struct plan *plan, struct plan_outlook *ret_outlook);

void plan_print(const struct plan *plan, const struct plan_outlook *outlook,
		const struct engine_options *options, FILE *out);

#endif
