// SPDX-License-Identifier: Apache-2.0
/*
 * Which file is meant by "libpq.so.5", "psql" or a path: what the chosen process maps, if it is
 * one; else a command in PATH, or a library where the loader looks for them. Only opened here; who
 * looks into it is the worker.
 */
#include <errno.h>
#include <fcntl.h>
#include <glob.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "../base/caller.h"
#include "../base/cleanup.h"
#include "../base/log.h"
#include "../engine/target_files.h"
#include "trace.h"

#define CONF_PATTERN "/etc/ld.so.conf.d/*.conf"

static const char *const library_dirs[] = {
	"/lib/x86_64-linux-gnu",
	"/usr/lib/x86_64-linux-gnu",
	"/lib/aarch64-linux-gnu",
	"/usr/lib/aarch64-linux-gnu",
	"/lib64",
	"/usr/lib64",
	"/lib",
	"/usr/lib",
	"/usr/local/lib",
};

static int open_file(const char *path)
{
	struct stat st;
	int fd = caller_open(path, O_RDONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);

	if (fd < 0)
		return fd;
	if (!fstat(fd, &st) && S_ISREG(st.st_mode))
		return fd;
	close(fd);
	return -EINVAL;
}

/* --- what a process maps --- */

static bool is_meant(const char *path, const char *name)
{
	const char *slash = strrchr(path, '/');
	size_t length = strlen(name);
	const char *file = slash ? slash + 1 : path;

	if (strchr(name, '/'))
		return !strncmp(path, name, length) && (!path[length] || path[length] == ' ');
	return !strncmp(file, name, length) &&
	       (!file[length] || file[length] == ' ' || file[length] == '.');
}

static int open_mapping(int proc_fd, u64 begin, u64 end)
{
	struct target_files files = {0};
	struct file_facts facts;
	int err = target_mapped_facts(&files, proc_fd, begin, end, &facts), fd;

	if (err)
		return err;
	fd = target_mapped_open(&files, proc_fd, begin, end, &facts);
	return fd < 0 ? -EACCES : fd;
}

/* The first mapping of that name with code in it; -ENOENT: it maps none. */
static int open_mapped(pid_t pid, const char *name, bool *ret_is_deleted)
{
	int maps_fd = -1;
	_cleanup_close_ int proc_fd = target_process_maps((u32)pid, &maps_fd);
	_cleanup_fclose_ FILE *maps = proc_fd < 0 ? NULL : fdopen(maps_fd, "r");
	_cleanup_free_ char *line = NULL;
	size_t room = 0;

	if (proc_fd < 0)
		return proc_fd;
	while (maps && getline(&line, &room, maps) > 0) {
		unsigned long long begin, end;
		char flags[8];
		int at = 0;

		line[strcspn(line, "\n")] = '\0';
		if (sscanf(line, "%llx-%llx %7s %*x %*x:%*x %*u %n", &begin, &end, flags, &at) <
			    3 ||
		    !at || line[at] != '/' || !strchr(flags, 'x') || !is_meant(line + at, name))
			continue;
		*ret_is_deleted = strstr(line + at, " (deleted)") != NULL;
		return open_mapping(proc_fd, begin, end);
	}
	return -ENOENT;
}

/* --- by name --- */

static int open_in(const char *dir, const char *name)
{
	char path[PATH_MAX];

	if ((size_t)snprintf(path, sizeof(path), "%s/%s", dir, name) >= sizeof(path))
		return -ENAMETOOLONG;
	return open_file(path);
}

static int open_command(const char *name)
{
	const char *at = getenv("PATH");

	while (at && *at) {
		size_t length = strcspn(at, ":");
		char dir[PATH_MAX];
		int fd;

		snprintf(dir, sizeof(dir), "%.*s", (int)length, at);
		fd = length ? open_in(dir, name) : -ENOENT;
		if (fd >= 0)
			return fd;
		at += length + (at[length] == ':');
	}
	return -ENOENT;
}

/* Folders that a file of the loader's names. */
static int open_by_conf(const char *conf, const char *name)
{
	_cleanup_fclose_ FILE *file = fopen(conf, "re");
	char line[PATH_MAX];
	int fd = -ENOENT;

	while (file && fd < 0 && fgets(line, sizeof(line), file)) {
		line[strcspn(line, " \t\n#")] = '\0';
		if (line[0] == '/')
			fd = open_in(line, name);
	}
	return fd;
}

static int open_by_confs(const char *name)
{
	int fd = -ENOENT;
	glob_t confs;

	if (glob(CONF_PATTERN, 0, NULL, &confs))
		return -ENOENT;
	for (size_t i = 0; i < confs.gl_pathc && fd < 0; i++)
		fd = open_by_conf(confs.gl_pathv[i], name);
	globfree(&confs);
	return fd;
}

/* libpq: whichever version there is. */
static int open_any_version(const char *dir, const char *name)
{
	char pattern[PATH_MAX];
	int fd = -ENOENT;
	glob_t found;

	if (strstr(name, ".so") ||
	    (size_t)snprintf(pattern, sizeof(pattern), "%s/%s.so.*", dir, name) >=
		    sizeof(pattern) ||
	    glob(pattern, 0, NULL, &found))
		return -ENOENT;
	if (found.gl_pathc)
		fd = open_file(found.gl_pathv[0]);
	globfree(&found);
	return fd;
}

static int open_library(const char *name)
{
	int fd = open_by_confs(name);

	for (size_t i = 0; fd < 0 && i < ARRAY_SIZE(library_dirs); i++)
		fd = open_in(library_dirs[i], name);
	for (size_t i = 0; fd < 0 && i < ARRAY_SIZE(library_dirs); i++)
		fd = open_any_version(library_dirs[i], name);
	return fd;
}

static int open_by_name(const char *name)
{
	int fd;

	if (strchr(name, '/'))
		return open_file(name);
	fd = strstr(name, ".so") ? -ENOENT : open_command(name);
	return fd >= 0 ? fd : open_library(name);
}

static bool is_same_file(int fd, int other_fd)
{
	struct stat one, other;

	return !fstat(fd, &one) && !fstat(other_fd, &other) && one.st_dev == other.st_dev &&
	       one.st_ino == other.st_ino;
}

/* The process's own file before the one that has its name by now: probes follow the file. */
static int open_for_process(const struct trace *trace, const char *name)
{
	bool is_deleted = false;
	int fd = open_mapped(trace->pid, name, &is_deleted);
	_cleanup_close_ int on_disk = fd < 0 ? -1 : open_by_name(name);

	if (fd >= 0 && (is_deleted || (on_disk >= 0 && !is_same_file(fd, on_disk))))
		log_info("process %d maps another file than %s is now, as when it was updated: the "
			 "mapped one is traced",
			 trace->pid, name);
	return fd;
}

int trace_file_open(struct trace *trace, const char *name)
{
	int fd = -ENOENT;

	if (trace->file_count == TRACE_FILES_MAX) {
		log_error("probes in more than %d files at a time", TRACE_FILES_MAX);
		return -E2BIG;
	}
	if (trace->pid)
		fd = open_for_process(trace, name);
	if (fd < 0)
		fd = open_by_name(name);
	if (fd < 0) {
		log_error("cannot open %s: %s%s", name, strerror(-fd),
			  strchr(name, '/') ? ""
					    : "; it is neither in PATH nor among the libraries: "
					      "give its path");
		return fd;
	}
	trace->files[trace->file_count++] = fd;
	return fd;
}
