// SPDX-License-Identifier: Apache-2.0
/*
 * The engine's side: requests out, replies under a deadline.
 */
#include "opener.h"

#include <errno.h>
#include <linux/capability.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "../base/blocked_read.h"
#include "../base/clock.h"
#include "../base/socket.h"
#include "../base/sandbox.h"
#include "../base/capabilities.h"
#include "../base/spawner.h"
#include "hang_budget.h"
#include "opener_inside.h"

#define RETRY_NS (1 * NS_PER_S) /* after an opener could not be started */
#define WHO	 "process that opens files"

struct opener {
	struct spawner *spawner;
	size_t role;		     /* of the spawner's */
	struct sandbox_notes *notes; /* what was refused to openers; the role's */
	struct helper helper;	     /* pid 0: none */
	u64 retry_ns;
	u32 serial;	  /* of the last request; a reply echoes it */
	u32 pid;	  /* the process that the calls are about; 0: none */
	bool has_process; /* the opener that lives knows it */
	struct hang_budget budget;
	struct opener_counts counts;
	u64 ended_cpu_ns; /* of openers before this one */
	u64 cpu_ns;	  /* of this one, when last read */
};

/*
 * To see into other processes and to read what is mapped there. map_files asks for
 * CAP_CHECKPOINT_RESTORE, which came with 5.9.
 */
static const u64 capabilities = CAPABILITY(CAP_SYS_PTRACE) | CAPABILITY(CAP_DAC_READ_SEARCH) |
				CAPABILITY(CAP_CHECKPOINT_RESTORE);

int opener_make_role(struct spawner_role *ret_role)
{
	struct sandbox_notes *notes;
	int err = sandbox_notes_make(&notes);

	if (!err)
		*ret_role = (struct spawner_role){opener_run, notes, capabilities};
	return err;
}

void opener_free_role(struct spawner_role *role)
{
	sandbox_notes_free(role->context);
}

int opener_start(struct spawner *spawner, size_t place, const struct spawner_role *role,
		 struct opener **ret_opener)
{
	struct opener *opener = calloc(1, sizeof(*opener));
	int err;

	if (!opener)
		return -ENOMEM;
	opener->helper = (struct helper){.sock = -1, .pid_fd = -1};
	opener->spawner = spawner;
	opener->role = place;
	opener->notes = role->context;
	err = spawner_spawn(spawner, place, &opener->helper);
	if (err) {
		opener_stop(opener);
		return err;
	}
	*ret_opener = opener;
	return 0;
}

void opener_stop(struct opener *opener)
{
	if (!opener)
		return;
	helper_kill(&opener->helper);
	hang_budget_close(&opener->budget);
	sandbox_report(opener->notes, WHO);
	free(opener);
}

pid_t opener_pid(const struct opener *opener)
{
	return opener->helper.pid;
}

/* One that was killed by somebody else takes along what it used since it was last read. */
static struct cost read_cost(struct opener *opener)
{
	struct cost cost = {0};

	if (opener->helper.pid)
		cost_add_process(opener->helper.pid, &cost);
	if (cost.user_cpu_ns > opener->cpu_ns)
		opener->cpu_ns = cost.user_cpu_ns;
	return cost;
}

void opener_add_cost(struct opener *opener, struct cost *cost)
{
	cost->rss_bytes += read_cost(opener).rss_bytes;
	cost->user_cpu_ns += opener->ended_cpu_ns + opener->cpu_ns;
}

u64 opener_hangs(const struct opener *opener)
{
	return opener->counts.hangs;
}

void opener_counts(const struct opener *opener, struct opener_counts *ret_counts)
{
	*ret_counts = opener->counts;
}

void opener_reader_hung(struct opener *opener, u64 dev, int pid_fd)
{
	opener->counts.hangs++;
	hang_budget_take(&opener->budget, pid_fd);
	hang_budget_leave_alone(&opener->budget, dev, 0);
}

/* --- one call --- */

static void lose_helper(struct opener *opener)
{
	read_cost(opener);
	opener->ended_cpu_ns += opener->cpu_ns;
	opener->cpu_ns = 0;
	helper_kill(&opener->helper);
	opener->has_process = false;
}

static int replace_helper(struct opener *opener)
{
	u64 now_ns = clock_now_ns();
	int err;

	if (opener->helper.pid)
		return 0;
	if (now_ns < opener->retry_ns)
		return -EAGAIN;
	err = spawner_spawn(opener->spawner, opener->role, &opener->helper);
	if (err)
		opener->retry_ns = now_ns + RETRY_NS;
	else
		opener->counts.replaced++;
	return err;
}

/*
 * The next reply: 0; -EBUSY if it does not come in time, and then the opener is killed; -EPIPE if
 * the opener is gone.
 */
static int receive(struct opener *opener, int deadline_ms, struct opener_reply *ret_reply,
		   int *ret_fd)
{
	ssize_t got = -ETIMEDOUT;

	for (int waited = 0; got == -ETIMEDOUT && waited < OPENER_PATIENCE_MS;
	     waited += OPENER_FIRST_MS) {
		if (waited >= deadline_ms && !target_is_running(opener->helper.pid))
			break;
		got = socket_receive(opener->helper.sock, ret_reply, sizeof(*ret_reply), ret_fd,
				     OPENER_FIRST_MS);
	}
	if (got == sizeof(*ret_reply) && ret_reply->serial == opener->serial)
		return 0;
	if (got == -ETIMEDOUT) {
		opener->counts.hangs++;
		hang_budget_take(&opener->budget, opener->helper.pid_fd);
	}
	lose_helper(opener);
	return got == -ETIMEDOUT ? -EBUSY : -EPIPE;
}

static int send_request(struct opener *opener, const struct opener_request *request)
{
	struct opener_request numbered = *request;
	int err = replace_helper(opener);

	if (err)
		return err;
	numbered.serial = ++opener->serial;
	err = socket_send(opener->helper.sock, &numbered, sizeof(numbered), -1);
	if (err)
		lose_helper(opener);
	return err ? -EPIPE : 0;
}

static int deadline_of(struct opener *opener, const struct opener_request *request)
{
	u64 dev = request->facts.key.dev;

	if (request->what == OPENER_MAPPED_FILE && !blocked_read_may_hang(dev))
		return OPENER_PATIENCE_MS;
	if (request->what == OPENER_MAPPED_FILE && !hang_budget_knows(&opener->budget, dev, 0))
		return OPENER_FIRST_MS;
	if (request->what == OPENER_FACTS && !hang_budget_knows(&opener->budget, 0, opener->pid))
		return OPENER_FIRST_MS;
	return OPENER_DEADLINE_MS;
}

/* One reply; whoever was killed is replaced, and the new one is asked again, once. */
static int exchange(struct opener *opener, const struct opener_request *request,
		    struct opener_reply *ret_reply, int *ret_fd)
{
	int deadline_ms = deadline_of(opener, request), err = -EPIPE;

	for (int attempt = 0; attempt < 2 && err == -EPIPE; attempt++) {
		err = send_request(opener, request);
		if (!err)
			err = receive(opener, deadline_ms, ret_reply, ret_fd);
	}
	sandbox_report(opener->notes, WHO);
	if (err == -EPIPE || err == -EAGAIN)
		return -EBUSY; /* nobody is there to be asked */
	return err ? err : ret_reply->err;
}

/* A new opener is told which process the calls are about. */
static int recall_process(struct opener *opener)
{
	const struct opener_request request = {.what = OPENER_PROCESS, .pid = opener->pid};
	struct opener_reply reply;
	int maps_fd = -1, err;

	if (opener->has_process)
		return 0;
	if (!opener->pid)
		return -ESRCH;
	err = exchange(opener, &request, &reply, &maps_fd);
	if (maps_fd >= 0)
		close(maps_fd);
	opener->has_process = !err;
	return err;
}

/* --- the calls --- */

int opener_process(struct opener *opener, u32 pid, int *ret_maps_fd)
{
	const struct opener_request request = {.what = OPENER_PROCESS, .pid = pid};
	struct opener_reply reply;
	int err;

	*ret_maps_fd = -1;
	err = exchange(opener, &request, &reply, ret_maps_fd);
	opener->pid = pid;
	opener->has_process = !err;
	return err;
}

/* Those from first on, as far as they are answered: how many are known then, or -errno. */
static int receive_facts(struct opener *opener, const struct unwinding_file *files, u32 first,
			 u32 count, struct file_facts *ret_facts)
{
	struct opener_request request = {.what = OPENER_FACTS, .count = count - first};
	struct opener_reply reply;
	int err = recall_process(opener), deadline_ms = deadline_of(opener, &request), fd;
	int refusal = 0;

	memcpy(request.files, files + first, (count - first) * sizeof(*files));
	if (!err)
		err = send_request(opener, &request);
	/* All replies are taken, also after one that says no: none is left for the next request. */
	for (u32 i = first; i < count && !err; i++) {
		err = receive(opener, deadline_ms, &reply, &fd);
		if (err == -EBUSY) {
			ret_facts[i] = (struct file_facts){.refusal = FILE_UNREACHABLE};
			hang_budget_leave_alone(&opener->budget, 0, opener->pid);
			return (int)i + 1;
		}
		if (!err && reply.err && !refusal)
			refusal = reply.err;
		ret_facts[i] = reply.facts;
	}
	if (err)
		return err;
	return refusal ? refusal : (int)count;
}

int opener_facts(struct opener *opener, const struct unwinding_file *files, u32 count,
		 struct file_facts *ret_facts)
{
	bool was_killed = false;
	u32 known = 0;

	if (count > UNWINDING_FILES_MAX)
		return -E2BIG;
	if (hang_budget_is_left_alone(&opener->budget, 0, opener->pid))
		for (; known < count; known++)
			ret_facts[known] = (struct file_facts){.refusal = FILE_UNREACHABLE};
	while (known < count) {
		int got = receive_facts(opener, files, known, count, ret_facts);

		if (got < 0 && (got != -EPIPE || was_killed))
			return got == -EPIPE || got == -EAGAIN ? -EBUSY : got;
		if (got < 0)
			was_killed = true;
		else
			known = (u32)got;
	}
	return 0;
}

int opener_mapped_file(struct opener *opener, const struct unwinding_file *where,
		       struct file_facts *facts)
{
	struct opener_request request = {.what = OPENER_MAPPED_FILE, .count = 1, .facts = *facts};
	struct opener_reply reply;
	int fd = -1, err;

	if (facts->refusal != FILE_TAKEN)
		return -1;
	facts->refusal = FILE_UNREACHABLE;
	if (hang_budget_is_left_alone(&opener->budget, facts->key.dev, 0) ||
	    (blocked_read_may_hang(facts->key.dev) && hang_budget_is_exhausted(&opener->budget)))
		return -1;
	request.files[0] = *where;
	err = recall_process(opener);
	if (!err)
		err = exchange(opener, &request, &reply, &fd);
	if (err == -EBUSY)
		hang_budget_leave_alone(&opener->budget, facts->key.dev, 0);
	if (err == -EBUSY || err == -ESRCH)
		return -1;
	facts->refusal = reply.facts.refusal;
	if (fd < 0 && facts->refusal == FILE_TAKEN)
		facts->refusal = FILE_UNREACHABLE;
	return fd;
}

/* By its name, in the root of a process: which file system that is on is not known before. */
static int open_by_name(struct opener *opener, u32 pid, const struct opener_request *request,
			int *ret_fd)
{
	struct opener_reply reply;
	int err;

	if (hang_budget_is_left_alone(&opener->budget, DEV_BY_NAME, pid))
		return -EBUSY;
	err = exchange(opener, request, &reply, ret_fd);
	if (err == -EBUSY)
		hang_budget_leave_alone(&opener->budget, DEV_BY_NAME, pid);
	return err;
}

int opener_debug_file(struct opener *opener, const u8 *build_id, size_t size, bool is_trusted)
{
	struct opener_request request = {
		.what = OPENER_DEBUG_FILE,
		.is_trusted = is_trusted,
		.build_id_size = (u32)size,
	};
	int fd = -1, err;

	if (size > BUILD_ID_MAX)
		return -EINVAL;
	memcpy(request.build_id, build_id, size);
	err = recall_process(opener);
	if (!err)
		err = open_by_name(opener, opener->pid, &request, &fd);
	return err ? err : fd;
}

int opener_perf_map(struct opener *opener, u32 pid, struct target_map *ret_map)
{
	const struct opener_request request = {.what = OPENER_PERF_MAP, .pid = pid};

	/* It is looked for again in each window; a debug file is once, and so is not held back. */
	if (hang_budget_is_exhausted(&opener->budget))
		return -EBUSY;
	return open_by_name(opener, pid, &request, &ret_map->fd);
}
