// SPDX-License-Identifier: Apache-2.0
#include "measuring.h"

#include <signal.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <unistd.h>

#include "../base/cleanup.h"
#include "../base/clock.h"
#include "screen.h"

/* A change of user, for the files of the session, clears it: it is asked for again and again. */
static void die_with_parent(const struct measuring *measuring)
{
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	if (getppid() != measuring->parent)
		raise(SIGKILL);
}

/* A screen that does not read loses windows: nobody waits for it. */
static void send_window(int sock, const int fds[2])
{
	union {
		struct cmsghdr header;
		char space[CMSG_SPACE(2 * sizeof(int))];
	} control = {0};
	char body = SCREEN_WINDOW;
	struct iovec part = {&body, sizeof(body)};
	struct msghdr message = {.msg_iov = &part,
				 .msg_iovlen = 1,
				 .msg_control = &control,
				 .msg_controllen = sizeof(control)};

	control.header.cmsg_level = SOL_SOCKET;
	control.header.cmsg_type = SCM_RIGHTS;
	control.header.cmsg_len = CMSG_LEN(2 * sizeof(int));
	memcpy(CMSG_DATA(&control.header), fds, 2 * sizeof(int));
	sendmsg(sock, &message, MSG_DONTWAIT | MSG_NOSIGNAL);
}

static void on_window(void *context, struct capture *capture, struct live_config *live,
		      const struct session_files *files)
{
	const struct measuring *measuring = context;
	_cleanup_close_ int db_fd = -1, wal_fd = -1;

	(void)capture;
	if (!live || files_reopen_live(files, &db_fd, &wal_fd))
		return;
	send_window(measuring->windows_fd, (const int[]){db_fd, wal_fd});
	die_with_parent(measuring);
}

static bool wants_next_file(void *context, u64 number)
{
	struct measuring_shared *shared = ((struct measuring *)context)->shared;

	if (atomic_load(&shared->number) != number) {
		atomic_store(&shared->begins[number % MEASURING_BEGINS], clock_now_ns());
		atomic_store(&shared->number, number);
	}
	return atomic_exchange(&shared->wants_next, false);
}

int measuring_run(struct measuring *measuring)
{
	struct engine_options *options = measuring->options;
	struct engine_result result;

	die_with_parent(measuring);
	options->rotate_ns = MEASURING_FILE_NS;
	options->keep = MEASURING_KEEP;
	options->extra.context = measuring;
	options->extra.on_window = on_window;
	options->extra.wants_next_file = wants_next_file;
	engine_run(options, &result);
	files_close(&result.files, result.files_end);
	return result.status;
}
