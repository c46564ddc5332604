// SPDX-License-Identifier: Apache-2.0
#include "files.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "../base/log.h"
#include "../base/text.h"
#include "reader.h"
#include "tables.h"
#include "vfs.h"

#define ID_MAX 0xfffffffeULL

/* Root through sudo works for a person: what it makes is theirs. */
static int give_to_person(int fd)
{
	const char *uid_text = getenv("SUDO_UID"), *gid_text = getenv("SUDO_GID");
	u64 uid, gid;

	if (geteuid() != 0 || !uid_text || !gid_text || text_parse_u64(uid_text, 0, ID_MAX, &uid) ||
	    text_parse_u64(gid_text, 0, ID_MAX, &gid))
		return 0;
	return fchown(fd, (uid_t)uid, (gid_t)gid) ? -errno : 0;
}

/* A regular file with one name, ours to change: nobody can have put a link in our way. */
static int open_existing(const char *path)
{
	int fd = open(path, O_RDWR | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK);
	struct stat st;

	if (fd < 0)
		return -errno;
	if (!fstat(fd, &st) && S_ISREG(st.st_mode) && st.st_nlink == 1 && !fchmod(fd, 0600))
		return fd;
	close(fd);
	return -EEXIST;
}

static int create_new(const char *path)
{
	int fd = open(path, O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);

	return fd < 0 ? -errno : fd;
}

/* Where something is already: only an empty file or an older session is taken. */
static int take_over(const char *path)
{
	int fd = open_existing(path);
	struct stat st;

	if (fd < 0) {
		log_error("cannot write %s: %s; use -o with another name", path,
			  fd == -EEXIST || fd == -ELOOP ? "it is no plain file" : strerror(-fd));
		return fd;
	}
	if (vfs_lock(fd, true)) {
		log_error("cannot write %s: another program has it open; use -o with another name",
			  path);
		close(fd);
		return -EBUSY;
	}
	if (fstat(fd, &st) || (st.st_size && !session_is_one(fd))) {
		log_error("cannot write %s: it is there, and is not a session of dwell's; "
			  "remove it, or use -o with another name",
			  path);
		close(fd);
		return -EEXIST;
	}
	if (st.st_size)
		log_info("%s: the session that was there is overwritten", path);
	return fd;
}

static int open_db(const char *path)
{
	int fd = create_new(path);

	if (fd == -EEXIST)
		return take_over(path);
	if (fd < 0) {
		log_error("cannot create %s: %s; use -o with a name in a folder that you may "
			  "write to",
			  path, strerror(-fd));
		return fd;
	}
	if (vfs_lock(fd, true))
		log_verbose("%s: cannot be locked; do not open it before the end", path);
	return fd;
}

static int open_wal(const char *path)
{
	char name[PATH_MAX];
	int fd;

	if (snprintf(name, sizeof(name), "%s-wal", path) >= (int)sizeof(name))
		return -ENAMETOOLONG;
	fd = create_new(name);
	if (fd == -EEXIST)
		fd = open_existing(name); /* of a writer that was killed */
	if (fd < 0)
		log_error("cannot create %s: %s; remove what is there, or use -o with another name",
			  name, strerror(-fd));
	return fd;
}

static int make_ready(int fd)
{
	int err = ftruncate(fd, 0) ? -errno : 0;

	return err ? err : give_to_person(fd);
}

int files_create(const char *path, struct session_files *ret_files)
{
	struct session_files files = {.db_fd = open_db(path), .wal_fd = -1, .path = path};
	int err;

	if (files.db_fd < 0)
		return files.db_fd;
	files.wal_fd = open_wal(path);
	err = files.wal_fd < 0 ? files.wal_fd : 0;
	/* The -wal first: an old one beside a new file would be taken for its own. */
	if (!err)
		err = make_ready(files.wal_fd);
	if (!err)
		err = make_ready(files.db_fd);
	if (err) {
		log_error("cannot prepare %s: %s", path, strerror(-err));
		files_close(&files, false);
		return err;
	}
	*ret_files = files;
	return 0;
}

int files_create_in_memory(struct session_files *ret_files)
{
	struct session_files files = {
		.db_fd = memfd_create("dwell-session", MFD_CLOEXEC),
		.wal_fd = memfd_create("dwell-session-wal", MFD_CLOEXEC),
	};
	int err = files.db_fd < 0 || files.wal_fd < 0 ? -errno : 0;

	if (err)
		files_close(&files, false);
	else
		*ret_files = files;
	return err;
}

void files_close(struct session_files *files, int is_complete)
{
	char name[PATH_MAX];

	if (is_complete && files->path &&
	    snprintf(name, sizeof(name), "%s-wal", files->path) < (int)sizeof(name))
		unlink(name);
	if (files->db_fd >= 0)
		close(files->db_fd);
	if (files->wal_fd >= 0)
		close(files->wal_fd);
	files->db_fd = files->wal_fd = -1;
}
