// SPDX-License-Identifier: Apache-2.0
/*
 * The kernel side's way out, compiled for the host and run without a kernel.
 */
#include "unit.h"

#include "bpf_native.h"

#define OWN_NS	 4000000001u
#define OUTER_NS PIDNS_INIT_INUM

static struct pid_namespace own_ns = {{OWN_NS}}, outer_ns = {{OUTER_NS}}, other_ns = {{7}};
static struct live_config live;
static struct pid pid;
static struct task_struct task;

/* A task that the host calls 100 and, in a namespace of its own, somebody calls 5. */
static int start(void **state)
{
	(void)state;
	memset(&fake, 0, sizeof(fake));
	live = (struct live_config){.scope = SCOPE_ALL, .sample_one_in = 1};
	pid = (struct pid){.level = 1, .numbers = {{100, &outer_ns}, {5, &own_ns}}};
	task = (struct task_struct){.pid = 100,
				    .tgid = 100,
				    .start_boottime = 77,
				    .group_leader = &task,
				    .thread_pid = &pid};
	fake.current = &task;
	fake.live = &live;
	cfg_pidns_inum = OUTER_NS;
	cfg_self_tgid = cfg_worker_tgid = 0;
	cfg_wake_bytes = 4096;
	return 0;
}

static void pids_are_of_the_own_namespace(void **state)
{
	(void)state;
	assert_int_equal(task_tgid(&task), 100);
	cfg_pidns_inum = OWN_NS;
	assert_int_equal(task_tgid(&task), 5);
	assert_int_equal(task_tid(&task), 5);
	pid.numbers[1].ns = &other_ns;
	assert_int_equal(task_tgid(&task), 0);
}

static void sampling_keeps_one_in_n(void **state)
{
	(void)state;
	live.sample_one_in = 10;
	fake.random = 20;
	assert_true(filter_samples(&live));
	fake.random = 21;
	assert_false(filter_samples(&live));
	live.sample_one_in = 0; /* never set: all are kept, and nothing is divided by zero */
	assert_true(filter_samples(&live));
}

static void header_is_filled(void **state)
{
	struct rec_canary *rec = EMIT_RESERVE(CANARY, canary, &task);

	(void)state;
	assert_non_null(rec);
	assert_int_equal(rec->hdr.type, SIG_CANARY);
	assert_int_equal(rec->hdr.version, SIG_VERSION_CANARY);
	assert_int_equal(rec->hdr.size, sizeof(*rec));
	assert_int_equal(rec->hdr.cpu, 3);
	assert_int_equal(rec->hdr.ts_ns, 1234);
	assert_int_equal(rec->hdr.seq, 1);
	assert_int_equal(rec->hdr.tgid, 100);
	assert_int_equal(rec->hdr.start_ns, 77);
}

static void full_ring_is_counted_by_class(void **state)
{
	(void)state;
	fake.ring_is_full = true;
	fake.ring_waiting = RING_BYTES_MIN - 8;
	assert_null(EMIT_RESERVE(CANARY, canary, &task));
	assert_int_equal(fake.counts.of[SIG_CANARY].ring_full, 1);
	assert_int_equal(fake.counts.of[SIG_CANARY].coalesced, 0);
	assert_null(emit_reserve(&records, 2, 1, DROP_HISTOGRAM, 48, &task));
	assert_int_equal(fake.counts.of[2].ring_full, 0);
	assert_int_equal(fake.counts.of[2].coalesced, 1);
	assert_null(emit_reserve(&records, 3, 1, DROP_PAIR, 48, &task));
	assert_int_equal(fake.counts.of[3].ring_full, 1);
	assert_int_equal(fake.counts.sent, 3);
	fake.ring_waiting = 0; /* refused with room to spare: somebody held the lock */
	assert_null(EMIT_RESERVE(CANARY, canary, &task));
	assert_int_equal(fake.counts.of[SIG_CANARY].ring_full, 1);
	assert_int_equal(fake.counts.of[SIG_CANARY].ring_busy, 1);
	assert_null(emit_reserve(&records, SIGNAL_LIMIT, 1, DROP_SAMPLE, 48, &task));
}

static void reader_is_woken_once_per_batch(void **state)
{
	struct rec_canary rec;
	int woken = 0;

	(void)state;
	for (int i = 1; i <= 1024; i++) {
		fake.ring_waiting = (u64)i * (sizeof(rec) + RINGBUF_HDR_BYTES);
		EMIT_SUBMIT(&rec);
		woken += fake.submit_flags == BPF_RB_FORCE_WAKEUP;
	}
	assert_int_equal(fake.submitted, 1024);
	assert_int_equal(woken, 1024 * (sizeof(rec) + RINGBUF_HDR_BYTES) / 4096);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup(pids_are_of_the_own_namespace, start),
		cmocka_unit_test_setup(sampling_keeps_one_in_n, start),
		cmocka_unit_test_setup(header_is_filled, start),
		cmocka_unit_test_setup(full_ring_is_counted_by_class, start),
		cmocka_unit_test_setup(reader_is_woken_once_per_batch, start),
	};

	return cmocka_run_group_tests_name("emit", tests, NULL, NULL);
}
