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
#include "../base/number_map.h"
#include "../capture/sideband.h"
#include "mappings_scan.h"

#define PROCESSES_KNOWN (2 * UNWIND_PROCESSES_MAX)
#define SWEEP_NS	(5 * NS_PER_S) /* who ended unnoticed is found in that time */
#define RESCAN_ALL_NS	(1 * NS_PER_S) /* when we were not told who maps what */
#define CALM_NS		(1 * NS_PER_S) /* without a scan, and the next one is at once again */
#define GAP_NS		(1 * NS_PER_MS)
#define GAP_DOUBLED_MAX 7		/* 128 ms at most between two scans of a process */
#define EXEC_NS		(5 * NS_PER_MS) /* from its old program's end to a look at its new one */

/* One that we were asked for. */
struct process {
	u32 tgid;
	u32 scans;	   /* one shortly after the other */
	u64 last_ns;	   /* scan; 0: none yet */
	u64 due_ns;	   /* next scan, if is_waiting */
	bool is_waiting;   /* in the list of those to be looked at */
	bool is_published; /* the kernel side has it */
	bool has_jit;
	struct foreign_map_facts perf_map; /* that the worker has */
};

struct mappings {
	struct capture *capture;
	struct mappings_scanner scanner;
	int epoll_fd;
	struct sideband *sideband; /* NULL: the kernel does not let us hear */
	u64 lost_seen, lost_scan_ns;
	struct number_map processes;
	struct process *waiting[PROCESSES_KNOWN];
	u32 waiting_count;
	struct unwind_request batch[UNWINDING_REQUESTS_MAX]; /* for the worker */
	size_t batch_count;
	u64 sweep_ns;
	bool is_broken; /* the worker does not answer */
	struct mappings_counts counts;
};

/* --- open and close --- */

static const char *const map_names[UNWINDING_MAP_COUNT] = {
	[UNWINDING_ROWS] = "unwind_rows",
	[UNWINDING_PAGES] = "unwind_pages",
	[UNWINDING_MODULES] = "unwind_modules",
	[UNWINDING_MAPPINGS] = "unwind_mappings",
};

static int give_maps(const struct mappings *mappings, bool lines, bool inlined)
{
	int fds[UNWINDING_MAP_COUNT];

	for (int i = 0; i < UNWINDING_MAP_COUNT; i++) {
		fds[i] = capture_map_fd(mappings->capture, map_names[i]);
		if (fds[i] < 0)
			return fds[i];
	}
	return worker_unwinding_open(mappings->scanner.worker, fds, lines, inlined);
}

/* Without them, functions of the kernel have no names; stacks are whole all the same. */
static void give_kallsyms(const struct mappings *mappings)
{
	_cleanup_close_ int fd = open("/proc/kallsyms", O_RDONLY | O_CLOEXEC);
	int err = fd < 0 ? -errno : worker_unwinding_kallsyms(mappings->scanner.worker, fd);

	if (err)
		log_info("functions of the kernel have no names: /proc/kallsyms cannot be read: "
			 "%s; see kernel.kptr_restrict",
			 strerror(-err));
}

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

int mappings_open(struct capture *capture, struct worker *worker, bool lines, bool inlined,
		  struct mappings **ret_mappings)
{
	struct mappings *mappings;
	int err = capture_map_fd(capture, map_names[0]);

	if (err < 0)
		return err;
	mappings = calloc(1, sizeof(*mappings));
	if (!mappings)
		return -ENOMEM;
	mappings->capture = capture;
	mappings->epoll_fd = -1;
	mappings_scanner_open(&mappings->scanner, worker);
	err = number_map_init(&mappings->processes, PROCESSES_KNOWN);
	if (!err)
		err = give_maps(mappings, lines, inlined);
	if (!err)
		err = listen_to(mappings);
	if (err) {
		log_error("stacks of user code cannot be walked: preparing their tables failed: %s",
			  strerror(-err));
		mappings_close(mappings);
		return err == -ENOENT ? -EIO : err;
	}
	give_kallsyms(mappings);
	mappings->sweep_ns = clock_now_ns() + SWEEP_NS;
	*ret_mappings = mappings;
	return 0;
}

void mappings_close(struct mappings *mappings)
{
	if (!mappings)
		return;
	for (u32 i = 0; i < mappings->processes.count; i++)
		free(mappings->processes.items[i].thing);
	number_map_free(&mappings->processes);
	sideband_close(mappings->sideband);
	mappings_scanner_close(&mappings->scanner);
	if (mappings->epoll_fd >= 0)
		close(mappings->epoll_fd);
	free(mappings);
}

int mappings_fd(const struct mappings *mappings)
{
	return mappings->is_broken ? -1 : mappings->epoll_fd;
}

const struct mappings_counts *mappings_counts(const struct mappings *mappings)
{
	return &mappings->counts;
}

/* --- who is to be looked at --- */

/* Soon, but the less so the more often: a process may map code all the time. */
static u64 due(const struct process *process, u64 now_ns)
{
	u32 doubled = process->scans < GAP_DOUBLED_MAX ? process->scans : GAP_DOUBLED_MAX;
	u64 due_ns = process->last_ns + (GAP_NS << doubled);

	return !process->last_ns || due_ns < now_ns ? now_ns : due_ns;
}

static void wait_for(struct mappings *mappings, struct process *process, u64 due_ns)
{
	if (process->is_waiting) {
		if (due_ns < process->due_ns)
			process->due_ns = due_ns;
		return;
	}
	process->is_waiting = true;
	process->due_ns = due_ns;
	mappings->waiting[mappings->waiting_count++] = process;
}

/* NULL: there are too many. */
static struct process *get(struct mappings *mappings, u32 tgid)
{
	struct process *process = number_map_find(&mappings->processes, tgid);

	if (process)
		return process;
	process = calloc(1, sizeof(*process));
	if (!process || number_map_set(&mappings->processes, tgid, process)) {
		mappings->counts.refused++;
		free(process);
		return NULL;
	}
	process->tgid = tgid;
	return process;
}

void mappings_want(struct mappings *mappings, u32 pid)
{
	struct process *process = pid ? get(mappings, pid) : NULL;

	if (process)
		wait_for(mappings, process, due(process, clock_now_ns()));
}

/* The worker is told with the next batch. The process is not waiting any more. */
static void forget(struct mappings *mappings, struct process *process)
{
	capture_forget_process(mappings->capture, process->tgid);
	number_map_remove(&mappings->processes, process->tgid);
	free(process);
}

/* --- what the kernel tells --- */

static void fail(struct mappings *mappings, int err)
{
	if (!mappings->is_broken)
		log_error("new processes have no stacks from here on: the worker process does not "
			  "answer: %s",
			  strerror(-err));
	mappings->is_broken = true;
}

static void send_batch(struct mappings *mappings)
{
	u64 stale[UNWINDING_REQUESTS_MAX / 64] = {0};
	size_t count = mappings->batch_count;
	int err;

	mappings->batch_count = 0;
	if (!count || mappings->is_broken)
		return;
	err = worker_unwinding_requests(mappings->scanner.worker, mappings->batch, count, stale);
	if (err)
		fail(mappings, err);
	for (size_t i = 0; i < count; i++)
		if (stale[i / 64] >> (i % 64) & 1)
			mappings_want(mappings, mappings->batch[i].tgid);
}

static void add_to_batch(struct mappings *mappings, const struct unwind_request *request)
{
	if (mappings->batch_count == UNWINDING_REQUESTS_MAX)
		send_batch(mappings);
	mappings->batch[mappings->batch_count++] = *request;
}

static void on_forked(struct mappings *mappings, const struct unwind_request *request)
{
	struct process *process = get(mappings, request->tgid);

	if (!process)
		return;
	process->is_published = true;
	add_to_batch(mappings, request);
}

/* It has ended, or runs another program now: that shows when it is looked at. */
static void on_gone(struct mappings *mappings, const struct unwind_request *request)
{
	struct process *process = number_map_find(&mappings->processes, request->tgid);

	add_to_batch(mappings, request);
	if (!process)
		return;
	process->scans = 0;
	process->is_published = false;
	process->perf_map = (struct foreign_map_facts){0};
	wait_for(mappings, process, clock_now_ns() + EXEC_NS);
}

static void on_request(void *context, const struct unwind_request *request)
{
	struct mappings *mappings = context;

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
	}
}

/* Only of those that somebody asked for. */
static void on_mapping(void *context, u32 pid)
{
	struct mappings *mappings = context;

	if (number_map_find(&mappings->processes, pid))
		mappings_want(mappings, pid);
}

static void want_all(struct mappings *mappings)
{
	for (u32 i = 0; i < mappings->processes.count; i++)
		mappings_want(mappings, mappings->processes.items[i].number);
}

static void hear(struct mappings *mappings)
{
	u64 now_ns = clock_now_ns();

	capture_take_requests(mappings->capture, on_request, mappings);
	send_batch(mappings);
	if (!mappings->sideband)
		return;
	sideband_take(mappings->sideband, on_mapping, mappings);
	mappings->counts.lost = sideband_lost(mappings->sideband);
	if (mappings->counts.lost == mappings->lost_seen ||
	    now_ns - mappings->lost_scan_ns < RESCAN_ALL_NS)
		return;
	mappings->lost_seen = mappings->counts.lost;
	mappings->lost_scan_ns = now_ns;
	want_all(mappings);
}

/* --- looking --- */

static void publish(struct mappings *mappings, struct process *process,
		    const struct mappings_found *found)
{
	process->has_jit = found->has_jit;
	process->is_published =
		!capture_set_process(mappings->capture, process->tgid, &found->process);
	mappings->counts.unpublished += !process->is_published;
}

static void look_away(struct mappings *mappings, struct process *process)
{
	const struct unwind_request gone = {.tgid = process->tgid, .want = UNWIND_WANT_GONE};

	mappings->counts.gone++;
	forget(mappings, process);
	add_to_batch(mappings, &gone);
}

static bool is_of_worker(int err)
{
	return err == -EPIPE || err == -ETIMEDOUT || err == -EBADMSG || err == -ENOTCONN;
}

/* False: time is up, and it is not done. */
static bool look_at(struct mappings *mappings, struct process *process, u64 until_ns)
{
	u64 begin_ns = clock_now_ns(), end_ns;
	struct mappings_found found;
	int err = mappings_scan(&mappings->scanner, process->tgid, until_ns, &found);

	end_ns = clock_now_ns();
	mappings->counts.scan_ns += end_ns - begin_ns;
	if (err == -EAGAIN)
		return false;
	mappings->counts.scans++;
	process->scans = process->last_ns + CALM_NS < begin_ns ? 0 : process->scans + 1;
	process->last_ns = end_ns;
	if (!err)
		publish(mappings, process, &found);
	else if (is_of_worker(err))
		fail(mappings, err);
	else if (err != -ENOSPC) /* no room for it: what it had before is still there */
		look_away(mappings, process);
	return true;
}

static void look_at_waiting(struct mappings *mappings, u64 until_ns)
{
	u32 kept = 0, i = 0;

	for (; i < mappings->waiting_count; i++) {
		struct process *process = mappings->waiting[i];
		u64 now_ns = clock_now_ns();

		if (mappings->is_broken || (i && now_ns >= until_ns))
			break;
		process->is_waiting = false;
		if (process->due_ns <= now_ns && look_at(mappings, process, until_ns))
			continue;
		process->is_waiting = true;
		mappings->waiting[kept++] = process;
	}
	memmove(&mappings->waiting[kept], &mappings->waiting[i],
		(mappings->waiting_count - i) * sizeof(mappings->waiting[0]));
	mappings->waiting_count -= i - kept;
}

/* Those that ended without a word, as when the ring buffer had no room for it. */
static void sweep(struct mappings *mappings)
{
	if (clock_now_ns() < mappings->sweep_ns)
		return;
	mappings->sweep_ns = clock_now_ns() + SWEEP_NS;
	for (u32 i = mappings->processes.count; i > 0; i--) {
		struct process *process = mappings->processes.items[i - 1].thing;

		if (!process->is_waiting && mappings_is_gone(process->tgid))
			look_away(mappings, process);
	}
}

u64 mappings_deadline(const struct mappings *mappings)
{
	u64 earliest_ns = mappings->sweep_ns;

	if (mappings->is_broken)
		return ~0ULL;
	for (u32 i = 0; i < mappings->waiting_count; i++)
		if (mappings->waiting[i]->due_ns < earliest_ns)
			earliest_ns = mappings->waiting[i]->due_ns;
	return earliest_ns;
}

void mappings_attend(struct mappings *mappings, u64 until_ns)
{
	if (mappings->is_broken)
		return;
	hear(mappings);
	look_at_waiting(mappings, until_ns);
	sweep(mappings);
	send_batch(mappings);
}

void mappings_read_perf_maps(struct mappings *mappings, u64 until_ns)
{
	for (u32 i = 0; i < mappings->processes.count && !mappings->is_broken; i++) {
		struct process *process = mappings->processes.items[i].thing;

		if (clock_now_ns() >= until_ns)
			return;
		if (process->has_jit && process->is_published)
			mappings_give_perf_map(&mappings->scanner, process->tgid,
					       &process->perf_map);
	}
}
