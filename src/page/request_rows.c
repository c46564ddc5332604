// SPDX-License-Identifier: Apache-2.0
/* Kept requests with their parts and calls: the slowest, and those that answer one of their calls.
 */
#include "request_rows.h"

#include <errno.h>
#include <stdlib.h>

#include "../base/cleanup.h"
#include "../report/format.h"
#include "../store/query.h"

#define DEPTH_MAX (2 * REQUEST_DEPTH_MAX)

struct request_row {
	u32 endpoint;
	s32 process, thread;
	u32 pid, tid;
	u64 begin_ns, queue_ns, window_ns;
	u32 status, outcome, model;
	s32 blamed_part; /* PAGE_NONE: nobody is to be named */
	s32 blamed;
	u32 blamed_name;
	u64 blamed_ns; /* at least */
	s32 wait_part; /* PAGE_NONE: it is not known where in the code its thread waited */
	u32 wait_name;
	u64 wait_ns; /* the longest */
};

struct part_row {
	u32 request, part;
	u64 ns;
};

struct call_row {
	u32 request;
	s32 answer; /* a request, or PAGE_NONE */
	u32 peer, protocol, name, status, outcome, grade;
	u64 begin_ns, wait_ns, window_ns;
};

struct writer {
	struct page_data *data;
	const struct requests *requests;
	const s32 *endpoint_at;
	s32 *row_at; /* by the digest's indices: its row, or PAGE_NONE */
	size_t chosen;
	struct request_row *rows;
	struct part_row *parts;
	struct call_row *calls;
	size_t row_count, part_count, call_count;
};

struct blamed request_blamed(struct page_data *data, u32 part, u64 who)
{
	struct blamed blamed = {.thread = PAGE_NONE};
	char text[DIGEST_TEXT + 32];

	if (part == REQUEST_PART_DISK) {
		format_object(data->digest, who, text, sizeof(text));
	} else {
		format_tid(data->digest, (u32)who, text, sizeof(text));
		blamed.thread = page_tid_at(data, (u32)who);
	}
	blamed.name = page_name(data, text);
	return blamed;
}

#define CHOSEN 0

/* It, and what answers its calls: as many waterfalls as possible are whole. */
static void choose(struct writer *writer, const struct request *request, u32 depth)
{
	const struct requests *requests = writer->requests;
	s32 *at = &writer->row_at[request - requests->kept];

	if (*at != PAGE_NONE || writer->endpoint_at[request->endpoint] == PAGE_NONE ||
	    writer->chosen == PAGE_REQUESTS_MAX)
		return;
	*at = CHOSEN;
	writer->chosen++;
	for (size_t i = 0; depth < DEPTH_MAX && i < request->call_count; i++) {
		const struct request *answer =
			request_answer(requests, request_call(requests, request, i));

		if (answer)
			choose(writer, answer, depth + 1);
	}
}

static int choose_rows(struct writer *writer)
{
	const struct requests *requests = writer->requests;
	s32 next = 0;

	writer->row_at = malloc((requests->kept_count + 1) * sizeof(writer->row_at[0]));
	if (!writer->row_at)
		return -ENOMEM;
	for (size_t i = 0; i < requests->kept_count; i++)
		writer->row_at[i] = PAGE_NONE;
	for (size_t i = 0; i < requests->kept_count; i++)
		choose(writer, &requests->kept[i], 0);
	for (size_t i = 0; i < requests->kept_count; i++)
		if (writer->row_at[i] != PAGE_NONE)
			writer->row_at[i] = next++;
	page_limit(writer->data, "requests", writer->chosen, PAGE_REQUESTS_MAX,
		   requests->kept_count - writer->chosen, "requests that were kept, the fastest");
	return 0;
}

static int add_parts(struct writer *writer, const struct request *request, u32 at)
{
	u32 parts[BUDGET_COUNT];
	size_t count = request_parts(request->part_ns, 0, parts);

	for (size_t i = 0; i < count; i++) {
		struct part_row *row =
			query_append(&writer->parts, &writer->part_count, sizeof(*row),
				     (size_t)REQUEST_PART_COUNT * PAGE_REQUESTS_MAX);

		if (!row)
			return -ENOMEM;
		*row = (struct part_row){at, parts[i], request->part_ns[parts[i]]};
	}
	return 0;
}

static void add_blamed(struct writer *writer, const struct request *request,
		       struct request_row *row)
{
	const struct request_culprit *culprit = request_culprit(writer->requests, request);
	struct blamed blamed;

	row->blamed_part = row->blamed = PAGE_NONE;
	if (!culprit)
		return;
	blamed = request_blamed(writer->data, culprit->part, culprit->who);
	row->blamed_part = (s32)culprit->part;
	row->blamed = blamed.thread;
	row->blamed_name = blamed.name;
	row->blamed_ns = culprit->least_ns;
}

static void add_wait(struct writer *writer, const struct request *request, struct request_row *row)
{
	char text[REQUEST_WAIT_TEXT];

	row->wait_part = PAGE_NONE;
	if (!request->wait_stack)
		return;
	request_wait_text(writer->data->digest, request->wait_part, request->wait_stack, text,
			  sizeof(text));
	if (!*text)
		return;
	row->wait_part = (s32)request->wait_part;
	row->wait_name = page_name(writer->data, text);
	row->wait_ns = request->wait_ns;
}

static int add_request(struct writer *writer, const struct request *request)
{
	struct page_data *data = writer->data;
	struct request_row *row =
		query_append(&writer->rows, &writer->row_count, sizeof(*row), PAGE_REQUESTS_MAX);

	if (!row)
		return -ENOMEM;
	*row = (struct request_row){
		.endpoint = (u32)writer->endpoint_at[request->endpoint],
		.process = page_last_pid_at(data, request->pid),
		.thread = page_tid_at(data, request->tid),
		.pid = request->pid,
		.tid = request->tid,
		.begin_ns = page_time(data, request->begin_ns),
		.queue_ns = request->queue_ns,
		.window_ns = request->window_ns,
		.status = page_name(data, request->status),
		.outcome = request->outcome,
		.model = request->model,
	};
	add_blamed(writer, request, row);
	add_wait(writer, request, row);
	return add_parts(writer, request, (u32)writer->row_count - 1);
}

static int add_call(struct writer *writer, u32 request, const struct request_call *call)
{
	const struct request_target *target = request_target(writer->requests, call);
	struct page_data *data = writer->data;
	struct call_row *row =
		query_append(&writer->calls, &writer->call_count, sizeof(*row), REQUESTS_CALLS_MAX);

	if (!row)
		return -ENOMEM;
	*row = (struct call_row){
		.request = request,
		.answer = call->answer == REQUEST_NONE ? PAGE_NONE : writer->row_at[call->answer],
		.peer = page_name(data, target->peer),
		.protocol = page_name(data, target->protocol),
		.name = page_name(data, target->name),
		.status = page_name(data, call->status),
		.outcome = call->outcome,
		.grade = call->grade,
		.begin_ns = page_time(data, call->begin_ns),
		.wait_ns = call->wait_ns,
		.window_ns = call->window_ns,
	};
	return 0;
}

static int add_all(struct writer *writer)
{
	const struct requests *requests = writer->requests;
	int err = 0;

	for (size_t i = 0; !err && i < requests->kept_count; i++) {
		const struct request *request = &requests->kept[i];
		s32 at = writer->row_at[i];

		if (at == PAGE_NONE)
			continue;
		err = add_request(writer, request);
		for (size_t call = 0; !err && call < request->call_count; call++)
			err = add_call(writer, (u32)at, request_call(requests, request, call));
	}
	return err;
}

static const struct column request_columns[] = {
	COLUMN("endpoint", struct request_row, endpoint),
	COLUMN("process", struct request_row, process),
	COLUMN("thread", struct request_row, thread),
	COLUMN("pid", struct request_row, pid),
	COLUMN("tid", struct request_row, tid),
	COLUMN("begin_ns", struct request_row, begin_ns),
	COLUMN("queue_ns", struct request_row, queue_ns),
	COLUMN("window_ns", struct request_row, window_ns),
	COLUMN("status$", struct request_row, status),
	COLUMN("outcome", struct request_row, outcome),
	COLUMN("model", struct request_row, model),
	COLUMN("blamed_part", struct request_row, blamed_part),
	COLUMN("blamed", struct request_row, blamed),
	COLUMN("blamed_name$", struct request_row, blamed_name),
	COLUMN("blamed_ns", struct request_row, blamed_ns),
	COLUMN("wait_part", struct request_row, wait_part),
	COLUMN("wait_name$", struct request_row, wait_name),
	COLUMN("wait_ns", struct request_row, wait_ns),
};

static const struct column parts_columns[] = {
	COLUMN("request+", struct part_row, request),
	COLUMN("part", struct part_row, part),
	COLUMN("ns", struct part_row, ns),
};

static const struct column call_columns[] = {
	COLUMN("request+", struct call_row, request),
	COLUMN("answer", struct call_row, answer),
	COLUMN("peer$", struct call_row, peer),
	COLUMN("protocol$", struct call_row, protocol),
	COLUMN("name$", struct call_row, name),
	COLUMN("status$", struct call_row, status),
	COLUMN("outcome", struct call_row, outcome),
	COLUMN("grade", struct call_row, grade),
	COLUMN("begin_ns", struct call_row, begin_ns),
	COLUMN("wait_ns", struct call_row, wait_ns),
	COLUMN("window_ns", struct call_row, window_ns),
};

int request_rows_write(struct page_data *data, struct part *part, const s32 *endpoint_at)
{
	struct writer writer = {
		.data = data, .requests = &data->digest->requests, .endpoint_at = endpoint_at};
	int err = choose_rows(&writer);

	if (!err)
		err = add_all(&writer);
	if (!err) {
		part_text(part, ",\"requests\":");
		part_columns(part, request_columns, ARRAY_SIZE(request_columns), writer.rows,
			     sizeof(writer.rows[0]), writer.row_count);
		part_text(part, ",\"request_parts\":");
		part_columns(part, parts_columns, ARRAY_SIZE(parts_columns), writer.parts,
			     sizeof(writer.parts[0]), writer.part_count);
		part_text(part, ",\"calls\":");
		part_columns(part, call_columns, ARRAY_SIZE(call_columns), writer.calls,
			     sizeof(writer.calls[0]), writer.call_count);
	}
	free(writer.row_at);
	free(writer.rows);
	free(writer.parts);
	free(writer.calls);
	return err;
}
