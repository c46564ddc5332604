// SPDX-License-Identifier: Apache-2.0
/*
 * The maps of the loaded objects by name, and single entries of them.
 */
#include <bpf/bpf.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "../base/cleanup.h"
#include "internal.h"

struct bpf_map *object_map(const struct capture *capture, const char *name)
{
	return bpf_object__find_map_by_name(capture->objects[0], name);
}

int capture_map_fd(const struct capture *capture, const char *name)
{
	const struct bpf_map *map = object_map(capture, name);
	int fd = map ? bpf_map__fd(map) : -1;

	return fd < 0 ? -ENOENT : fd;
}

u32 capture_map_entries(const struct capture *capture, const char *name)
{
	const struct bpf_map *map = object_map(capture, name);

	return map ? bpf_map__max_entries(map) : 0;
}

int capture_write_entry(const struct capture *capture, const char *map, u32 key, const void *value)
{
	int fd = capture_map_fd(capture, map);

	if (fd < 0)
		return fd;
	return bpf_map_update_elem(fd, &key, value, BPF_ANY) ? -errno : 0;
}

u64 capture_read_sum(const struct capture *capture, const char *map, u32 key)
{
	int fd = capture_map_fd(capture, map), cpus = libbpf_num_possible_cpus();
	_cleanup_free_ u64 *numbers = fd < 0 || cpus <= 0 ? NULL : calloc((size_t)cpus, 8);
	u64 sum = 0;

	if (!numbers || bpf_map_lookup_elem(fd, &key, numbers))
		return 0;
	for (int cpu = 0; cpu < cpus; cpu++)
		sum += numbers[cpu];
	return sum;
}

u64 capture_forget_keys(const struct capture *capture, const char *name,
			bool (*is_over)(void *context, const void *key), void *context)
{
	const struct bpf_map *map = object_map(capture, name);
	int fd = map ? bpf_map__fd(map) : -1;
	size_t size = map ? bpf_map__key_size(map) : 0;
	_cleanup_free_ char *key = calloc(2, size + 1);
	char *next = key ? key + size : NULL;
	u64 forgotten = 0;
	bool has_key;

	has_key = key && fd >= 0 && !bpf_map_get_next_key(fd, NULL, key);
	/* A key that goes while we look sends us back to the first: hence the bound. */
	for (u32 i = 0; has_key && i < 2 * bpf_map__max_entries(map); i++) {
		has_key = !bpf_map_get_next_key(fd, key, next);
		if (is_over(context, key))
			forgotten += !bpf_map_delete_elem(fd, key);
		memcpy(key, next, size);
	}
	return forgotten;
}

int capture_read_cpus(const struct capture *capture, const char *map, size_t size,
		      void (*on_one)(void *context, const void *value), void *context)
{
	int cpus = libbpf_num_possible_cpus(), fd = capture_map_fd(capture, map);
	size_t stride = (size + 7) / 8 * 8; /* as the kernel has them */
	_cleanup_free_ char *values = NULL;
	u32 zero = 0;

	if (cpus <= 0 || fd < 0)
		return -ENOENT;
	values = calloc((size_t)cpus, stride);
	if (!values)
		return -ENOMEM;
	if (bpf_map_lookup_elem(fd, &zero, values))
		return -errno;
	for (int cpu = 0; cpu < cpus; cpu++)
		on_one(context, values + (size_t)cpu * stride);
	return 0;
}
