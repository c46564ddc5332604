// SPDX-License-Identifier: Apache-2.0
#include "output_file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "../base/log.h"
#include "../base/person.h"
#include "cmd.h"

/*
 * A device, a pipe, or a link such as /dev/stdout. Another user's link could lead to any file of
 * the caller's, so it is not followed; nor is a regular file at its end that is somebody else's.
 */
static int open_other(const char *path, const struct stat *there, const struct person *person)
{
	bool is_link = S_ISLNK(there->st_mode);
	struct stat st;
	int fd;

	if (is_link && there->st_uid != 0 && !person_is_owner(person, there->st_uid))
		return -ELOOP;
	fd = open(path, O_WRONLY | O_CLOEXEC | O_NOCTTY | (is_link ? 0 : O_NOFOLLOW));
	if (fd < 0)
		return -errno;
	if (fstat(fd, &st) ||
	    (S_ISREG(st.st_mode) && (!person_is_owner(person, st.st_uid) || ftruncate(fd, 0)))) {
		close(fd);
		return -EACCES;
	}
	return fd;
}

static const char *refusal(int err)
{
	if (err == -ELOOP)
		return "it is a symbolic link of another user";
	if (err == -EEXIST)
		return "it belongs to another user";
	return strerror(-err);
}

/*
 * A regular file is complete or not there: it has a name beside its own until all is written. What
 * is no regular file, such as a device, is written into. *ret_temporary is NULL then.
 */
static int open_file(const char *path, const struct person *person, char **ret_temporary)
{
	struct stat st;
	int fd;

	if (!lstat(path, &st)) {
		if (!S_ISREG(st.st_mode))
			return open_other(path, &st, person);
		if (!person_is_owner(person, st.st_uid))
			return -EEXIST;
	}
	if (asprintf(ret_temporary, "%s.XXXXXX", path) < 0) {
		*ret_temporary = NULL;
		return -ENOMEM;
	}
	fd = mkostemp(*ret_temporary, O_CLOEXEC);
	return fd < 0 ? -errno : fd;
}

/* Opened as whoever asks; it is stdout of the process without privileges that reads the session. */
int output_file_open(const char *path, char **ret_temporary)
{
	struct person person;
	int fd = -1, err;

	*ret_temporary = NULL;
	person_find(&person);
	err = person_begin(&person);
	if (!err) {
		fd = open_file(path, &person, ret_temporary);
		person_end(&person);
		err = fd < 0 ? fd : 0;
	}
	if (!err) {
		err = dup2(fd, STDOUT_FILENO) < 0 ? -errno : 0;
		close(fd);
		cmd_stdout_is(path);
	}
	if (err)
		log_error("cannot write %s: %s; name a file in a folder that is yours", path,
			  refusal(err));
	return err;
}

int output_file_close(const char *temporary, const char *path, int status)
{
	struct person person;
	int err;

	person_find(&person);
	err = person_begin(&person);
	if (!err && status == EXIT_OK && rename(temporary, path))
		err = -errno;
	if (err || status != EXIT_OK)
		unlink(temporary);
	person_end(&person);
	if (!err)
		return status;
	log_error("cannot write %s: %s", path, strerror(-err));
	return EXIT_FAILED;
}
