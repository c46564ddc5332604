// SPDX-License-Identifier: Apache-2.0
/*
 * The walk of user stacks as user space feeds it: what the kernel side wants to know comes in a
 * ring buffer of its own, and where a process's mappings are goes into a hash.
 */
#include <bpf/bpf.h>
#include <errno.h>
#include <string.h>

#include "../../abi/unwind.h"
#include "internal.h"

int capture_map_fd(const struct capture *capture, const char *name)
{
	const struct bpf_map *map = object_map(capture, name);
	int fd = map ? bpf_map__fd(map) : -1;

	return fd < 0 ? -ENOENT : fd;
}

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
	int fd = capture_map_fd(capture, "unwind_requests");

	if (fd < 0)
		return fd;
	if (!capture->requests)
		capture->requests = ring_buffer__new(fd, on_request, capture, NULL);
	return capture->requests ? fd : -errno;
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

int capture_set_process(const struct capture *capture, u32 tgid,
			const struct unwind_process *process)
{
	int fd = capture_map_fd(capture, "unwind_processes");

	if (fd < 0)
		return fd;
	return bpf_map_update_elem(fd, &tgid, process, BPF_ANY) ? -errno : 0;
}

void capture_forget_process(const struct capture *capture, u32 tgid)
{
	int fd = capture_map_fd(capture, "unwind_processes");

	if (fd >= 0)
		bpf_map_delete_elem(fd, &tgid);
}
