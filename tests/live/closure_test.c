// SPDX-License-Identifier: Apache-2.0
/*
 * The ledger on a real kernel: a child that sleeps, talks over pipes, spins, forks and makes
 * threads. For each of its threads the parts are the wall, to the nanosecond, where the wall is
 * the kernel's own start time and the time of the last switch. Also runs in the kernel matrix.
 */
#include "tap.h"

#include <pthread.h>
#include <signal.h>
#include <stdlib.h>

#include "../../signals/ledger/ledger.h"
#include "../../src/base/clock.h"
#include "rig.h"

/* What is wrong with a book, in one place; all zero when all is well. */
struct quality {
	u64 closure_error_ns; /* sum over threads of |parts - wall| */
	u64 unattributed_ns;
	u64 wall_ns;	/* of all threads together */
	u64 missed;	/* switches that never reached us */
	u64 miscounted; /* |our switches - the kernel's|, summed over threads */
};

static u64 distance(u64 a, u64 b)
{
	return a > b ? a - b : b - a;
}

static void add_quality(struct quality *quality, const struct rec_ledger *row)
{
	u64 wall = row->end_ns - row->begin_ns, parts = 0;

	for (int i = 0; i < STATE_COUNT; i++)
		parts += row->ns[i];
	quality->closure_error_ns += distance(parts, wall);
	quality->unattributed_ns += row->ns[STATE_UNATTRIBUTED];
	quality->wall_ns += wall;
	quality->missed += row->missed;
	quality->miscounted += distance(row->voluntary, row->kernel_voluntary) +
			       distance(row->involuntary, row->kernel_involuntary);
}

static void find_quality(const struct ledger_book *book, struct quality *ret_quality)
{
	*ret_quality = (struct quality){0};
	for (u64 i = 0; i < book->count; i++)
		add_quality(ret_quality, &book->rows[i]);
	if (book->folded)
		add_quality(ret_quality, &book->other);
}

static void *nap_and_spin(void *unused)
{
	u64 end;

	usleep(20000);
	end = clock_now_ns() + 20 * NS_PER_MS;
	while (clock_now_ns() < end)
		;
	return unused;
}

static void make_threads(void)
{
	pthread_t threads[20];

	for (int i = 0; i < 20; i++)
		pthread_create(&threads[i], NULL, nap_and_spin, NULL);
	for (int i = 0; i < 20; i++)
		pthread_join(threads[i], NULL);
}

static void ping_pong(void)
{
	int there[2], back[2];
	char byte = 0;

	if (pipe(there) || pipe(back))
		_exit(1);
	if (fork() == 0) {
		for (int i = 0; i < 1000; i++)
			if (read(there[0], &byte, 1) != 1 || write(back[1], &byte, 1) != 1)
				_exit(1);
		_exit(0);
	}
	for (int i = 0; i < 1000; i++)
		if (write(there[1], &byte, 1) != 1 || read(back[0], &byte, 1) != 1)
			_exit(1);
	wait(NULL);
}

static void workload(int go_fd)
{
	char go;

	if (read(go_fd, &go, 1) != 1)
		_exit(1);
	make_threads();
	ping_pong();
	for (int i = 0; i < 100; i++) {
		if (fork() == 0)
			_exit(0);
		wait(NULL);
	}
	_exit(0);
}

static size_t probe_index(const char *program)
{
	size_t i = 0;

	while (strcmp(signal_ledger.probes[i].program, program))
		i++;
	return i;
}

static int follow_workload(struct rig *rig, struct ledger_book *book, struct health *health)
{
	struct capture_config config =
		rig_config(rig, signal_ledger.probes, signal_ledger.probe_count);
	struct capture *capture;
	size_t refused = 0;
	int fds[2];
	struct filter_key tree = {.kind = FILTER_BY_TREE};
	pid_t child;

	if (pipe(fds))
		return -errno;
	child = fork();
	if (child == 0)
		workload(fds[0]);
	tree.value[0] = (u64)child;
	config.filters = &tree;
	capture = rig_capture(&config);
	for (size_t i = 0; capture && i < config.probe_count; i++) {
		const struct failure *failure = capture_failure(capture, i);

		if (failure->err)
			printf("# %s: %s: %s\n", config.probes[i].program, strerror(failure->err),
			       failure->excerpt);
		refused += failure->err && !config.probes[i].is_optional &&
			   !rig_has_stand_in(&config, capture, config.probes[i].program);
	}
	if (!capture || refused) {
		kill(child, SIGKILL);
		capture_close(capture);
		return -EOPNOTSUPP;
	}
	capture_run_iter(capture, probe_index("ledger_seed"));
	if (write(fds[1], "", 1) != 1)
		return -errno;
	waitpid(child, NULL, 0);
	usleep(50000);
	capture_run_iter(capture, probe_index("ledger_rows"));
	rig_state(rig, capture, SIG_LEDGER, book, sizeof(*book));
	capture_health(capture, health);
	capture_close(capture);
	return 0;
}

int main(void)
{
	struct ledger_book *book = calloc(1, sizeof(*book));
	struct quality quality;
	struct health health = {0};
	struct rig rig;
	u64 dead = 0;

	if (!tap(!rig_start(&rig, QUEUE_BYTES_DEFAULT), "the worker starts") ||
	    !tap(!follow_workload(&rig, book, &health), "the ledger follows a child"))
		return 1;
	rig_stop(&rig);
	find_quality(book, &quality);
	for (u64 i = 0; i < book->count; i++)
		dead += book->rows[i].flags & LEDGER_LAST;
	tap(book->count == 122 && dead == 122, "all 122 threads told their end: %llu of %llu",
	    (unsigned long long)dead, (unsigned long long)book->count);
	tap(quality.closure_error_ns == 0, "parts - wall = %llu ns",
	    (unsigned long long)quality.closure_error_ns);
	tap(quality.unattributed_ns * 1000 <= quality.wall_ns, "unattributed %llu of %llu ns",
	    (unsigned long long)quality.unattributed_ns, (unsigned long long)quality.wall_ns);
	tap(health_imbalance(&health) == 0 && health_lost(&health) == 0, "no record was lost");
	tap(quality.miscounted <= quality.missed,
	    "switches are the kernel's own count: %llu off, %llu missed",
	    (unsigned long long)quality.miscounted, (unsigned long long)quality.missed);
	free(book);
	return tap_status();
}
