// SPDX-License-Identifier: Apache-2.0
/*
 * The engine's side: requests out, replies under a deadline.
 */
#include "opener.h"

#include <errno.h>
#include <linux/capability.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include "../base/clock.h"
#include "../base/socket.h"
#include "../base/sandbox.h"
#include "../base/capabilities.h"
#include "../base/spawner.h"
#include "opener_inside.h"

#define RETRY_NS (1 * NS_PER_S)	 /* after an opener could not be started */
#define HUNG_NS	 (60 * NS_PER_S) /* that what hung twice is left alone */
#define HUNG_MAX 16

/* What many hanging files may take from the measurement: 4 x 100 ms in 10 s. */
#define HANGS_NS  (10 * NS_PER_S)
#define HANGS_MAX 4

#define WHO "process that opens files"

/* A file system, or the process that hung before its file system was known. */
struct hung {
	u64 dev;
	u32 pid;
	u64 until_ns;
};

struct opener {
	struct spawner *spawner;
	size_t role;		     /* of the spawner's */
	struct sandbox_notes *notes; /* what was refused to openers; the role's */
	struct helper helper;	     /* pid 0: none */
	u64 retry_ns;
	u32 serial;	  /* of the last request; a reply echoes it */
	u32 pid;	  /* the process that the calls are about; 0: none */
	bool has_process; /* the opener that lives knows it */
	struct hung hung[HUNG_MAX];
	size_t hung_next;
	int abandoned[HUNG_MAX]; /* openers that were killed in a hang: pid_fds */
	size_t abandoned_count;
	u64 hangs_since_ns;
	u32 hangs; /* since then */
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
	while (opener->abandoned_count)
		close(opener->abandoned[--opener->abandoned_count]);
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

/* --- what hangs --- */

/* Files on a block device do not hang without the host's doing so. */
static bool may_hang(u64 dev)
{
	return !major(dev);
}

/* A kill does not end a process that the kernel keeps waiting. */
static void abandon_helper(struct opener *opener)
{
	u64 now_ns = clock_now_ns();

	opener->counts.hangs++;
	if (now_ns - opener->hangs_since_ns >= HANGS_NS) {
		opener->hangs_since_ns = now_ns;
		opener->hangs = 0;
	}
	opener->hangs++;
	if (opener->abandoned_count < HUNG_MAX)
		opener->abandoned[opener->abandoned_count++] = dup(opener->helper.pid_fd);
}

static void forget_ended(struct opener *opener)
{
	for (size_t i = opener->abandoned_count; i > 0; i--) {
		struct pollfd ended = {.fd = opener->abandoned[i - 1], .events = POLLIN};

		if (poll(&ended, 1, 0) != 1)
			continue;
		close(ended.fd);
		opener->abandoned[i - 1] = opener->abandoned[--opener->abandoned_count];
	}
}

/* No more time, or no more processes, for what may hang. */
static bool is_exhausted(struct opener *opener)
{
	forget_ended(opener);
	return opener->abandoned_count == HUNG_MAX ||
	       (opener->hangs >= HANGS_MAX && clock_now_ns() - opener->hangs_since_ns < HANGS_NS);
}

static struct hung *find_hung(struct opener *opener, u64 dev, u32 pid)
{
	for (size_t i = 0; i < HUNG_MAX; i++)
		if (opener->hung[i].until_ns && opener->hung[i].dev == dev &&
		    opener->hung[i].pid == pid)
			return &opener->hung[i];
	return NULL;
}

static void leave_alone(struct opener *opener, u64 dev, u32 pid)
{
	struct hung *hung = find_hung(opener, dev, pid);

	if (hung)
		hung->until_ns = clock_now_ns() + HUNG_NS;
	else
		opener->hung[opener->hung_next++ % HUNG_MAX] =
			(struct hung){dev, pid, clock_now_ns() + OPENER_RETRY_NS};
}

static bool is_left_alone(struct opener *opener, u64 dev, u32 pid)
{
	const struct hung *hung = find_hung(opener, dev, pid);

	return hung && clock_now_ns() < hung->until_ns;
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
	if (got == -ETIMEDOUT)
		abandon_helper(opener);
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

	if (request->what == OPENER_MAPPED_FILE && !may_hang(dev))
		return OPENER_PATIENCE_MS;
	if (request->what == OPENER_MAPPED_FILE && !find_hung(opener, dev, 0))
		return OPENER_FIRST_MS;
	if (request->what == OPENER_FACTS && !find_hung(opener, 0, opener->pid))
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
			leave_alone(opener, 0, opener->pid);
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
	if (is_left_alone(opener, 0, opener->pid))
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
	if (is_left_alone(opener, facts->key.dev, 0) ||
	    (may_hang(facts->key.dev) && is_exhausted(opener)))
		return -1;
	request.files[0] = *where;
	err = recall_process(opener);
	if (!err)
		err = exchange(opener, &request, &reply, &fd);
	if (err == -EBUSY)
		leave_alone(opener, facts->key.dev, 0);
	if (err == -EBUSY || err == -ESRCH)
		return -1;
	facts->refusal = reply.facts.refusal;
	if (fd < 0 && facts->refusal == FILE_TAKEN)
		facts->refusal = FILE_UNREACHABLE;
	return fd;
}

int opener_debug_file(struct opener *opener, const u8 *build_id, size_t size, bool is_trusted)
{
	struct opener_request request = {
		.what = OPENER_DEBUG_FILE,
		.is_trusted = is_trusted,
		.build_id_size = (u32)size,
	};
	struct opener_reply reply;
	int fd = -1, err;

	if (size > BUILD_ID_MAX)
		return -EINVAL;
	memcpy(request.build_id, build_id, size);
	err = recall_process(opener);
	if (!err)
		err = exchange(opener, &request, &reply, &fd);
	return err ? err : fd;
}

int opener_perf_map(struct opener *opener, u32 pid, struct target_map *ret_map)
{
	const struct opener_request request = {.what = OPENER_PERF_MAP, .pid = pid};
	struct opener_reply reply;

	return exchange(opener, &request, &reply, &ret_map->fd);
}
