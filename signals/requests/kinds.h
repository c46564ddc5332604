/* SPDX-License-Identifier: Apache-2.0 OR GPL-2.0-only */
/*
 * Of what a request's budget consists, and how its turn ended: each declared once, for the tables
 * of a session, the report and the docs.
 */
#ifndef DWELL_REQUESTS_KINDS_H
#define DWELL_REQUESTS_KINDS_H

/*
 * PART(NAME, name, meaning): what the window of a request, from its first receive to its last send,
 * was spent on. They sum to the window, exactly.
 */
#define REQUEST_PARTS(PART)                                                                        \
	PART(CPU, cpu, "its thread ran")                                                           \
	PART(RUNQ, runq, "its thread waited for a CPU")                                            \
	PART(THROTTLED, throttled, "its thread's CPU quota was used up")                           \
	PART(LOCK, lock, "its thread waited for a lock")                                           \
	PART(SIGNALLED, signalled, "its thread waited for another thread of its process")          \
	PART(DISK, disk, "its thread waited for a disk, or for a page to be read in")              \
	PART(NET, net, "its thread waited for a peer on the network")                              \
	PART(IPC, ipc, "its thread waited for another process: a pipe, a local socket, a child")   \
	PART(SLEEP, sleep, "its thread slept until a timeout")                                     \
	PART(MEMORY, memory, "its thread waited for memory")                                       \
	PART(POLL, poll, "its thread waited for work, or for any of several files")                \
	PART(POOL_QUEUE, pool_queue, "no thread worked on it: it waited for one of a pool")        \
	PART(OTHER, other, "its thread waited, for none of the above")                             \
	PART(LOOP_BUSY, loop_busy, "its thread worked, not known to be for this request")          \
	PART(HANDED_OVER, handed_over, "answered by another thread: work not split")               \
	PART(UNATTRIBUTED, unattributed, "unknown: lost switch, account changed while read")

enum request_part {
#define PART(NAME, ...) REQUEST_PART_##NAME,
	REQUEST_PARTS(PART)
#undef PART
		REQUEST_PART_COUNT
};

/*
 * MODEL(NAME, name, meaning): how its server worked on a request, as far as one request shows.
 */
#define REQUEST_MODELS(MODEL)                                                                      \
	MODEL(THREAD, thread, "its thread had no other request open")                              \
	MODEL(LOOP, loop, "its thread had other requests open meanwhile")                          \
	MODEL(POOL, pool, "another thread than the one that read it answered it")

enum request_model {
#define MODEL(NAME, ...) REQUEST_MODEL_##NAME,
	REQUEST_MODELS(MODEL)
#undef MODEL
		REQUEST_MODEL_COUNT
};

/* GRADE(NAME, name, meaning): why a call is believed to be of its request. */
#define REQUEST_GRADES(GRADE)                                                                      \
	GRADE(PUBLISHED, published, "its application published the same trace context for both")   \
	GRADE(CONFIRMED, confirmed, "read last before it was sent, answered first after it")       \
	GRADE(BACKWARD, backward, "answered first after the call's answer was read")               \
	GRADE(FORWARD, forward, "read last before the call was sent")

enum request_grade {
#define GRADE(NAME, ...) REQUEST_GRADE_##NAME,
	REQUEST_GRADES(GRADE)
#undef GRADE
		REQUEST_GRADE_COUNT
};

/* OUTCOME(NAME, name, meaning): how the turn of a request ended. */
#define REQUEST_OUTCOMES(OUTCOME)                                                                  \
	OUTCOME(ANSWERED, answered, "something was sent back")                                     \
	OUTCOME(CLOSED, closed, "the connection was closed without an answer")                     \
	OUTCOME(RESET, reset, "the connection was reset without an answer")                        \
	OUTCOME(TIMED_OUT, timed_out, "the connection timed out without an answer")                \
	OUTCOME(OPEN, open, "there was no answer yet when the recording ended")

enum request_outcome {
#define OUTCOME(NAME, ...) REQUEST_##NAME,
	REQUEST_OUTCOMES(OUTCOME)
#undef OUTCOME
		REQUEST_OUTCOME_COUNT
};

/*
 * BYTES(NAME, name, meaning): where the bytes of a connection went that the kernel counted. Those
 * of the turns and these sum to the kernel's own counters, exactly.
 */
#define REQUEST_BYTES(BYTES)                                                                       \
	BYTES(BEFORE, before, "moved before the connection was first seen")                        \
	BYTES(NO_TURN, no_turn, "sent before anything was received: a greeting")                   \
	BYTES(UNREAD, unread, "received by the kernel, never read by the process")                 \
	BYTES(UNSEEN, unseen, "moved in a way that no probe sees: splice, for example")

enum request_bytes {
#define BYTES(NAME, ...) REQUEST_BYTES_##NAME,
	REQUEST_BYTES(BYTES)
#undef BYTES
		REQUEST_BYTES_COUNT
};

#endif
