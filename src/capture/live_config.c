// SPDX-License-Identifier: Apache-2.0
/*
 * What programs read while they run: filters, the live knobs, and the processes that are not under
 * Tier B.
 */
#include <bpf/bpf.h>
#include <errno.h>

#include "../base/log.h"
#include "internal.h"

u64 live_filter_kinds(const struct capture *capture)
{
	u64 kinds = 0;

	for (size_t i = 0; i < capture->config.filter_count; i++)
		kinds |= FILTER_KIND_BIT(capture->filters[i].kind);
	return kinds;
}

/* What the kernel side must know of the filters beside the map that holds them. */
static void sum_up_filters(const struct capture *capture, struct live_config *live)
{
	live->filter_kinds = live_filter_kinds(capture);
	live->filter_cgroup_v1 = 0;
	for (size_t i = 0; i < capture->config.filter_count; i++) {
		const struct filter_key *filter = &capture->filters[i];

		if (filter->kind == FILTER_BY_CGROUP && filter->value[1] != CGROUP_V2_HIERARCHY)
			live->filter_cgroup_v1 = 1;
	}
}

int capture_set_live(struct capture *capture, const struct live_config *live)
{
	struct live_config whole = *live;
	int fd = bpf_map__fd(object_map(capture, "live_configs"));
	char complaint[160];
	u32 zero = 0;
	int err = capture_live_check(live, complaint, sizeof(complaint));

	if (err) {
		log_error("cannot change a running capture: %s", complaint);
		return err;
	}
	sum_up_filters(capture, &whole);
	return bpf_map_update_elem(fd, &zero, &whole, BPF_ANY) ? -errno : 0;
}

int live_write_filters(struct capture *capture)
{
	int filters = bpf_map__fd(object_map(capture, "filters"));
	u8 present = 1;

	for (size_t i = 0; i < capture->config.filter_count; i++)
		if (bpf_map_update_elem(filters, &capture->filters[i], &present, BPF_ANY))
			return -errno;
	return capture_set_live(capture, &capture->config.live);
}

int capture_split_off(struct capture *capture, u32 tgid)
{
	const struct bpf_map *map = object_map(capture, "split_off");
	const u8 off = 1;

	if (!map || bpf_map__fd(map) < 0)
		return -ENOENT;
	return bpf_map_update_elem(bpf_map__fd(map), &tgid, &off, BPF_ANY) ? -errno : 0;
}

int capture_split_on(struct capture *capture, u32 tgid)
{
	const struct bpf_map *map = object_map(capture, "split_off");

	if (!map || bpf_map__fd(map) < 0)
		return -ENOENT;
	return bpf_map_delete_elem(bpf_map__fd(map), &tgid) ? -errno : 0;
}
