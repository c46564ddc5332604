// SPDX-License-Identifier: Apache-2.0
/*
 * The program that samples in NMI, with ring buffers and maps of its own, where no CPU counts
 * cycles: it is attached to the clock instead. That it loads, that its records arrive by its own
 * ring, and that none is lost unseen. Also runs in each kernel of the matrix.
 */
#include "tap.h"

#include <stdlib.h>
#include <sys/mman.h>

#include <linux/perf_event.h>

#include "../../signals/ledger/ledger.h"
#include "../../signals/sample/probes.h"
#include "rig.h"

#define CALLS 2000000

extern const struct signal signal_ledger;

static struct probe probes[64];

static size_t choose_probes(void)
{
	size_t count = 0;

	for (size_t i = 0; i < signal_ledger.probe_count; i++)
		probes[count++] = signal_ledger.probes[i];
	for (size_t i = 0; i < SAMPLE_PROBE_COUNT; i++) {
		struct probe *probe = &probes[count];

		*probe = sample_probes[i];
		if (!strcmp(probe->program, "sample_cycles")) {
			probe->perf_type = PERF_TYPE_SOFTWARE;
			probe->perf_config = PERF_COUNT_SW_CPU_CLOCK;
			probe->perf_freq = 499;
		}
		count++;
	}
	return count;
}

static size_t probe_index(const char *program)
{
	size_t i = 0;

	while (strcmp(probes[i].program, program))
		i++;
	return i;
}

/* How many bytes programs have put into a ring buffer so far. */
static u64 produced(const struct capture *capture, const char *ring)
{
	long page = sysconf(_SC_PAGESIZE);
	int fd = capture_map_fd(capture, ring);
	void *memory;
	u64 bytes;

	if (fd < 0)
		return 0;
	memory = mmap(NULL, (size_t)page, PROT_READ, MAP_SHARED, fd, page);
	if (memory == MAP_FAILED)
		return 0;
	bytes = *(volatile u64 *)memory;
	munmap(memory, (size_t)page);
	return bytes;
}

static void check_samples(struct rig *rig, struct capture *capture)
{
	struct health health;
	u64 accounted, bytes;

	if (!capture_has_task_storage()) {
		tap(capture_is_attached(capture, "sample_clock") &&
			    !capture_is_attached(capture, "sample_cycles"),
		    "without task storage nothing samples in NMI: the clock does");
		return;
	}
	tap(capture_is_attached(capture, "sample_cycles"), "the program for NMI is attached");
	capture_run_iter(capture, probe_index("ledger_seed"));
	tap(rig_fire(rig, CALLS), "there is something to sample");
	bytes = produced(capture, "records_nmi");
	tap(bytes > 0, "its own ring buffer has its records: %llu bytes",
	    (unsigned long long)bytes);
	tap(produced(capture, "unwind_requests_nmi") > 0, "its own requests come by another");
	capture_detach(capture);
	capture_health(capture, &health);
	accounted = health.processed + health.coalesced;
	for (int i = 0; i < LOSS_COUNT; i++)
		accounted += health.lost[i];
	tap(health.processed > 0 && health.sent == accounted,
	    "of %llu records sent %llu were processed, and all are accounted for",
	    (unsigned long long)health.sent, (unsigned long long)health.processed);
}

int main(void)
{
	struct capture *capture;
	struct capture_config config;
	struct rig rig = {0};

	if (!tap(!rig_start(&rig, QUEUE_BYTES_DEFAULT), "the worker starts"))
		return tap_status();
	config = rig_config(&rig, probes, choose_probes());
	config.sample_period_ns = 2000000;
	capture = rig_capture(&config);
	if (tap(capture != NULL, "the ledger and the samples are attached"))
		check_samples(&rig, capture);
	capture_close(capture);
	rig_stop(&rig);
	return tap_status();
}
