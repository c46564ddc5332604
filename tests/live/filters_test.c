// SPDX-License-Identifier: Apache-2.0
/*
 * Each kind of filter on a process of two threads whose name, user, executable and cgroups are
 * known: an iterator asks the kernel side for its verdict on every task there is.
 */
#include <fcntl.h>
#include <grp.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/stat.h>

#include "../../src/engine/selection.h"
#include "cgroups.h"
#include "rig.h"
#include "tap.h"

#define SUBJECT_UID 31415

static const struct probe verdicts = {.program = "canary_it_task", .kind = PROBE_ITER};

struct subject {
	pid_t pid, side_tid;
	int orders, replies; /* pipes; its exec closes them */
};

static void *side_thread(void *reply)
{
	pid_t tid = (pid_t)syscall(SYS_gettid);

	prctl(PR_SET_NAME, "dwell-side");
	if (write(*(int *)reply, &tid, sizeof(tid)) == sizeof(tid))
		for (;;)
			pause();
	return NULL;
}

/* Waits for orders: 'n' is a new name, 'e' another program. */
static void subject_run(int orders, int reply)
{
	pthread_t side;
	char order;

	prctl(PR_SET_PDEATHSIG, SIGKILL);
	prctl(PR_SET_NAME, "dwell-main");
	if (setgroups(0, NULL) || setresuid(SUBJECT_UID, SUBJECT_UID, SUBJECT_UID) ||
	    pthread_create(&side, NULL, side_thread, &reply))
		_exit(1);
	while (read(orders, &order, 1) == 1) {
		if (order == 'n')
			prctl(PR_SET_NAME, "dwell-renamed");
		else
			execl("/bin/sleep", "sleep", "1000", NULL);
		if (write(reply, &order, 1) != 1)
			break;
	}
	_exit(1);
}

static bool subject_start(struct subject *subject)
{
	int orders[2], replies[2];

	if (pipe2(orders, O_CLOEXEC) || pipe2(replies, O_CLOEXEC))
		return false;
	subject->pid = fork();
	if (subject->pid == 0) {
		close(orders[1]);
		subject_run(orders[0], replies[1]);
	}
	close(orders[0]);
	close(replies[1]);
	subject->orders = orders[1];
	subject->replies = replies[0];
	return read(subject->replies, &subject->side_tid, sizeof(pid_t)) == sizeof(pid_t);
}

/* True when it has been carried out; an exec shows by the end of the pipe. */
static bool subject_does(struct subject *subject, char order)
{
	char done = 0;

	return write(subject->orders, &order, 1) == 1 &&
	       read(subject->replies, &done, 1) == (order == 'n' ? 1 : 0);
}

static struct filter_key comm(const char *name)
{
	struct filter_key key = {.kind = FILTER_BY_COMM};

	snprintf((char *)key.value, COMM_BYTES, "%s", name);
	return key;
}

static struct filter_key number(u64 kind, u64 value)
{
	return (struct filter_key){kind, {value}};
}

/* How many tasks the kernel side wants; ~0: it failed. */
static u64 wanted(struct rig *rig, const struct filter_key *filters, size_t count)
{
	struct capture_config config = rig_config(rig, &verdicts, 1);
	struct capture *capture;
	u64 seen = ~0ULL;

	config.filters = filters;
	config.filter_count = count;
	config.live.scope = count ? SCOPE_LISTED : SCOPE_ALL;
	capture = rig_capture(&config);
	if (capture && !capture_run_iter(capture, 0))
		seen = rig_count(rig, capture, &config);
	capture_close(capture);
	return seen;
}

#define EXPECT(tasks, what, ...)                                                                   \
	do {                                                                                       \
		const struct filter_key filters_[] = {__VA_ARGS__};                                \
		u64 seen_ = wanted(rig, filters_, sizeof(filters_) / sizeof(filters_[0]));         \
                                                                                                   \
		tap(seen_ == (tasks), "%s: %d of the tasks, and was %lld", what, tasks,            \
		    (long long)seen_);                                                             \
	} while (0)

static void tasks_are_found_by_what_they_are(struct rig *rig, const struct subject *subject)
{
	struct filter_key pid = number(FILTER_BY_PID, (u64)subject->pid);
	struct filter_key side = number(FILTER_BY_TID, (u64)subject->side_tid);
	struct filter_key uid = number(FILTER_BY_UID, SUBJECT_UID);

	EXPECT(2, "pid", pid);
	EXPECT(3, "one pid or another", pid, rig->filter);
	EXPECT(1, "tid", side);
	EXPECT(0, "a thread's tid is no pid", number(FILTER_BY_PID, (u64)subject->side_tid));
	EXPECT(1, "comm", comm("dwell-main"));
	EXPECT(2, "one comm or another", comm("dwell-main"), comm("dwell-side"));
	EXPECT(0, "the beginning of a comm", comm("dwell-mai"));
	EXPECT(1, "a kernel thread by its comm", comm("kthreadd"));
	EXPECT(2, "uid", uid);
	EXPECT(1, "uid and comm", uid, comm("dwell-side"));
	EXPECT(0, "another's pid and uid", rig->filter, uid);
	EXPECT(0, "tid and another comm", side, comm("dwell-main"));
	EXPECT(2, "a tree by its root", number(FILTER_BY_TREE, (u64)subject->pid));
	EXPECT(3, "the tree of this process, without itself and its worker",
	       number(FILTER_BY_TREE, (u64)getpid()));
}

static void all_has_kernel_threads(struct rig *rig)
{
	u64 all = wanted(rig, NULL, 0);

	tap(all != ~0ULL && all > 10, "all: %lld tasks", (long long)all);
}

static struct filter_key cgroup(const struct cgroup_mount *mount, const char *path)
{
	struct filter_key key = {FILTER_BY_CGROUP, {0, mount->hierarchy}};

	if (cgroup_id(mount, path, &key.value[0]))
		key.value[0] = ~0ULL;
	return key;
}

static void cgroups_include_descendants(struct rig *rig, const struct subject *subject,
					const struct cgroup_mount *mount)
{
	struct filter_key uid = number(FILTER_BY_UID, SUBJECT_UID);
	char outer[64], inner[80], other[80];

	snprintf(outer, sizeof(outer), "dwell-test-%d", getpid());
	snprintf(inner, sizeof(inner), "%s/inner", outer);
	snprintf(other, sizeof(other), "%s/other", outer);
	printf("# hierarchy %u at %s\n", mount->hierarchy, mount->at);
	if (!tap(make_dir(mount, outer) && make_dir(mount, inner) && make_dir(mount, other) &&
			 write_pid(mount, inner, subject->pid),
		 "the process moves into a cgroup"))
		return;
	EXPECT(2, "its cgroup", cgroup(mount, inner));
	EXPECT(2, "the one above", cgroup(mount, outer));
	EXPECT(0, "one beside", cgroup(mount, other));
	EXPECT(2, "one cgroup or another", cgroup(mount, inner), cgroup(mount, other));
	EXPECT(1, "cgroup and comm", cgroup(mount, inner), comm("dwell-main"));
	EXPECT(2, "the root, and the uid", cgroup(mount, "/"), uid);
	write_pid(mount, other, subject->pid);
	EXPECT(0, "after a move to another: the old one", cgroup(mount, inner));
	EXPECT(2, "after a move to another: the new one", cgroup(mount, other));
	write_pid(mount, "/", subject->pid);
	remove_dir(mount, inner);
	remove_dir(mount, other);
	remove_dir(mount, outer);
}

#define CONTAINER_TAIL "456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef"

/* Two cgroups as Docker names them, of which the process is in the first. */
static void containers_are_found_by_id(struct rig *rig, const struct subject *subject,
				       const struct cgroup_mount *mount)
{
	static const char one[] = "docker-d3e1" CONTAINER_TAIL ".scope";
	static const char two[] = "docker-d3e2" CONTAINER_TAIL ".scope";
	struct selection *selection = calloc(1, sizeof(*selection));

	make_dir(mount, one);
	make_dir(mount, two);
	write_pid(mount, one, subject->pid);
	tap(select_take(selection, SELECT_CONTAINER, "d3e1") == 0 && selection->count == 1 &&
		    wanted(rig, selection->filters, 1) == 2,
	    "a container by the beginning of its id");
	tap(select_take(selection, SELECT_CONTAINER, "d3e") == -ENOTUNIQ,
	    "an id of two containers is refused");
	tap(select_take(selection, SELECT_CONTAINER, "d3e3") == -ENOENT,
	    "an id of none is refused");
	selection->count = 0;
	tap(select_take(selection, SELECT_CGROUP, one) == 0 && selection->count == 1 &&
		    wanted(rig, selection->filters, 1) == 2,
	    "a cgroup by its path below the mount");
	write_pid(mount, "/", subject->pid);
	remove_dir(mount, one);
	remove_dir(mount, two);
	free(selection);
}

/* v2 where it is mounted, and a v1 hierarchy without controllers, as systemd's own is. */
static void cgroups_of_both_versions(struct rig *rig, const struct subject *subject)
{
	char at[] = "/tmp/dwell-cgroup-XXXXXX";
	struct cgroup_mount mounts[CGROUP_MOUNTS_MAX];
	bool is_mounted = mkdtemp(at) && !mount("none", at, "cgroup", 0, "none,name=dwelltest");
	int count = cgroup_list_mounts(mounts, CGROUP_MOUNTS_MAX);
	const struct cgroup_mount *found = v2_of(mounts, count);

	if (found) {
		cgroups_include_descendants(rig, subject, found);
		containers_are_found_by_id(rig, subject, found);
	} else
		puts("ok - cgroup v2 # SKIP it is not mounted");
	found = NULL;
	for (int i = 0; i < count; i++) /* one that has a controller, where there is one */
		if (mounts[i].hierarchy && strcmp(mounts[i].at, at) && strstr(mounts[i].at, "pids"))
			cgroups_include_descendants(rig, subject, &mounts[i]);
	for (int i = 0; is_mounted && i < count; i++)
		if (!strcmp(mounts[i].at, at))
			found = &mounts[i];
	if (is_mounted && found)
		cgroups_include_descendants(rig, subject, found);
	else
		puts("ok - cgroup v1 # SKIP this kernel does not mount it");
	if (is_mounted)
		umount(at);
	rmdir(at);
}

static void verdicts_follow_changes(struct rig *rig, struct subject *subject)
{
	struct filter_key pid = number(FILTER_BY_PID, (u64)subject->pid);
	struct selection *selection = calloc(1, sizeof(*selection));
	struct filter_key sleep_exe;

	tap(subject_does(subject, 'n'), "the process takes another name");
	EXPECT(0, "the old name", comm("dwell-main"));
	EXPECT(1, "the new name", comm("dwell-renamed"));
	if (!tap(!select_take(selection, SELECT_EXE, "/bin/sleep"), "there is a /bin/sleep"))
		return;
	sleep_exe = selection->filters[0];
	free(selection);
	EXPECT(0, "exe, before the exec", sleep_exe, pid);
	tap(subject_does(subject, 'e'), "the process becomes /bin/sleep");
	EXPECT(1, "exe, after the exec", sleep_exe, pid);
}

int main(void)
{
	struct subject subject;
	struct rig rig;

	if (!tap(!rig_start(&rig, QUEUE_BYTES_DEFAULT), "the worker starts") ||
	    !tap(subject_start(&subject), "a process of two threads starts"))
		return 1;
	tasks_are_found_by_what_they_are(&rig, &subject);
	all_has_kernel_threads(&rig);
	cgroups_of_both_versions(&rig, &subject);
	verdicts_follow_changes(&rig, &subject);
	kill(subject.pid, SIGKILL);
	waitpid(subject.pid, NULL, 0);
	rig_stop(&rig);
	return tap_status();
}
