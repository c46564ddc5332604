/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Two sides of sessions compared line by line: how much each line costs per unit of work, what
 * changed, and how sure that is. A struct diff owns all that was read; diff_read() fills it from
 * one session after the other, diff_judge() decides, renderers only read. Everything is bounded,
 * whatever a file says: what did not fit is counted. Called by src/cmd/diff.c, in the process
 * without privileges; a page may render the same struct. docs/diff.md has the method.
 */
#ifndef DWELL_DIFF_DIFF_H
#define DWELL_DIFF_DIFF_H

#include <sqlite3.h>
#include <stdbool.h>
#include <stdio.h>

#include "../base/hash.h"
#include "../base/strings.h"
#include "../model/hist.h"
#include "../store/session_part.h"
#include "blocks.h"

#define DIFF_RUNS_MAX	   64  /* sessions of both sides */
#define DIFF_BINS_MAX	   256 /* of all runs: a bin is one window, or several neighbouring ones */
#define DIFF_LINES_MAX	   40000 /* 2 KiB each */
#define DIFF_LARGEST	   4000	 /* of a table, where there are too many lines */
#define DIFF_LATENCIES_MAX 256	 /* series with histograms: up to 0.7 MB each */
#define DIFF_WARNINGS_MAX  32
#define DIFF_TEXT_BYTES	   512
#define DIFF_SENTENCES	   3
#define DIFF_FACTS_MAX	   4096 /* modules with a build id, of one run */

enum diff_table {
	DIFF_LEDGER,   /* states of the ledger, of all threads */
	DIFF_SERVICE,  /* by service */
	DIFF_PROCESS,  /* by service and process name */
	DIFF_THREAD,   /* by thread name: waiting less running */
	DIFF_FUNCTION, /* from samples */
	DIFF_STACK,    /* the heaviest whole stacks */
	DIFF_CALL,     /* system calls, counted by Tier B */
	DIFF_COUNT,    /* how often a signal's series counted */
	DIFF_LATENCY,  /* mean and percentiles of it */
	DIFF_REQUEST,  /* of each endpoint: requests, errors, latency */
	DIFF_TABLES,
};
extern const char *const diff_table_names[DIFF_TABLES];

enum diff_measure {
	DIFF_TIME,  /* ns per unit of work */
	DIFF_SELF,  /* the same, of a function itself */
	DIFF_TOTAL, /* and of what it called */
	DIFF_TIMES, /* how often, per unit of work */
	DIFF_MEAN,  /* a value itself, from here on */
	DIFF_P50,
	DIFF_P95,
	DIFF_P99,
	DIFF_MEASURES,
};
extern const char *const diff_measure_names[DIFF_MEASURES];

enum diff_verdict { DIFF_INCONCLUSIVE, DIFF_UNCHANGED, DIFF_CHANGED };
extern const char *const diff_verdict_names[3];

/* Why a line is inconclusive, or unchanged: what decided. */
enum diff_reason {
	DIFF_BY_TEST,	   /* the test and the interval */
	DIFF_BY_SIZE,	   /* whatever it did, it is too small to matter */
	DIFF_FEW_WINDOWS,  /* too few windows, or runs, to say anything */
	DIFF_FEW_EVENTS,   /* too few samples or events */
	DIFF_DRIFTS,	   /* it drifts within a run */
	DIFF_RUNS_OVERLAP, /* a few runs a side, and they are not apart */
	DIFF_OTHERS,	   /* processes that were not measured used the CPUs much, or unevenly */
	DIFF_STOLEN,	   /* so did the hypervisor */
	DIFF_SPEED,	   /* the speed of the CPUs can explain it */
	DIFF_REASONS,
};
extern const char *const diff_reason_names[DIFF_REASONS];

/*
 * How much slower the CPUs were in B, by the loop that dwell times, with its 95 % interval; and how
 * much of a rise, or a fall, of any time that can explain. Shares; all 0: not known.
 */
struct diff_speed {
	double loop_ns[2];
	double slower, low, high;
	double rise, fall;
};

/* How the unit of work is counted. */
enum diff_per_kind { DIFF_PER_WALL, DIFF_PER_CPU, DIFF_PER_COUNT };
struct diff_per {
	enum diff_per_kind kind;
	bool is_requests;	   /* a count of requests that were answered */
	char signal[32], what[96]; /* of a count: "files", "open" */
	char unit[128];		   /* "s", "CPU-s", "files:open": what numbers are per */
};

/* Names, all as numbers of texts: the same line in every session. No holes. */
#define DIFF_REQUEST_ERRORS 1	       /* the kind of a line that counts failed requests ... */
#define DIFF_ERRORS_SUFFIX  ": errors" /* ... whose name is the endpoint's and this */

struct diff_key {
	u32 table, measure;
	u32 kind;    /* of samples: enum sample_kind; of requests: DIFF_REQUEST_ERRORS; else 0 */
	u32 service; /* or what --group-by asks for; also the signal of a series */
	u32 process;
	u32 name;   /* state, function, system call, series, thread */
	u32 module; /* file name of the function's module */
	u32 unit;   /* enum series_unit of a value */
};

struct diff_line {
	struct diff_key key;
	double *values; /* by bin: DIFF_BINS_MAX of them */
	double *events; /* what values are divided by, if not by work: of means; NULL */
	u32 *buckets;	/* of percentiles: HIST_BUCKETS by bin; shared, owned by the mean's line */
	bool owns_buckets;
	bool needs_both; /* its name may be of one run alone: says something if both sides have it
			  */
	double weights[2], squares[2]; /* of samples, by side: for their effective number */
	double wait[2], cpu[2];	       /* of a thread line; once judged, per unit of work */
	/* What the judge found. */
	bool is_tested;
	double rate[2];
	double effect, low, high; /* absolute; confidence interval */
	double relative;	  /* effect / rate[0]; HUGE_VAL: there was none before */
	double relative_low, relative_high;
	double mde; /* absolute; HUGE_VAL: no effect could be found */
	double p;
	double bound;		/* of unchanged: absolute */
	double scale;		/* what relative numbers are shares of: mostly rate[0] */
	double pooled;		/* rate of both sides together */
	double events_per_work; /* of a value: how often there is one */
	double cost;		/* what it is ranked by: ns per unit of work */
	u32 block;		/* windows that are exchanged together; 0: whole runs */
	enum diff_verdict verdict;
	enum diff_reason reason;
	double onset_s; /* since the session's start; < 0: not known */
};

/* One session, or a part of it. */
struct diff_fact {
	u32 module, build_id;
};

struct diff_run {
	int side;
	const char *name; /* the caller's */
	u64 from_ns, to_ns;
	/* facts, for fairness and headings */
	char kernel[128], machine[64], host[128], boot_id[64], tier[8], filter[256], signals[256],
		kind[16], note[128], version[64];
	u64 cpus, freq, window_ns, min_block_ns, started_ns, ended_ns, steal_ns;
	u64 losses, steps;
	double other_ns, cpus_ns; /* of CPUs: with threads that were not measured, and all */
	double busy_ns;		  /* of the whole session */
	u64 thinned;		  /* most, of any part */
	double least_covered;	  /* of any part: 0 to 1 */
	u64 samples, incomplete;  /* counts */
	struct diff_fact *facts;
	size_t fact_count;
	/* windows and bins */
	u64 begin_ns, end_ns;
	s64 first_window, last_window;
	size_t window_count;
	size_t first_bin, bin_count;
	u16 *bin_of; /* by window - first_window */
	u64 processes_no_room;
};

struct diff_bin {
	double wall_s, cpu_s, count; /* possible units of work */
	double work;		     /* the one that was chosen */
	double begin_s;		     /* since the session's start */
	double loop_ns, loops;	     /* how fast the CPUs were: the loop's times, and how many */
};

struct diff_warning {
	bool is_refusal; /* the comparison would mislead: --force goes on */
	char text[DIFF_TEXT_BYTES];
};

struct diff_options {
	struct diff_per per;
	struct session_part processes; /* those that are compared: by its keys alone */
	enum process_key group_by;     /* what is a service to us */
	bool json, force, color;
	bool whole; /* names are not cut, however long */
	int columns;
	u32 top;	  /* rows of a table; 0: as usual */
	double fail_over; /* share; < 0: not asked for */
	size_t run_count, side_count[2];
};

struct diff {
	struct diff_options options;
	struct strings strings;
	struct hash lines; /* struct diff_line */
	struct diff_run runs[DIFF_RUNS_MAX];
	size_t run_count;
	struct diff_bin bins[DIFF_BINS_MAX];
	size_t bin_count;
	size_t latency_count;
	double no_room[DIFF_TABLES];  /* of lines beyond the limit: ns, or events of series */
	bool is_closed[DIFF_TABLES];  /* the largest lines were chosen: no other is added */
	size_t left_out[DIFF_TABLES]; /* how many were not chosen */
	struct diff_warning warnings[DIFF_WARNINGS_MAX];
	size_t warning_count;
	bool is_refused;
	enum diff_reason disturbed; /* DIFF_OTHERS, DIFF_STOLEN: times mean nothing; or 0 */
	struct diff_speed speed;
	/* What the judge found. */
	bool whole_runs; /* the run is the unit of exchange */
	double floor;	 /* relative: a smaller change is not called one */
	double bound;	 /* relative: within it a line is unchanged */
	double material; /* absolute: time per unit of work that matters */
	double wall_per_work;
	double threshold; /* a line with this p, or a smaller one, is a discovery */
	size_t tested, by_verdict[3];
	struct diff_line **order; /* tested lines: changed ones by cost, then the others by size */
	size_t order_count;
	char sentences[DIFF_SENTENCES][DIFF_TEXT_BYTES];
	size_t sentence_count;
	bool has_onsets; /* both sides are of one recording */
	size_t worse;	 /* changed lines that got worse by more than fail_over */
};

int diff_init(struct diff *diff, const struct diff_options *options);
void diff_free(struct diff *diff);

/*
 * First, of all runs, if there may be more lines than have room: how large they are; then the
 * largest are chosen. 0 or -errno, told.
 */
int diff_survey(struct diff *diff, sqlite3 *db, int side, const char *name);
int diff_choose(struct diff *diff);

/* One more run, of side 0 first: 0 or -errno, told. name, from_ns and to_ns as people typed them.
 */
int diff_read(struct diff *diff, sqlite3 *db, int side, const char *name, u64 from_ns, u64 to_ns);

/* Once all are read: warnings, then verdicts. 0 or -errno, told; a refusal is told and -EPERM. */
int diff_judge(struct diff *diff);

/* The parts of it. */
void diff_check_fairness(struct diff *diff);
void diff_find_onsets(struct diff *diff);
void diff_write_sentences(struct diff *diff);

/* Of a line of states: is it of those on a CPU? */
bool diff_is_cpu_state(const struct diff *diff, const struct diff_line *line);

/* States in which a thread has nothing to do, or that nobody knows: no cost. */
bool diff_is_slack(const struct diff *diff, const struct diff_line *line);

/* How often servers were asked: load, which is no cost. */
static inline bool diff_is_load(const struct diff_line *line)
{
	return line->key.table == DIFF_REQUEST && line->key.measure == DIFF_TIMES &&
	       !line->key.kind;
}

int diff_print_text(const struct diff *diff, FILE *out);
int diff_print_json(const struct diff *diff, FILE *out);

/* Has each run units of work? 0, or -ENODATA, told. */
int diff_check_work(const struct diff *diff);

/* What --per takes: 0, or -EINVAL, told. */
int diff_parse_per(const char *text, struct diff_per *ret_per);

/* Are only some of the processes compared? */
static inline bool diff_is_filtered(const struct diff *diff)
{
	for (int key = 0; key < PROCESS_KEY_COUNT; key++)
		if (diff->options.processes.keys[key])
			return true;
	return false;
}

static inline const char *diff_text(const struct diff *diff, u32 number)
{
	return strings_get(&diff->strings, number);
}

static inline bool diff_is_value(const struct diff_line *line)
{
	return line->key.measure >= DIFF_MEAN;
}

/* Times per unit of work, whose sums mean something. */
static inline bool diff_is_time(const struct diff_line *line)
{
	return line->key.measure <= DIFF_TOTAL;
}

#endif
