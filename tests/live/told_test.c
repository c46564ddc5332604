// SPDX-License-Identifier: Apache-2.0
/*
 * Stacks that the kernel side has sent are forgotten there a part after each window, and all of
 * them once in TOLD_WINDOWS: so one that is in use is sent again, and no more often.
 */
#include "tap.h"

#include <bpf/bpf.h>
#include <string.h>

#include "../../signals/sample/probes.h"
#include "rig.h"

static u32 count_told(int fd, u32 places)
{
	u32 told = 0;
	u64 key;

	for (u32 i = 0; i < places; i++)
		told += !bpf_map_lookup_elem(fd, &i, &key) && key;
	return told;
}

static void fill(int fd, u32 places)
{
	const u64 key = 1;

	for (u32 i = 0; i < places; i++)
		bpf_map_update_elem(fd, &i, &key, BPF_ANY);
}

static void forget_by_windows(const struct capture *capture, int fd, u32 places)
{
	u32 told;

	fill(fd, places);
	capture_forget_told_part(capture, 1000);
	told = count_told(fd, places);
	tap(told == places - places / TOLD_WINDOWS,
	    "a window forgets one part of %d (%u of %u stay)", TOLD_WINDOWS, told, places);
	for (u64 window = 1001; window < 1000 + TOLD_WINDOWS; window++)
		capture_forget_told_part(capture, window);
	tap(!count_told(fd, places), "as many windows as there are parts forget all");
}

int main(void)
{
	struct capture *capture = NULL;
	struct capture_config config;
	struct bpf_map_info info = {0};
	u32 size = sizeof(info);
	struct rig rig = {0};
	int fd;

	if (!tap(!rig_start(&rig, QUEUE_BYTES_DEFAULT), "the worker starts"))
		return tap_status();
	config = rig_config(&rig, sample_probes, SAMPLE_PROBE_COUNT);
	/* Not attached: nobody else writes there. */
	if (tap(!capture_open(&config, &capture) && !capture_load(capture),
		"programs that take stacks are loaded")) {
		fd = capture_map_fd(capture, "stacks_seen");
		if (tap(!bpf_obj_get_info_by_fd(fd, &info, &size), "their map is there"))
			forget_by_windows(capture, fd, info.max_entries);
	}
	capture_close(capture);
	rig_stop(&rig);
	return tap_status();
}
