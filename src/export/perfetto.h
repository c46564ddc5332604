/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A Perfetto trace on its way into a file, packet by packet: what the parts of the exporter share.
 * Names, frames and stacks are interned: told once, then known by their number. Owns the numbers.
 * Called by perfetto.c and the perfetto_*.c beside it.
 */
#ifndef DWELL_EXPORT_PERFETTO_H
#define DWELL_EXPORT_PERFETTO_H

#include "../../signals/requests/kinds.h"
#include "../store/timeline_rows.h"
#include "export.h"
#include "proto/perfetto.pb-c.h"
#include "wire.h"

#define TRACE_NAMES_MAX (4u << 20) /* bytes of names of slices; the rest is told each time */
#define TRACE_NOTES_MAX 32	   /* of one event */
#define TRACE_LANES_MAX 1024	   /* of one thread or process; what finds all taken is left out */

/* Tracks: their number is the kind, and which one of it. */
enum trace_track {
	TRACK_PROCESS = 1,
	TRACK_THREAD,
	TRACK_LEDGER,
	TRACK_LANE, /* of slow events, of connections */
	TRACK_CPU,
	TRACK_QUEUE,
	TRACK_LOSSES,
	TRACK_STEPS,
};

/* What is said of an event, by a name; the rows are the names. */
#define TRACE_NOTES(X)                                                                             \
	X(ORDER, "order_in_window")                                                                \
	X(COUNT, "count")                                                                          \
	X(WHY, "why")                                                                              \
	X(LOCAL, "local")                                                                          \
	X(PEER, "peer")                                                                            \
	X(SENT, "sent_bytes")                                                                      \
	X(RECEIVED, "received_bytes")                                                              \
	X(STATUS, "status")                                                                        \
	X(OUTCOME, "outcome")                                                                      \
	X(PROTOCOL, "protocol")                                                                    \
	X(KIND, "kind")                                                                            \
	X(MODEL, "model")                                                                          \
	X(WEIGHT, "weight")                                                                        \
	X(TID, "tid")                                                                              \
	X(SERVER, "server")                                                                        \
	X(LINK, "link")                                                                            \
	X(WAIT_NS, "wait_ns")                                                                      \
	X(QUEUE_NS, "queue_ns")

enum trace_note {
	NOTE_NONE, /* 0 is no number of what is interned */
#define NOTE(NAME, name) NOTE_##NAME,
	TRACE_NOTES(NOTE)
#undef NOTE
/* Parts of a request's time; slow events have some of them. */
#define PART(NAME, name, ...) NOTE_PART_##NAME,
		REQUEST_PARTS(PART)
#undef PART
			NOTE_END
};

struct trace {
	struct wire wire;
	const struct timeline *timeline;
	const struct profile *profile;
	struct strings names; /* of events: numbered from 1 */
	bool *has_process;    /* whose track is told, by index */
	bool *has_thread;
	bool *has_ledger;
	u64 lanes;
	int err;
};

int trace_begin(struct trace *trace, const struct export_source *source, FILE *out);
void trace_end(struct trace *trace);

void trace_packet(struct trace *trace, Perfetto__TracePacket *packet);
void trace_intern(struct trace *trace, Perfetto__InternedData *data);

/* Tells the track, and that of its process, if they are not told yet: its number. */
u64 trace_process(struct trace *trace, u32 process);
u64 trace_thread(struct trace *trace, u32 thread);

/* parent 0: none; unit NULL: a track of slices. */
void trace_track(struct trace *trace, u64 uuid, u64 parent, const char *name, const char *about,
		 const char *unit);
u64 trace_lane(struct trace *trace, u64 parent, const char *name, const char *about);

static inline u64 trace_uuid(enum trace_track kind, u64 index)
{
	return index << 4 | kind; /* small numbers are short in the file */
}

/* An event that is being made. */
struct trace_event {
	Perfetto__TrackEvent event;
	Perfetto__DebugAnnotation notes[TRACE_NOTES_MAX], *note_places[TRACE_NOTES_MAX];
};

void trace_event(struct trace *trace, struct trace_event *event, u64 track, const char *name);
void trace_note(struct trace_event *event, enum trace_note note, u64 value);
void trace_note_text(struct trace_event *event, enum trace_note note, const char *value);
/* The one text that is interned: that the order of states in a window is not measured. */
void trace_note_order(struct trace_event *event);

void trace_slice(struct trace *trace, struct trace_event *event, u64 begin_ns, u64 end_ns);
/* The same in two, for others between them. */
void trace_slice_begin(struct trace *trace, struct trace_event *event, u64 begin_ns);
void trace_slice_end(struct trace *trace, u64 track, u64 end_ns);
void trace_instant(struct trace *trace, struct trace_event *event, u64 ts_ns);
void trace_count(struct trace *trace, u64 track, u64 ts_ns, double value);

/* perfetto_lanes.c: tracks for what overlaps. */
struct trace_lanes {
	struct trace *trace;
	const char *name, *about;
	u64 owner[3]; /* whose they are */
	u64 parent;   /* track */
	u64 uuids[TRACE_LANES_MAX], ends_ns[TRACE_LANES_MAX];
	size_t count;
	u64 left_out;
};

/* False: the owner is another than before, and has lanes of its own; the parent is to be set. */
bool trace_lanes_are_of(struct trace_lanes *lanes, u64 a, u64 b, u64 c);
/* The track for what lasts from begin to end; 0: none is free. Fewest if begins come in order. */
u64 trace_lanes_take(struct trace_lanes *lanes, u64 begin_ns, u64 end_ns);
void trace_lanes_print_left_out(const struct trace_lanes *lanes);
/* The track of a process by its number and start; 0: it is not known. */
u64 trace_process_of(struct trace *trace, u64 pid, u64 start_ns);

/* perfetto_requests.c */
int trace_requests(struct trace *trace);

/* perfetto_stacks.c: the samples; the number of a stack for other events, 0 if there is none. */
struct trace_stacks;
struct trace_stacks *trace_stacks_new(struct trace *trace);
void trace_stacks_free(struct trace_stacks *stacks);
u64 trace_stack(struct trace_stacks *stacks, u64 stack, u32 stop);
int trace_samples(struct trace_stacks *stacks);

/* perfetto_events.c: what has a time of its own. */
int trace_slow(struct trace *trace, struct trace_stacks *stacks);
int trace_connections(struct trace *trace);

/* perfetto_host.c: losses, steps of the governor, CPUs. */
int trace_host(struct trace *trace);

#endif
