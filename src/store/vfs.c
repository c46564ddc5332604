// SPDX-License-Identifier: Apache-2.0
#include "vfs.h"

#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#define PAGE_BYTES     4096
#define NAME_MAX_BYTES 64
#define SESSION_NAME   "session"

/* SQLite's file format says where its locks are: a pending, a reserved and 510 shared bytes. */
#define LOCK_FIRST_BYTE 0x40000000
#define LOCK_BYTES	512

struct vfs_file {
	sqlite3_file base;
	struct vfs *vfs;
	int fd; /* -1: an empty file */
};

static int fail(struct vfs_file *file, int code)
{
	file->vfs->last_errno = errno;
	return code;
}

static int file_close(sqlite3_file *base)
{
	(void)base; /* the descriptors are the caller's */
	return SQLITE_OK;
}

static int file_read(sqlite3_file *base, void *to, int size, sqlite3_int64 offset)
{
	struct vfs_file *file = (struct vfs_file *)base;
	size_t done = 0;

	while (file->fd >= 0 && done < (size_t)size) {
		ssize_t got = pread(file->fd, (char *)to + done, (size_t)size - done,
				    offset + (off_t)done);

		if (got < 0 && errno == EINTR)
			continue;
		if (got < 0)
			return fail(file, SQLITE_IOERR_READ);
		if (got == 0)
			break;
		done += (size_t)got;
	}
	if (done == (size_t)size)
		return SQLITE_OK;
	memset((char *)to + done, 0, (size_t)size - done); /* SQLite relies on it */
	return SQLITE_IOERR_SHORT_READ;
}

static int file_write(sqlite3_file *base, const void *from, int size, sqlite3_int64 offset)
{
	struct vfs_file *file = (struct vfs_file *)base;
	size_t done = 0;

	if (!file->vfs->is_writer)
		return SQLITE_READONLY;
	while (done < (size_t)size) {
		ssize_t put = pwrite(file->fd, (const char *)from + done, (size_t)size - done,
				     offset + (off_t)done);

		if (put < 0 && errno == EINTR)
			continue;
		if (put < 0)
			return fail(file, errno == ENOSPC || errno == EDQUOT || errno == EFBIG
						  ? SQLITE_FULL
						  : SQLITE_IOERR_WRITE);
		done += (size_t)put;
	}
	return SQLITE_OK;
}

static int file_truncate(sqlite3_file *base, sqlite3_int64 size)
{
	struct vfs_file *file = (struct vfs_file *)base;

	if (!file->vfs->is_writer)
		return SQLITE_READONLY;
	return ftruncate(file->fd, size) ? fail(file, SQLITE_IOERR_TRUNCATE) : SQLITE_OK;
}

static int file_sync(sqlite3_file *base, int flags)
{
	struct vfs_file *file = (struct vfs_file *)base;

	(void)flags;
	return file->fd >= 0 && fdatasync(file->fd) ? fail(file, SQLITE_IOERR_FSYNC) : SQLITE_OK;
}

static int file_size(sqlite3_file *base, sqlite3_int64 *ret_size)
{
	struct vfs_file *file = (struct vfs_file *)base;
	struct stat st = {0};

	if (file->fd >= 0 && fstat(file->fd, &st))
		return fail(file, SQLITE_IOERR_FSTAT);
	*ret_size = st.st_size;
	return SQLITE_OK;
}

/* The one lock there is was taken when the descriptors were opened: see vfs_lock(). */
static int file_lock(sqlite3_file *base, int level)
{
	(void)base;
	(void)level;
	return SQLITE_OK;
}

static int file_is_reserved(sqlite3_file *base, int *ret_is)
{
	(void)base;
	*ret_is = 0;
	return SQLITE_OK;
}

static int file_control(sqlite3_file *base, int operation, void *argument)
{
	(void)base;
	(void)operation;
	(void)argument;
	return SQLITE_NOTFOUND;
}

static int file_sector_size(sqlite3_file *base)
{
	(void)base;
	return PAGE_BYTES;
}

static int file_characteristics(sqlite3_file *base)
{
	(void)base;
	return SQLITE_IOCAP_POWERSAFE_OVERWRITE; /* else each commit is padded to a sector */
}

/* Version 1 has no shared memory: the WAL's index lives in the heap of the one process. */
static const sqlite3_io_methods file_methods = {
	.iVersion = 1,
	.xClose = file_close,
	.xRead = file_read,
	.xWrite = file_write,
	.xTruncate = file_truncate,
	.xSync = file_sync,
	.xFileSize = file_size,
	.xLock = file_lock,
	.xUnlock = file_lock,
	.xCheckReservedLock = file_is_reserved,
	.xFileControl = file_control,
	.xSectorSize = file_sector_size,
	.xDeviceCharacteristics = file_characteristics,
};

static int open_file(sqlite3_vfs *base, const char *name, sqlite3_file *base_file, int flags,
		     int *ret_flags)
{
	struct vfs_file *file = (struct vfs_file *)base_file;
	struct vfs *vfs = (struct vfs *)base;

	(void)name;
	file->base.pMethods = NULL;
	if (!(flags & (SQLITE_OPEN_MAIN_DB | SQLITE_OPEN_WAL)))
		return SQLITE_CANTOPEN;
	*file = (struct vfs_file){
		.base.pMethods = &file_methods,
		.vfs = vfs,
		.fd = flags & SQLITE_OPEN_WAL ? vfs->wal_fd : vfs->db_fd,
	};
	if (ret_flags)
		*ret_flags = vfs->is_writer ? SQLITE_OPEN_READWRITE : SQLITE_OPEN_READONLY;
	return SQLITE_OK;
}

static bool is_wal(const char *name)
{
	return !strcmp(name, SESSION_NAME "-wal");
}

static int delete_file(sqlite3_vfs *base, const char *name, int sync)
{
	struct vfs *vfs = (struct vfs *)base;

	(void)sync;
	if (!is_wal(name))
		return SQLITE_IOERR_DELETE_NOENT;
	/* Whoever opened it also unlinks it; empty is as good. */
	return vfs->is_writer && !ftruncate(vfs->wal_fd, 0) ? SQLITE_OK : SQLITE_IOERR_DELETE;
}

static int check_access(sqlite3_vfs *base, const char *name, int flags, int *ret_is)
{
	struct vfs *vfs = (struct vfs *)base;
	struct stat st;

	(void)flags;
	*ret_is = is_wal(name) && vfs->wal_fd >= 0 && !fstat(vfs->wal_fd, &st) && st.st_size > 0;
	return SQLITE_OK;
}

static int full_name(sqlite3_vfs *base, const char *name, int size, char *to)
{
	(void)base;
	snprintf(to, (size_t)size, "%s", name);
	return SQLITE_OK;
}

static int randomness(sqlite3_vfs *base, int size, char *to)
{
	ssize_t got = getrandom(to, (size_t)size, 0);

	(void)base;
	return got < 0 ? 0 : (int)got;
}

static int sleep_us(sqlite3_vfs *base, int us)
{
	const struct timespec pause = {.tv_sec = us / 1000000, .tv_nsec = us % 1000000 * 1000L};

	(void)base;
	nanosleep(&pause, NULL);
	return us;
}

static int current_time(sqlite3_vfs *base, double *ret_julian_days)
{
	(void)base;
	*ret_julian_days = 2440587.5 + (double)time(NULL) / 86400;
	return SQLITE_OK;
}

static int last_error(sqlite3_vfs *base, int size, char *to)
{
	(void)size;
	(void)to;
	return ((struct vfs *)base)->last_errno;
}

void vfs_prepare(void)
{
	char byte;

	sqlite3_randomness(sizeof(byte), &byte);
}

int vfs_open(struct vfs *vfs, int db_fd, int wal_fd, bool is_writer, sqlite3 **ret_db)
{
	int flags = is_writer ? SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE : SQLITE_OPEN_READONLY;

	*vfs = (struct vfs){
		.base = {.iVersion = 1,
			 .szOsFile = sizeof(struct vfs_file),
			 .mxPathname = NAME_MAX_BYTES,
			 .zName = vfs->name,
			 .xOpen = open_file,
			 .xDelete = delete_file,
			 .xAccess = check_access,
			 .xFullPathname = full_name,
			 .xRandomness = randomness,
			 .xSleep = sleep_us,
			 .xCurrentTime = current_time,
			 .xGetLastError = last_error},
		.db_fd = db_fd,
		.wal_fd = wal_fd,
		.is_writer = is_writer,
	};
	snprintf(vfs->name, sizeof(vfs->name), "dwell-%zx", (size_t)(uintptr_t)vfs);
	if (sqlite3_vfs_register(&vfs->base, 0))
		return -ENOMEM;
	if (sqlite3_open_v2(SESSION_NAME, ret_db, flags | SQLITE_OPEN_NOMUTEX, vfs->name)) {
		vfs_close(vfs, *ret_db);
		*ret_db = NULL;
		return -ENOMEM;
	}
	return 0;
}

void vfs_close(struct vfs *vfs, sqlite3 *db)
{
	sqlite3_close_v2(db);
	sqlite3_vfs_unregister(&vfs->base);
}

int vfs_lock(int db_fd, bool is_writer)
{
	struct flock lock = {
		.l_type = is_writer ? F_WRLCK : F_RDLCK,
		.l_whence = SEEK_SET,
		.l_start = LOCK_FIRST_BYTE,
		.l_len = LOCK_BYTES,
	};

	if (!fcntl(db_fd, F_OFD_SETLK, &lock))
		return 0;
	return errno == EAGAIN || errno == EACCES ? -EBUSY : -errno;
}

void vfs_unlock(int db_fd)
{
	struct flock lock = {
		.l_type = F_UNLCK,
		.l_whence = SEEK_SET,
		.l_start = LOCK_FIRST_BYTE,
		.l_len = LOCK_BYTES,
	};

	fcntl(db_fd, F_OFD_SETLK, &lock);
}
