// SPDX-License-Identifier: Apache-2.0
/*
 * The walk of user stacks as user space feeds it: what the kernel side wants to know comes in
 * ring buffers of its own, and where a process's mappings are goes into a hash, and into an array
 * for programs that can run in NMI.
 */
#include <bpf/bpf.h>
#include <errno.h>
#include <string.h>

#include "../../abi/thread_context.h"
#include "../../abi/unwind.h"
#include "../base/log.h"
#include "internal.h"

/* The kernel side wrote it, but the ring is in memory that we can only read: no need to doubt. */
static int on_request(void *context, void *data, size_t size)
{
	struct capture *capture = context;

	if (size >= sizeof(struct unwind_request))
		capture->on_request(capture->request_context, data);
	return 0;
}

int capture_requests_fd(struct capture *capture)
{
	int fd = capture_map_fd(capture, "unwind_requests"), err;

	if (fd < 0)
		return fd;
	if (!capture->requests) {
		capture->requests = ring_buffer__new(fd, on_request, capture, NULL);
		fd = capture_map_fd(capture, "unwind_requests_nmi");
		if (capture->requests && fd >= 0 &&
		    (err = ring_buffer__add(capture->requests, fd, on_request, capture)))
			return err;
	}
	return capture->requests ? ring_buffer__epoll_fd(capture->requests) : -errno;
}

int capture_take_requests(struct capture *capture,
			  void (*on_one)(void *context, const struct unwind_request *request),
			  void *context)
{
	int taken;

	if (!capture->requests)
		return -ENOENT;
	capture->on_request = on_one;
	capture->request_context = context;
	taken = ring_buffer__consume(capture->requests);
	return taken < 0 ? taken : 0;
}

/* The entry that is the process's, or else may be: false if there are none, or all are taken. */
static bool find_range(int fd, u32 tgid, bool or_free, u32 *ret_place)
{
	struct unwind_range range;

	for (u32 way = 0; way < UNWIND_RANGE_WAYS; way++) {
		*ret_place = unwind_range_place(tgid, way);
		if (!bpf_map_lookup_elem(fd, ret_place, &range) &&
		    (range.tgid == tgid || (or_free && !range.tgid)))
			return true;
	}
	return false;
}

/* Failing costs user parts of stacks, and they ask again. */
static void set_range(const struct capture *capture, u32 tgid, const struct unwind_process *process)
{
	struct unwind_range range = {tgid, process->first, process->count, process->generation};
	int fd = capture_map_fd(capture, "unwind_ranges");
	u32 place;

	if (fd < 0)
		return;
	if (!find_range(fd, tgid, false, &place) && !find_range(fd, tgid, true, &place))
		place = unwind_range_place(tgid, process->generation % UNWIND_RANGE_WAYS);
	bpf_map_update_elem(fd, &place, &range, BPF_ANY);
}

static void forget_range(const struct capture *capture, u32 tgid)
{
	const struct unwind_range none = {0};
	int fd = capture_map_fd(capture, "unwind_ranges");
	u32 place;

	if (fd >= 0 && find_range(fd, tgid, false, &place))
		bpf_map_update_elem(fd, &place, &none, BPF_ANY);
}

int capture_set_process(const struct capture *capture, u32 tgid,
			const struct unwind_process *process)
{
	int fd = capture_map_fd(capture, "unwind_processes");

	if (fd < 0)
		return fd;
	set_range(capture, tgid, process);
	return bpf_map_update_elem(fd, &tgid, process, BPF_ANY) ? -errno : 0;
}

/* There are few that do: the kernel side looks for them only once there is one. */
void capture_set_context(const struct capture *capture, u32 tgid,
			 const struct thread_context *context)
{
	int fd = capture_map_fd(capture, "thread_contexts"),
	    any_fd = capture_map_fd(capture, "thread_contexts_any");
	u32 zero = 0, yes = 1;

	if (fd < 0)
		return;
	if (!context->kind) {
		bpf_map_delete_elem(fd, &tgid);
		return;
	}
	if (bpf_map_update_elem(fd, &tgid, context, BPF_ANY)) {
		log_verbose("process %u publishes trace contexts, which are not read: %s", tgid,
			    strerror(errno));
		return;
	}
	bpf_map_update_elem(any_fd, &zero, &yes, BPF_ANY);
}

void capture_forget_process(const struct capture *capture, u32 tgid)
{
	int fd = capture_map_fd(capture, "unwind_processes");

	forget_range(capture, tgid);
	capture_set_context(capture, tgid, &(struct thread_context){0});
	if (fd >= 0)
		bpf_map_delete_elem(fd, &tgid);
}

void capture_forget_processes(const struct capture *capture)
{
	int fd = capture_map_fd(capture, "unwind_processes");
	u32 tgid;

	/* The first one each time: whoever forks meanwhile may add one. */
	for (u32 i = 0; fd >= 0 && i < 2 * UNWIND_PROCESSES_MAX; i++) {
		if (bpf_map_get_next_key(fd, NULL, &tgid))
			return;
		capture_forget_process(capture, tgid);
	}
}
