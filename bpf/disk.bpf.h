/* SPDX-License-Identifier: Apache-2.0 OR GPL-2.0-only */
/*
 * What a thread's requests to disks took, for the system call in which it submitted them: left by
 * the signal that sees requests end, on any CPU, and taken up by the one that sees the call end.
 * Only the last call's are kept, so that nothing has to be cleared in between.
 */
#ifndef DWELL_DISK_BPF_H
#define DWELL_DISK_BPF_H

#define DISK_WAITS_MAX 4096

struct disk_wait {
	u64 call_ns; /* when the call began, which tells it from others of the thread */
	u64 queue_ns;
	u64 service_ns;
};

struct disk_waits_map {
	__uint(type, BPF_MAP_TYPE_LRU_HASH);
	__uint(max_entries, DISK_WAITS_MAX);
	__type(key, u32); /* tid */
	__type(value, struct disk_wait);
};

extern struct disk_waits_map disk_waits SEC(".maps");

/* A request of a call that is over by then is a later one's to clear. */
static __always_inline void disk_wait_add(u32 tid, u64 call_ns, u64 queue_ns, u64 service_ns)
{
	struct disk_wait *wait = bpf_map_lookup_elem(&disk_waits, &tid);
	struct disk_wait first = {call_ns, queue_ns, service_ns};

	if (wait && wait->call_ns == call_ns) {
		__sync_fetch_and_add(&wait->queue_ns, queue_ns);
		__sync_fetch_and_add(&wait->service_ns, service_ns);
	} else if (!wait || wait->call_ns < call_ns) {
		bpf_map_update_elem(&disk_waits, &tid, &first, BPF_ANY);
	}
}

/*
 * How much of a thread's wait for the disk its requests were queued, and served. Several at a time
 * take longer together than the thread waits for them: then it is as they were in the mean. What is
 * left was before there was a request, as where a cgroup is throttled, or after.
 */
static __always_inline void disk_wait_split(u32 tid, u64 call_ns, u64 disk_ns, u64 *ret_queue_ns,
					    u64 *ret_service_ns)
{
	struct disk_wait *wait = bpf_map_lookup_elem(&disk_waits, &tid);
	u64 total, share;

	*ret_queue_ns = *ret_service_ns = 0;
	if (!wait || wait->call_ns != call_ns)
		return;
	*ret_queue_ns = wait->queue_ns;
	*ret_service_ns = wait->service_ns;
	total = wait->queue_ns + wait->service_ns;
	if (total <= disk_ns)
		return;
	share = (wait->queue_ns << 10) / total; /* of 1024 */
	*ret_queue_ns = (disk_ns >> 10) * share + ((disk_ns & 1023) * share >> 10);
	*ret_service_ns = disk_ns - *ret_queue_ns;
}

#endif
