// SPDX-License-Identifier: Apache-2.0
/* Perf events of CPUs that come online while a capture runs. */
#include <errno.h>

#include "hotplug.h"
#include "internal.h"

/* Events of the other CPUs are opened anew too: simpler, and some microseconds. */
static int attach_perf_again(struct capture *capture)
{
	int err = 0;

	for (size_t i = 0; i < capture->config.probe_count; i++) {
		struct capture_probe *probe = &capture->probes[i];

		if (probe->spec->kind != PROBE_PERF || probe->spec->pid || !probe->link_count)
			continue;
		attach_undo(probe);
		err = capture_attach_again(capture, i);
		if (err)
			break;
	}
	return err;
}

int capture_follow_cpus(struct capture *capture, void (*on_online)(void *context, int cpu),
			void *context)
{
	int count = 0, cpu, err;

	if (capture->hotplug_fd < 0)
		return 0;
	while ((cpu = hotplug_next(capture->hotplug_fd)) != -EAGAIN) {
		count++;
		if (cpu >= 0)
			on_online(context, cpu);
	}
	err = count ? attach_perf_again(capture) : 0;
	return err ? err : count;
}
