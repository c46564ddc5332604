/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The doctor: tries every kind of hook for real and explains each that does not work.
 * Owns its report. Called by `dwell doctor`, and by any command that must explain a refusal.
 */
#ifndef DWELL_DOCTOR_DOCTOR_H
#define DWELL_DOCTOR_DOCTOR_H

#include <jansson.h>
#include <stdio.h>

#include "../capture/capture.h"
#include "../model/signal.h"
#include "facts.h"
#include "features.h"

/* Jobs that the doctor has the worker do, by their place in doctor_jobs. */
enum doctor_job { DOCTOR_JOB_KCONFIG, DOCTOR_JOB_COUNT };
extern const worker_job doctor_jobs[DOCTOR_JOB_COUNT];

enum status { STATUS_OK, STATUS_DEGRADED, STATUS_UNAVAILABLE, STATUS_COUNT };
extern const char *const status_names[STATUS_COUNT];

/* Why something does not work, and what to do: enum and JSON name from one list. */
#define CAUSES(C)                                                                                  \
	C(NONE, none)                                                                              \
	C(NO_PROC, no_proc)                                                                        \
	C(CAPABILITY, missing_capability)                                                          \
	C(USER_NAMESPACE, user_namespace)                                                          \
	C(SECCOMP, seccomp)                                                                        \
	C(LOCKDOWN, lockdown)                                                                      \
	C(PARANOID, perf_event_paranoid)                                                           \
	C(NO_BTF, no_btf)                                                                          \
	C(KCONFIG, kernel_config)                                                                  \
	C(TOO_OLD, kernel_too_old)                                                                 \
	C(TRACEFS, tracefs_not_mounted)                                                            \
	C(TRACEFS_ACCESS, tracefs_not_readable)                                                    \
	C(NO_PMU, no_pmu)                                                                          \
	C(HOOK_ABSENT, hook_absent)                                                                \
	C(VERIFIER, verifier)                                                                      \
	C(SILENT, silent)                                                                          \
	C(WRONG_VALUE, wrong_value)                                                                \
	C(NOT_EXERCISED, not_exercised)                                                            \
	C(DESCRIPTORS, descriptors)                                                                \
	C(MEMORY, memory)                                                                          \
	C(UNEXPLAINED, unexplained)

enum cause_id {
#define C(NAME, name) CAUSE_##NAME,
	CAUSES(C)
#undef C
		CAUSE_COUNT
};
extern const char *const cause_names[CAUSE_COUNT];

struct cause {
	enum cause_id id;
	char text[320];
	char remedy[240];
};

/* What became of one feature. */
struct finding {
	const struct feature *feature;
	enum status status;
	enum gate gate; /* the last one passed, or the one that failed */
	struct failure failure;
	struct cause cause;
	u64 value;	    /* of the canary that arrived */
	int trigger_result; /* -errno: why the hook could not be made to fire */
};

/* From a failure to its cause; used for a single refusal too. */
void cause_find(const struct facts *facts, struct finding *finding);

/*
 * Why a capture failed on its way to a hook, for a command that must say so. probe: the hook; NULL:
 * one of the core.
 */
void doctor_explain(const struct failure *failure, const struct probe *probe,
		    struct cause *ret_cause);

/* One line about the host: good, or what is wrong and how to mend it. */
struct check {
	const char *name;
	enum { CHECK_OK, CHECK_NOTE, CHECK_BAD } level;
	char text[320];
	char remedy[160];
};

void check_set(struct check *check, int level, const char *remedy, const char *format, ...)
	__attribute__((format(printf, 4, 5)));

#define CHECKS_MAX 16
size_t environment_checks(const struct facts *facts, struct check checks[CHECKS_MAX]);
size_t host_checks(struct check checks[CHECKS_MAX]);

#define HAZARD_RANGES_MAX 3

/* From a version on, until the end of another; all zero: none. */
struct hazard_range {
	int major, minor, patch;
	int until_major, until_minor;
};

/* A defect of some kernels that dwell could run into, and how it does not. */
struct hazard {
	const char *name;
	const char *kernels; /* that have it, in words */
	const char *machine; /* as uname has it; NULL: any */
	struct hazard_range ranges[HAZARD_RANGES_MAX];
	const char *what;  /* it does */
	const char *guard; /* what dwell does about it */
};

extern const size_t hazard_count;
const struct hazard *hazard_at(size_t i);
bool hazard_applies(const struct hazard *hazard, const struct facts *facts);

/* What became of a signal: are its hooks to be had here? */
struct signal_finding {
	u32 id;
	const char *name;
	const struct signal *signal;
	enum status status;  /* degraded: without an optional hook, or by another than the first */
	char hooks[320];     /* programs that could be attached */
	const char *refused; /* the program that the cause is of; NULL: none was */
	struct cause cause;
	bool has_target; /* else its hooks are chosen by whoever uses it, and nothing was tried */
};

struct signals_trial {
	const struct facts *facts;
	struct queue *queue;
	pid_t worker_pid;
	const char *verdict_dir;
	const struct cause *forbidden; /* why nothing is tried; NULL: all is */
};

/* Each signal with a view: how many there are. */
size_t doctor_try_signals(const struct signals_trial *trial, void (*progress)(const char *),
			  struct signal_finding findings[SIGNAL_LIMIT]);

struct doctor_report {
	struct facts facts;
	struct finding *findings; /* one per feature, in the table's order */
	size_t finding_count;
	struct check environment[CHECKS_MAX];
	size_t environment_count;
	struct check host[CHECKS_MAX]; /* with --host */
	size_t host_count;
	struct signal_finding signals[SIGNAL_LIMIT];
	size_t signal_count;
	struct health pipeline; /* summed over all captures */
	bool core_works;
	bool not_tried; /* the environment forbids all: see any finding's cause */
	u64 took_ns;
};

/* progress may be NULL; it is told each feature before it is tried. */
int doctor_run(bool with_host, bool with_signals, void (*progress)(const char *feature),
	       struct doctor_report *ret);
void doctor_report_free(struct doctor_report *report);

/* In brief: the verdict alone. */
void doctor_print_text(const struct doctor_report *report, bool color, bool brief, FILE *out);
json_t *doctor_to_json(const struct doctor_report *report);

/* Checks by themselves, below a title. */
void doctor_print_checks(const char *title, const struct check *checks, size_t count, bool color,
			 FILE *out);
json_t *doctor_checks_to_json(const struct check *checks, size_t count);

#endif
