// SPDX-License-Identifier: Apache-2.0
#include "target_files.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/openat2.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/sysmacros.h>

#include "../base/cleanup.h"
#include "../base/clock.h"
#include "../base/text.h"

#define DEVICE_NS   (10 * NS_PER_S) /* that what was learned of a file system is believed */
#define MOUNTS_MAX  16384
#define NAME_BYTES  64
#define DEBUG_BYTES (2 * BUILD_ID_MAX + 64)

/* --- file systems that answer when it pleases them --- */

/* "36 35 98:0 /mnt1 /mnt2 rw,noatime master:1 - ext3 /dev/root rw": blanks in names are \040. */
static bool is_fuse_mount(const char *line, u64 dev)
{
	const char *type = strstr(line, " - ");
	unsigned int parts[2];

	return type && sscanf(line, "%*u %*u %u:%u", &parts[0], &parts[1]) == 2 &&
	       makedev(parts[0], parts[1]) == dev && !strncmp(type + 3, "fuse", 4);
}

/* Asking the file system itself would be asking the program. */
static bool ask_mounts(int proc_fd, u64 dev)
{
	int fd = openat(proc_fd, "mountinfo", O_RDONLY | O_CLOEXEC);
	_cleanup_fclose_ FILE *file = fd < 0 ? NULL : fdopen(fd, "r");
	_cleanup_free_ char *line = NULL;
	size_t room = 0;

	if (!file && fd >= 0)
		close(fd);
	for (int i = 0; file && i < MOUNTS_MAX && getline(&line, &room, file) > 0; i++)
		if (is_fuse_mount(line, dev))
			return true;
	return false;
}

static bool may_block(struct target_files *files, int proc_fd, u64 dev)
{
	u64 now_ns = clock_now_ns();
	struct target_device *place;

	if (major(dev))
		return false; /* a disk */
	for (size_t i = 0; i < TARGET_DEVICES_MAX; i++)
		if (files->devices[i].dev == dev && now_ns - files->devices[i].asked_ns < DEVICE_NS)
			return files->devices[i].may_block;
	place = &files->devices[files->next++ % TARGET_DEVICES_MAX];
	*place = (struct target_device){dev, now_ns, ask_mounts(proc_fd, dev)};
	return place->may_block;
}

/* --- facts --- */

static u64 dev_of(const struct statx *st)
{
	return makedev(st->stx_dev_major, st->stx_dev_minor);
}

/* What is known of it without asking anybody who could keep us waiting. */
static void take_facts(struct target_files *files, int proc_fd, const struct statx *st,
		       struct file_facts *ret_facts)
{
	*ret_facts = (struct file_facts){
		.key = {.dev = dev_of(st),
			.inode = st->stx_ino,
			.size = st->stx_size,
			.mtime_ns = (u64)st->stx_mtime.tv_sec * NS_PER_S + st->stx_mtime.tv_nsec},
		.is_trusted = !st->stx_uid && !(st->stx_mode & (S_IWGRP | S_IWOTH)),
	};
	if (!S_ISREG(st->stx_mode))
		ret_facts->refusal = FILE_NOT_REGULAR;
	else if (may_block(files, proc_fd, dev_of(st)))
		ret_facts->refusal = FILE_MAY_BLOCK;
}

/* As the kernel has it: who serves a file system from elsewhere, and may not answer, is not asked.
 */
static int ask(int dir_fd, const char *path, int flags, struct statx *ret_st)
{
	return statx(dir_fd, path, flags | AT_STATX_DONT_SYNC, STATX_BASIC_STATS, ret_st) ? -errno
											  : 0;
}

/* A descriptor that only names a file becomes one that reads it, if it may be read: or -errno. */
static int open_named(struct target_files *files, int proc_fd, int path_fd,
		      struct file_facts *facts)
{
	char path[NAME_BYTES];
	struct statx st;
	int fd, err = ask(path_fd, "", AT_EMPTY_PATH, &st);

	if (err)
		return err;
	take_facts(files, proc_fd, &st, facts);
	if (facts->refusal != FILE_TAKEN)
		return -EACCES;
	snprintf(path, sizeof(path), "/proc/self/fd/%d", path_fd);
	fd = open(path, O_RDONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
	return fd < 0 ? -errno : fd;
}

/* Links in it lead no further than the process's own root. */
static int name_in_root(int proc_fd, const char *path, u64 flags)
{
	struct open_how how = {
		.flags = O_PATH | O_CLOEXEC | flags,
		.resolve = RESOLVE_IN_ROOT | RESOLVE_NO_MAGICLINKS,
	};
	_cleanup_close_ int root_fd = openat(proc_fd, "root", O_PATH | O_DIRECTORY | O_CLOEXEC);
	long fd = root_fd < 0 ? -1 : syscall(SYS_openat2, root_fd, path, &how, sizeof(how));

	return fd < 0 ? -errno : (int)fd;
}

static bool is_program(int fd)
{
	char magic[4];

	return pread(fd, magic, sizeof(magic), 0) == sizeof(magic) &&
	       !memcmp(magic, "\177ELF", sizeof(magic));
}

/* --- what is mapped --- */

static void map_name(u64 begin, u64 end, char ret_name[NAME_BYTES])
{
	snprintf(ret_name, NAME_BYTES, "map_files/%llx-%llx", (unsigned long long)begin,
		 (unsigned long long)end);
}

/* The path of a mapping, and which file it must be: 0 or -errno. */
static int find_path(int proc_fd, u64 begin, u64 end, char **ret_line, char **ret_path,
		     u64 *ret_inode)
{
	int fd = openat(proc_fd, "maps", O_RDONLY | O_CLOEXEC);
	_cleanup_fclose_ FILE *file = fd < 0 ? NULL : fdopen(fd, "r");
	size_t room = 0;

	if (!file && fd >= 0)
		close(fd);
	while (file && getline(ret_line, &room, file) > 0) {
		unsigned long long from, to, inode;
		int path_at = 0;

		if (sscanf(*ret_line, "%llx-%llx %*4s %*x %*x:%*x %llu %n", &from, &to, &inode,
			   &path_at) != 3 ||
		    from != begin || to != end)
			continue;
		*ret_path = *ret_line + path_at;
		(*ret_path)[strcspn(*ret_path, "\n")] = '\0';
		*ret_inode = inode;
		return **ret_path == '/' ? 0 : -ENOENT;
	}
	return -ENOENT;
}

/* For who may not use map_files: by its path, if that is still the same file. */
static int name_by_path(int proc_fd, u64 begin, u64 end)
{
	_cleanup_free_ char *line = NULL;
	char *path;
	u64 inode;
	struct statx st;
	int err = find_path(proc_fd, begin, end, &line, &path, &inode);
	int fd = err ? err : name_in_root(proc_fd, path, 0);

	if (fd >= 0 && (ask(fd, "", AT_EMPTY_PATH, &st) || st.stx_ino != inode)) {
		close(fd);
		return -ESTALE;
	}
	return fd;
}

static int name_mapped(int proc_fd, u64 begin, u64 end)
{
	char name[NAME_BYTES];
	int fd;

	map_name(begin, end, name);
	fd = openat(proc_fd, name, O_PATH | O_CLOEXEC);
	if (fd >= 0)
		return fd;
	return errno == EPERM || errno == EACCES ? name_by_path(proc_fd, begin, end) : -errno;
}

int target_mapped_facts(struct target_files *files, int proc_fd, u64 begin, u64 end,
			struct file_facts *ret_facts)
{
	_cleanup_close_ int by_path = -1;
	char name[NAME_BYTES];
	struct statx st;
	int err;

	map_name(begin, end, name);
	err = ask(proc_fd, name, 0, &st);
	if (err == -ENOENT)
		return -ESTALE;
	if (err == -EPERM || err == -EACCES) {
		by_path = name_by_path(proc_fd, begin, end);
		err = by_path < 0 ? by_path : ask(by_path, "", AT_EMPTY_PATH, &st);
	}
	if (err)
		*ret_facts = (struct file_facts){.refusal = FILE_UNREACHABLE};
	else
		take_facts(files, proc_fd, &st, ret_facts);
	return 0;
}

int target_mapped_open(struct target_files *files, int proc_fd, u64 begin, u64 end,
		       struct file_facts *facts)
{
	_cleanup_close_ int named = -1;
	struct file_facts now;
	int fd;

	if (facts->refusal != FILE_TAKEN)
		return -1;
	facts->refusal = FILE_UNREACHABLE;
	named = name_mapped(proc_fd, begin, end);
	fd = named < 0 ? -1 : open_named(files, proc_fd, named, &now);
	if (fd < 0)
		return -1;
	facts->refusal = now.refusal;
	if (memcmp(&now.key, &facts->key, sizeof(now.key)) != 0)
		facts->refusal = FILE_UNREACHABLE; /* another one is mapped there by now */
	else if (!is_program(fd))
		facts->refusal = FILE_NO_PROGRAM;
	if (facts->refusal == FILE_TAKEN)
		return fd;
	close(fd);
	return -1;
}

/* --- what belongs to it --- */

static void debug_path(const u8 *build_id, size_t size, char ret_path[DEBUG_BYTES])
{
	int at = snprintf(ret_path, DEBUG_BYTES, "/usr/lib/debug/.build-id/%02x/", build_id[0]);

	for (size_t i = 1; i < size && i < BUILD_ID_MAX; i++)
		at += snprintf(ret_path + at, DEBUG_BYTES - (size_t)at, "%02x", build_id[i]);
	snprintf(ret_path + at, DEBUG_BYTES - (size_t)at, ".debug");
}

int target_debug_open(struct target_files *files, int proc_fd, const u8 *build_id, size_t size,
		      bool is_trusted)
{
	char path[DEBUG_BYTES];

	if (size < 2 || size > BUILD_ID_MAX)
		return -EINVAL;
	debug_path(build_id, size, path);
	for (int of_host = 0; of_host < 2; of_host++) {
		_cleanup_close_ int named =
			of_host ? open(path, O_PATH | O_CLOEXEC) : name_in_root(proc_fd, path, 0);
		struct file_facts facts;
		int fd = named < 0 ? -1 : open_named(files, proc_fd, named, &facts);

		if (fd >= 0 && (facts.is_trusted || !is_trusted) && is_program(fd))
			return fd;
		if (fd >= 0)
			close(fd);
	}
	return -ENOENT;
}

/* Its number in its own namespace, and whose it is: 0 or -errno. */
static int read_status(int proc_fd, unsigned int *ret_pid, unsigned int *ret_uid)
{
	int fd = openat(proc_fd, "status", O_RDONLY | O_CLOEXEC);
	_cleanup_fclose_ FILE *file = fd < 0 ? NULL : fdopen(fd, "r");
	_cleanup_free_ char *line = NULL;
	size_t room = 0;
	bool has_pid = false, has_uid = false;

	if (!file && fd >= 0)
		close(fd);
	while (file && getline(&line, &room, file) > 0) {
		const char *last = strrchr(line, '\t');

		if (!strncmp(line, "NSpid:", 6) && last)
			has_pid = sscanf(last, "%u", ret_pid) == 1;
		if (!strncmp(line, "Uid:", 4))
			has_uid = sscanf(line, "Uid: %*u %u", ret_uid) == 1;
	}
	return has_pid && has_uid ? 0 : -ESRCH;
}

int target_map_open(struct target_files *files, u32 pid, struct target_map *ret_map)
{
	_cleanup_close_ int proc_fd = target_process(pid), named = -1;
	unsigned int own_pid, uid;
	struct file_facts facts;
	char path[NAME_BYTES];
	struct statx st;
	int err = proc_fd < 0 ? proc_fd : read_status(proc_fd, &own_pid, &uid);

	if (err)
		return err;
	snprintf(path, sizeof(path), "/tmp/perf-%u.map", own_pid);
	named = name_in_root(proc_fd, path, O_NOFOLLOW);
	err = named < 0 ? named : ask(named, "", AT_EMPTY_PATH, &st);
	if (!err && st.stx_uid != uid)
		err = -EACCES; /* whoever else wrote it: it is about this process, but not by it */
	if (err)
		return err;
	ret_map->fd = open_named(files, proc_fd, named, &facts);
	return ret_map->fd < 0 ? ret_map->fd : 0;
}

bool target_map_is_removed(const struct target_map *map)
{
	struct statx st;

	return map->fd >= 0 && !ask(map->fd, "", AT_EMPTY_PATH, &st) && !st.stx_nlink;
}

bool target_map_has_changed(struct target_map *map)
{
	struct statx st;
	u64 mtime_ns;

	if (map->fd < 0 || ask(map->fd, "", AT_EMPTY_PATH, &st))
		return false;
	mtime_ns = (u64)st.stx_mtime.tv_sec * NS_PER_S + st.stx_mtime.tv_nsec;
	if (mtime_ns == map->mtime_ns && st.stx_size == map->size)
		return false;
	map->mtime_ns = mtime_ns;
	map->size = st.stx_size;
	return true;
}

void target_map_close(struct target_map *map)
{
	if (map->fd >= 0)
		close(map->fd);
	*map = (struct target_map){.fd = -1};
}
