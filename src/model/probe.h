/* SPDX-License-Identifier: Apache-2.0 */
/*
 * One BPF program and how it is attached: data, so that capture does the attaching and the
 * doctor can show it. Owns nothing. Written by signals and by the doctor, read by capture.
 */
#ifndef DWELL_MODEL_PROBE_H
#define DWELL_MODEL_PROBE_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

#include "../../abi/types.h"

enum probe_kind {
	PROBE_SECTION, /* the program's section says it all: tp_btf, raw_tp, tracepoint, fentry */
	PROBE_PERF,    /* a perf event, per process or per CPU */
	PROBE_FENTRY,  /* or fexit, by its section, of a function that is chosen here */
	PROBE_KPROBE,
	PROBE_KRETPROBE,
	PROBE_KPROBE_MULTI,
	PROBE_UPROBE,
	PROBE_URETPROBE,
	PROBE_UPROBE_MULTI,
	PROBE_UPROBE_SESSION, /* both ends of a call; the program's word decides on the second */
	PROBE_USDT,
	PROBE_TRACEPOINT, /* "category:event", one or many */
	PROBE_ITER,	  /* attached, then run by capture_run_iter() */
};

/* When a PROBE_ITER runs. */
enum probe_run {
	RUN_ON_DEMAND,	  /* when somebody calls capture_run_iter() for it */
	RUN_BEFORE_START, /* before anything is followed; not for a command, which is not there yet
			   */
	RUN_AT_START, /* for what was there before; not for a command, which begins with its exec */
	RUN_EACH_WINDOW,  /* when it ends; the last one, too */
	RUN_AFTER_SWITCH, /* when the governor has switched its signal off or on for some threads */
};

/* Single events have their stack taken, or not (--stacks): the maps for that are large. */
enum probe_stacks { PROBE_ANY, PROBE_WITHOUT_STACKS, PROBE_WITH_STACKS };

#define PROBE_MAPS_MAX	40
#define PROBE_FILLS_MAX 2

/* Groups of maps, as probes name them. */
#define PROBE_TASKS    "ledger_tasks", "ledger_pids" /* to look an account up */
#define PROBE_ACCOUNTS PROBE_TASKS, "ledger_cpus", "split_off"
#define PROBE_UNWIND                                                                               \
	"unwind_rows", "unwind_pages", "unwind_modules", "unwind_mappings", "unwind_processes",    \
		"unwind_requests"
#define PROBE_SCRATCH "stack_scratches", "stacks_seen"
#define PROBE_STACKS  PROBE_UNWIND, PROBE_SCRATCH
#define PROBE_SERIES                                                                               \
	"series_index", "series_slots", "series_stripes", "series_free", "series_shares"
#define PROBE_PAIRS "pairs"
#define PROBE_GONE  "pairs_gone"
#define PROBE_SLOW  "slow_budgets"

/* One entry of an array of u32 that user space fills before the probe is attached. */
struct map_entry {
	u32 key;
	u32 value;
};

struct map_fill {
	const struct map_entry *entries; /* NULL: nothing; those whose value is zero are left out */
	size_t count;
};

/* One of several places of a probe; a kind takes what it needs. */
struct probe_place {
	const char *name; /* for people */
	const char *path; /* uprobe: file */
	u64 offset;	  /* uprobe: place in the file */
	u64 counter;	  /* uprobe: place of a counter in the file that is raised meanwhile; 0 */
	const char *function; /* kprobe: symbol; tracepoint: "category:event" */
	u64 cookie;
	pid_t pid; /* uprobe: one process; 0: all of them */
};

struct probe {
	const char *program;	  /* its name in the BPF object */
	enum probe_kind kind;	  /* how it is attached */
	enum probe_run run;	  /* of a PROBE_ITER */
	const char *source;	  /* BPF object; NULL: the main one */
	bool is_optional;	  /* its signal has a meaning without it */
	bool is_rare;		  /* its silence says nothing */
	bool tells_again;	  /* an iterator: also for an ingest process that knows nothing */
	enum probe_stacks stacks; /* for which of the two it is; the other has a probe of its own */
	bool is_deferred;      /* a uprobe, attached when a file that has its function is mapped */
	bool is_go;	       /* deferred: in programs of Go, and in no others */
	bool at_returns;       /* deferred: at each instruction with which the function returns */
	bool yields_first;     /* the governor may take it from its signal, and leave the rest */
	const char *wish;      /* the option by which alone it is wanted; NULL: it always is */
	const char *companion; /* a program to be put into maps[0], a program array, or NULL */

	/*
	 * The program, of a probe before it, whose work this one does if that cannot be loaded or
	 * attached; until then it rests. Of a PROBE_SECTION only the load is waited for: it has a
	 * hook that is looked for then, such as tp_btf. NULL: it is wanted in any case.
	 */
	const char *fallback_of;

	/*
	 * Another program at the same hook that calls this one, by way of an array, when there is
	 * something to do for it: so the hook costs no second program otherwise. Where that one is
	 * not attached, this one is, as others are. NULL: nobody calls it.
	 */
	const char *called_by;
	const char *call_array; /* a map that the caller names among its own */

	/* Maps that only its signal uses. A map that no wanted probe names is not created. */
	const char *maps[PROBE_MAPS_MAX];

	/* What maps[0] holds from the start. */
	struct map_fill fills[PROBE_FILLS_MAX];

	/*
	 * Where it is attached, if that is more than one place. Those that are refused are told,
	 * and left out; without any it has failed. Must outlive the capture.
	 */
	const struct probe_place *places;
	size_t place_count;
	u32 owner; /* signal that it serves; 0 where signals list their own */

	/* What it is attached to, as its kind needs it. */
	const char *iterates; /* iter: over the entries of this map; NULL: its section says it */
	const char *function; /* fentry, kprobe: symbol; usdt: "provider:name"; late: "name:name" */
	const char *path;     /* uprobe, usdt: file */
	u64 offset;	      /* uprobe: place in the file */
	u64 counter;	      /* uprobe: as in struct probe_place */
	u64 cookie;	      /* 0: none */
	u32 perf_type;	      /* perf: enum perf_type_id */
	u64 perf_config;      /* perf: the event */
	u32 perf_freq;	      /* perf: samples a second; 0: perf_period counts */
	u64 perf_period;      /* perf: one record per so many events */
	pid_t pid;	      /* uprobe, usdt: one process; perf: one thread; 0: all of them */
};

/*
 * How far samples by the clock are apart: a little more than asked for, so that no whole number of
 * them fits into a second. What a program does each second, or each hundredth of one, would else be
 * met at the same few moments all the time, and a function between them not at all. A tenth of the
 * golden section a second spreads them evenly within some 16 s, and nearly so within each second.
 */
static inline u64 probe_clock_period_ns(u32 freq)
{
	double less = freq < 7 ? 0.01 * freq : 0.0618034;

	return (u64)(1e9 / (freq - less));
}

#endif
