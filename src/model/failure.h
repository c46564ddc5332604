/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Why a probe does not work here, as data: at which gate, with which errno, in whose words.
 * Owns its log. Filled by capture; the doctor turns it into a cause and a remedy.
 */
#ifndef DWELL_MODEL_FAILURE_H
#define DWELL_MODEL_FAILURE_H

#include <stdbool.h>
#include <stdlib.h>

/* The order in which a probe is proven. */
enum gate { GATE_ENVIRONMENT, GATE_LOAD, GATE_ATTACH, GATE_DELIVERY, GATE_COUNT };

extern const char *const gate_names[GATE_COUNT];

struct failure {
	enum gate gate;
	int err;	    /* positive errno; 0: no failure */
	char excerpt[240];  /* the last lines that mean something, of verifier or libbpf */
	bool from_verifier; /* the excerpt is the verifier's */
	bool is_named;	    /* the kernel or libbpf named this very program, or its map */
	bool from_cache;    /* known from an earlier load on this boot, with this build */
	char *log;	    /* all that libbpf and the verifier said, or NULL */
};

/* A shortage or an accident, by its positive errno: the next attempt may work. */
bool failure_may_pass(int err);

/* Of memory or descriptors, by its positive errno. */
bool failure_is_shortage(int err);

/*
 * libbpf gives another errno for the one it met, as ESRCH where it had no memory to read the
 * kernel's types, but its message ends with the first: "x: -12", "x(-12)". 0 if it is none that may
 * pass.
 */
int failure_shortage_in(const char *message);

static inline void failure_clear(struct failure *failure)
{
	free(failure->log);
	*failure = (struct failure){0};
}

/*
 * From the whole log of a failed load to the lines a person needs: the verifier's last words
 * before its statistics, or libbpf's last complaint.
 */
void failure_excerpt(struct failure *failure);

#endif
