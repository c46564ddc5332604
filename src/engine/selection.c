// SPDX-License-Identifier: Apache-2.0
#include "selection.h"

#include <errno.h>
#include <fcntl.h>
#include <pwd.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>

#include "../../abi/records.h"
#include "../base/cleanup.h"
#include "../base/log.h"
#include "../base/text.h"

/* The process that a task belongs to: its number or -errno. */
static s64 process_of(u32 tid)
{
	char path[64], status[2048];
	const char *line;
	long tgid;
	int got;

	snprintf(path, sizeof(path), "/proc/%u/status", tid);
	got = text_read_file(path, status, sizeof(status));
	if (got < 0)
		return got;
	line = strstr(status, "\nTgid:");
	return line && sscanf(line, "\nTgid: %ld", &tgid) == 1 ? tgid : -EINVAL;
}

/* One that is not there would measure nothing, for ever, and say nothing. */
static int check_task(u32 task, enum filter_kind kind)
{
	s64 process = process_of(task);

	if (process < 0) {
		log_error("cannot measure %s %u: there is no such %s (%s); pids are those of "
			  "dwell's own pid namespace",
			  select_kind_names[kind], task,
			  kind == FILTER_BY_PID ? "process" : "thread", strerror((int)-process));
		return -ESRCH;
	}
	if (kind == FILTER_BY_PID && process != task) {
		log_error("cannot measure process %u: it is a thread of process %lld; use --tid %u "
			  "or --pid %lld",
			  task, (long long)process, task, (long long)process);
		return -ESRCH;
	}
	return 0;
}

static int take_tasks(struct selection *selection, enum filter_kind kind, const char *list)
{
	u32 tasks[FILTERS_MAX];
	size_t count;
	int err = text_parse_list(list, 1, PID_LIMIT, tasks, FILTERS_MAX, &count);

	if (err) {
		log_error("--%s takes numbers from 1 to %d, as in 12,34, at most %d of them; not "
			  "'%s'",
			  select_kind_names[kind], PID_LIMIT, FILTERS_MAX, list);
		return err;
	}
	for (size_t i = 0; i < count && !err; i++) {
		char word[16];

		snprintf(word, sizeof(word), "%u", tasks[i]);
		err = check_task(tasks[i], kind);
		if (!err)
			err = select_add(selection, (struct filter_key){kind, {tasks[i]}}, word);
	}
	return err;
}

/* The kernel keeps 15 bytes of a name: what it cuts, we cut. */
static int take_comm(struct selection *selection, const char *name)
{
	struct filter_key filter = {.kind = FILTER_BY_COMM};

	if (!*name) {
		log_error("--comm needs a name, as /proc/PID/comm has it");
		return -EINVAL;
	}
	memcpy(filter.value, name, strnlen(name, COMM_BYTES - 1));
	return select_add(selection, filter, name);
}

/*
 * The device as the kernel numbers it. On btrfs and overlayfs stat() tells another than the one of
 * the mount; it is used only where the mount is not to be found, as in another mount namespace.
 */
static u64 device_of(int fd, const struct stat *st)
{
	char path[64], info[512], line[4096];
	unsigned int mount = 0, id, major_nr, minor_nr;
	_cleanup_fclose_ FILE *mounts = NULL;
	const char *entry;

	snprintf(path, sizeof(path), "/proc/self/fdinfo/%d", fd);
	if (text_read_file(path, info, sizeof(info)) > 0 && (entry = strstr(info, "mnt_id:")))
		sscanf(entry, "mnt_id: %u", &mount);
	mounts = fopen("/proc/self/mountinfo", "re");
	while (mounts && fgets(line, sizeof(line), mounts))
		if (sscanf(line, "%u %*u %u:%u", &id, &major_nr, &minor_nr) == 3 && id == mount)
			return (u64)major_nr << 20 | minor_nr;
	return (u64)major(st->st_dev) << 20 | minor(st->st_dev);
}

static int take_exe(struct selection *selection, const char *path)
{
	_cleanup_close_ int fd = open(path, O_PATH | O_CLOEXEC);
	struct filter_key filter = {.kind = FILTER_BY_EXE};
	struct stat st;

	if (fd < 0 || fstat(fd, &st)) {
		int err = -errno;

		log_error("cannot look for processes that run '%s': %s; --exe takes a file's path, "
			  "and --comm a thread's name",
			  path, strerror(-err));
		return err;
	}
	if (!S_ISREG(st.st_mode)) {
		log_error("cannot look for processes that run '%s': it is not a file", path);
		return -EINVAL;
	}
	filter.value[0] = st.st_ino;
	filter.value[1] = device_of(fd, &st);
	return select_add(selection, filter, path);
}

static int take_uid(struct selection *selection, const char *user)
{
	struct filter_key filter = {.kind = FILTER_BY_UID};
	const struct passwd *entry;

	if (text_parse_u64(user, 0, U32_LIMIT - 1, &filter.value[0])) {
		errno = 0;
		entry = getpwnam(user);
		if (!entry) {
			log_error("cannot look for tasks of '%s': there is no such user%s%s; "
				  "--uid takes a number too",
				  user, errno ? ": " : "", errno ? strerror(errno) : "");
			return -EINVAL;
		}
		filter.value[0] = entry->pw_uid;
	}
	return select_add(selection, filter, user);
}

int select_take(struct selection *selection, int option, const char *value)
{
	switch (option) {
	case SELECT_ALL:
		selection->all = true;
		return 0;
	case SELECT_PID:
		return take_tasks(selection, FILTER_BY_PID, value);
	case SELECT_TID:
		return take_tasks(selection, FILTER_BY_TID, value);
	case SELECT_COMM:
		return take_comm(selection, value);
	case SELECT_EXE:
		return take_exe(selection, value);
	case SELECT_UID:
		return take_uid(selection, value);
	case SELECT_CGROUP:
		return select_take_cgroup(selection, value);
	case SELECT_CONTAINER:
		return select_take_container(selection, value);
	}
	return -ENOENT;
}

bool select_is_option(int option)
{
	static const struct option longs[] = {SELECT_LONGS};

	for (size_t i = 0; i < ARRAY_SIZE(longs); i++)
		if (longs[i].val == option)
			return true;
	return false;
}

int select_finish(const struct selection *selection)
{
	if (selection->all && selection->count) {
		log_error("--all measures every task: leave out --all, or the filter");
		return -EINVAL;
	}
	if (!selection->all && !selection->count) {
		log_error("nothing to measure: use --all for every task, or one of --pid, --tid, "
			  "--comm, --exe, --uid, --cgroup, --container");
		return -EINVAL;
	}
	return 0;
}

void select_apply(const struct selection *selection, struct capture_config *config)
{
	config->live.scope = selection->all ? SCOPE_ALL : SCOPE_LISTED;
	config->filters = selection->filters;
	config->filter_count = selection->count;
}

void select_describe(const struct selection *selection, char *ret_text, size_t size)
{
	size_t used = 0;

	snprintf(ret_text, size, "%s", selection->all ? "all" : "");
	for (int kind = 0; kind < FILTER_KIND_COUNT && used < size; kind++)
		if (selection->words[kind][0])
			used += (size_t)snprintf(ret_text + used, size - used, "%s%s %s",
						 used ? " and " : "", select_kind_names[kind],
						 selection->words[kind]);
}
