/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What dwell itself costs, measured apart from what it measures: the kernel's own clock on
 * each BPF program (bpf_stats), and this process's CPU time and memory.
 * Owns the descriptor that keeps bpf_stats on. Called by commands.
 */
#ifndef DWELL_CAPTURE_COST_H
#define DWELL_CAPTURE_COST_H

#include "capture.h"

struct cost {
	u64 bpf_ns;	 /* spent in the capture's programs while stats were on */
	u64 iter_ns;	 /* of that in iterators: this process runs them, it is in its CPU time */
	u64 bpf_runs;	 /* of them; 0: bpf_stats was off or nothing fired */
	u64 bpf_misses;	 /* runs skipped by the kernel's recursion guard (5.12+) */
	u64 user_cpu_ns; /* user and system time of this process */
	u64 rss_bytes;	 /* resident memory of this process */
	u64 map_bytes;	 /* memory of the capture's maps, as the kernel states it; 0: unknown */
};

/* Keeps bpf_stats on until the descriptor is closed: fd or -errno. It costs ~20 ns per run. */
int cost_begin(void);

/* Why it failed, in words that follow "as"; err is positive. */
void cost_unknown_reason(int err, char *text, size_t size);

/* The kernel's memory for what one thread has in task storage, about; 0: there is none. */
u64 cost_thread_bytes(const struct capture *capture);

int cost_read(const struct capture *capture, struct cost *ret_cost);

/* What one probe of the capture cost, while stats were on. */
struct probe_cost {
	u64 runs;
	u64 ns;
	u64 misses;
};

void cost_read_probe(const struct capture *capture, size_t i, struct probe_cost *ret_cost);

/* Adds the CPU time and memory of another process of dwell's own. */
void cost_add_process(pid_t pid, struct cost *cost);

#endif
