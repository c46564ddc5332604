/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the rules about waits share. Owns nothing. Called by finding_wait.c and its siblings.
 */
#ifndef DWELL_REPORT_FINDING_WAIT_H
#define DWELL_REPORT_FINDING_WAIT_H

#include "finding.h"
#include "waits.h"

#define NAMED_SHARE 5.0 /* percent: a culprit with less is not named */
#define NAMED_MAX   6	/* culprits in the evidence */
#define SAID_MAX    3	/* culprits in a sentence */

struct wait_context {
	const struct digest *digest;
	const struct waits *waits;
	const struct wait *wait;
	struct finding *finding;
	int *err;	     /* set where there was no memory */
	struct hash *places; /* hot_function.h: where threads waited */
};

/* Culprits as evidence, each with its share of the whole. */
void finding_name(struct finding *finding, const char *evidence, const struct culprit *culprits,
		  size_t count, u64 whole, const char *base);

/* "kv (12) 61 %, node (34) 22 %, other or not known 17 %" */
void finding_say_culprits(struct finding *finding, const struct culprit *culprits, size_t count,
			  u64 whole);
bool culprits_are_named(const struct culprit *culprits, size_t count, u64 whole);

/* The parts that the rules say by themselves. */
void finding_say_who(const struct wait_context *context);
void finding_say_objects(const struct wait_context *context);
void finding_add_culprits(const struct wait_context *context, enum wait_role role,
			  const char *evidence, const char *before);

/* What the culprit did meanwhile, if a chain says so. */
void finding_say_chain(const struct wait_context *context, struct findings *findings);

void finding_tell_net(const struct wait_context *context);
void finding_tell_disk(const struct wait_context *context);
void finding_tell_held(const struct wait_context *context);
void finding_tell_memory(const struct wait_context *context);
void finding_tell_timeout(const struct wait_context *context);
bool finding_expects_answer(const struct digest *digest, const struct waits *waits,
			    const struct wait *wait);

/* Threads that are always busy while others wait for them. */
void find_pools(const struct digest *digest, const struct waits *waits, struct findings *findings);

#endif
