// SPDX-License-Identifier: Apache-2.0
/*
 * The privileged side: requests out, answers checked.
 */
#include "unwinding.h"

#include <errno.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "unwinding_jobs.h"

#define UNWINDING_TIMEOUT_MS 30000 /* a slow disk is no reason to kill the worker */

_Static_assert(sizeof(struct known_request) <= WORKER_MESSAGE_MAX, "fits into a message");
_Static_assert(sizeof(struct scan_request) <= WORKER_MESSAGE_MAX, "fits into a message");
_Static_assert(sizeof(struct scan_reply) <= WORKER_MESSAGE_MAX, "fits into a message");

/* An answer of exactly this size: 0 or -errno. */
static int call(struct worker *worker, enum unwinding_job job, int fd, const void *request,
		size_t size, void *reply, size_t reply_size)
{
	ssize_t got = worker_call_within(worker, UNWINDING_JOB_FIRST + job, fd, request, size,
					 reply, reply_size, UNWINDING_TIMEOUT_MS);

	if (got < 0)
		return (int)got;
	return (size_t)got == reply_size ? 0 : -EBADMSG;
}

int worker_unwinding_open(struct worker *worker, const int fds[UNWINDING_MAP_COUNT], u32 row_count,
			  const struct unwinding_wish *wish)
{
	const struct open_request request = {
		.lines = wish->lines, .inlined = wish->inlined, .generation = wish->generation};

	for (u32 i = 0; i < UNWINDING_MAP_COUNT; i++) {
		const struct map_request map = {.which = i, .row_count = row_count};
		int err = call(worker, UNWINDING_MAP, fds[i], &map, sizeof(map), NULL, 0);

		if (err)
			return err;
	}
	return call(worker, UNWINDING_OPEN, -1, &request, sizeof(request), NULL, 0);
}

int worker_unwinding_kallsyms(struct worker *worker, int fd, bool at_once)
{
	const u32 request = at_once;

	return call(worker, UNWINDING_KALLSYMS, fd, &request, sizeof(request), NULL, 0);
}

/* What was taken of a batch, and what came too late. */
static void end_batch(struct unwinding_batch *batch, const struct requests_reply *reply)
{
	for (u32 i = 0; i < batch->count; i++)
		if (reply->stale[i / 64] >> (i % 64) & 1 &&
		    batch->stale_count < UNWINDING_REQUESTS_MAX)
			batch->stale[batch->stale_count++] = batch->requests[i].tgid;
	batch->count = 0;
}

static void begin_batch(const struct unwinding_batch *batch, struct requests_request *request)
{
	*request = (struct requests_request){.count = batch->count};
	memcpy(request->requests, batch->requests, batch->count * sizeof(batch->requests[0]));
}

int worker_unwinding_scan(struct worker *worker, struct unwinding_batch *batch, u32 tgid,
			  int maps_fd, u32 first,
			  struct unwinding_file ret_files[UNWINDING_FILES_MAX])
{
	struct scan_request request = {.tgid = tgid, .first = first};
	struct scan_reply reply;
	int err;

	begin_batch(batch, &request.before);
	err = call(worker, UNWINDING_SCAN, maps_fd, &request,
		   offsetof(struct scan_request, before.requests) +
			   batch->count * sizeof(batch->requests[0]),
		   &reply, sizeof(reply));
	if (err)
		return err;
	end_batch(batch, &reply.before);
	if (reply.count > UNWINDING_FILES_MAX)
		return -EBADMSG;
	if (reply.count > 0)
		memcpy(ret_files, reply.files, (size_t)reply.count * sizeof(reply.files[0]));
	return reply.count;
}

static int take_found(const struct finish_reply *reply, struct unwinding_found *ret_found)
{
	*ret_found = (struct unwinding_found){
		.process = {.first = reply->first,
			    .count = reply->count,
			    .generation = reply->generation},
		.has_jit = reply->has_jit,
	};
	if (reply->context.kind < THREAD_CONTEXT_KINDS)
		ret_found->context = reply->context;
	return reply->generation && reply->count <= 1u << UNWIND_MAPPINGS_STEPS &&
			       reply->first <= UNWIND_MAPPINGS_MAX - reply->count
		       ? 0
		       : -EBADMSG;
}

int worker_unwinding_known(struct worker *worker, u32 first, const struct file_facts *facts,
			   u32 count, bool is_last, u64 *ret_wanted,
			   struct unwinding_found *ret_found)
{
	struct known_request request = {.first = first, .count = count, .is_last = is_last};
	struct known_reply reply;
	int err;

	if (count > UNWINDING_FILES_MAX)
		return -E2BIG;
	memcpy(request.facts, facts, count * sizeof(*facts));
	err = call(worker, UNWINDING_KNOWN, -1, &request,
		   offsetof(struct known_request, facts) + count * sizeof(*facts), &reply,
		   sizeof(reply));
	if (err)
		return err;
	*ret_wanted = reply.wanted;
	return is_last && !reply.wanted ? take_found(&reply.found, ret_found) : 0;
}

int worker_unwinding_file(struct worker *worker, u32 file, const struct file_facts *facts, int fd,
			  struct file_wants *ret_wants)
{
	const struct file_request request = {.file = file, .facts = *facts};
	struct file_reply reply;
	int err =
		call(worker, UNWINDING_FILE, fd, &request, sizeof(request), &reply, sizeof(reply));

	if (err)
		return err;
	if (reply.build_id_size > BUILD_ID_MAX)
		return -EBADMSG;
	*ret_wants = (struct file_wants){
		.build_id_size = reply.build_id_size,
		.rows = reply.wants & WANTS_ROWS,
		.cache = reply.wants & WANTS_CACHE && reply.build_id_size,
		.debug = reply.wants & WANTS_DEBUG && reply.build_id_size,
	};
	memcpy(ret_wants->build_id, reply.build_id, reply.build_id_size);
	return 0;
}

int worker_unwinding_debug_file(struct worker *worker, u32 file, int fd)
{
	return call(worker, UNWINDING_DEBUG_FILE, fd, &file, sizeof(file), NULL, 0);
}

int worker_unwinding_read_rows(struct worker *worker, u32 file, int fd)
{
	return call(worker, UNWINDING_READ_ROWS, fd, &file, sizeof(file), NULL, 0);
}

int worker_unwinding_build_rows(struct worker *worker, u32 file, bool *ret_is_worthy)
{
	u32 is_worthy = 0;
	int err = call(worker, UNWINDING_BUILD_ROWS, -1, &file, sizeof(file), &is_worthy,
		       sizeof(is_worthy));

	*ret_is_worthy = !err && is_worthy;
	return err;
}

int worker_unwinding_write_rows(struct worker *worker, u32 file, int fd)
{
	return call(worker, UNWINDING_WRITE_ROWS, fd, &file, sizeof(file), NULL, 0);
}

int worker_unwinding_finish(struct worker *worker, struct unwinding_found *ret_found)
{
	struct finish_reply reply;
	int err = call(worker, UNWINDING_FINISH, -1, NULL, 0, &reply, sizeof(reply));

	return err ? err : take_found(&reply, ret_found);
}

int worker_unwinding_send(struct worker *worker, struct unwinding_batch *batch)
{
	struct requests_request request;
	struct requests_reply reply;
	int err;

	if (!batch->count)
		return 0;
	begin_batch(batch, &request);
	err = call(worker, UNWINDING_REQUESTS, -1, &request,
		   offsetof(struct requests_request, requests) +
			   batch->count * sizeof(batch->requests[0]),
		   &reply, sizeof(reply));
	if (!err)
		end_batch(batch, &reply);
	return err;
}

int worker_unwinding_perf_map(struct worker *worker, u32 tgid, int fd)
{
	return call(worker, UNWINDING_PERF_MAP, fd, &tgid, sizeof(tgid), NULL, 0);
}

int worker_unwinding_counts(struct worker *worker, struct symbolize_counts *ret_counts)
{
	return call(worker, UNWINDING_COUNTS, -1, NULL, 0, ret_counts, sizeof(*ret_counts));
}

int worker_unwinding_connect(struct worker *symbolizer, struct worker *ingest)
{
	int pair[2], err;

	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pair))
		return -errno;
	/* Whoever listens is there first: the other one tells all that it knows at once. */
	err = call(ingest, UNWINDING_MIRROR, pair[0], NULL, 0, NULL, 0);
	if (!err)
		err = call(symbolizer, UNWINDING_PUBLISH, pair[1], NULL, 0, NULL, 0);
	close(pair[0]);
	close(pair[1]);
	return err;
}

int worker_unwinding_pending(struct worker *ingest, u32 *ret_count)
{
	return call(ingest, UNWINDING_PENDING, -1, NULL, 0, ret_count, sizeof(*ret_count));
}
