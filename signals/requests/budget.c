// SPDX-License-Identifier: Apache-2.0
/*
 * From a record to a request with its budget. What a thread did is by state there; what it did not
 * do for this request, or what is not known of it, is a part of its own.
 */
#include <string.h>

#include "requests.h"

static const u8 part_of_state[STATE_LIMIT] = {
	[STATE_UNATTRIBUTED] = REQUEST_PART_UNATTRIBUTED,
	[STATE_CPU] = REQUEST_PART_CPU,
	[STATE_CPU_USER] = REQUEST_PART_CPU,
	[STATE_CPU_SYSCALL] = REQUEST_PART_CPU,
	[STATE_CPU_FAULT] = REQUEST_PART_CPU,
	[STATE_CPU_IRQ] = REQUEST_PART_CPU,
	[STATE_CPU_SOFTIRQ] = REQUEST_PART_CPU,
	[STATE_RUNQ_WOKEN] = REQUEST_PART_RUNQ,
	[STATE_RUNQ_PREEMPTED] = REQUEST_PART_RUNQ,
	[STATE_RUNQ_THROTTLED] = REQUEST_PART_THROTTLED,
	[STATE_BLOCKED_LOCK] = REQUEST_PART_LOCK,
	[STATE_BLOCKED_DISK] = REQUEST_PART_DISK,
	[STATE_BLOCKED_NET] = REQUEST_PART_NET,
	[STATE_BLOCKED_POLL] = REQUEST_PART_POLL,
	[STATE_BLOCKED_IDLE] = REQUEST_PART_POLL,
	[STATE_BLOCKED_SLEEP] = REQUEST_PART_SLEEP,
	[STATE_BLOCKED_PIPE] = REQUEST_PART_IPC,
	[STATE_BLOCKED_CHILD] = REQUEST_PART_IPC,
	[STATE_BLOCKED_PAGEIN] = REQUEST_PART_DISK,
	[STATE_BLOCKED_KERNEL_LOCK] = REQUEST_PART_LOCK,
	[STATE_BLOCKED_STOPPED] = REQUEST_PART_OTHER,
	[STATE_BLOCKED_OTHER] = REQUEST_PART_OTHER,
	[STATE_BLOCKED_FORK] = REQUEST_PART_OTHER,
	[STATE_BLOCKED_SIGNALLED] = REQUEST_PART_SIGNALLED,
	[STATE_BLOCKED_IPC] = REQUEST_PART_IPC,
	[STATE_BLOCKED_MEMORY] = REQUEST_PART_MEMORY,
	[STATE_BLOCKED_DISK_HELD] = REQUEST_PART_DISK,
};
_Static_assert(STATE_BLOCKED_DISK_HELD + 1 == STATE_COUNT, "a new state belongs to a part");

/* What of the window is in no state: an event loop was with others, a pool with nobody. */
static const u8 rest_of_model[REQUEST_MODEL_COUNT] = {
	[REQUEST_MODEL_THREAD] = REQUEST_PART_UNATTRIBUTED,
	[REQUEST_MODEL_LOOP] = REQUEST_PART_LOOP_BUSY,
	[REQUEST_MODEL_POOL] = REQUEST_PART_POOL_QUEUE,
};

/* At most what is left: an account that was corrected meanwhile can say more. */
static void take(struct request *request, u32 part, u64 ns, u64 *left)
{
	ns = ns < *left ? ns : *left;
	request->part[part] += ns;
	*left -= ns;
}

static void read_parts(const struct rec_requests *record, struct request *request)
{
	u64 left = request->window_ns;

	if (request->model == REQUEST_MODEL_POOL && !(record->flags & REQUEST_IS_FOLLOWED)) {
		take(request, REQUEST_PART_HANDED_OVER, left, &left);
		return;
	}
	for (u32 state = 0; state < STATE_COUNT; state++)
		take(request, part_of_state[state], record->ns[state], &left);
	take(request, REQUEST_PART_POLL, record->poll_ns, &left);
	take(request, rest_of_model[request->model], left, &left);
}

/* What a thread of a pool waited need not have been for the request. */
static void read_wait(const struct rec_requests *record, struct request *request)
{
	const struct request_wait *wait = &record->wait;

	if (request->model == REQUEST_MODEL_POOL || !wait->ns || wait->ns > request->window_ns ||
	    wait->state >= STATE_COUNT || wait->stop >= STOP_COUNT)
		return;
	request->wait = *wait;
}

u8 request_part_of_state(u32 state)
{
	return part_of_state[state];
}

static u8 model_of(const struct rec_requests *record)
{
	if (record->flags & REQUEST_IS_HANDED_OVER)
		return REQUEST_MODEL_POOL;
	return record->flags & REQUEST_IS_LOOP ? REQUEST_MODEL_LOOP : REQUEST_MODEL_THREAD;
}

u8 request_outcome(const struct rec_requests *record)
{
	if (record->flags & REQUEST_IS_ANSWERED)
		return REQUEST_ANSWERED;
	switch (record->end) {
	case REQUEST_END_RESET:
		return REQUEST_RESET;
	case REQUEST_END_TIMEOUT:
		return REQUEST_TIMED_OUT;
	case REQUEST_END_RECORDING:
		return REQUEST_OPEN;
	case REQUEST_END_NEXT:
		return REQUEST_ANSWERED; /* all that it stands for */
	default:
		return REQUEST_CLOSED;
	}
}

/* Two numbers that a kernel or an enemy chose: spread, below the sign bit. */
static u64 mix(u64 a, u64 b)
{
	u64 mixed = (a ^ (b << 32 | b >> 32)) * 0x9e3779b97f4a7c15ULL;

	mixed = (mixed ^ mixed >> 29) & ~(1ULL << 63);
	return mixed ? mixed : 1;
}

u64 request_id(u64 connection, u64 turn)
{
	return mix(connection, turn);
}

u64 request_call_id(u64 wire)
{
	return mix(wire, 0);
}

size_t request_trace_text(const struct request_trace *trace, char text[TRACE_TEXT_BYTES])
{
	static const char digits[] = "0123456789abcdef";
	u8 bytes[sizeof(trace->id)];
	size_t length = 0;

	memcpy(bytes, trace->id, sizeof(bytes));
	for (size_t i = 0; i < sizeof(bytes) && (trace->id[0] | trace->id[1]); i++) {
		text[length++] = digits[bytes[i] >> 4];
		text[length++] = digits[bytes[i] & 15];
	}
	text[length] = '\0';
	return length;
}

void request_read(const struct rec_requests *record, struct request *ret_request)
{
	struct request *request = ret_request;

	*request = (struct request){
		.id = request_id(record->connection, record->turn),
		.parent = record->wire ? request_call_id(record->wire) : 0,
		.connection = record->connection,
		.turn = record->turn,
		.client_port = record->client_port,
		.tgid = record->hdr.tgid,
		.tid = record->hdr.tid,
		.start_ns = record->hdr.start_ns,
		.ready_ns = record->ready_ns,
		.weight = record->weight,
		.received = record->received,
		.trace = record->trace,
		.sent = record->sent,
		.model = model_of(record),
		.outcome = request_outcome(record),
	};
	if (record->begin_ns > record->ready_ns)
		request->queue_ns = record->begin_ns - record->ready_ns;
	if (request->outcome == REQUEST_ANSWERED && record->end_ns > record->begin_ns)
		request->window_ns = record->end_ns - record->begin_ns;
	read_parts(record, request);
	read_wait(record, request);
}
