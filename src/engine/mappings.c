// SPDX-License-Identifier: Apache-2.0
#include "mappings.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>

#include "../base/cleanup.h"
#include "../base/clock.h"
#include "../base/log.h"
#include "mappings_state.h"

#define SWEEP_NS      (5 * NS_PER_S)  /* who ended unnoticed is found in that time */
#define RESCAN_ALL_NS (1 * NS_PER_S)  /* when we were not told who maps what */
#define EXEC_NS	      (5 * NS_PER_MS) /* from its old program's end to a look at its new one */
#define PERF_MAP_NS   (1 * NS_PER_S)  /* between looks at a JIT compiler's names within a window */

/* Who has just begun maps its libraries next; later on, there is no hurry. */
#define YOUNG_NS      (50 * NS_PER_MS)
#define HEAR_YOUNG_NS (1 * NS_PER_MS)
#define HEAR_NS	      (100 * NS_PER_MS)

/* --- open and close --- */

static int listen_to(struct mappings *mappings)
{
	struct epoll_event event = {.events = EPOLLIN};
	int fd = capture_requests_fd(mappings->capture), err;

	if (fd < 0)
		return fd;
	mappings->epoll_fd = epoll_create1(EPOLL_CLOEXEC);
	if (mappings->epoll_fd < 0 || epoll_ctl(mappings->epoll_fd, EPOLL_CTL_ADD, fd, &event))
		return -errno;
	err = sideband_open(mappings->epoll_fd, &mappings->sideband);
	if (err) {
		mappings->counts.is_deaf = true;
		log_verbose("without notice of new mappings: perf_event_open: %s", strerror(-err));
	}
	return 0;
}

int mappings_open(struct capture *capture, const struct helpers *helpers, bool lines, bool inlined,
		  struct mappings **ret_mappings)
{
	struct mappings *mappings;
	int err = capture_map_fd(capture, "unwind_rows");

	if (err < 0)
		return err;
	mappings = calloc(1, sizeof(*mappings));
	if (!mappings)
		return -ENOMEM;
	mappings->capture = capture;
	mappings->epoll_fd = -1;
	mappings_scanner_open(&mappings->scanner, helpers->symbolizer, helpers->opener);
	mappings->wish = (struct unwinding_wish){.lines = lines, .inlined = inlined};
	err = process_list_init(&mappings->processes);
	if (!err)
		err = mappings_give_maps(capture, helpers->symbolizer, &mappings->wish);
	if (!err)
		err = listen_to(mappings);
	if (err) {
		log_error("user stacks cannot be unwound: preparing the unwind tables failed: %s; "
			  "see the free memory, or use --no-stacks",
			  strerror(-err));
		mappings_close(mappings);
		return err == -ENOENT ? -EIO : err;
	}
	mappings->sweep_ns = clock_now_ns() + SWEEP_NS;
	*ret_mappings = mappings;
	return 0;
}

void mappings_online(struct mappings *mappings, int cpu)
{
	if (mappings->sideband && sideband_online(mappings->sideband, cpu))
		log_verbose("new code on CPU %d is not heard of", cpu);
}

void mappings_close(struct mappings *mappings)
{
	if (!mappings)
		return;
	process_list_free(&mappings->processes);
	sideband_close(mappings->sideband);
	mappings_scanner_close(&mappings->scanner);
	if (mappings->epoll_fd >= 0)
		close(mappings->epoll_fd);
	free(mappings);
}

void mappings_listen(struct mappings *mappings, struct mappings_listener *listener)
{
	listener->next = mappings->scanner.listeners;
	mappings->scanner.listeners = listener;
}

int mappings_fd(const struct mappings *mappings)
{
	return mappings->is_broken ? -1 : mappings->epoll_fd;
}

void mappings_counts(const struct mappings *mappings, struct mappings_counts *ret_counts)
{
	*ret_counts = mappings->counts;
	ret_counts->refused = mappings->processes.refused;
}

void mappings_want(struct mappings *mappings, u32 pid)
{
	struct process *process = pid ? process_list_get(&mappings->processes, pid) : NULL;

	if (process)
		process_list_want(&mappings->processes, process, clock_now_ns());
}

/* --- what the kernel tells --- */

/* Until another symbolizer is there. */
static void fail(struct mappings *mappings, int err)
{
	log_verbose("the symbolizer process does not answer: %s", strerror(-err));
	mappings->is_broken = true;
}

static void want_if_known(struct mappings *mappings, u32 pid)
{
	if (process_list_find(&mappings->processes, pid))
		mappings_want(mappings, pid);
}

static void want_stale(struct mappings *mappings)
{
	struct unwinding_batch *batch = &mappings->batch;

	while (batch->stale_count)
		want_if_known(mappings, batch->stale[--batch->stale_count]);
}

static void send_batch(struct mappings *mappings)
{
	int err = mappings->is_broken
			  ? 0
			  : worker_unwinding_send(mappings->scanner.symbolizer, &mappings->batch);

	if (err)
		fail(mappings, err);
	mappings->batch.count = 0;
	mappings->has_pages = false;
	want_stale(mappings);
}

static void add_to_batch(struct mappings *mappings, const struct unwind_request *request)
{
	if (mappings->batch.count == UNWINDING_REQUESTS_MAX)
		send_batch(mappings);
	mappings->batch.requests[mappings->batch.count++] = *request;
}

static void on_forked(struct mappings *mappings, const struct unwind_request *request)
{
	struct process *process = process_list_get(&mappings->processes, request->tgid);

	if (!process)
		return;
	process->is_published = true;
	for (const struct mappings_listener *at = mappings->scanner.listeners; at; at = at->next)
		at->on_process(at->context, request->tgid);
	add_to_batch(mappings, request);
}

/* It has ended, or runs another program now: that shows when it is looked at. */
static void on_gone(struct mappings *mappings, const struct unwind_request *request)
{
	struct process *process = process_list_find(&mappings->processes, request->tgid);

	if (process) {
		mappings_end_perf_map(mappings, process);
		capture_set_context(mappings->capture, process->tgid, &(struct thread_context){0});
		process->scans = 0;
		process->is_published = process->has_jit = false;
		process_list_want_at(&mappings->processes, process, clock_now_ns() + EXEC_NS);
	}
	add_to_batch(mappings, request);
}

static void on_request(void *context, const struct unwind_request *request)
{
	struct mappings *mappings = context;

	if (request->want != UNWIND_WANT_PAGE)
		mappings->young_until_ns = clock_now_ns() + YOUNG_NS;
	switch (request->want) {
	case UNWIND_WANT_PROCESS:
		mappings_want(mappings, request->tgid);
		break;
	case UNWIND_WANT_FORKED:
		on_forked(mappings, request);
		break;
	case UNWIND_WANT_GONE:
		on_gone(mappings, request);
		break;
	case UNWIND_WANT_PAGE:
		add_to_batch(mappings, request);
		mappings->has_pages = true;
		break;
	}
}

/* Only of those that somebody asked for. */
static void on_mapping(void *context, u32 pid)
{
	want_if_known(context, pid);
}

static void want_all(struct mappings *mappings)
{
	for (u32 i = 0; i < mappings->processes.all.count; i++)
		mappings_want(mappings, mappings->processes.all.items[i].number);
}

/* Pages do not wait for processes that are looked at: each sample without them is incomplete. */
static void hear_requests(struct mappings *mappings)
{
	capture_take_requests(mappings->capture, on_request, mappings);
	if (mappings->has_pages)
		send_batch(mappings);
}

static void hear(struct mappings *mappings)
{
	u64 now_ns = clock_now_ns();

	hear_requests(mappings);
	if (!mappings->sideband)
		return;
	mappings->hear_ns = now_ns + (now_ns < mappings->young_until_ns ? HEAR_YOUNG_NS : HEAR_NS);
	sideband_take(mappings->sideband, on_mapping, mappings);
	mappings->counts.lost = sideband_lost(mappings->sideband);
	if (mappings->counts.lost == mappings->lost_seen ||
	    now_ns - mappings->lost_scan_ns < RESCAN_ALL_NS)
		return;
	mappings->lost_seen = mappings->counts.lost;
	mappings->lost_scan_ns = now_ns;
	want_all(mappings);
}

/* --- another symbolizer --- */

/* That a symbolizer may have given out, and that were not told to the kernel side. */
#define GENERATIONS_SPARED 1024

/* It knows no process: what the kernel side has is over, and all are looked at again. */
int mappings_begin_again(struct mappings *mappings)
{
	int err;

	mappings->is_broken = true;
	capture_forget_processes(mappings->capture);
	mappings->wish.generation += GENERATIONS_SPARED;
	err = mappings_give_maps(mappings->capture, mappings->scanner.symbolizer, &mappings->wish);
	if (err)
		return err;
	mappings->batch.count = mappings->batch.stale_count = 0;
	mappings->has_pages = mappings->is_broken = false;
	for (u32 i = 0; i < mappings->processes.all.count; i++) {
		struct process *process = mappings->processes.all.items[i].thing;

		process->is_published = false;
		process->scans = 0;
		process->perf_map.mtime_ns = 0; /* it is to be read from the start */
	}
	want_all(mappings);
	return 0;
}

/* --- looking --- */

static void publish(struct mappings *mappings, struct process *process,
		    const struct unwinding_found *found)
{
	process->has_jit = found->has_jit;
	if (found->process.generation > mappings->wish.generation)
		mappings->wish.generation = found->process.generation;
	process->is_published =
		!capture_set_process(mappings->capture, process->tgid, &found->process);
	mappings->counts.unpublished += !process->is_published;
	capture_set_context(mappings->capture, process->tgid, &found->context);
	if (clock_now_ns() - process->perf_map_ns >= PERF_MAP_NS)
		mappings_read_perf_map(mappings, process);
}

/* It is gone: the kernel side and the worker forget it. */
static void look_away(struct mappings *mappings, struct process *process)
{
	const struct unwind_request gone = {.tgid = process->tgid, .want = UNWIND_WANT_GONE};

	mappings->counts.gone++;
	for (const struct mappings_listener *at = mappings->scanner.listeners; at; at = at->next)
		at->on_gone(at->context, process->tgid);
	mappings_end_perf_map(mappings, process);
	capture_forget_process(mappings->capture, process->tgid);
	process_list_remove(&mappings->processes, process);
	add_to_batch(mappings, &gone);
}

static bool is_of_worker(int err)
{
	return err == -EPIPE || err == -ETIMEDOUT || err == -EBADMSG || err == -ENOTCONN;
}

static int scan(struct mappings *mappings, struct process *process, u64 until_ns,
		struct unwinding_found *ret_found)
{
	u64 begin_ns = clock_now_ns(), hangs = opener_hangs(mappings->scanner.opener);
	int err = mappings_scan(&mappings->scanner, &mappings->batch, process->tgid, until_ns,
				ret_found);

	if (!err && opener_hangs(mappings->scanner.opener) != hangs)
		process_list_want_at(&mappings->processes, process,
				     clock_now_ns() + OPENER_RETRY_NS);
	mappings->counts.scan_ns += clock_now_ns() - begin_ns;
	return err;
}

/* What came of it. The process may be gone then. */
static void take_scan(struct mappings *mappings, struct process *process, u64 begin_ns, int err,
		      const struct unwinding_found *found)
{
	u64 end_ns = clock_now_ns();

	mappings->counts.scans++;
	process_list_done(process, begin_ns, end_ns);
	if (!err)
		publish(mappings, process, found);
	else if (err == -ESTALE) /* as by an exec: it is looked at again, in due time */
		process_list_want(&mappings->processes, process, end_ns);
	else if (is_of_worker(err))
		fail(mappings, err);
	else if (err != -ENOSPC) /* no room for it: what it had before is still there */
		look_away(mappings, process);
}

/* False: time is up, and it is not done. */
static bool look_at(void *context, struct process *process, u64 until_ns)
{
	struct mappings *mappings = context;
	u64 begin_ns = clock_now_ns();
	struct unwinding_found found;
	int err;

	if (mappings->is_broken)
		return true;
	err = scan(mappings, process, until_ns, &found);
	if (err != -EAGAIN)
		take_scan(mappings, process, begin_ns, err, &found);
	want_stale(mappings); /* last: it may name this one, which may be gone */
	hear_requests(mappings);
	return err != -EAGAIN;
}

/* Those that ended without a word, as when the ring buffer had no room for it. */
static void sweep(struct mappings *mappings)
{
	if (clock_now_ns() < mappings->sweep_ns)
		return;
	mappings->sweep_ns = clock_now_ns() + SWEEP_NS;
	for (u32 i = mappings->processes.all.count; i > 0; i--) {
		struct process *process = mappings->processes.all.items[i - 1].thing;

		if (!process->is_waiting && mappings_is_gone(process->tgid))
			look_away(mappings, process);
	}
}

u64 mappings_deadline(const struct mappings *mappings)
{
	u64 latest_ns = mappings->sweep_ns;

	if (mappings->is_broken)
		return ~0ULL;
	if (mappings->sideband && mappings->hear_ns < latest_ns)
		latest_ns = mappings->hear_ns;
	return process_list_due(&mappings->processes, latest_ns);
}

void mappings_attend(struct mappings *mappings, u64 until_ns)
{
	if (mappings->is_broken)
		return;
	hear(mappings);
	process_list_look(&mappings->processes, until_ns, look_at, mappings);
	sweep(mappings);
	send_batch(mappings);
}
