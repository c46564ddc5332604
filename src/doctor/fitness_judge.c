// SPDX-License-Identifier: Apache-2.0
/* The checks of a session's fitness: a function and a row each. A note limits what can be
 * concluded. */
#include <math.h>

#include "../base/cleanup.h"
#include "../base/figures.h"
#include "fitness.h"

/* From where on it is a limit, and from where on nothing should be concluded; percent. */
#define LOSS_BAD	  10.0 /* of the windows */
#define UNATTRIBUTED_NOTE 1.0
#define UNATTRIBUTED_BAD  5.0
#define COVER_BAD	  50.0
#define STEAL_NOTE	  1.0
#define STEAL_BAD	  10.0
#define OVERHEAD_NOTE	  5.0
#define OVERHEAD_BAD	  20.0
#define INCOMPLETE_NOTE	  5.0
#define INCOMPLETE_BAD	  50.0
#define UNNAMED_NOTE	  5.0
#define UNNAMED_BAD	  50.0
#define SAMPLES_NOTE	  100 /* samples */
#define COMMON_NOTE	  8   /* of ten functions, in both halves */
#define COMMON_BAD	  5
#define COMMON_SHARE_OK	  90.0 /* of the sampled CPU time, in these functions */
#define COMMON_SHARE_BAD  50.0

static double percent(u64 part, u64 whole)
{
	return whole ? 100.0 * (double)part / (double)whole : 0;
}

static int level_of(double value, double note, double bad)
{
	return value >= bad ? CHECK_BAD : value >= note ? CHECK_NOTE : CHECK_OK;
}

static void check_whole(const struct fitness *fitness, struct check *check)
{
	if (!fitness->windows)
		check_set(check, CHECK_BAD, "record it again", "no window is complete");
	else if (!fitness->has_end)
		check_set(
			check, CHECK_NOTE,
			"conclude from the windows that are there, or record it again",
			"its writer was killed, or its disk was full: data after its %llu windows "
			"is missing, and hooks, coverage and counters were not written",
			(unsigned long long)fitness->windows);
	else if (fitness->replaced)
		check_set(check, CHECK_NOTE, "see dmesg; record it again if times matter",
			  "%llu of dwell's processes died and were replaced: some time is "
			  "unattributed, some names are missing",
			  (unsigned long long)fitness->replaced);
	else
		check_set(check, CHECK_OK, "", "%llu window%s, %s",
			  (unsigned long long)fitness->windows, fitness->windows == 1 ? "" : "s",
			  FIGURE_TIME(fitness->wall_ns));
}

static void check_losses(const struct fitness *fitness, struct check *check)
{
	double share = percent(fitness->loss_windows, fitness->windows);
	char where[96] = "";

	if (!fitness->lost) {
		check_set(check, CHECK_OK, "", "none");
		return;
	}
	if (fitness->loss_windows)
		snprintf(where, sizeof(where), ", records in up to %llu of %llu windows",
			 (unsigned long long)fitness->loss_windows,
			 (unsigned long long)fitness->windows);
	check_set(check, share >= LOSS_BAD ? CHECK_BAD : CHECK_NOTE,
		  "measure less: fewer signals, -p instead of -a, a longer --min-block",
		  "%s records or entries%s: %s", FIGURE_NUMBER(fitness->lost), where,
		  fitness->losses.text);
}

static void check_unattributed(const struct fitness *fitness, struct check *check)
{
	double share = percent(fitness->unattributed_ns, fitness->ledger_ns);
	int level = level_of(share, UNATTRIBUTED_NOTE, UNATTRIBUTED_BAD);

	if (!fitness->ledger_ns)
		check_set(check, CHECK_BAD, "choose tasks that live meanwhile, and record it again",
			  "there is no time of threads");
	else
		check_set(check, level,
			  level == CHECK_OK ? "" : "see the losses above; record it again",
			  "%.2f %% of the threads' time", share);
}

static void check_hooks(const struct fitness *fitness, struct check *check)
{
	const struct fitness_list *refused = &fitness->refused, *silent = &fitness->silent;

	if (refused->count)
		check_set(check, CHECK_NOTE, "sudo dwell doctor says why, and what to do",
			  "not attached, and without a substitute: %s; do not conclude from what "
			  "they measure",
			  refused->text);
	else if (silent->count)
		check_set(check, CHECK_NOTE, "was there work for them? dwell doctor tests each",
			  "attached but silent: %s; that nothing happened there is not proven",
			  silent->text);
	else
		check_set(check, CHECK_OK, "", "all attached, none silent");
}

static void check_coverage(const struct fitness *fitness, struct check *check)
{
	double least = 100 * fitness->least_cover;

	if (!fitness->partial.count)
		check_set(check, CHECK_OK, "", "every part covers the whole time");
	else
		check_set(check, least < COVER_BAD ? CHECK_BAD : CHECK_NOTE,
			  "raise --max-overhead, or choose fewer signals",
			  "down to %.0f %% of the time: %s", least, fitness->partial.text);
}

/* Rates may have been thinned before the recording began: in its warm-up, or in an earlier file. */
static void check_governor(const struct fitness *fitness, struct check *check)
{
	char steps[64] = "";

	if (fitness->steps)
		snprintf(steps, sizeof(steps), "%llu step%s to hold --max-overhead",
			 (unsigned long long)fitness->steps, fitness->steps == 1 ? "" : "s");
	if (fitness->thinned > 1)
		check_set(check, CHECK_NOTE,
			  "raise --max-overhead, or lower -F, to sample evenly throughout",
			  "%s%srates were thinned to 1/%llu: sums stay right, small shares vary "
			  "more",
			  steps, *steps ? "; " : "", (unsigned long long)fitness->thinned);
	else if (*steps)
		check_set(check, CHECK_NOTE, "raise --max-overhead, or choose fewer signals", "%s",
			  steps);
	else
		check_set(check, CHECK_OK, "", "nothing was thinned or switched off");
}

static void check_overhead(const struct fitness *fitness, struct check *check)
{
	double own_ns = (double)fitness->user_cpu_ns, bpf_ns = (double)fitness->bpf_ns, share;
	double cpu_ns = (double)fitness->wall_ns * (double)fitness->cpus;

	if (*fitness->cost_unknown) {
		check_set(check, CHECK_NOTE, "run dwell as root", "not known: %s",
			  fitness->cost_unknown);
		return;
	}
	if (!fitness->bpf_windows && fitness->windows) {
		check_set(check, CHECK_NOTE, "record it again, for several seconds",
			  "not known: what its programs cost was not measured in any window");
		return;
	}
	if (fitness->bpf_windows)
		bpf_ns *= (double)fitness->overhead_windows / (double)fitness->bpf_windows;
	share = cpu_ns > 0 ? 100 * (bpf_ns + own_ns) / cpu_ns : 0;
	check_set(check, level_of(share, OVERHEAD_NOTE, OVERHEAD_BAD),
		  share >= OVERHEAD_NOTE
			  ? "measure less: --tier A, fewer signals, -p instead of -a; or set "
			    "--max-overhead"
			  : "",
		  "dwell took %.1f %% of the CPU time", share);
}

static void check_steal(const struct fitness *fitness, struct check *check)
{
	double share = percent(fitness->steal_ns, fitness->wall_ns * fitness->cpus);
	int level = level_of(share, STEAL_NOTE, STEAL_BAD);

	check_set(
		check, level,
		level == CHECK_OK
			? ""
			: "record it again when the hypervisor is less busy; compare several runs",
		"the hypervisor took %.1f %% of the CPU time%s", share,
		level == CHECK_OK ? "" : ": times on a CPU are longer by it");
}

static void check_stacks(const struct fitness *fitness, struct check *check)
{
	double share = percent(fitness->incomplete, fitness->samples);
	int level = level_of(share, INCOMPLETE_NOTE, INCOMPLETE_BAD);

	if (!fitness->samples)
		check_set(check, CHECK_OK, "", "none were taken");
	else
		check_set(check, level,
			  level == CHECK_OK ? ""
					    : "dwell report --stacks says where they end; "
					      "--unwind-rows, or frame pointers",
			  "%.1f %% of %s are not complete%s", share,
			  FIGURE_NUMBER(fitness->samples),
			  level == CHECK_OK ? "" : ": do not conclude from callers");
}

static void check_names(const struct fitness *fitness, struct check *check)
{
	double share = percent(fitness->unnamed_weight, fitness->stack_weight);
	int level = level_of(share, UNNAMED_NOTE, UNNAMED_BAD);

	if (!fitness->stack_weight)
		check_set(check, CHECK_OK, "", "no samples on a CPU");
	else
		check_set(check, level,
			  level == CHECK_OK
				  ? ""
				  : "install symbols, or use report --debuginfod; kptr_restrict=1 "
				    "for the kernel's",
			  "%.1f %% of the sampled CPU time is in functions without a name", share);
}

/* Of a share of 10 %, the half-width of its 95 % interval, in points. */
static double points_of(u64 samples)
{
	return 100 * 1.96 * sqrt(0.1 * 0.9 / (double)samples);
}

static void check_samples(const struct fitness *fitness, struct check *check)
{
	if (!fitness->has_stacks)
		check_set(check, CHECK_NOTE, "record with stacks to compare functions",
			  "none on a CPU were asked for: functions cannot be compared");
	else if (!fitness->cpu_samples)
		check_set(check, CHECK_NOTE, "record longer, or raise -F",
			  "none on a CPU: functions cannot be compared");
	else
		check_set(check, fitness->cpu_samples < SAMPLES_NOTE ? CHECK_NOTE : CHECK_OK,
			  fitness->cpu_samples < SAMPLES_NOTE ? "record longer, or raise -F" : "",
			  "%s on a CPU: a share of 10 %% is known to ±%.1f points (95 %%)",
			  FIGURE_NUMBER(fitness->cpu_samples), points_of(fitness->cpu_samples));
}

/*
 * Lists that agree are stable. So is one whose common functions have nearly all of the time: what
 * differs is a tail of single samples.
 */
static int stability_level(u32 common, double share)
{
	if (common >= COMMON_NOTE || share >= COMMON_SHARE_OK)
		return CHECK_OK;
	return common < COMMON_BAD && share < COMMON_SHARE_BAD ? CHECK_BAD : CHECK_NOTE;
}

static void check_stability(const struct fitness *fitness, struct check *check)
{
	static const char *const meanings[] = {
		[CHECK_OK] = "the functions with most time are the same throughout",
		[CHECK_NOTE] = "the end of the list is chance",
		[CHECK_BAD] = "the list is chance, or the load alternates: do not rank functions",
	};
	const struct fitness_stability *stability = &fitness->stability;
	/* As if of ten, where there are fewer functions. */
	u32 common = stability->functions ? 10 * stability->common / stability->functions : 0;
	double share = percent(stability->common_weight, fitness->stack_weight);
	int level = stability_level(common, share);

	if (fitness->cpu_samples < SAMPLES_NOTE || !stability->samples[0] ||
	    !stability->samples[1]) {
		check_set(check, CHECK_OK, "", "not judged: there are too few samples on a CPU");
		return;
	}
	check_set(check, level,
		  level == CHECK_OK ? ""
				    : "record longer, raise -F, or find out what changes: dwell "
				      "report FILE@FROM-TO",
		  "%u of the top %u functions are the same in even and odd windows, with %.0f %% "
		  "of the sampled CPU time: %s",
		  stability->common, stability->functions, share, meanings[level]);
}

void fitness_judge(const char *session, const struct fitness *fitness,
		   struct fitness_report *ret_report)
{
	static const struct {
		const char *name;
		void (*check)(const struct fitness *fitness, struct check *check);
	} rows[] = {
		{"whole", check_whole},
		{"losses", check_losses},
		{"unattributed", check_unattributed},
		{"hooks", check_hooks},
		{"coverage", check_coverage},
		{"governor", check_governor},
		{"overhead", check_overhead},
		{"stolen_time", check_steal},
		{"stacks", check_stacks},
		{"names", check_names},
		{"samples", check_samples},
		{"stability", check_stability},
	};
	int worst = CHECK_OK;

	_Static_assert(ARRAY_SIZE(rows) <= CHECKS_MAX, "raise CHECKS_MAX");
	*ret_report = (struct fitness_report){.session = session, .fitness = fitness};
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		struct check *check = &ret_report->checks[ret_report->check_count++];

		check->name = rows[i].name;
		rows[i].check(fitness, check);
		worst = (int)check->level > worst ? (int)check->level : worst;
	}
	ret_report->verdict = worst == CHECK_BAD    ? FITNESS_NOT
			      : worst == CHECK_NOTE ? FITNESS_LIMITED
						    : FITNESS_FIT;
}
