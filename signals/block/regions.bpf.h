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
	u64 key; /* device, and the region's number in the low half; 0: free */
	u64 bytes;
	u64 over_bytes;
	u64 requests;
	u64 told; /* the reader's own: bytes when it last read */
};

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, REGIONS_MAX);
	__type(key, u32);
	__type(value, struct block_region);
} block_regions SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, DISKS_MAX);
	__type(key, u32);
	__type(value, u8);
} block_disks SEC(".maps"); /* those whose name was sent */

static __always_inline void disk_send(struct gendisk *disk, u32 device)
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

static __always_inline struct block_region *region_at(u32 place)
{
	return bpf_map_lookup_elem(&block_regions, &place);
}

static __always_inline void region_grow(struct block_region *region, u64 bytes)
{
	__sync_fetch_and_add(&region->bytes, bytes);
	__sync_fetch_and_add(&region->requests, 1);
}

/* A disk's first request is new here: so its name is sent on this way, and others pay nothing. */
static __always_inline void region_add(struct gendisk *disk, u32 device, u64 sector, u64 bytes)
{
	u64 key = (u64)device << 32 | (u32)(sector >> (REGION_SHIFT - 9));
	u32 first = (object_mix(key, 0) & (REGION_SETS - 1)) * REGION_WAYS;
	struct block_region *region, *least = NULL;

	for (u32 i = 0; i < REGION_WAYS; i++) {
		region = region_at(first + i);
		if (!region)
			return; /* cannot be */
		if (region->key == key) {
			region_grow(region, bytes);
			return;
		}
		if (!least || region->bytes < least->bytes)
			least = region;
	}
	disk_send(disk, device);
	if (!least)
		return; /* cannot be */
	least->key = key;
	least->over_bytes = least->bytes;
	least->requests = 0;
	region_grow(least, bytes);
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
		struct block_region *region = region_at(i);

		if (!region || !region->key || region->told == region->bytes)
			continue;
		row.device = (u32)(region->key >> 32);
		row.region = (u32)region->key;
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
