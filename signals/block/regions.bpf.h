/* SPDX-License-Identifier: Apache-2.0 OR GPL-2.0-only */
/*
 * Where on a disk most bytes are moved: the largest regions of all disks, by the rule that is known
 * as space-saving. A region that has no place takes the one of the least in its set, with the bytes
 * that are there, which are then what it may be wrong by. Two CPUs that do so at once may mix up
 * one request: the sums of the series are not touched by that.
 */
#ifndef DWELL_BLOCK_REGIONS_BPF_H
#define DWELL_BLOCK_REGIONS_BPF_H

struct block_region {
	u64 bytes;
	u64 over_bytes;
	u64 requests;
	u64 told; /* the reader's own: bytes when it last read */
};

/* The keys stand together: to look for one is to look at one cache line. */
struct region_set {
	u64 keys[REGION_WAYS]; /* device, and the region's number in the low half; 0: free */
	struct block_region of[REGION_WAYS];
};

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, REGION_SETS);
	__type(key, u32);
	__type(value, struct region_set);
} block_regions SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_LRU_HASH);
	__uint(max_entries, DISKS_MAX);
	__type(key, u32);
	__type(value, u8);
} block_disks SEC(".maps"); /* those whose name was sent, the last ones */

static __noinline void disk_send(struct gendisk *disk, u32 device)
{
	struct rec_block *rec;
	u8 one = 1;

	if (bpf_map_lookup_elem(&block_disks, &device))
		return;
	rec = EMIT_RESERVE(BLOCK_IO, block, current_task());
	if (!rec)
		return; /* counted; it is tried again with its next new region */
	rec->device = device;
	rec->region = 0;
	rec->bytes = rec->over_bytes = rec->requests = 0;
	__builtin_memset(rec->name, 0, sizeof(rec->name));
	bpf_core_read_str(rec->name, sizeof(rec->name), &disk->disk_name);
	EMIT_SUBMIT(rec);
	bpf_map_update_elem(&block_disks, &device, &one, BPF_ANY);
}

static __always_inline void region_grow(struct block_region *region, u64 bytes)
{
	__sync_fetch_and_add(&region->bytes, bytes);
	__sync_fetch_and_add(&region->requests, 1);
}

/* One that is new takes the place of the least. */
static __noinline void region_take(struct region_set *set, u64 key, u64 bytes)
{
	u64 least = ~0ULL, place = 0;

	for (u32 i = 0; i < REGION_WAYS; i++) {
		if (set->of[i].bytes >= least)
			continue;
		least = set->of[i].bytes;
		place = i;
	}
	ledger_bound(place, REGION_WAYS - 1);
	set->keys[place] = key;
	set->of[place].over_bytes = least;
	set->of[place].requests = 0;
	region_grow(&set->of[place], bytes);
}

/* A disk's first request is new here: so its name is sent on this way, and others pay nothing. */
static __always_inline void region_add(struct gendisk *disk, u32 device, u64 sector, u64 bytes)
{
	u64 key = (u64)device << 32 | (u32)(sector >> (REGION_SHIFT - 9));
	u32 place = object_mix(key, 0) & (REGION_SETS - 1);
	struct region_set *set = bpf_map_lookup_elem(&block_regions, &place);

	if (!set)
		return; /* cannot be */
	for (u32 i = 0; i < REGION_WAYS; i++) {
		if (set->keys[i] == key) {
			region_grow(&set->of[i], bytes);
			return;
		}
	}
	disk_send(disk, device);
	region_take(set, key, bytes);
}

/* When a window ends: those that have grown. All of them fit into what one step may write. */
SEC("?iter/task")
int block_rows(struct bpf_iter__task *ctx)
{
	struct task_struct *task = ctx->task;
	struct rec_block row = {};

	if (!task || ctx->meta->seq_num)
		return 0;
	emit_header(&row.hdr, SIG_BLOCK_IO, SIG_VERSION_BLOCK_IO, sizeof(row), 1, task);
	row.hdr.tgid = row.hdr.tid = 0; /* nobody's */
	row.hdr.start_ns = 0;
	for (u32 i = 0; i < REGIONS_MAX; i++) {
		u32 place = i / REGION_WAYS;
		struct region_set *set = bpf_map_lookup_elem(&block_regions, &place);
		struct block_region *region;
		u64 key;

		if (!set)
			break; /* cannot be */
		key = set->keys[i % REGION_WAYS];
		region = &set->of[i % REGION_WAYS];
		if (!key || region->told == region->bytes)
			continue;
		row.device = (u32)(key >> 32);
		row.region = (u32)key;
		row.bytes = region->bytes;
		row.over_bytes = region->over_bytes;
		row.requests = region->requests;
		if (bpf_seq_write(ctx->meta->seq, &row, sizeof(row)))
			break;
		region->told = row.bytes;
	}
	return 0;
}

#endif
