/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a session says, as structs: each finding has its subject, its evidence as numbers with units
 * and bases, a sentence and an action. Computed once, when the session is read; text and JSON only
 * print them. Owned by the digest.
 */
#ifndef DWELL_REPORT_FINDING_H
#define DWELL_REPORT_FINDING_H

#include "chain.h"
#include "digest.h"

#define EVIDENCE_MAX   24
#define FINDINGS_MAX   256
#define SENTENCE_BYTES 1024
#define ACTION_BYTES   256

enum severity { SEVERITY_INFO, SEVERITY_NOTICE, SEVERITY_PROBLEM };

/* Of what a share is. The checker of contradictions knows these texts too. */
#define BASE_HOST	  "time of all CPUs"
#define BASE_CPU	  "time of that CPU"
#define BASE_RUN	  "time its threads could run: on a CPU or waiting for one"
#define BASE_QUEUE	  "its run-queue wait"
#define BASE_WAIT	  "this wait"
#define BASE_WALL	  "that thread's wall time"
#define BASE_TIME	  "the time shown"
#define BASE_DISK	  "its waits for disks"
#define BASE_USE	  "its time on a CPU"
#define BASE_SAMPLES	  "its CPU samples, by weight"
#define BASE_BLOCKED	  "its samples of this state, by weight"
#define BASE_ONE_CPU	  "time of one CPU"
#define BASE_FOLLOWED	  "the part of this wait that chains cover"
#define BASE_POOL	  "wall time of these threads"
#define BASE_CALLS	  "its calls of that name"
#define BASE_CALL_SAMPLES "its CPU samples in that call, by weight"
#define BASE_ALL	  "wall time of all threads shown"

struct evidence {
	const char *name;
	char what[DIGEST_TEXT]; /* "": none */
	double value;
	const char *unit; /* ns, %, count, /s, bytes */
	const char *base; /* of what the share is; NULL: it is none */
};

struct subject {
	u32 pid, tid;  /* 0: none, or several */
	u64 processes; /* 0: the host */
	char comm[DIGEST_COMM];
	char service[DIGEST_TEXT];
};

struct finding {
	const char *id;
	enum severity severity;
	u64 weight_ns; /* the time that was lost, or is at stake: the order */
	bool is_told;  /* another finding's sentence has it: the text leaves it out */
	struct subject subject;
	struct evidence evidence[EVIDENCE_MAX];
	size_t evidence_count;
	char sentence[SENTENCE_BYTES];
	char action[ACTION_BYTES]; /* "": none */
};

struct findings {
	struct finding *of; /* problems first, each longest first */
	size_t count;
	u64 left_out;	      /* there was no more room */
	int err;	      /* -ENOMEM: what could be found is not known */
	struct chain *chains; /* longest first */
	size_t chain_count;
};

int findings_find(const struct digest *digest, struct findings **ret_findings);
void findings_free(struct findings *findings);
const struct finding *findings_by_id(const struct findings *findings, const char *id);
const char *severity_name(enum severity severity);

/* A new finding about a group of processes (NULL: the host), or NULL: no more room. */
struct finding *finding_add(struct findings *findings, const char *id, enum severity severity,
			    u64 weight_ns);
void finding_set_group(struct finding *finding, const struct digest *digest,
		       const struct group *group);
void finding_set_process(struct finding *finding, const struct process *process);
void finding_set_thread(struct finding *finding, const struct digest *digest,
			const struct thread *thread);

/* what may be NULL; so may base. Not escaped. More than there is room for is left out. */
void finding_evidence(struct finding *finding, const char *name, const char *what, double value,
		      const char *unit, const char *base);
void finding_say(struct finding *finding, const char *format, ...)
	__attribute__((format(printf, 2, 3)));
void finding_advise(struct finding *finding, const char *format, ...)
	__attribute__((format(printf, 2, 3)));

/* "kv (pid 12)", "postgres (6 processes)", "worker-3 (tid 13)"; escaped */
void finding_subject_text(const struct finding *finding, char *buf, size_t size);

/* PROBLEM, NOTICE, or INFO: below what is worth a line. By the share of the time shown. */
enum severity finding_severity(const struct digest *digest, u64 ns);

/* The rules, each in a file of its own. */
void find_host(const struct digest *digest, struct findings *findings);
void find_subject(const struct digest *digest, struct findings *findings);
void find_queue(const struct digest *digest, struct findings *findings);
void find_calls(const struct digest *digest, struct findings *findings);
void find_loops(const struct digest *digest, struct findings *findings);
void find_network(const struct digest *digest, struct findings *findings);
void find_trust(const struct digest *digest, struct findings *findings);
int find_waits(const struct digest *digest, struct findings *findings);
void find_chains(const struct digest *digest, struct findings *findings);

/* The process that listens at an address, "127.0.0.1:5432", on this host; NULL: not known. */
const struct process *finding_listener(const struct digest *digest, const char *name);

#endif
