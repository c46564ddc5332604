/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the live programs share: a queue, a worker, and a child that makes one rare syscall a
 * known number of times.
 */
#ifndef DWELL_TESTS_RIG_H
#define DWELL_TESTS_RIG_H

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "../../signals/canary/canary.h"
#include "../../src/base/child.h"
#include "../../src/base/socket.h"
#include "../../src/capture/capture.h"
#include "../../src/model/signal.h"
#include "../../src/worker/worker.h"

#define RARE_SYSCALL SYS_sched_get_priority_min

struct rig {
	struct queue *queue;
	struct worker *worker;
	struct child firer;
	struct filter_key filter; /* the firer */
};

static inline void make_syscalls(u64 count)
{
	while (count--)
		syscall(RARE_SYSCALL, 0);
}

static inline void firer_run(int sock, void *unused)
{
	u64 count;

	(void)unused;
	while (socket_receive(sock, &count, sizeof(count), NULL, -1) == sizeof(count)) {
		make_syscalls(count);
		if (socket_send(sock, &count, sizeof(count), -1))
			return;
	}
}

static inline int rig_start(struct rig *rig, size_t queue_bytes)
{
	int err = queue_create(queue_bytes, &rig->queue);

	if (!err)
		err = worker_start(rig->queue, NULL, 0, &rig->worker);
	if (!err)
		err = child_start(&rig->firer, firer_run, NULL, -1);
	rig->filter = (struct filter_key){FILTER_BY_PID, {(u64)rig->firer.pid}};
	return err;
}

static inline bool rig_fire(struct rig *rig, u64 count)
{
	u64 done = 0;

	return !socket_send(rig->firer.sock, &count, sizeof(count), -1) &&
	       socket_receive(rig->firer.sock, &done, sizeof(done), NULL, -1) == sizeof(done) &&
	       done == count;
}

static inline struct capture_config rig_config(const struct rig *rig, const struct probe *probes,
					       size_t count)
{
	struct capture_config config = {
		.probes = probes,
		.probe_count = count,
		.filters = &rig->filter,
		.filter_count = 1,
		.ring_bytes = 1u << 20,
		.worker_pid = worker_pid(rig->worker),
		.canary_syscall = RARE_SYSCALL,
		.queue = rig->queue,
	};
	static u64 token;

	capture_live_defaults(&config.live);
	config.live.scope = SCOPE_LISTED;
	config.live.canary_token = ++token;
	return config;
}

/* Opens, loads and attaches; NULL with the reason on stderr. */
static inline struct capture *rig_capture(const struct capture_config *config)
{
	struct capture *capture;
	int err = capture_open(config, &capture);

	if (err)
		return NULL;
	err = capture_load(capture);
	if (!err)
		err = capture_attach(capture);
	if (err) {
		fprintf(stderr, "# %s: %s\n", strerror(-err), capture_failure(capture, 0)->excerpt);
		capture_close(capture);
		return NULL;
	}
	return capture;
}

/* Detaches, and copies what the worker keeps of a signal; false if the worker is gone. */
static inline bool rig_state(struct rig *rig, struct capture *capture, int signal_id, void *state,
			     size_t size)
{
	capture_detach(capture);
	return worker_signal_state(rig->worker, signal_id, state, size) == (ssize_t)size;
}

/* Detaches, and how many canaries with the config's token came through. */
static inline u64 rig_count(struct rig *rig, struct capture *capture,
			    const struct capture_config *config)
{
	struct canary_tally tally = {0};

	if (!rig_state(rig, capture, SIG_CANARY, &tally, sizeof(tally)))
		return ~0ULL;
	return tally.token == config->live.canary_token ? tally.count : 0;
}

static inline void rig_stop(struct rig *rig)
{
	child_stop(&rig->firer, 0);
	worker_stop(rig->worker);
	queue_destroy(rig->queue);
}

/* Whether another program does the work of one that this kernel refuses. */
static inline bool rig_has_stand_in(const struct capture_config *config, struct capture *capture,
				    const char *program)
{
	for (size_t i = 0; i < config->probe_count; i++)
		if (config->probes[i].fallback_of &&
		    !strcmp(config->probes[i].fallback_of, program) &&
		    !capture_is_resting(capture, i) && !capture_failure(capture, i)->err)
			return true;
	return false;
}

#endif
