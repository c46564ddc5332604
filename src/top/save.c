// SPDX-License-Identifier: Apache-2.0
#include "save.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "../base/child.h"
#include "../base/cleanup.h"
#include "../base/exit_status.h"
#include "../base/log.h"
#include "../base/sandbox.h"
#include "../engine/rotation.h"
#include "../store/files.h"
#include "../store/merge.h"
#include "../store/reader.h"
#include "../store/vfs.h"
#include "../worker/privileges.h"

#define COPY_BYTES (1 << 16)

static int wait_for(pid_t child)
{
	int status = 0;

	while (waitpid(child, &status, 0) < 0)
		if (errno != EINTR)
			return EXIT_FAILED;
	return WIFEXITED(status) ? WEXITSTATUS(status) : EXIT_FAILED;
}

static int copy_file(int from, int to)
{
	char bytes[COPY_BYTES];
	off_t at = 0;

	for (;;) {
		ssize_t got = pread(from, bytes, sizeof(bytes), at);

		if (got == 0)
			return 0;
		if (got < 0 || pwrite(to, bytes, (size_t)got, at) != got)
			return got < 0 ? -errno : -ENOSPC;
		at += got;
	}
}

static void merge_inside(int to_fd, int from_fd)
{
	int err = child_leave_behind((int[]){to_fd, from_fd}, 2);

	if (!err)
		err = privileges_drop();
	vfs_prepare();
	if (!err)
		err = sandbox_enter(SANDBOX_PARSER, NULL);
	if (err)
		log_error("cannot save: making a process without privileges failed: %s",
			  strerror(-err));
	else
		err = session_merge(to_fd, from_fd);
	_exit(err ? EXIT_FAILED : EXIT_OK);
}

static int merge_file(int to_fd, int from_fd)
{
	pid_t child;

	fflush(NULL);
	child = fork();
	if (child == 0)
		merge_inside(to_fd, from_fd);
	return child > 0 && wait_for(child) == EXIT_OK ? 0 : -EIO;
}

static int add_file(const char *recording, u64 number, bool is_first, int to_fd)
{
	_cleanup_close_ int db_fd = -1, wal_fd = -1;
	char path[PATH_MAX];
	int err = rotation_name(recording, number, path, sizeof(path));

	if (!err)
		err = session_open_files(path, &db_fd, &wal_fd);
	if (err)
		return err;
	return is_first ? copy_file(db_fd, to_fd) : merge_file(to_fd, db_fd);
}

static void name_session(char *ret_path, size_t size)
{
	time_t now = time(NULL);
	struct tm local;

	localtime_r(&now, &local);
	strftime(ret_path, size, "dwell-top-%Y%m%d-%H%M%S.dwell", &local);
}

int save_session(const char *recording, u64 first, u64 last, char *ret_path, size_t size)
{
	struct session_files files;
	int err;

	name_session(ret_path, size);
	err = files_create(ret_path, &files);
	if (err)
		return err;
	for (u64 number = first; !err && number <= last; number++)
		err = add_file(recording, number, number == first, files.db_fd);
	files_close(&files, err ? FILES_UNUSED : FILES_COMPLETE);
	if (err)
		log_error("cannot save %s: %s", ret_path, strerror(-err));
	return err;
}

/* dwell's own report, as a person would call it: it drops its privileges to read the session. */
static void report_inside(const char *session, const char *page)
{
	char *const args[] = {(char *)"dwell", (char *)"report", (char *)"--html",
			      (char *)page,    (char *)session,	 NULL};
	sigset_t none;
	int null = open("/dev/null", O_RDWR);

	sigemptyset(&none);
	sigprocmask(SIG_SETMASK, &none, NULL);
	for (int fd = 0; fd <= STDERR_FILENO; fd++)
		dup2(null, fd);
	execv("/proc/self/exe", args);
	_exit(EXIT_FAILED);
}

int save_page(const char *session, char *ret_path, size_t size)
{
	size_t stem = strlen(session) - strlen(".dwell");
	pid_t child;
	int status;

	snprintf(ret_path, size, "%.*s.html", (int)stem, session);
	fflush(NULL);
	child = fork();
	if (child == 0)
		report_inside(session, ret_path);
	status = child > 0 ? wait_for(child) : EXIT_FAILED;
	return status == EXIT_OK ? 0 : status == EXIT_USAGE ? -EOPNOTSUPP : -EIO;
}
