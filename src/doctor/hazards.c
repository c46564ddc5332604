// SPDX-License-Identifier: Apache-2.0
/*
 * Defects of kernels that a profiler can run into, a row each: which versions have them, what they
 * do to the host, and what dwell does about it. By versions alone, as none can be tried without
 * harm; a distribution may have fixed one in a version that is listed here.
 */
#include <stdio.h>
#include <string.h>

#include "doctor.h"

#define LAST 999 /* no later version is known to be without it */

#define ALL_KERNELS                                                                                \
	{                                                                                          \
		{                                                                                  \
			0, 0, 0, LAST, LAST                                                        \
		}                                                                                  \
	}

static const struct hazard hazards[] = {
	{.name = "nmi_locks",
	 .kernels = "6.15 to 6.18",
	 .ranges = {{6, 15, 0, 6, 18}},
	 .what = "an NMI that waits for the lock of a ring buffer or a hash map stalls its CPU for "
		 "up to 250 ms",
	 .guard = "programs that can run in NMI have ring buffers and maps of their own"},
	{.name = "uprobe_stacks",
	 .kernels = "6.13 and later, x86_64 and arm64",
	 .ranges = {{6, 13, 0, LAST, LAST}},
	 .what = "a program at a uprobe has one stack per CPU; when it is preempted, the next run "
		 "of it writes over that",
	 .guard = "dwell's programs at uprobes contain a tail call, so that the kernel gives them "
		  "no such stack"},
	{.name = "uprobe_nop5",
	 .kernels = "6.18 and later, x86_64",
	 .machine = "x86_64",
	 .ranges = {{6, 18, 0, LAST, LAST}},
	 .what = "a uprobe on a 5-byte nop becomes a call, which overwrites the red zone of a leaf "
		 "function",
	 .guard = "dwell trace refuses such an instruction unless a function begins there"},
	{.name = "stackid_teardown",
	 .kernels = "several",
	 .ranges = ALL_KERNELS,
	 .what = "bpf_get_stackid() can race with the removal of a uprobe",
	 .guard = "no measurement calls it; dwell doctor tries it once, at a system call"},
	{.name = "sockmap",
	 .kernels = "6.6.128, 6.12.75, 6.18.14 and later",
	 .ranges = {{6, 6, 128, 6, 6}, {6, 12, 75, 6, 12}, {6, 18, 14, LAST, LAST}},
	 .what = "a sockmap or sockhash on live traffic can break connections",
	 .guard = "dwell uses neither, and attaches nothing to traffic"},
	{.name = "return_probes",
	 .kernels = "all",
	 .ranges = ALL_KERNELS,
	 .what = "a return probe on Go code, or on a function that throws, ends the traced program",
	 .guard = "dwell trace refuses return probes there"},
	{.name = "memory_order",
	 .kernels = "all, arm64",
	 .machine = "aarch64",
	 .ranges = ALL_KERNELS,
	 .what = "one CPU may see another's writes in another order",
	 .guard = "sequence counters are written and read with acquire and release"},
};

const size_t hazard_count = sizeof(hazards) / sizeof(hazards[0]);

const struct hazard *hazard_at(size_t i)
{
	return &hazards[i];
}

/* How its version compares with another: negative, 0 or positive. */
static int compare(const struct facts *facts, int major, int minor)
{
	return facts->kernel_major != major ? facts->kernel_major - major
					    : facts->kernel_minor - minor;
}

/* The third number of a release such as 6.18.14-cloud; 0 if there is none. */
static int patch_level(const struct facts *facts)
{
	int major, minor, patch;

	return sscanf(facts->host.release, "%d.%d.%d", &major, &minor, &patch) == 3 ? patch : 0;
}

static bool is_in(const struct facts *facts, const struct hazard_range *range)
{
	int since = compare(facts, range->major, range->minor);

	if (!range->until_major || since < 0 ||
	    compare(facts, range->until_major, range->until_minor) > 0)
		return false;
	return since > 0 || patch_level(facts) >= range->patch;
}

bool hazard_applies(const struct hazard *hazard, const struct facts *facts)
{
	if (hazard->machine && strcmp(hazard->machine, facts->host.machine))
		return false;
	for (size_t i = 0; i < HAZARD_RANGES_MAX; i++)
		if (is_in(facts, &hazard->ranges[i]))
			return true;
	return false;
}
