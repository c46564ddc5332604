/* SPDX-License-Identifier: Apache-2.0 */
/*
 * One capture: open, load, attach, drain, detach. The only place that sees BPF objects.
 * Owns every BPF descriptor and the reader thread; nothing is pinned, so that its death by
 * any cause detaches everything. Called by commands and the doctor, in the privileged process.
 */
#ifndef DWELL_CAPTURE_CAPTURE_H
#define DWELL_CAPTURE_CAPTURE_H

#include <stdbool.h>
#include <stddef.h>

#include "../../abi/config.h"
#include "../../abi/records.h"
#include "../model/failure.h"
#include "../model/health.h"
#include "../model/probe.h"
#include "../model/queue.h"

#define CAPTURE_PROBES_MAX	192
#define CAPTURE_LOAD_ROUNDS_MAX 16
#define CAPTURE_MAP_NAME_BYTES	32
#define CAPTURE_PLACES_MAX	16 /* of one deferred probe, in one file */
#define CAPTURE_DRAIN_NS	(2 * 1000000000ULL)

struct thread_context;
struct unwind_process;
struct unwind_request;

struct capture_config {
	const struct probe *probes; /* must outlive the capture */
	size_t probe_count;
	struct live_config live;	  /* start from capture_live_defaults() */
	const struct filter_key *filters; /* for SCOPE_LISTED; copied */
	size_t filter_count;
	u32 ring_bytes;	   /* power of two */
	pid_t worker_pid;  /* excluded, as dwell itself is */
	pid_t spawner_pid; /* likewise, with its children; 0: none */
	u32 canary_syscall;
	bool split;	      /* Tier B */
	u32 sample_period_ns; /* what one sample on a CPU stands for; 0: there are none */
	u32 unwind_rows;      /* of all tables for the walk of stacks; 0: the default */
	u32 seed;	      /* of what is chosen at random; 0: the default */
	u64 signals;	      /* a bit for each that counts in series */
	u32 series_limits[SIGNAL_LIMIT]; /* how many places each of these may have */
	u64 pair_limit_ns;		 /* a start so old is not waited for any more */
	const char *verdict_dir; /* remembers what this boot and build refuse; NULL: try all */
	struct queue *queue;

	/* Sees the rows of iterators on their way to the worker; NULL: nobody does. */
	void (*on_row)(void *context, const struct rec_hdr *row);
	void *row_context;
};

struct capture;

void capture_live_defaults(struct live_config *ret_live);

/*
 * Checks every parameter before anything is loaded: 0, or -EINVAL / -ERANGE / -E2BIG with what
 * is wrong with which parameter in ret_complaint.
 */
int capture_live_check(const struct live_config *live, char *ret_complaint, size_t size);
int capture_config_check(const struct capture_config *config, char *ret_complaint, size_t size);

/* Has this kernel storage for tasks, which Tier B needs? True also if it does not say. */
bool capture_has_task_storage(void);

/* The config is checked and copied; nothing touches the kernel yet. */
int capture_open(const struct capture_config *config, struct capture **ret_capture);

/*
 * Loads what the kernel takes. A probe that it refuses is switched off, its reason kept, and
 * the rest loaded again, at most CAPTURE_LOAD_ROUNDS_MAX times: 0 if anything is left, -errno.
 */
int capture_load(struct capture *capture);

/*
 * What capture_load() would do, as far as that is known without loading: which probes have no hook
 * here, or were refused before, and which fallbacks are needed. 0 or -errno. Afterwards the capture
 * can be asked and closed, not loaded.
 */
int capture_foresee(struct capture *capture);

/* Maps that it creates, each with the kernel's memory for it: how many were written. After
 * capture_foresee() or capture_load(). */
struct capture_map {
	char name[CAPTURE_MAP_NAME_BYTES];
	u64 bytes; /* of storage for tasks 0: cost_thread_bytes() */
};

size_t capture_list_maps(const struct capture *capture, struct capture_map *maps, size_t max);

/* The section of probe i's program, "tp_btf/sched_switch"; NULL: it is not to be loaded. */
const char *capture_section(const struct capture *capture, size_t i);

/*
 * Attaches what was loaded and starts the reader: 0 if anything was attached, -errno; -EBUSY
 * while the worker still has records of an earlier capture.
 */
int capture_attach(struct capture *capture);

/*
 * Attaches probe i, a deferred one, to places in a file, whose descriptor stays the caller's: in
 * one process, or in all that map it (pid 0). 0 or -errno; -ENOENT: it was not loaded. Cookies are
 * for a PROBE_UPROBE_SESSION only.
 */
struct capture_places {
	u64 offsets[CAPTURE_PLACES_MAX];
	u64 cookies[CAPTURE_PLACES_MAX];
	u32 count;
};

int capture_attach_deferred(struct capture *capture, size_t i, int fd,
			    const struct capture_places *places, pid_t pid);

/*
 * A process has ended: its links of deferred probes are given back, by and by, as to close one
 * takes milliseconds. How many descriptors were given back so far: one for each place of a
 * PROBE_UPROBE_SESSION, else two.
 */
void capture_retire_process(struct capture *capture, pid_t pid);
u64 capture_retired_links(const struct capture *capture);

/* How far probe i got, and why no further (failure->err is 0 for one that is attached). */
const struct failure *capture_failure(const struct capture *capture, size_t i);

/* Probe i is a fallback that is not needed: neither attached nor a failure. */
bool capture_is_resting(const struct capture *capture, size_t i);

/* Another program calls probe i: the kernel counts its runs and their time as that one's. */
bool capture_is_called(const struct capture *capture, size_t i);

/* Is this program attached anywhere, or called? */
bool capture_is_attached(const struct capture *capture, const char *program);

/*
 * Runs probe i, a PROBE_ITER, once; the records that it writes go to the worker: 0 or -errno;
 * -EAGAIN if the worker is too busy for all of them: the rest was not read.
 */
int capture_run_iter(struct capture *capture, size_t i);

/*
 * Sends the records that a hash map holds by way of the queue, as an iterator's rows are sent: 0 or
 * -errno; -ENOENT if no probe wanted that map. The map stays as it is.
 */
int capture_send_map(struct capture *capture, const char *map);

/*
 * Sends what series have got since it was last called, and counts starts that waited too long for
 * their end: 0 or -errno; -ENOENT if there are none; -EAGAIN if the worker is too busy: the rest is
 * sent by the next call. capture_detach() does it for the last time, with all probes off.
 */
int capture_send_series(struct capture *capture);

/* Sends one record of user space's own: 0, or -EAGAIN if the worker is too busy. */
int capture_send(struct capture *capture, const struct rec_hdr *record);

/* An entry of an array that a probe wanted: 0 or -errno; -ENOENT: no probe wanted it. */
int capture_write_entry(const struct capture *capture, const char *map, u32 key, const void *value);

/* The sum over all CPUs of a number in a per-CPU array; 0 if it is not there. */
u64 capture_read_sum(const struct capture *capture, const char *map, u32 key);

/*
 * The arguments of one of the kernel's functions: how many, and the bytes of each, negative if it
 * has a sign. -ENOENT: its types are not known, as of a module's; -E2BIG: it has more than that;
 * -EOPNOTSUPP: not each is in one register.
 */
int capture_function_args(const char *function, s8 *ret_sizes, int most);

/* Can programs tell the places that they are attached to apart? True also if the kernel does not
 * say. */
bool capture_has_cookies(void);

/* The descriptor of a map, which stays the capture's; -ENOENT if no probe wanted it. */
int capture_map_fd(const struct capture *capture, const char *name);
u32 capture_map_entries(const struct capture *capture, const char *name); /* 0: no such map */

/* The one value of a map that each CPU has: 0 or -errno; -ENOENT if no probe wanted it. */
int capture_read_cpus(const struct capture *capture, const char *map, size_t size,
		      void (*on_one)(void *context, const void *value), void *context);

/* Deletes the keys of a hash map that are over: how many. */
u64 capture_forget_keys(const struct capture *capture, const char *name,
			bool (*is_over)(void *context, const void *key), void *context);

/*
 * What the kernel side wants of user space for the walk of stacks: a descriptor to be polled, and
 * all that is there. -ENOENT if no probe walks.
 */
int capture_requests_fd(struct capture *capture);
int capture_take_requests(struct capture *capture,
			  void (*on_one)(void *context, const struct unwind_request *request),
			  void *context);

/* Where the mappings of a process are, from now on: 0 or -errno. */
int capture_set_process(const struct capture *capture, u32 tgid,
			const struct unwind_process *process);
/* Where it publishes trace contexts, if anybody wants to know; of kind 0: nowhere. */
void capture_set_context(const struct capture *capture, u32 tgid,
			 const struct thread_context *context);
void capture_forget_process(const struct capture *capture, u32 tgid);
void capture_forget_processes(const struct capture *capture); /* all of them */

/* Names, stacks and the like that are told once are told again: who was told is gone. */
void capture_forget_told(const struct capture *capture);

/* Likewise a part of it, after each window: is_told_again of struct signal. */
void capture_forget_told_part(const struct capture *capture, u64 window);

/* Changes scope, rates and thresholds while it runs; the filters stay what they are. */
int capture_set_live(struct capture *capture, const struct live_config *live);

/* Threads that this process makes from now on are not under Tier B, or are again: 0 or -errno;
 * -E2BIG at SPLIT_OFF_MAX processes. Those that it has are for the iterator with
 * RUN_AFTER_SWITCH. */
int capture_split_off(struct capture *capture, u32 tgid);
int capture_split_on(struct capture *capture, u32 tgid);

/* Takes one probe off its hook, while the others go on; it has not failed by that. */
void capture_detach_probe(struct capture *capture, size_t i);

/* Puts it back, after all that are there: 0, also if it never was on its hook; -errno. */
int capture_attach_again(struct capture *capture, size_t i);

/*
 * CPUs that came online since the last call get perf events of their own again; to be called once
 * a window. on_online is told each. How many there were, or -errno.
 */
int capture_follow_cpus(struct capture *capture, void (*on_online)(void *context, int cpu),
			void *context);

void capture_detach_program(struct capture *capture, const char *program); /* by its name */

/* Has the reader look into the ring buffer now. */
void capture_kick(struct capture *capture);

/* Has the reader take what is in the ring buffers by now; no longer than this. */
void capture_catch_up(const struct capture *capture, u64 limit_ns);

/*
 * Detaches, then drains ring buffer and queue for at most CAPTURE_DRAIN_NS. What is left in
 * the ring buffer after that is counted.
 */
void capture_detach(struct capture *capture);

/* Counts so far. After capture_detach(), and with the worker done or dead, they balance. */
int capture_health(const struct capture *capture, struct health *ret_health);

/* Detaches if need be, closes everything. NULL is allowed. */
void capture_close(struct capture *capture);

#endif
