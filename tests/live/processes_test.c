// SPDX-License-Identifier: Apache-2.0
/*
 * A tree of processes that end in every way there is: each is told once, with what wait(2) says.
 */
#include <limits.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>

#include "../../signals/process/process.h"
#include "cgroups.h"
#include "../../src/worker/cgroup_paths.h"
#include "rig.h"
#include "tap.h"

#define STORM	  200
#define CONTAINER "c0ffee6789abcdef0123456789abcdef0123456789abcdef0123456789abcdef"

enum { BY_CODE, BY_SIGNAL, BY_THREAD, BY_EXEC, WAYS };

/* What wait(2) says of each, and whether it must have been seen to exec. */
struct truth {
	u32 root;
	u32 pids[WAYS];
	s32 status[WAYS];
};

static void *end_all(void *unused)
{
	(void)unused;
	usleep(20000);
	syscall(SYS_exit_group, 5);
	return NULL;
}

static void end_by(int way)
{
	pthread_t thread;

	if (way == BY_CODE)
		_exit(3);
	if (way == BY_SIGNAL)
		raise(SIGKILL);
	if (way == BY_THREAD && !pthread_create(&thread, NULL, end_all, NULL))
		syscall(SYS_exit, 7); /* the leader alone: this is not the process's status */
	if (way == BY_EXEC)
		execl("/bin/sh", "sh", "-c", "exit 9", NULL);
	_exit(99);
}

/* The root of the tree: waits for a byte, then has its children. */
static void run_tree(int sock, void *unused)
{
	struct truth truth = {.root = (u32)getpid()};
	char go;

	(void)unused;
	signal(SIGCHLD, SIG_DFL);
	if (socket_receive(sock, &go, 1, NULL, -1) != 1)
		return;
	for (int way = 0; way < WAYS; way++) {
		pid_t child = fork();

		if (child == 0)
			end_by(way);
		waitpid(child, &truth.status[way], 0);
		truth.pids[way] = (u32)child;
	}
	for (int i = 0; i < STORM; i++) {
		pid_t child = fork();

		if (child == 0)
			_exit(1);
		waitpid(child, NULL, 0);
	}
	socket_send(sock, &truth, sizeof(truth), -1);
	socket_receive(sock, &go, 1, NULL, -1);
}

static const struct process_row *find(const struct process_book *book, u32 pid)
{
	for (u32 i = 0; i < book->high_water; i++)
		if (book->rows[i].is_used && book->rows[i].pid == pid)
			return &book->rows[i];
	return NULL;
}

/* The ledger's probes, which know who is followed, then the signal's own. */
static struct probe probes[64];
static size_t probe_count;

static void add_probes(const struct signal *signal)
{
	memcpy(&probes[probe_count], signal->probes, signal->probe_count * sizeof(*probes));
	probe_count += signal->probe_count;
}

static size_t probe_index(const char *program)
{
	size_t i = 0;

	while (strcmp(probes[i].program, program))
		i++;
	return i;
}

/* Looks for the root of the tree among the rows that are written. */
struct container_sink {
	struct sink sink;
	u32 pid;
	char container[80], service[80];
};

static void find_container(struct sink *sink, const struct table *table, const struct cell *cells)
{
	struct container_sink *found = (struct container_sink *)sink;

	if (strcmp(table->name, "processes") || cells[0].number != found->pid)
		return;
	if (cells[7].kind == CELL_TEXT)
		snprintf(found->container, sizeof(found->container), "%.*s", (int)cells[7].length,
			 cells[7].text);
	if (cells[10].kind == CELL_TEXT)
		snprintf(found->service, sizeof(found->service), "%.*s", (int)cells[10].length,
			 cells[10].text);
}

/* While the cgroup is still there, as at the end of a window. */
static void container_is_named(struct process_book *book, u32 pid)
{
	struct container_sink found = {.sink.add = find_container, .pid = pid};

	signal_process.flush(book, 0, &found.sink);
	tap(!strcmp(found.container, CONTAINER) && !strcmp(found.service, "container c0ffee6789ab"),
	    "it is '%s' of container %s", found.service, found.container);
}

/* Follows the tree from before its first child to after its last. */
static bool follow(struct rig *rig, struct truth *ret_truth, struct process_book *ret_book)
{
	struct filter_key tree = {.kind = FILTER_BY_TREE};
	struct capture_config config = rig_config(rig, probes, probe_count);
	struct capture *capture;
	struct health health;
	struct child root;
	struct cgroup_mount mounts[CGROUP_MOUNTS_MAX];
	const struct cgroup_mount *v2 =
		v2_of(mounts, cgroup_list_mounts(mounts, CGROUP_MOUNTS_MAX));
	bool is_good, is_contained;

	if (child_start(&root, run_tree, NULL, -1))
		return false;
	is_contained = v2 && make_dir(v2, "docker-" CONTAINER ".scope") &&
		       write_pid(v2, "docker-" CONTAINER ".scope", root.pid);
	tree.value[0] = (u64)root.pid;
	config.filters = &tree;
	capture = rig_capture(&config);
	if (!tap(capture != NULL, "the capture loads"))
		return false;
	for (size_t i = 0; i < config.probe_count; i++)
		tap(!capture_failure(capture, i)->err || probes[i].is_optional ||
			    rig_has_stand_in(&config, capture, probes[i].program),
		    "%s: %s", probes[i].program, capture_failure(capture, i)->excerpt);
	is_good = !capture_run_iter(capture, probe_index("ledger_seed")) &&
		  !capture_run_iter(capture, probe_index("process_seed")) &&
		  !socket_send(root.sock, "", 1, -1) &&
		  socket_receive(root.sock, ret_truth, sizeof(*ret_truth), NULL, 20000) ==
			  sizeof(*ret_truth);
	tap(is_good, "the tree runs");
	is_good = is_good && !worker_find_cgroups(rig->worker) &&
		  rig_state(rig, capture, SIG_PROCESS, ret_book, sizeof(*ret_book));
	capture_health(capture, &health);
	tap(health_imbalance(&health) == 0 && health_lost(&health) == 0, "no record was lost");
	capture_close(capture);
	if (is_good && is_contained) {
		struct process_book *copy = malloc(sizeof(*copy));

		*copy = *ret_book;
		container_is_named(copy, (u32)root.pid);
		free(copy);
	}
	child_stop(&root, 0);
	if (is_contained)
		remove_dir(v2, "docker-" CONTAINER ".scope");
	return is_good;
}

static void ends_are_what_wait_says(const struct process_book *book, const struct truth *truth)
{
	static const char *const ways[WAYS] = {"exit code", "signal", "a thread's exit_group",
					       "exec and exit code"};

	for (int way = 0; way < WAYS; way++) {
		const struct process_row *row = find(book, truth->pids[way]);

		tap(row && row->end_ns && row->exit_code == truth->status[way] &&
			    row->parent == truth->root,
		    "%s: %d, and wait says %d", ways[way], row ? row->exit_code : -1,
		    truth->status[way]);
	}
}

static void programs_are_named(const struct process_book *book, const struct truth *truth)
{
	const struct process_row *root = find(book, truth->root);
	const struct process_row *execed = find(book, truth->pids[BY_EXEC]);
	char own[PATH_MAX] = "";

	if (readlink("/proc/self/exe", own, sizeof(own) - 1) < 0)
		own[0] = '\0';
	tap(root && !strcmp(root->exe, own), "one that was there runs %s, as /proc says: %s",
	    root ? root->exe : "?", own);
	tap(execed && !strcmp(execed->exe, "/bin/sh") && !strncmp(execed->comm, "sh", 3),
	    "one that was made runs %s", execed ? execed->exe : "?");
	tap(book->exec_count == 1 && book->execs[0].pid == truth->pids[BY_EXEC],
	    "one exec was told: %u", book->exec_count);
	tap(root && root->pid_ns && root->mnt_ns && root->net_ns && root->cgroup &&
		    !root->is_kernel,
	    "namespaces %u %u %u, cgroup %llu", root ? root->pid_ns : 0, root ? root->mnt_ns : 0,
	    root ? root->net_ns : 0, root ? (unsigned long long)root->cgroup : 0);
}

static void namespaces_are_those_of_proc(const struct process_book *book, const struct truth *truth)
{
	const struct process_row *root = find(book, truth->root);
	const struct {
		const char *name;
		u32 inode;
	} rows[] = {{"pid", root ? root->pid_ns : 0},
		    {"mnt", root ? root->mnt_ns : 0},
		    {"net", root ? root->net_ns : 0}};

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		char path[64], link[64] = "", expected[64];

		snprintf(path, sizeof(path), "/proc/self/ns/%s", rows[i].name);
		snprintf(expected, sizeof(expected), "%s:[%u]", rows[i].name, rows[i].inode);
		if (readlink(path, link, sizeof(link) - 1) > 0)
			tap(!strcmp(link, expected), "namespace %s, and /proc says %s", expected,
			    link);
	}
}

int main(void)
{
	struct process_book *book = calloc(1, sizeof(*book));
	struct truth truth = {0};
	struct rig rig;
	u64 ended = 0;

	add_probes(&signal_ledger);
	add_probes(&signal_process);
	if (!tap(!rig_start(&rig, QUEUE_BYTES_DEFAULT), "the worker starts") ||
	    !follow(&rig, &truth, book))
		return 1;
	rig_stop(&rig);
	for (u32 i = 0; i < book->high_water; i++)
		ended += book->rows[i].is_used && book->rows[i].end_ns;
	tap(book->known == STORM + WAYS + 1 && ended == STORM + WAYS,
	    "%llu processes, %llu of them ended", (unsigned long long)book->known,
	    (unsigned long long)ended);
	ends_are_what_wait_says(book, &truth);
	programs_are_named(book, &truth);
	namespaces_are_those_of_proc(book, &truth);
	free(book);
	return tap_status();
}
