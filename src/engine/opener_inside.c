// SPDX-License-Identifier: Apache-2.0
/*
 * The opener's own side: one call at a time, each of which may hang.
 */
#include "opener_inside.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

#include "../base/child.h"
#include "../base/cleanup.h"
#include "../base/log.h"
#include "../base/sandbox.h"
#include "../base/socket.h"

struct inside {
	int sock;
	int proc_fd; /* of the process that the calls are about; -1: none */
	struct target_files files;
};

static int open_process(struct inside *self, u32 pid, int *ret_fd)
{
	int proc_fd = target_process_maps(pid, ret_fd);

	if (self->proc_fd >= 0)
		close(self->proc_fd);
	self->proc_fd = proc_fd < 0 ? -1 : proc_fd;
	return proc_fd < 0 ? proc_fd : 0;
}

static int answer(const struct inside *self, const struct opener_reply *reply, int fd)
{
	int err = socket_send(self->sock, reply, sizeof(*reply), fd);

	if (fd >= 0)
		close(fd);
	return err;
}

static int answer_facts(struct inside *self, const struct opener_request *request)
{
	int err = 0;

	for (u32 i = 0; i < request->count && i < UNWINDING_FILES_MAX && !err; i++) {
		struct opener_reply reply = {.serial = request->serial};

		reply.err =
			target_mapped_facts(&self->files, self->proc_fd, request->files[i].begin,
					    request->files[i].end, &reply.facts);
		err = answer(self, &reply, -1);
	}
	return err;
}

static int open_perf_map(struct inside *self, u32 pid)
{
	struct target_map map = {.fd = -1};
	int err = target_map_open(&self->files, pid, &map);

	return err ? err : map.fd;
}

/* 0, or -errno when nobody listens any more. */
static int serve(struct inside *self, const struct opener_request *request)
{
	struct opener_reply reply = {.serial = request->serial, .facts = request->facts};
	int fd = -1;

	switch (request->what) {
	case OPENER_PROCESS:
		reply.err = open_process(self, request->pid, &fd);
		break;
	case OPENER_FACTS:
		return answer_facts(self, request);
	case OPENER_MAPPED_FILE:
		fd = target_mapped_open(&self->files, self->proc_fd, request->files[0].begin,
					request->files[0].end, &reply.facts);
		break;
	case OPENER_DEBUG_FILE:
		fd = target_debug_open(&self->files, self->proc_fd, request->build_id,
				       request->build_id_size, request->is_trusted);
		break;
	case OPENER_PERF_MAP:
		fd = open_perf_map(self, request->pid);
		break;
	default:
		reply.err = -ENOSYS;
	}
	if (!reply.err && fd < 0 && request->what != OPENER_PROCESS)
		reply.err = fd;
	return answer(self, &reply, reply.err ? -1 : fd);
}

void opener_run(int sock, void *context)
{
	struct inside self = {.sock = sock, .proc_fd = -1};
	struct opener_request request;
	int err;

	child_set_name("dwell-opener");
	err = sandbox_enter(SANDBOX_OPENER, context);
	if (err) {
		log_error("cannot start the process that opens files: entering its sandbox failed: "
			  "%s",
			  strerror(-err));
		return;
	}
	while (socket_receive(sock, &request, sizeof(request), NULL, -1) == sizeof(request))
		if (serve(&self, &request))
			return;
}
