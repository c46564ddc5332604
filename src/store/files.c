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

#include "../base/cleanup.h"
#include "../base/log.h"
#include "../base/person.h"
#include "reader.h"
#include "tables.h"
#include "vfs.h"

/* SQLite's mark of a write-ahead log, big-endian; the last bit tells the order of its checksums. */
#define WAL_MAGIC 0x377f0682u

/* One of the two files on its way: what is there is looked at, then a new one takes its place. */
struct place {
	char name[PATH_MAX];
	char draft[PATH_MAX]; /* where the new one is until it takes its place; empty: it has */
	int old_fd;	      /* what is there, locked; -1: nothing */
	int fd;
};

static int refuse(const struct place *place, int err, const char *why)
{
	log_error("cannot write %s: %s; use -o with another name", place->name, why);
	return err;
}

static int refuse_errno(const char *name, int err, const struct person *person)
{
	if (err == -EACCES && person->is_behind_sudo)
		log_error("cannot create %s: user %u, who called sudo, may not write there; use -o "
			  "with a name in a folder of theirs",
			  name, person->uid);
	else
		log_error("cannot create %s: %s; use -o with a name in a folder that you may write "
			  "to",
			  name, strerror(-err));
	return err;
}

static bool is_wal(int fd)
{
	unsigned char magic[4];

	return pread(fd, magic, sizeof(magic), 0) == sizeof(magic) &&
	       (((u32)magic[0] << 24 | (u32)magic[1] << 16 | (u32)magic[2] << 8 | magic[3]) &
		~1u) == WAL_MAGIC;
}

/* Nothing of it is changed here: it may be anybody's, and anything. */
static int look_at_old(struct place *place, bool (*is_one)(int fd), const struct person *person)
{
	struct stat st;

	if (lstat(place->name, &st))
		return errno == ENOENT ? 0 : refuse_errno(place->name, -errno, person);
	if (S_ISLNK(st.st_mode))
		return refuse(place, -ELOOP, "it is a symbolic link");
	if (!S_ISREG(st.st_mode)) /* opening a device may do something already */
		return refuse(place, -EEXIST, "it is not a regular file");
	place->old_fd = open(place->name, O_RDWR | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
	if (place->old_fd < 0)
		return refuse_errno(place->name, -errno, person);
	if (fstat(place->old_fd, &st) || !S_ISREG(st.st_mode) || st.st_nlink != 1)
		return refuse(place, -EEXIST, "it is not a regular file with a single link");
	if (!person_is_owner(person, st.st_uid))
		return refuse(place, -EEXIST, "it belongs to another user");
	if (vfs_lock(place->old_fd, true) == -EBUSY)
		return refuse(place, -EBUSY, "another program has it open");
	if (st.st_size && !is_one(place->old_fd))
		return refuse(place, -EEXIST, "it is there, and is not a session of dwell's");
	return 0;
}

/* A new file, under its own name if that is free, else beside it. */
static int make_new(struct place *place, const struct person *person)
{
	if (place->old_fd < 0) {
		place->fd =
			open(place->name, O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
		return place->fd < 0 ? refuse_errno(place->name, -errno, person) : 0;
	}
	if (snprintf(place->draft, sizeof(place->draft), "%s.XXXXXX", place->name) >=
	    (int)sizeof(place->draft))
		return refuse_errno(place->name, -ENAMETOOLONG, person);
	place->fd = mkostemp(place->draft, O_CLOEXEC);
	if (place->fd >= 0)
		return 0;
	place->draft[0] = '\0';
	return refuse_errno(place->name, -errno, person);
}

static int take_place(struct place *place, const struct person *person)
{
	if (!place->draft[0])
		return 0;
	if (rename(place->draft, place->name))
		return refuse_errno(place->name, -errno, person);
	place->draft[0] = '\0';
	return 0;
}

static int make_both(struct place *db, struct place *wal, const struct person *person)
{
	struct stat st;
	int err = look_at_old(db, session_is_one, person);

	if (!err)
		err = look_at_old(wal, is_wal, person);
	if (!err)
		err = make_new(wal, person);
	if (!err)
		err = make_new(db, person);
	if (err)
		return err;
	if (vfs_lock(db->fd, true))
		log_verbose("%s: cannot be locked; do not open it before the end", db->name);
	if (db->old_fd >= 0 && !fstat(db->old_fd, &st) && st.st_size)
		log_info("%s: the session that was there is overwritten", db->name);
	/* The -wal first: an old one beside a new file would be taken for its own. */
	err = take_place(wal, person);
	return err ? err : take_place(db, person);
}

/* After a failure nothing new is left behind. */
static void undo(struct place *place)
{
	if (place->fd < 0)
		return;
	unlink(place->draft[0] ? place->draft : place->name);
	close(place->fd);
}

static void close_old(struct place *place)
{
	if (place->old_fd >= 0)
		close(place->old_fd);
}

int files_create(const char *path, struct session_files *ret_files)
{
	struct place db = {.old_fd = -1, .fd = -1}, wal = {.old_fd = -1, .fd = -1};
	struct person person;
	int err;

	if (snprintf(db.name, sizeof(db.name), "%s", path) >= (int)sizeof(db.name) ||
	    snprintf(wal.name, sizeof(wal.name), "%s-wal", path) >= (int)sizeof(wal.name)) {
		log_error("cannot create a session: the name after -o is too long");
		return -ENAMETOOLONG;
	}
	person_find(&person);
	err = person_begin(&person);
	if (err) {
		log_error("cannot create %s with the rights of user %u, who called sudo: %s; unset "
			  "SUDO_UID to make it root's",
			  path, person.uid, strerror(-err));
		return err;
	}
	err = make_both(&db, &wal, &person);
	if (err) {
		undo(&db);
		undo(&wal);
	}
	person_end(&person);
	close_old(&db);
	close_old(&wal);
	if (!err)
		*ret_files = (struct session_files){.db_fd = db.fd, .wal_fd = wal.fd, .path = path};
	return err;
}

int files_create_in_memory(struct session_files *ret_files)
{
	struct session_files files = {
		.db_fd = memfd_create("dwell-session", MFD_CLOEXEC),
		.wal_fd = memfd_create("dwell-session-wal", MFD_CLOEXEC),
	};
	int err = files.db_fd < 0 || files.wal_fd < 0 ? -errno : 0;

	if (err) {
		log_error("cannot create a session in memory: %s; use -o FILE", strerror(-err));
		files_close(&files, FILES_NEED_WAL);
	} else {
		*ret_files = files;
	}
	return err;
}

static int reopen(int fd)
{
	char name[64];
	int again;

	snprintf(name, sizeof(name), "/proc/self/fd/%d", fd);
	again = open(name, O_RDONLY | O_CLOEXEC);
	return again < 0 ? -errno : again;
}

static int reopen_both(const struct session_files *files, bool has_wal, int *ret_db_fd,
		       int *ret_wal_fd)
{
	struct person person = {0};
	int db_fd, wal_fd = -1, err;

	if (files->path)
		person_find(&person);
	err = person_begin(&person);
	if (err)
		return err;
	db_fd = reopen(files->db_fd);
	if (db_fd >= 0 && has_wal)
		wal_fd = reopen(files->wal_fd);
	person_end(&person);
	if (db_fd < 0)
		return db_fd;
	if (wal_fd < -1) {
		close(db_fd);
		return wal_fd;
	}
	*ret_db_fd = db_fd;
	*ret_wal_fd = wal_fd;
	return 0;
}

int files_reopen(const struct session_files *files, enum files_end end, int *ret_db_fd,
		 int *ret_wal_fd)
{
	vfs_unlock(files->db_fd);
	return reopen_both(files, end == FILES_NEED_WAL, ret_db_fd, ret_wal_fd);
}

int files_reopen_live(const struct session_files *files, int *ret_db_fd, int *ret_wal_fd)
{
	return reopen_both(files, true, ret_db_fd, ret_wal_fd);
}

static void identify(int fd, u64 *ret_device, u64 *ret_inode)
{
	struct stat st = {0};

	if (fd >= 0)
		fstat(fd, &st);
	*ret_device = (u64)st.st_dev;
	*ret_inode = (u64)st.st_ino;
}

static int remove_if_same(const char *path, const char *suffix, u64 device, u64 inode)
{
	char name[PATH_MAX];
	struct stat st;

	if (snprintf(name, sizeof(name), "%s%s", path, suffix) >= (int)sizeof(name))
		return -ENAMETOOLONG;
	if (lstat(name, &st))
		return errno == ENOENT ? -ESTALE : -errno;
	if ((u64)st.st_dev != device || (u64)st.st_ino != inode)
		return -ESTALE;
	return unlink(name) ? -errno : 0;
}

/* Only while the name is still that of our own file. */
static void remove_name(const char *path, const char *suffix, int fd)
{
	u64 device, inode;

	identify(fd, &device, &inode);
	if (fd >= 0)
		remove_if_same(path, suffix, device, inode);
}

const char *files_misplaced(const struct session_files *files)
{
	struct stat ours, there;

	if (!files->path || files->db_fd < 0 || fstat(files->db_fd, &ours))
		return NULL;
	if (!ours.st_nlink)
		return "its file was deleted while it was written; the session is lost";
	if (lstat(files->path, &there))
		return "its file was moved while it was written; the session is complete under "
		       "its new name";
	if (ours.st_dev != there.st_dev || ours.st_ino != there.st_ino)
		return "its file was moved while it was written, and another took its name; the "
		       "session is complete under its new name";
	return NULL;
}

static void remove_names(const struct session_files *files, enum files_end end)
{
	struct person person;

	person_find(&person);
	if (person_begin(&person))
		return;
	remove_name(files->path, "-wal", files->wal_fd);
	if (end == FILES_UNUSED)
		remove_name(files->path, "", files->db_fd);
	person_end(&person);
}

void files_close(struct session_files *files, enum files_end end)
{
	if (files->path && end != FILES_NEED_WAL)
		remove_names(files, end);
	if (files->db_fd >= 0)
		close(files->db_fd);
	if (files->wal_fd >= 0)
		close(files->wal_fd);
	files->db_fd = files->wal_fd = -1;
}

void files_identify(const struct session_files *files, struct files_identity *ret_identity)
{
	identify(files->db_fd, &ret_identity->db_device, &ret_identity->db_inode);
	identify(files->wal_fd, &ret_identity->wal_device, &ret_identity->wal_inode);
}

int files_remove(const char *path, const struct files_identity *identity)
{
	struct person person;
	int err;

	person_find(&person);
	err = person_begin(&person);
	if (err)
		return err;
	err = remove_if_same(path, "", identity->db_device, identity->db_inode);
	if (!err)
		remove_if_same(path, "-wal", identity->wal_device, identity->wal_inode);
	person_end(&person);
	return err;
}
