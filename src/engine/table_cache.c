// SPDX-License-Identifier: Apache-2.0
#include "table_cache.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/sendfile.h>
#include <sys/stat.h>
#include <unistd.h>

#include "../base/cleanup.h"
#include "../base/text.h"
#include "../symbolize/elf_file.h"

#define NAME_BYTES (2 * BUILD_ID_MAX + 16)
#define SUFFIX	   ".rows"

struct entry {
	char name[NAME_BYTES];
	u64 bytes;
	s64 used; /* seconds */
};

/* Each folder on the way; those that are there stay as they are. */
static void make_folders(const char *dir)
{
	_cleanup_free_ char *path = strdup(dir);

	for (char *slash = path ? strchr(path + 1, '/') : NULL; slash;
	     slash = strchr(slash + 1, '/')) {
		*slash = '\0';
		mkdir(path, 0755);
		*slash = '/';
	}
	mkdir(dir, 0700);
}

static int by_use(const void *a, const void *b)
{
	const struct entry *one = a, *other = b;

	return one->used < other->used ? -1 : one->used > other->used;
}

static bool is_table(const char *name)
{
	size_t length = strlen(name);

	return length > strlen(SUFFIX) && length < NAME_BYTES &&
	       !strcmp(name + length - strlen(SUFFIX), SUFFIX);
}

/* All tables of the folder: how many. What was left half-written is removed. */
static size_t list(const struct table_cache *cache, struct entry *ret_entries, size_t max)
{
	int fd = openat(cache->dir_fd, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	DIR *dir = fd < 0 ? NULL : fdopendir(fd);
	struct dirent *item;
	size_t count = 0;

	if (!dir && fd >= 0)
		close(fd);
	while (dir && count < max && (item = readdir(dir))) {
		struct stat st;

		if (item->d_name[0] == '.')
			continue;
		if (fstatat(cache->dir_fd, item->d_name, &st, AT_SYMLINK_NOFOLLOW))
			continue;
		if (!is_table(item->d_name) || !S_ISREG(st.st_mode)) {
			unlinkat(cache->dir_fd, item->d_name, 0);
			continue;
		}
		text_copy(ret_entries[count].name, NAME_BYTES, item->d_name);
		ret_entries[count].bytes = (u64)st.st_size;
		ret_entries[count].used = st.st_mtime;
		count++;
	}
	if (dir)
		closedir(dir);
	return count;
}

/* If one more of so many bytes is too much: down to three quarters, so that it is done rarely. */
static void trim(struct table_cache *cache, u64 more)
{
	size_t max = TABLE_CACHE_FILES_MAX * 2, count;
	_cleanup_free_ struct entry *entries = calloc(max, sizeof(*entries));

	if (!entries)
		return;
	count = list(cache, entries, max);
	cache->bytes = 0;
	cache->files = count;
	for (size_t i = 0; i < count; i++)
		cache->bytes += entries[i].bytes;
	if (cache->bytes + more <= TABLE_CACHE_BYTES_MAX && count < TABLE_CACHE_FILES_MAX)
		return;
	qsort(entries, count, sizeof(*entries), by_use);
	for (size_t i = 0; i < count && (cache->bytes > TABLE_CACHE_BYTES_MAX / 4 * 3 ||
					 cache->files > TABLE_CACHE_FILES_MAX / 4 * 3);
	     i++) {
		unlinkat(cache->dir_fd, entries[i].name, 0);
		cache->bytes -= entries[i].bytes;
		cache->files--;
	}
}

void table_cache_open(struct table_cache *cache, const char *dir)
{
	struct stat st;

	*cache = (struct table_cache){.dir_fd = -1};
	make_folders(dir);
	cache->dir_fd = open(dir, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	if (cache->dir_fd < 0)
		return;
	if (fstat(cache->dir_fd, &st) || st.st_uid != geteuid() ||
	    st.st_mode & (S_IRWXG | S_IRWXO)) {
		table_cache_close(cache); /* others could have put something there */
		return;
	}
	trim(cache, 0);
}

void table_cache_close(struct table_cache *cache)
{
	if (cache->dir_fd >= 0)
		close(cache->dir_fd);
	cache->dir_fd = -1;
}

static void name_of(const u8 *build_id, size_t size, char ret_name[NAME_BYTES])
{
	size_t at = 0;

	for (size_t i = 0; i < size && i < BUILD_ID_MAX; i++)
		at += (size_t)snprintf(ret_name + at, NAME_BYTES - at, "%02x", build_id[i]);
	snprintf(ret_name + at, NAME_BYTES - at, SUFFIX);
}

int table_cache_find(const struct table_cache *cache, const u8 *build_id, size_t size)
{
	char name[NAME_BYTES];
	int fd;

	if (cache->dir_fd < 0 || !size)
		return -ENOENT;
	name_of(build_id, size, name);
	fd = openat(cache->dir_fd, name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
	if (fd < 0)
		return -errno;
	futimens(fd, NULL); /* it is in use: others go first */
	return fd;
}

int table_cache_blank(const struct table_cache *cache)
{
	int fd = cache->dir_fd < 0 ? -1 : memfd_create("dwell-rows", MFD_CLOEXEC);

	return fd < 0 ? -ENOENT : fd;
}

static int copy(int from, int to, size_t bytes)
{
	off_t at = 0;

	while ((size_t)at < bytes) {
		ssize_t sent = sendfile(to, from, &at, bytes - (size_t)at);

		if (sent <= 0)
			return sent ? -errno : -EIO;
	}
	return 0;
}

void table_cache_store(struct table_cache *cache, const u8 *build_id, size_t size, int blank_fd)
{
	char name[NAME_BYTES], temporary[NAME_BYTES];
	_cleanup_close_ int fd = -1;
	struct stat st;
	size_t bytes;

	if (cache->dir_fd < 0 || !size || fstat(blank_fd, &st) || st.st_size <= 0 ||
	    st.st_size > TABLE_CACHE_ENTRY_BYTES)
		return;
	bytes = (size_t)st.st_size;
	if (cache->bytes + bytes > TABLE_CACHE_BYTES_MAX || cache->files >= TABLE_CACHE_FILES_MAX)
		trim(cache, bytes);
	name_of(build_id, size, name);
	snprintf(temporary, sizeof(temporary), "%d.new", getpid());
	fd = openat(cache->dir_fd, temporary, O_WRONLY | O_CREAT | O_TRUNC | O_NOFOLLOW | O_CLOEXEC,
		    0600);
	if (fd < 0)
		return;
	if (copy(blank_fd, fd, bytes) || renameat(cache->dir_fd, temporary, cache->dir_fd, name)) {
		unlinkat(cache->dir_fd, temporary, 0);
		return;
	}
	cache->bytes += bytes;
	cache->files++;
}
