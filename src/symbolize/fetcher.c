// SPDX-License-Identifier: Apache-2.0
#include "fetcher.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "../base/child.h"
#include "../base/log.h"
#include "../base/sandbox.h"
#include "../base/scratch.h"
#include "../base/socket.h"
#include "../base/text.h"
#include "debuginfod.h"
#include "elf_file.h"

#define CACHE_VARIABLE "DEBUGINFOD_CACHE_PATH"
#define NAME_BYTES     256
#define LATE_MS	       2000  /* beyond its limit: the library looks at the clock now and then */
#define STOP_MS	       10000 /* for removing what was fetched */

/* A build id of 0 bytes: that was all. The answer is 0 or -errno, with a descriptor. */
struct request {
	u64 limit_ms;
	u32 build_id_size;
	u8 build_id[BUILD_ID_MAX];
	char name[NAME_BYTES];
};

struct fetcher {
	struct child child;
	struct sandbox_notes *notes;
};

/* --- in that process --- */

struct inside {
	bool is_cache_private;
	struct sandbox_notes *notes;
};

static void answer(int sock, int err, int fd)
{
	socket_send(sock, &err, sizeof(err), fd);
	if (fd >= 0)
		close(fd);
}

static void serve(int sock)
{
	struct request request;

	while (socket_receive(sock, &request, sizeof(request), NULL, -1) == sizeof(request) &&
	       request.build_id_size) {
		int fd;

		request.name[NAME_BYTES - 1] = '\0';
		fd = request.build_id_size > BUILD_ID_MAX
			     ? -EINVAL
			     : debuginfod_fetch(request.build_id, request.build_id_size,
						request.name, request.limit_ms);
		answer(sock, fd < 0 ? fd : 0, fd);
	}
}

static int make_cache(struct scratch *scratch)
{
	int err = scratch_make(scratch);

	if (err) {
		log_error("cannot create a directory for debug files: %s; set TMPDIR",
			  strerror(-err));
		return err;
	}
	return setenv(CACHE_VARIABLE, scratch->path, 1) ? -errno : 0;
}

static void run_inside(int sock, void *context)
{
	const struct inside *inside = context;
	struct scratch scratch;
	int err = inside->is_cache_private ? make_cache(&scratch) : 0;

	if (err)
		return;
	err = sandbox_enter(SANDBOX_FETCHER, inside->notes);
	if (err)
		log_error("cannot confine the process that fetches debug files: %s; leave out "
			  "--debuginfod",
			  strerror(-err));
	else
		serve(sock);
	if (inside->is_cache_private)
		scratch_remove(&scratch);
	answer(sock, err, -1);
}

/* --- in the process that reads a session --- */

int fetcher_start(bool is_cache_private, struct fetcher **ret_fetcher)
{
	struct fetcher *fetcher = calloc(1, sizeof(*fetcher));
	struct inside inside = {.is_cache_private = is_cache_private};
	int err;

	if (!fetcher)
		return -ENOMEM;
	err = sandbox_notes_make(&fetcher->notes);
	inside.notes = fetcher->notes;
	if (!err)
		err = child_start(&fetcher->child, run_inside, &inside, -1);
	if (err) {
		sandbox_notes_free(fetcher->notes);
		free(fetcher);
		return err;
	}
	*ret_fetcher = fetcher;
	return 0;
}

static int ask(struct fetcher *fetcher, const struct request *request, int *ret_fd, u64 limit_ms)
{
	int err = socket_send(fetcher->child.sock, request, sizeof(*request), -1), answered;
	ssize_t got;

	if (err)
		return err;
	got = socket_receive(fetcher->child.sock, &answered, sizeof(answered), ret_fd,
			     (int)limit_ms);
	sandbox_report(fetcher->notes, "process that fetches debug files");
	if (got < 0)
		return (int)got;
	return got == sizeof(answered) ? answered : -EPIPE;
}

int fetcher_fetch(struct fetcher *fetcher, const u8 *build_id, size_t build_id_size,
		  const char *name, u64 limit_ms)
{
	struct request request = {.limit_ms = limit_ms, .build_id_size = (u32)build_id_size};
	int fd = -1, err;

	if (!build_id_size || build_id_size > BUILD_ID_MAX)
		return -ENOENT;
	memcpy(request.build_id, build_id, build_id_size);
	text_copy(request.name, sizeof(request.name), name);
	err = ask(fetcher, &request, &fd, limit_ms + LATE_MS);
	if (!err && fd < 0)
		err = -EBADMSG;
	if (err && fd >= 0)
		close(fd);
	return err ? err : fd;
}

/* Not by waiting for the process: who reads a session may not do that any more. */
void fetcher_stop(struct fetcher *fetcher)
{
	const struct request last = {0};

	if (!fetcher)
		return;
	ask(fetcher, &last, NULL, STOP_MS);
	close(fetcher->child.sock);
	sandbox_notes_free(fetcher->notes);
	free(fetcher);
}
