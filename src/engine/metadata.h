/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a session says of its own making: where and when, what was lost, which hooks were used and
 * whether they fired, what it all cost. Owns a batch of rows and host_state. Called by engine.c.
 */
#ifndef DWELL_ENGINE_METADATA_H
#define DWELL_ENGINE_METADATA_H

#include "../capture/cost.h"
#include "throttle.h"
#include "bursts.h"
#include "cpu_speed.h"
#include "cpus.h"
#include "../worker/session.h"
#include "helpers.h"
#include "engine.h"
#include "host_state.h"
#include "mappings.h"
#include "opener.h"
#include "unwinding_facts.h"

#define WINDOW_NS 1000000000ULL

struct metadata {
	struct helpers *helpers;
	u64 symbolizers_replaced; /* in this file */
	const struct capture *capture;
	const struct probe *probes;
	size_t probe_count;
	struct rows rows;
	struct health told;    /* losses that the session has */
	struct health written; /* those that the windows have that are written */
	u64 lost_with_ingest;  /* records */
	u64 ingests_replaced;  /* in this file */
	struct cost before;    /* at the last window's end, which was then */
	u64 before_ns;
	u64 steal_before_ns;  /* by the hypervisor, of the host, when it began */
	bool can_measure;     /* the kernel has a clock on programs */
	struct bursts bursts; /* in which it is on */
	struct host_state *host;
	u64 file_number; /* of a recording in several */
	u64 recording_started_ns;
	u64 start_cpu_ns;			  /* what it cost up to then */
	struct unwinding_counts unwinding;	  /* as last read */
	struct unwinding_counts unwinding_before; /* in earlier files */
	u64 threads_most; /* whose rows one read-out had; it has all at the begin and at the end */
	struct cpus cpus;
	struct cpu_speed speed;
};

/* tier_why is NULL for one that was asked for, or is the default. */
void metadata_begin(struct metadata *metadata, const struct engine_options *options, enum tier tier,
		    const char *tier_why, u64 started_ns);

/* The same once more: the file is empty, as ingest has ended before its first window. */
void metadata_begin_again(struct metadata *metadata, const struct engine_options *options,
			  enum tier tier, const char *tier_why, u64 started_ns);

/* The same for a further file of the recording. */
void metadata_next_file(struct metadata *metadata, const struct engine_options *options,
			enum tier tier, const char *tier_why, u64 started_ns,
			const struct mappings *mappings);

/*
 * Rows of one window, sent before it ends: true if its cost was measured. Where the kernel has no
 * clock on programs, every window's is, without them.
 */
bool metadata_window(struct metadata *metadata, u64 window, const struct health *health,
		     bool is_last, struct governor_reading *ret_reading);

/* What was lost so far, and why. */
void metadata_read_health(const struct metadata *metadata, struct health *ret_health);

/* The window is in the session. */
void metadata_window_written(struct metadata *metadata);

/* Ingest has ended, and what it had of the window that is open is lost. */
void metadata_ingest_replaced(struct metadata *metadata);

/* Asks the symbolizer, which may take its time: not while a window ends. */
void metadata_read_unwinding(struct metadata *metadata, const struct mappings *mappings);

/* What the one before had counted is not known any more. */
void metadata_symbolizer_replaced(struct metadata *metadata);

/* A step of the governor, now. */
void metadata_step(struct metadata *metadata, const struct throttle_step *step);

/* Hooks, tables for stacks (mappings NULL: none), what each part covers, and the time of the end:
 * after the last window's rows, before it ends. */
void metadata_end(struct metadata *metadata, u64 ended_ns, const struct mappings *mappings,
		  const struct coverage *coverage);
void metadata_close(struct metadata *metadata);

#endif
