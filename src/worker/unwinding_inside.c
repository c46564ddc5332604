// SPDX-License-Identifier: Apache-2.0
/*
 * The worker's side: jobs as they come from the privileged one, whose numbers are its own.
 */
#include <errno.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "unwinding_jobs.h"

int unwinding_inside_open(struct unwinding_inside *unwinding)
{
	return symbolize_create(&unwinding->symbolize);
}

/* --- tables --- */

static const size_t map_bytes[UNWINDING_MAP_COUNT] = {
	[UNWINDING_PAGES] = UNWIND_PAGES_MAX * sizeof(struct unwind_page),
	[UNWINDING_MODULES] = UNWIND_MODULES_MAX * sizeof(struct unwind_module),
	[UNWINDING_MAPPINGS] = UNWIND_MAPPINGS_MAX * sizeof(struct unwind_mapping),
};

static ssize_t job_map(struct unwinding_inside *unwinding, int fd,
		       const struct map_request *request)
{
	u32 which = request->which;
	void *memory;
	size_t bytes;

	if (which >= UNWINDING_MAP_COUNT || unwinding->maps[which] || fd < 0 ||
	    request->row_count < UNWIND_ROWS_LEAST || request->row_count > UNWIND_ROWS_MOST)
		return -EINVAL;
	unwinding->row_count = request->row_count;
	bytes = which == UNWINDING_ROWS ? unwinding->row_count * sizeof(struct unwind_row)
					: map_bytes[which];
	memory = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	if (memory == MAP_FAILED)
		return -errno;
	unwinding->maps[which] = memory;
	return 0;
}

static ssize_t job_open(struct unwinding_inside *unwinding, const struct open_request *request)
{
	const struct unwind_memory memory = {
		.rows = unwinding->maps[UNWINDING_ROWS],
		.pages = unwinding->maps[UNWINDING_PAGES],
		.modules = unwinding->maps[UNWINDING_MODULES],
		.mappings = unwinding->maps[UNWINDING_MAPPINGS],
		.row_count = unwinding->row_count,
		.page_count = UNWIND_PAGES_MAX,
		.module_count = UNWIND_MODULES_MAX,
		.mapping_count = UNWIND_MAPPINGS_MAX,
	};

	if (!memory.rows || !memory.pages || !memory.modules || !memory.mappings)
		return -EINVAL;
	symbolize_want(unwinding->symbolize, request->lines, request->inlined);
	return symbolize_give_tables(unwinding->symbolize, &memory, request->generation);
}

/* --- what becomes of processes --- */

/* What has happened to processes, in its order. */
static bool take_requests(struct symbolize *symbolize, const struct requests_request *request,
			  size_t size, struct requests_reply *reply)
{
	*reply = (struct requests_reply){0};
	if (request->count > UNWINDING_REQUESTS_MAX ||
	    size != offsetof(struct requests_request, requests) +
			    request->count * sizeof(request->requests[0]))
		return false;
	for (u32 i = 0; i < request->count; i++) {
		const struct unwind_request *one = &request->requests[i];

		if (one->want == UNWIND_WANT_GONE)
			symbolize_gone(symbolize, one->tgid, one->generation);
		else if (one->want == UNWIND_WANT_PAGE)
			symbolize_load_page(symbolize, one->module, one->page);
		else if (one->want == UNWIND_WANT_FORKED &&
			 symbolize_forked(symbolize, one->tgid, one->generation))
			reply->stale[i / 64] |= 1ULL << (i % 64);
	}
	for (u32 i = 0; i < request->count; i++)
		if (request->requests[i].want == UNWIND_WANT_PAGE)
			symbolize_load_near(symbolize, request->requests[i].module,
					    request->requests[i].page);
	return true;
}

static ssize_t job_requests(struct symbolize *symbolize, const struct requests_request *request,
			    size_t size, struct requests_reply *reply)
{
	return take_requests(symbolize, request, size, reply) ? (ssize_t)sizeof(*reply) : -EBADMSG;
}

/* --- a process is looked at --- */

static ssize_t job_scan(struct symbolize *symbolize, int fd, const struct scan_request *request,
			size_t size, struct scan_reply *reply)
{
	*reply = (struct scan_reply){0};
	if (!take_requests(symbolize, &request->before,
			   size - offsetof(struct scan_request, before), &reply->before))
		return -EBADMSG;
	if (!request->first) {
		int count = fd < 0 ? -EINVAL : symbolize_scan(symbolize, request->tgid, fd);

		if (count < 0) {
			reply->count = count;
			return sizeof(*reply);
		}
	}
	while (reply->count < UNWINDING_FILES_MAX) {
		struct unwinding_file *file = &reply->files[reply->count];

		if (!symbolize_scan_file(symbolize, request->first + (u32)reply->count,
					 &file->begin, &file->end))
			break;
		reply->count++;
	}
	return sizeof(*reply);
}

static ssize_t job_finish(struct symbolize *symbolize, struct finish_reply *reply)
{
	struct thread_context context;
	struct unwind_process process;
	bool has_jit;
	int err = symbolize_finish(symbolize, &process, &context, &has_jit);

	if (err)
		return err;
	*reply = (struct finish_reply){process.first, process.count, process.generation, has_jit,
				       context};
	return sizeof(*reply);
}

static ssize_t job_known(struct symbolize *symbolize, const struct known_request *request,
			 size_t size, struct known_reply *reply)
{
	ssize_t err = 0;

	*reply = (struct known_reply){0};
	if (request->count > UNWINDING_FILES_MAX ||
	    size != offsetof(struct known_request, facts) +
			    request->count * sizeof(request->facts[0]))
		return -EBADMSG;
	for (u32 i = 0; i < request->count; i++)
		if (!symbolize_knows_file(symbolize, request->first + i, &request->facts[i]))
			reply->wanted |= 1ULL << i;
	if (request->is_last && !reply->wanted)
		err = job_finish(symbolize, &reply->found);
	return err < 0 ? err : (ssize_t)sizeof(*reply);
}

static ssize_t job_file(struct symbolize *symbolize, int *fd, const struct file_request *request,
			struct file_reply *reply)
{
	struct file_wants wants;
	int err = symbolize_take_file(symbolize, request->file, &request->facts, *fd, &wants);

	*fd = -1;
	if (err)
		return err;
	*reply = (struct file_reply){
		.build_id_size = wants.build_id_size,
		.wants = (wants.rows ? WANTS_ROWS : 0) | (wants.cache ? WANTS_CACHE : 0) |
			 (wants.debug ? WANTS_DEBUG : 0),
	};
	memcpy(reply->build_id, wants.build_id, sizeof(reply->build_id));
	return sizeof(*reply);
}

static ssize_t job_debug_file(struct symbolize *symbolize, int *fd, u32 file)
{
	int kept = *fd;

	if (kept < 0)
		return -EINVAL;
	*fd = -1;
	return symbolize_take_debug_file(symbolize, file, kept);
}

static ssize_t job_build_rows(struct symbolize *symbolize, u32 file, u32 *reply)
{
	bool is_worthy;
	int err = symbolize_build_rows(symbolize, file, &is_worthy);

	*reply = is_worthy;
	return err ? err : (ssize_t)sizeof(*reply);
}

/* --- the rest --- */

static ssize_t job_kallsyms(struct unwinding_inside *unwinding, int *fd, bool at_once)
{
	int kept = *fd;

	if (kept < 0)
		return -EINVAL;
	*fd = -1;
	unwinding->reads_kallsyms = at_once;
	return symbolize_kallsyms(unwinding->symbolize, kept);
}

static ssize_t job_counts(struct symbolize *symbolize, struct symbolize_counts *reply)
{
	symbolize_counts(symbolize, reply);
	return sizeof(*reply);
}

/* The other process's end of a socket pair is kept. */
static ssize_t job_connect(struct symbolize *symbolize, enum unwinding_job job, int *fd)
{
	int kept = *fd;

	if (kept < 0)
		return -EINVAL;
	*fd = -1;
	if (job == UNWINDING_MIRROR)
		return symbolize_mirror(symbolize, kept);
	symbolize_publish(symbolize, kept);
	return 0;
}

static ssize_t job_pending(struct symbolize *symbolize, u32 *reply)
{
	symbolize_take_facts(symbolize);
	symbolize_send_questions(symbolize);
	*reply = (u32)symbolize_names_pending(symbolize);
	return sizeof(*reply);
}

/* --- which is which --- */

/* A request of less than this is none. */
static const size_t least_size[UNWINDING_JOB_COUNT] = {
	[UNWINDING_MAP] = sizeof(struct map_request),
	[UNWINDING_OPEN] = sizeof(struct open_request),
	[UNWINDING_KALLSYMS] = sizeof(u32),
	[UNWINDING_SCAN] = offsetof(struct scan_request, before.requests),
	[UNWINDING_KNOWN] = offsetof(struct known_request, facts),
	[UNWINDING_FILE] = sizeof(struct file_request),
	[UNWINDING_DEBUG_FILE] = sizeof(u32),
	[UNWINDING_READ_ROWS] = sizeof(u32),
	[UNWINDING_BUILD_ROWS] = sizeof(u32),
	[UNWINDING_WRITE_ROWS] = sizeof(u32),
	[UNWINDING_REQUESTS] = offsetof(struct requests_request, requests),
	[UNWINDING_PERF_MAP] = sizeof(u32),
};

void unwinding_inside_rest(struct unwinding_inside *unwinding)
{
	if (unwinding->reads_kallsyms)
		symbolize_read_kallsyms(unwinding->symbolize);
	unwinding->reads_kallsyms = false;
}

ssize_t unwinding_inside_run(struct unwinding_inside *unwinding, enum unwinding_job job, int *fd,
			     const void *request, size_t size, void *reply, size_t reply_size)
{
	struct symbolize *symbolize = unwinding->symbolize;
	u32 number = 0;

	if (job >= UNWINDING_JOB_COUNT || size < least_size[job] || reply_size < WORKER_MESSAGE_MAX)
		return -EBADMSG;
	if (size >= sizeof(number))
		memcpy(&number, request, sizeof(number));
	switch (job) {
	case UNWINDING_MAP:
		return job_map(unwinding, *fd, request);
	case UNWINDING_OPEN:
		return job_open(unwinding, request);
	case UNWINDING_KALLSYMS:
		return job_kallsyms(unwinding, fd, number);
	case UNWINDING_SCAN:
		return job_scan(symbolize, *fd, request, size, reply);
	case UNWINDING_KNOWN:
		return job_known(symbolize, request, size, reply);
	case UNWINDING_FILE:
		return job_file(symbolize, fd, request, reply);
	case UNWINDING_DEBUG_FILE:
		return job_debug_file(symbolize, fd, number);
	case UNWINDING_READ_ROWS:
		return *fd < 0 ? -EINVAL : symbolize_read_rows(symbolize, number, *fd);
	case UNWINDING_BUILD_ROWS:
		return job_build_rows(symbolize, number, reply);
	case UNWINDING_WRITE_ROWS:
		return *fd < 0 ? -EINVAL : symbolize_write_rows(symbolize, number, *fd);
	case UNWINDING_FINISH:
		return job_finish(symbolize, reply);
	case UNWINDING_REQUESTS:
		return job_requests(symbolize, request, size, reply);
	case UNWINDING_PERF_MAP:
		return *fd < 0 ? -EINVAL : symbolize_perf_map(symbolize, number, *fd);
	case UNWINDING_COUNTS:
		return job_counts(symbolize, reply);
	case UNWINDING_PUBLISH:
	case UNWINDING_MIRROR:
		return job_connect(symbolize, job, fd);
	case UNWINDING_PENDING:
		return job_pending(symbolize, reply);
	default:
		return -ENOSYS;
	}
}
