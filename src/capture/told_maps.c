// SPDX-License-Identifier: Apache-2.0
/* What the kernel side tells once: it tells it again to who comes after the one that was told. */
#include <bpf/bpf.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "../base/log.h"
#include "../model/signal.h"
#include "internal.h"

static void clear_array(int fd, const struct bpf_map_info *info)
{
	void *zeroes = calloc(1, info->value_size);

	for (u32 i = 0; zeroes && i < info->max_entries; i++)
		bpf_map_update_elem(fd, &i, zeroes, BPF_ANY);
	free(zeroes);
}

/* The first one each time: others may be added meanwhile. */
static void clear_hash(int fd, const struct bpf_map_info *info)
{
	void *key = calloc(1, info->key_size);

	for (u32 i = 0; key && i < 2 * info->max_entries; i++) {
		if (bpf_map_get_next_key(fd, NULL, key))
			break;
		bpf_map_delete_elem(fd, key);
	}
	free(key);
}

static void clear_map(int fd)
{
	struct bpf_map_info info = {0};
	u32 size = sizeof(info);

	if (bpf_obj_get_info_by_fd(fd, &info, &size))
		log_verbose("names and stacks may be missing: %s", strerror(errno));
	else if (info.type == BPF_MAP_TYPE_ARRAY)
		clear_array(fd, &info);
	else
		clear_hash(fd, &info);
}

void capture_forget_told(const struct capture *capture)
{
	for (int id = 1; id < SIGNAL_LIMIT; id++) {
		const struct signal *signal = signal_rows[id].signal;

		for (size_t i = 0; signal && signal->told_maps && signal->told_maps[i]; i++) {
			int fd = capture_map_fd(capture, signal->told_maps[i]);

			if (fd >= 0)
				clear_map(fd);
		}
	}
}
