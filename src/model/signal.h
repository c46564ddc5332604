/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a signal is to the rest of dwell: its row of abi/signals.def, the probes that feed it,
 * and what is done with its records. One per folder of signals/; called by worker and capture.
 */
#ifndef DWELL_MODEL_SIGNAL_H
#define DWELL_MODEL_SIGNAL_H

#include <stddef.h>

#include "../../abi/records.h"
#include "labels.h"
#include "probe.h"
#include "resolver.h"
#include "sink.h"
#include "stack_ids.h"
#include "view.h"

/*
 * What a signal could not keep, counted in its own state: a u64 that only grows, at this place.
 * What it grew by in a window goes to the session's losses under this name.
 */
struct signal_loss {
	const char *name;
	const char *meaning;
	size_t offset;
};

/* What the worker lends to signals: made before they are opened, there until it ends. */
struct services {
	struct resolver *resolver;
	struct stack_ids *stack_ids;
};

struct signal {
	const char *about; /* one line for people */
	const struct probe *probes;
	size_t probe_count;
	size_t state_size; /* zeroed memory that on_record gets, one per worker */

	/*
	 * Called once, in the unprivileged worker, before anything else; release() frees what the
	 * state owns, but not the state; NULL: nothing to do.
	 */
	void (*open)(void *state, const struct services *services);
	void (*release)(void *state);

	/* Runs in the unprivileged worker; the record has been checked against its row. NULL: a
	 * signal whose row has no record. */
	void (*on_record)(void *state, const struct rec_hdr *record);

	/*
	 * What it keeps in a session; NULL and 0: nothing. flush() is called when a window ends,
	 * close() once, after the last one, for what need not be said in each; NULL: nothing.
	 */
	const struct table *tables;
	size_t table_count;
	void (*flush)(void *state, u64 window, struct sink *sink);
	void (*close)(void *state, struct sink *sink);

	const struct signal_loss *losses;
	size_t loss_count;

	const struct signal_view *view; /* of one that counts in series; NULL: it does not */
};

/* What a signal's name among a session's losses means; NULL: no signal has it. */
const char *signal_loss_meaning(const char *name);

/* A row without its struct does not link: that is meant. */
#define SIGNAL(id, NAME, name, ...) extern const struct signal signal_##name;
#include "../../abi/signals.def"
#undef SIGNAL

/* A signal with the facts of its row. */
struct signal_row {
	const struct signal *signal; /* NULL: no signal has this id */
	const char *name;
	u16 version;
	u16 record_size;
	u16 least_size; /* the same, but for records that end after their last frame */
	enum drop_class drop_class;
};

extern const struct signal_row signal_rows[SIGNAL_LIMIT]; /* indexed by id */

/* The id of the signal of this name, or 0; the name need not end with NUL. */
int signal_find(const char *name, size_t length);

/* The probe of this name, whose signal it may be, or NULL; the name need not end with NUL. */
const struct probe *signal_find_probe(const char *program, size_t length);

#endif
