// SPDX-License-Identifier: Apache-2.0
/*
 * The kernel's memory for maps that are not created yet, by the kernel's own way of counting
 * (map_mem_usage, 6.4). A map's fixed part, some hundred bytes, is left out.
 */
#include <bpf/bpf.h>
#include <unistd.h>

#include "../base/text.h"
#include "internal.h"

#define HASH_ELEMENT_BYTES 48 /* struct htab_elem, before key and value */
#define HASH_BUCKET_BYTES  16
#define RING_META_PAGES	   3
#define POINTER_BYTES	   8

static u64 round_up(u64 value, u64 to)
{
	return (value + to - 1) / to * to;
}

static u64 round_up_to_power(u64 value)
{
	u64 power = 1;

	while (power < value)
		power *= 2;
	return power;
}

static u64 array_bytes(const struct bpf_map *map, u64 page)
{
	u64 bytes = round_up(bpf_map__value_size(map), 8) * bpf_map__max_entries(map);

	return bpf_map__map_flags(map) & BPF_F_MMAPABLE ? page + round_up(bytes, page) : bytes;
}

static u64 cpu_array_bytes(const struct bpf_map *map, u64 cpus)
{
	return bpf_map__max_entries(map) *
	       (POINTER_BYTES + round_up(bpf_map__value_size(map), 8) * cpus);
}

/* Each CPU has a spare element, but of those that evict. */
static u64 hash_bytes(const struct bpf_map *map, u64 cpus)
{
	u64 element = HASH_ELEMENT_BYTES + round_up(bpf_map__key_size(map), 8) +
		      round_up(bpf_map__value_size(map), 8);
	u64 entries = bpf_map__max_entries(map);
	u64 bytes = HASH_BUCKET_BYTES * round_up_to_power(entries);

	if (bpf_map__map_flags(map) & BPF_F_NO_PREALLOC)
		return bytes; /* and more with each entry */
	if (bpf_map__type(map) == BPF_MAP_TYPE_HASH) {
		bytes += POINTER_BYTES * cpus;
		entries += cpus;
	}
	return bytes + element * entries;
}

static u64 ring_bytes(const struct bpf_map *map, u64 page)
{
	u64 data = bpf_map__max_entries(map) / page;

	return (RING_META_PAGES + data) * page + (RING_META_PAGES + 2 * data) * POINTER_BYTES;
}

static u64 map_bytes(const struct bpf_map *map, u64 cpus)
{
	u64 page = (u64)sysconf(_SC_PAGESIZE);

	switch (bpf_map__type(map)) {
	case BPF_MAP_TYPE_ARRAY:
	case BPF_MAP_TYPE_PROG_ARRAY:
		return array_bytes(map, page);
	case BPF_MAP_TYPE_PERCPU_ARRAY:
		return cpu_array_bytes(map, cpus);
	case BPF_MAP_TYPE_HASH:
	case BPF_MAP_TYPE_LRU_HASH:
		return hash_bytes(map, cpus);
	case BPF_MAP_TYPE_RINGBUF:
		return ring_bytes(map, page);
	case BPF_MAP_TYPE_QUEUE:
		return (u64)bpf_map__value_size(map) * (bpf_map__max_entries(map) + 1);
	default:
		return 0; /* task storage: its memory comes with threads */
	}
}

size_t capture_list_maps(const struct capture *capture, struct capture_map *maps, size_t max)
{
	int cpus = libbpf_num_possible_cpus();
	const struct bpf_map *map;
	size_t count = 0;

	if (!capture->objects[0] || cpus <= 0)
		return 0;
	bpf_object__for_each_map(map, capture->objects[0]) {
		if (!bpf_map__autocreate(map) || count == max)
			continue;
		text_copy(maps[count].name, sizeof(maps[count].name), bpf_map__name(map));
		maps[count++].bytes = map_bytes(map, (u64)cpus);
	}
	return count;
}
