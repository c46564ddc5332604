// SPDX-License-Identifier: Apache-2.0
/*
 * storm N none|worker|resume|all: the canary fires N times while nobody, the worker (to the
 * end, or for a while) or all of dwell is stopped by SIGSTOP. Received + lost by cause must
 * equal sent, exactly.
 * storm 0 forever: fires until killed; for the test that kills it.
 */
#include "tap.h"

#include <signal.h>
#include <stdlib.h>

#include "../../src/base/clock.h"
#include "rig.h"

static const struct probe tp_btf = {.program = "canary_tp_btf"};

/* Stops the process for as long as the events last. */
static void fire_while_stopped(pid_t target, struct rig *rig, u64 count)
{
	pid_t helper = fork();

	if (helper == 0) {
		kill(target, SIGSTOP);
		rig_fire(rig, count);
		kill(target, SIGCONT);
		_exit(0);
	}
	waitpid(helper, NULL, 0);
}

static void fire(struct rig *rig, u64 count, const char *mode)
{
	if (!strcmp(mode, "all")) {
		fire_while_stopped(getpid(), rig, count);
	} else if (!strcmp(mode, "resume")) {
		fire_while_stopped(worker_pid(rig->worker), rig, count);
	} else {
		if (!strcmp(mode, "worker"))
			kill(worker_pid(rig->worker), SIGSTOP);
		rig_fire(rig, count);
	}
}

static void report(const struct health *health, u64 fired, u64 took_ns, const char *mode)
{
	printf("# %s stopped: fired %llu, sent %llu, received %llu, %.0f ns an event\n", mode,
	       (unsigned long long)fired, (unsigned long long)health->sent,
	       (unsigned long long)health->processed, (double)took_ns / (double)fired);
	for (int i = 0; i < LOSS_COUNT; i++)
		if (health->lost[i])
			printf("#   lost %-10s %llu\n", loss_names[i],
			       (unsigned long long)health->lost[i]);
	tap(health->sent == fired, "%s stopped: each event was sent", mode);
	tap(health->processed + health->coalesced + health_lost(health) == fired,
	    "%s stopped: received + lost by cause = sent", mode);
}

static void check_mode(const struct health *health, const char *mode)
{
	if (!strcmp(mode, "none"))
		tap(health->processed > 0, "nobody stopped: records arrive");
	if (!strcmp(mode, "worker"))
		tap(health->lost[LOSS_RING_FULL] > 0 && health->lost[LOSS_RING_REST] > 0 &&
			    health->lost[LOSS_QUEUE_REST] > 0,
		    "worker stopped: the queue filled, then the ring, and both rests were counted");
	if (!strcmp(mode, "resume"))
		tap(health->lost[LOSS_RING_FULL] > 0 && !health->lost[LOSS_RING_REST] &&
			    !health->lost[LOSS_QUEUE_REST],
		    "worker resumed: queue and ring filled, and both rests were processed");
	if (!strcmp(mode, "all"))
		tap(health->lost[LOSS_RING_FULL] > 0, "all stopped: the ring filled");
}

int main(int argc, char **argv)
{
	u64 count = argc > 2 ? strtoull(argv[1], NULL, 10) : 1000000;
	const char *mode = argc > 2 ? argv[2] : "none";
	struct capture_config config;
	struct health health = {0};
	struct capture *capture;
	struct rig rig;
	u64 start;

	if (!tap(!rig_start(&rig, QUEUE_BYTES_DEFAULT), "the worker starts"))
		return 1;
	config = rig_config(&rig, &tp_btf, 1);
	capture = rig_capture(&config);
	if (!tap(capture != NULL, "the capture starts"))
		return 1;
	if (!strcmp(mode, "forever"))
		for (;;)
			rig_fire(&rig, 1000);
	start = clock_now_ns();
	fire(&rig, count, mode);
	start = clock_now_ns() - start;
	capture_detach(capture);
	rig_stop(&(struct rig){.firer = rig.firer, .worker = rig.worker});
	capture_health(capture, &health);
	report(&health, count, start, mode);
	check_mode(&health, mode);
	capture_close(capture);
	queue_destroy(rig.queue);
	return tap_status();
}
