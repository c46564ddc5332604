/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a signal is to the rest of dwell: its row of abi/signals.def, the probes that feed it,
 * and what is done with its records. One per folder of signals/ and of records/, whose record types
 * several signals send and which have no probes. Called by worker and capture.
 */
#ifndef DWELL_MODEL_SIGNAL_H
#define DWELL_MODEL_SIGNAL_H

#include <stdbool.h>
#include <stddef.h>

#include "../../abi/config.h"
#include "../../abi/records.h"
#include "../base/cgroup.h"
#include "deferred.h"
#include "labels.h"
#include "probe.h"
#include "resolver.h"
#include "sink.h"
#include "source.h"
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

/* Whether a measurement has a signal, and so what the governor may do to it. */
enum signal_role {
	ROLE_CHOSEN, /* by -s or a command of its own; it may be switched off, and on again */
	ROLE_BASE,   /* always; it stays on */
	ROLE_SPLIT,  /* Tier B; it may be taken from processes, one by one, then from all */
	ROLE_STACKS, /* unless --no-stacks; probes with yields_first may go, then the others */
};

/* A live knob (abi/config.h) that the governor may turn, so that there is less of the signal. */
struct signal_rate {
	size_t knob; /* its place in struct live_config */
	u64 most;    /* it is doubled, up to this; 0: it is halved, down to 1 */
};

/* What the worker lends to signals: made before they are opened, there until it ends. */
struct services {
	struct resolver *resolver;
	struct stack_ids *stack_ids;
};

/* A session that is continued: the process that wrote it is gone, and what it knew. */
struct resumed {
	struct source *source;
	u64 next_window;
	u64 begin_ns;	    /* of this file */
	u64 end_ns;	    /* of the last window that it has; else its begin */
	bool is_first_file; /* of the recording: what is counted from its begin is this file's */
};

/* The second is well more than the first: what the kernel side takes for told is known. */
#define TOLD_WINDOWS   32
#define FORGET_WINDOWS (2 * TOLD_WINDOWS)

struct signal {
	const char *about; /* one line for people */
	const struct probe *probes;
	size_t probe_count;
	enum signal_role role;
	const struct signal_rate *rates;
	size_t rate_count;
	const char *price; /* what it costs, one line; of one with a view, that has it */
	const struct deferred_kind
		*deferred; /* of its probes with is_deferred; NULL: it has none */

	/*
	 * Maps, up to a NULL, of which a kernel has the first or the others: storage for tasks
	 * (from 5.12 on), or what its programs use where there is none. NULL: it is the same
	 * everywhere.
	 */
	const char *const *maps_with_task_storage;
	const char *const *maps_without_task_storage;

	/* Maps, up to a NULL, of what was told once: cleared when who was told is gone. NULL: none.
	 */
	const char *const *told_maps;

	/*
	 * Arrays among told_maps are cleared also while it lives, a part after each window, all
	 * of it once in TOLD_WINDOWS: what is still in use is told again, so who is told may forget
	 * what was not used for FORGET_WINDOWS.
	 */
	bool is_told_again;

	/* A hash of records that found no room in the ring buffer: each window sends them. NULL:
	 * none. */
	const char *rest_map;

	/*
	 * What the governor learns of a row of its iterators: how many events the row's process had
	 * since the row before, by which it finds who costs most; and that there is one for each
	 * thread.
	 */
	u64 (*row_events)(const struct rec_hdr *row); /* NULL: this is not known */
	bool has_row_per_thread;

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

	/*
	 * After flush(), when a recording goes on in another file: sink is the old one's, for what
	 * it still lacks; the new one has nothing yet and begins with this window. NULL: what the
	 * signal writes in a window does not refer to what it wrote before.
	 */
	void (*renew)(void *state, u64 window, struct sink *sink);

	/*
	 * Before any record, if the session is continued. What the kernel side counts from the
	 * begin is partly told: the first row of each must not tell it once more. Ids that the
	 * signal counts begin above those that are there. NULL: nothing of this concerns it.
	 */
	void (*resume)(void *state, const struct resumed *resumed);

	/* Its rows say what ids in other signals' rows stand for: it is flushed after these. */
	bool defines;
	/* A row of another signal has this id, which defines: only of what has object_columns. */
	void (*refer)(void *state, u64 id);

	/*
	 * Cgroups whose paths it needs, at most max, each once; and what was found for one. Both
	 * are called before flush(); NULL: none. has_v1: paths of processes are wanted, too.
	 */
	size_t (*want_cgroups)(void *state, bool has_v1, struct cgroup_want *wants, size_t max);
	void (*take_cgroup)(void *state, const struct cgroup_found *found);

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

/* Is this map created on a kernel that has storage for tasks, or has not? */
bool signal_map_fits_storage(const char *map, bool has_task_storage);

/* The first signal from `from` on, up to a row's end, with this role; 0: none. */
int signal_with_role(enum signal_role role, int from);

/* The id of the signal of this name, or 0; the name need not end with NUL. */
int signal_find(const char *name, size_t length);

/* The probe of this name, whose signal it may be, or NULL; the name need not end with NUL. */
const struct probe *signal_find_probe(const char *program, size_t length);

#endif
