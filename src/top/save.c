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
#include "../base/person.h"
#include "../base/sandbox.h"
#include "../engine/rotation.h"
#include "../store/files.h"
#include "../store/merge.h"
#include "../store/reader.h"
#include "../store/vfs.h"
#include "../worker/privileges.h"
#include "measuring.h"

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

		if (got > 0)
			got = pwrite(to, bytes, (size_t)got, at);
		if (got < 0 && errno == EINTR)
			continue;
		if (got <= 0)
			return got < 0 ? -errno : 0;
		at += got;
	}
}

/* The files of a recording, each open; the first of them is copied. */
struct parts {
	int fds[MEASURING_KEEP];
	size_t count;
};

static void close_parts(struct parts *parts)
{
	while (parts->count)
		close(parts->fds[--parts->count]);
}

static void merge_inside(int to_fd, const struct parts *parts)
{
	int fds[MEASURING_KEEP + 1] = {to_fd}, err;

	memcpy(fds + 1, parts->fds, parts->count * sizeof(fds[0]));
	err = child_leave_behind(fds, 1 + parts->count);
	if (!err)
		err = privileges_drop();
	vfs_prepare();
	if (!err)
		err = sandbox_enter(SANDBOX_PARSER, NULL);
	if (err)
		log_error("cannot save: making a process without privileges failed: %s",
			  strerror(-err));
	else
		err = session_merge(to_fd, parts->fds + 1, parts->count - 1);
	_exit(err ? EXIT_FAILED : EXIT_OK);
}

static int merge(int to_fd, const struct parts *parts)
{
	int err = copy_file(parts->fds[0], to_fd);
	pid_t child;

	if (err)
		return err;
	fflush(NULL);
	child = fork();
	if (child == 0)
		merge_inside(to_fd, parts);
	if (child < 0)
		return -errno;
	return wait_for(child) == EXIT_OK ? 0 : -EIO;
}

/*
 * With the rights of the person behind sudo: the folder is theirs, and what they put there in the
 * place of a file is copied into a file of theirs.
 */
static int open_as_person(const char *path, int *ret_db_fd, int *ret_wal_fd)
{
	struct person person;
	int err;

	person_find(&person);
	err = person_begin(&person);
	if (err)
		return err;
	err = session_open_files(path, ret_db_fd, ret_wal_fd);
	person_end(&person);
	return err;
}

static int open_part(const char *recording, u64 number, struct parts *parts)
{
	_cleanup_close_ int wal_fd = -1;
	char path[PATH_MAX];
	int err = rotation_name(recording, number, path, sizeof(path));

	if (!err && parts->count == MEASURING_KEEP)
		err = -E2BIG;
	if (!err)
		err = open_as_person(path, &parts->fds[parts->count], &wal_fd);
	if (err)
		return err;
	parts->count++;
	if (wal_fd < 0)
		return 0;
	log_error("file %llu of the recording could not be completed", (unsigned long long)number);
	return -EIO;
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
	struct parts parts = {.count = 0};
	int err = 0;

	name_session(ret_path, size);
	for (u64 number = first; !err && number <= last; number++)
		err = open_part(recording, number, &parts);
	if (!err)
		err = files_create(ret_path, &files);
	if (!err) {
		err = merge(files.db_fd, &parts);
		files_close(&files, err ? FILES_UNUSED : FILES_COMPLETE);
	}
	close_parts(&parts);
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
