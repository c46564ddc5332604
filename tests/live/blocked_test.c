// SPDX-License-Identifier: Apache-2.0
/*
 * Stacks of waits, by each of the hooks that can take them: what is taken stands for how long the
 * thread slept, and has its stack. Most kernels use the first one only.
 *
 * timing: what samples stand for is compared with the sleeper's own clock
 */
#include "tap.h"

#include <stdlib.h>
#include <time.h>

#include "../../src/base/cleanup.h"
#include "../../src/base/clock.h"
#include "rig.h"

#define LONG_SLEEPS  40
#define LONG_NS	     5000000
#define SHORT_SLEEPS 2000
#define SHORT_NS     100000
#define KEYS_MAX     4096

/* What came through of one thread. */
struct seen {
	u32 tid;
	u64 ns, weight_ns, samples, stacks, with_kernel, with_waker;
	u64 keys[KEYS_MAX]; /* of samples */
	u64 sent[KEYS_MAX]; /* of stacks */
};

static void sleep_ns(long ns)
{
	const struct timespec time = {.tv_nsec = ns};

	nanosleep(&time, NULL);
}

/* The time that it slept, by its own clock, what it takes to get a CPU included. */
static void sleeper_run(int sock, void *unused)
{
	u64 slept[2] = {0};
	char go;

	(void)unused;
	if (socket_receive(sock, &go, 1, NULL, -1) != 1)
		return;
	for (int i = 0; i < LONG_SLEEPS + SHORT_SLEEPS; i++) {
		u64 begin_ns = clock_now_ns();

		sleep_ns(i < LONG_SLEEPS ? LONG_NS : SHORT_NS);
		slept[i >= LONG_SLEEPS] += clock_now_ns() - begin_ns;
	}
	socket_send(sock, slept, sizeof(slept), -1);
	socket_receive(sock, &go, 1, NULL, -1);
}

static void on_sample(struct seen *seen, const struct rec_sample *sample)
{
	if (sample->hdr.tid != seen->tid || sample->kind != SAMPLE_BLOCKED ||
	    sample->state != STATE_BLOCKED_SLEEP)
		return;
	if (sample->stack && seen->samples < KEYS_MAX)
		seen->keys[seen->samples] = sample->stack;
	seen->samples++;
	seen->weight_ns += sample->weight_ns;
	seen->ns += sample->ns;
	seen->with_waker += sample->waker_stack != 0;
}

static void on_stack(struct seen *seen, const struct rec_stack *stack)
{
	if (seen->stacks < KEYS_MAX)
		seen->sent[seen->stacks++] = stack->key;
	seen->with_kernel += stack->kernel_count > 1;
}

static void take_records(struct queue *queue, struct seen *seen)
{
	const void *data;
	size_t size;

	while (queue_peek(queue, &data, &size)) {
		const struct rec_hdr *hdr = data;

		if (hdr->type == SIG_SAMPLE)
			on_sample(seen, data);
		else if (hdr->type == SIG_STACK)
			on_stack(seen, data);
		queue_pop(queue, RECORD_OK, clock_now_ns());
	}
}

static bool was_sent(const struct seen *seen, u64 key)
{
	for (u64 i = 0; i < seen->stacks; i++)
		if (seen->sent[i] == key)
			return true;
	return false;
}

static void check_seen(const struct seen *seen, const u64 slept[2], const char *hook)
{
	const double least = (double)LONG_SLEEPS * LONG_NS + (double)SHORT_SLEEPS * SHORT_NS;
	double most = (double)(slept[0] + slept[1]), weight = (double)seen->weight_ns;
	u64 with_stack = 0;

	for (u64 i = 0; i < seen->samples && i < KEYS_MAX; i++)
		with_stack += seen->keys[i] && was_sent(seen, seen->keys[i]);
	tap(seen->samples >= 20 && seen->samples < SHORT_SLEEPS,
	    "%s: some of %d waits are taken: %llu", hook, LONG_SLEEPS + SHORT_SLEEPS,
	    (unsigned long long)seen->samples);
	/* By chance some are taken, and there may be 20 of them only. */
	tap(weight > 0.6 * least && weight < 1.4 * most,
	    "%s: they stand for all that it slept, within 40 %%: %.2f of %.2f to %.2f s", hook,
	    weight / NS_PER_S, least / NS_PER_S, most / NS_PER_S);
	tap(seen->ns < slept[0] + slept[1], "%s: and none is longer than it was", hook);
	tap(with_stack == seen->samples, "%s: each has a stack that came: %llu", hook,
	    (unsigned long long)with_stack);
	tap(seen->with_kernel > 0, "%s: with the kernel's functions", hook);
	tap(seen->with_waker > 0, "%s: and that of who ended it, if it was long", hook);
}

/* The ledger's probes, and of the samples' those that are wanted. */
static size_t choose_probes(struct probe *ret_probes, const char *hook)
{
	size_t count = signal_ledger.probe_count;

	memcpy(ret_probes, signal_ledger.probes, count * sizeof(*ret_probes));
	for (size_t i = 0; i < signal_sample.probe_count; i++) {
		const struct probe *probe = &signal_sample.probes[i];

		if (strcmp(probe->program, hook) && strcmp(probe->program, "sample_waking"))
			continue;
		ret_probes[count] = *probe;
		ret_probes[count++].fallback_of = NULL;
	}
	return count;
}

static void follow(struct capture *capture, const struct probe *probes, struct queue *queue,
		   struct child *sleeper, const char *hook)
{
	_cleanup_free_ struct seen *seen = calloc(1, sizeof(*seen));
	u64 slept[2] = {0}, until_ns = clock_now_ns() + 20 * NS_PER_S;
	size_t seed = 0;
	bool is_done = false;

	while (strcmp(probes[seed].program, "ledger_seed"))
		seed++;
	if (!tap(seen && !capture_run_iter(capture, seed) && !socket_send(sleeper->sock, "", 1, -1),
		 "%s: the sleeper is followed", hook))
		return;
	seen->tid = (u32)sleeper->pid;
	while (!is_done && clock_now_ns() < until_ns) {
		is_done = socket_receive(sleeper->sock, slept, sizeof(slept), NULL, 50) ==
			  sizeof(slept);
		capture_kick(capture);
		sleep_ns(20000000);
		take_records(queue, seen);
	}
	tap(is_done, "%s: the sleeper is done", hook);
	check_seen(seen, slept, hook);
}

static void try_hook(const char *hook)
{
	struct probe probes[64];
	struct filter_key filter = {FILTER_BY_PID, {0}};
	struct capture_config config = {
		.probes = probes,
		.probe_count = choose_probes(probes, hook),
		.filters = &filter,
		.filter_count = 1,
		.ring_bytes = 1u << 20,
		.seed = 1,
	};
	struct capture *capture;
	struct child sleeper;

	if (!tap(!queue_create(QUEUE_BYTES_DEFAULT, &config.queue) &&
			 !child_start(&sleeper, sleeper_run, NULL, -1),
		 "%s: a sleeper starts", hook))
		return;
	filter.value[0] = (u64)sleeper.pid;
	capture_live_defaults(&config.live);
	config.live.scope = SCOPE_LISTED;
	capture = rig_capture(&config);
	if (tap(capture != NULL, "%s: the capture loads", hook)) {
		if (capture_failure(capture, config.probe_count - 1)->err)
			tap(true, "%s: not on this kernel", hook);
		else
			follow(capture, probes, config.queue, &sleeper, hook);
		capture_detach(capture);
		capture_close(capture);
	}
	child_stop(&sleeper, 0);
	queue_destroy(config.queue);
}

int main(void)
{
	try_hook("sample_resume");
	try_hook("sample_resume_kprobe");
	try_hook("sample_switch");
	return tap_status();
}
