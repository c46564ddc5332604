// SPDX-License-Identifier: Apache-2.0
/*
 * What probes cost whoever runs into them, told before and held while it runs. A trap is paid for
 * at each hit, also by processes that are not followed; sampling saves what our programs do after
 * it, not the trap.
 */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "../base/cleanup.h"
#include "../base/clock.h"
#include "../base/log.h"
#include "../base/pattern.h"
#include "trace.h"

#define SAMPLE_ONE   16	 /* one in so many, at first */
#define SAMPLE_LEAST 256 /* and at last */

/* Nanoseconds, as measured on x86-64 of 2023; docs/func.md has how. Traps are in site_price.c. */
#define FENTRY_NS      50.0 /* each of fentry and fexit; not measured, more than is heard of */
#define KPROBE_NS      150.0
#define KRETPROBE_NS   250.0
#define TRACEPOINT_NS  30.0
#define MEASURING_NS   130.0  /* our programs, for each end */
#define LEAVING_OUT_NS 50.0   /* the same, for one that is not sampled */
#define STACK_NS       2000.0 /* --by stack */

static const char *const price_words[] = {
	[PRICE_UNKNOWN] = "its first instruction could not be read",
	[PRICE_NOP5] = "it begins with a nop of five bytes",
	[PRICE_EMULATED] = "its first instruction is emulated",
	[PRICE_STEPPED] = "its first instruction is single-stepped",
};

static const char *const dangerous_user[] = {
	"malloc",
	"free",
	"calloc",
	"realloc",
	"_int_malloc",
	"_int_free",
	"cfree",
	"memcpy",
	"memmove",
	"memset",
	"memcmp",
	"__mem*",
	"strlen",
	"__strlen*",
	"strcmp",
	"__strcmp*",
	"pthread_mutex_lock",
	"pthread_mutex_unlock",
	"__pthread_mutex_lock",
	"__pthread_mutex_unlock",
	"___pthread_mutex_lock",
	"pthread_self",
	"pthread_getspecific",
	"__tls_get_addr",
	"__errno_location",
	"operator new",
	"operator delete",
	"_Znwm",
	"_ZdlPv",
};

static const char *const dangerous_kernel[] = {
	"__schedule",
	"schedule",
	"_raw_spin_*",
	"_raw_read_*",
	"_raw_write_*",
	"*queued_*lock_slowpath", /* who waits there may hold what our maps need */
	"__rcu_read_*",
	"rcu_*",
	"try_to_wake_up",
	"ttwu_*",
	"update_curr",
	"kmem_cache_*",
	"kmalloc*",
	"__kmalloc*",
	"kfree",
	"__alloc_pages*",
	"get_page_from_freelist",
	"ktime_get*",
	"sched_clock*",
	"irq_*",
	"__irq_*",
	"handle_irq*",
	"do_syscall_*",
	"entry_*",
	"asm_*",
	"exc_*",
	"lock_acquire*",
	"lock_release*",
	"preempt_*",
	"mutex_lock",
	"mutex_unlock",
	"fget*",
	"fput*",
	"memcpy*",
	"memset*",
	"bpf_*",
	"__bpf_*",
};

/*
 * Locks of the kernel's: maps and the ring buffer have some, and a program that needs one while its
 * CPU waits for the very same hangs the host. The others fire within these.
 */
static const char *const dangerous_events[] = {
	"lock:*",
	"preemptirq:*",
	"nmi:*",
};

/* They run in NMI, and our programs at functions share ring buffers and hash maps: bpf/nmi.bpf.h.
 */
static const char *const nmi_kernel[] = {
	"nmi_*", "*_nmi", "*_nmi_*", "perf_event_overflow", "__perf_event_overflow",
};

static bool is_among(const char *name, const char *const *patterns, size_t count)
{
	for (size_t i = 0; i < count; i++)
		if (pattern_matches(patterns[i], name))
			return true;
	return false;
}

int trace_check_danger(const struct trace *trace, const char *name, bool is_kernel)
{
	bool is_dangerous = is_kernel
				    ? is_among(name, dangerous_kernel, ARRAY_SIZE(dangerous_kernel))
				    : is_among(name, dangerous_user, ARRAY_SIZE(dangerous_user));

	if (trace && trace->force)
		return 0;
	if (is_kernel && is_among(name, nmi_kernel, ARRAY_SIZE(nmi_kernel))) {
		if (trace)
			log_error(
				"%s is not traced: it runs in NMI, where a program could wait for "
				"a lock that its own CPU holds; --force overrides",
				name);
		return -EPERM;
	}
	if (!is_dangerous)
		return 0;
	if (trace)
		log_error("%s is not traced: it is called very often, and a probe there may slow "
			  "down its callers many times over; --force overrides",
			  name);
	return -EPERM;
}

int trace_check_event(const struct trace *trace, const char *name)
{
	if (trace->force || !is_among(name, dangerous_events, ARRAY_SIZE(dangerous_events)))
		return 0;
	log_error("%s is not traced: it fires while locks are taken that a program needs itself, "
		  "which can hang the host; `record -s locks` measures the kernel's locks without "
		  "that, --force overrides",
		  name);
	return -EPERM;
}

/* --- prices --- */

static double ends_of(const struct trace_place *place)
{
	return (place->has_entry ? 1 : 0) + (place->has_return ? 1 : 0);
}

/* An instruction that returns is single-stepped. */
static double return_trap_of(const struct trace_place *place)
{
	if (!place->has_return)
		return 0;
	return place->return_count ? site_trap_ns(PRICE_STEPPED) : SITE_RETURN_TRAP_NS;
}

/* What one hit costs without our programs. */
static double trap_of(const struct trace_place *place)
{
	if (place->kind == TRACE_TRACEPOINT)
		return TRACEPOINT_NS;
	if (place->is_fentry)
		return ends_of(place) * FENTRY_NS;
	if (place->kind == TRACE_KERNEL)
		return (place->has_entry ? KPROBE_NS : 0) + (place->has_return ? KRETPROBE_NS : 0);
	return (place->has_entry ? site_trap_ns(place->price) : 0) + return_trap_of(place);
}

static double price_of(const struct trace_place *place, bool is_sampled)
{
	if (is_sampled)
		return trap_of(place) + ends_of(place) * LEAVING_OUT_NS;
	return trap_of(place) + ends_of(place) * MEASURING_NS +
	       (place->spec.by == FUNC_BY_STACK ? STACK_NS : 0);
}

void trace_tell_prices(const struct trace *trace)
{
	for (u32 i = 0; i < trace->place_count; i++) {
		const struct trace_place *place = &trace->places[i];
		bool is_user = place->kind == TRACE_USER || place->kind == TRACE_USDT;

		log_info("%s: about %.1f us per %s%s%s%s", place->label,
			 price_of(place, false) / 1000, place->has_return ? "call" : "hit",
			 is_user ? ": " : "", is_user ? price_words[place->price] : "",
			 place->has_return && place->return_count
				 ? "; those that return are single-stepped, as a return probe "
				   "would stop exceptions"
				 : "");
		if (i == 7 && trace->place_count > 9 && log_level() == LOG_NORMAL) {
			log_info("and %u more", trace->place_count - 8);
			break;
		}
	}
}

/* --- a rate, and what follows from it --- */

static double budget_of(const struct trace *trace)
{
	double limit = trace->engine.overhead_limit;

	return limit > 0 ? limit * (double)sysconf(_SC_NPROCESSORS_ONLN) : TRACE_CORE_SHARE;
}

/* Of one core, at so many hits of each place in so long. */
static double cost_of(const struct trace *trace, const u64 hits[FUNC_PLACES_MAX], u64 ns,
		      bool is_sampled)
{
	double cost = 0;

	for (u32 i = 0; i < trace->place_count; i++)
		cost += (double)hits[i] * price_of(&trace->places[i], is_sampled);
	return ns ? cost / (double)ns : 0;
}

static u64 sum_of(const u64 hits[FUNC_PLACES_MAX])
{
	u64 sum = 0;

	for (u32 i = 0; i < FUNC_PLACES_MAX; i++)
		sum += hits[i];
	return sum;
}

/* A capture of its own, that only counts. Kernel functions and tracepoints are cheap: left out. */
static int count_hits(struct trace *trace, struct worker *worker, struct queue *queue,
		      u64 ret_hits[FUNC_PLACES_MAX])
{
	const struct timespec pause = {.tv_nsec = TRACE_LOOK_NS};
	const struct probe probe = {
		.program = "func_tick",
		.kind = PROBE_UPROBE,
		.maps = {"func_hits"},
		.places = trace->lists[TRACE_ENTER],
		.place_count = trace->list_counts[TRACE_ENTER],
	};
	struct capture_config config = {
		.probes = &probe,
		.probe_count = 1,
		.ring_bytes = RING_BYTES_MIN,
		.worker_pid = worker_pid(worker),
		.queue = queue,
	};
	struct capture *capture = NULL;
	int err;

	capture_live_defaults(&config.live);
	config.live.scope = SCOPE_ALL;
	err = capture_open(&config, &capture);
	if (!err)
		err = capture_load(capture);
	if (!err)
		err = capture_attach(capture);
	if (!err) {
		nanosleep(&pause, NULL);
		for (u32 i = 0; i < trace->place_count; i++)
			ret_hits[i] = capture_read_sum(capture, "func_hits", i);
	}
	capture_close(capture);
	return err;
}

int trace_check_rate(struct trace *trace, struct worker *worker, struct queue *queue)
{
	u64 hits[FUNC_PLACES_MAX] = {0};
	double cost, sampled, budget = budget_of(trace);

	if (!trace->list_counts[TRACE_ENTER] || trace->engine.command)
		return 0;
	if (count_hits(trace, worker, queue, hits))
		return 0; /* the measurement itself tells why */
	cost = cost_of(trace, hits, TRACE_LOOK_NS, false);
	sampled = cost_of(trace, hits, TRACE_LOOK_NS, true);
	log_info("now about %.0f hits a second: %.2g %% of one core", (double)sum_of(hits) * 5,
		 100 * cost);
	if (cost <= budget)
		return 0;
	if (trace->force) {
		log_info("that is more than %.2g %% of a core: continuing, as of --force",
			 100 * budget);
		return 0;
	}
	if (sampled > budget) {
		log_error("not traced: the traps alone would take %.2g %% of a core, more than "
			  "%.2g %%; choose another function, %s--max-overhead, or --force",
			  100 * sampled, 100 * budget, trace->pid ? "" : "one process by -p, ");
		return -EPERM;
	}
	trace->one_in = SAMPLE_ONE;
	log_info("sampled, one in %d, as that is more than %.2g %% of a core: %.2g %% is left, for "
		 "the traps; counts are weighted, --force measures each",
		 SAMPLE_ONE, 100 * budget, 100 * sampled);
	return 0;
}

static void sample_more(struct trace *trace, struct capture *capture, struct live_config *live,
			double cost, double sampled)
{
	if (live->sample_one_in >= SAMPLE_LEAST || sampled > 2 * budget_of(trace)) {
		live->is_partial = 1;
		capture_set_live(capture, live);
		for (size_t i = 0; i < trace->probe_count; i++)
			capture_detach_program(capture, trace->probes[i].program);
		trace->is_detached = true;
		log_info("no longer traced: it took %.2g %% of a core, more than %.2g %%; "
			 "--force continues",
			 100 * cost, 100 * budget_of(trace));
		return;
	}
	live->sample_one_in =
		live->sample_one_in < SAMPLE_ONE ? SAMPLE_ONE : live->sample_one_in * 4;
	if (!capture_set_live(capture, live))
		log_info(
			"from now on one in %llu is measured: it took %.2g %% of a core, more than "
			"%.2g %%",
			(unsigned long long)live->sample_one_in, 100 * cost,
			100 * budget_of(trace));
}

/* Since it was last asked: how often each place was reached, and how long that was. */
static u64 new_hits(struct trace *trace, struct capture *capture, u64 ret_hits[FUNC_PLACES_MAX])
{
	u64 now_ns = clock_now_ns(), ns = now_ns - trace->told_ns;

	for (u32 i = 0; i < trace->place_count; i++) {
		u64 all = capture_read_sum(capture, "func_hits", i);

		ret_hits[i] = all - trace->told_hits[i];
		trace->told_hits[i] = all;
	}
	trace->told_ns = now_ns;
	return ns;
}

void trace_begin_budget(struct trace *trace, struct capture *capture)
{
	u64 hits[FUNC_PLACES_MAX];

	new_hits(trace, capture, hits);
}

void trace_hold_budget(struct trace *trace, struct capture *capture, struct live_config *live)
{
	u64 hits[FUNC_PLACES_MAX] = {0}, ns = new_hits(trace, capture, hits);
	double cost, sampled;

	sampled = cost_of(trace, hits, ns, true);
	cost = live->sample_one_in > 1 ? sampled : cost_of(trace, hits, ns, false);
	if (!trace->force && !trace->is_detached && cost > budget_of(trace))
		sample_more(trace, capture, live, cost, sampled);
}
