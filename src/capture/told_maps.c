// SPDX-License-Identifier: Apache-2.0
/*
 * What the kernel side tells once: it tells it again to who comes after the one that was told, and
 * what is in use for long once in a while.
 */
#include <bpf/bpf.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "../base/log.h"
#include "../model/signal.h"
#include "internal.h"

static void clear_slots(int fd, const struct bpf_map_info *info, u32 begin, u32 end)
{
	void *zeroes = calloc(1, info->value_size);

	for (u32 i = begin; zeroes && i < end; i++)
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

static bool read_info(int fd, struct bpf_map_info *ret_info)
{
	u32 size = sizeof(*ret_info);

	*ret_info = (struct bpf_map_info){0};
	if (!bpf_obj_get_info_by_fd(fd, ret_info, &size))
		return true;
	log_verbose("names and stacks may be missing: %s", strerror(errno));
	return false;
}

static void clear_map(int fd, const struct bpf_map_info *info)
{
	if (info->type == BPF_MAP_TYPE_ARRAY)
		clear_slots(fd, info, 0, info->max_entries);
	else
		clear_hash(fd, info);
}

/* The part whose turn it is after this window. */
static void clear_part(int fd, const struct bpf_map_info *info, u64 window)
{
	u64 part = window % TOLD_WINDOWS;

	if (info->type == BPF_MAP_TYPE_ARRAY)
		clear_slots(fd, info, (u32)(info->max_entries * part / TOLD_WINDOWS),
			    (u32)(info->max_entries * (part + 1) / TOLD_WINDOWS));
}

static void forget(const struct capture *capture, const struct signal *signal, bool is_all,
		   u64 window)
{
	for (size_t i = 0; signal->told_maps && signal->told_maps[i]; i++) {
		int fd = capture_map_fd(capture, signal->told_maps[i]);
		struct bpf_map_info info;

		if (fd < 0 || !read_info(fd, &info))
			continue;
		if (is_all)
			clear_map(fd, &info);
		else
			clear_part(fd, &info, window);
	}
}

void capture_forget_told(const struct capture *capture)
{
	for (int id = 1; id < SIGNAL_LIMIT; id++)
		if (signal_rows[id].signal)
			forget(capture, signal_rows[id].signal, true, 0);
}

void capture_forget_told_part(const struct capture *capture, u64 window)
{
	for (int id = 1; id < SIGNAL_LIMIT; id++)
		if (signal_rows[id].signal && signal_rows[id].signal->is_told_again)
			forget(capture, signal_rows[id].signal, false, window);
}
