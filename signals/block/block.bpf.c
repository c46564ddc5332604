// SPDX-License-Identifier: Apache-2.0 OR GPL-2.0-only
/*
 * Requests to disks: how long each waited to be given to its disk, and how long the disk took. All
 * of the host's, whoever made them, since they all wait for the same disk; those of followed
 * threads are counted for their process, too.
 *
 * A request is inserted, or given to the disk at once; issued, perhaps more than once where the
 * disk was too busy; and completed, perhaps in parts. One that is merged into another is that one
 * from then on.
 */
#include "../../bpf/common.bpf.h"

#include "block.h"
#include "owner.bpf.h"
#include "regions.bpf.h"

#define REQ_OP_MASK 0xff
#define ERRNO_MAX   4095

#define PLACES_MAX	 256  /* 2^n */
#define RESTING_MAX	 4096 /* 2^n */
#define SIZE_CLASS_LEAST 12   /* log2: what is smaller is not told apart */

/*
 * What is kept of a request beside its pair's own, in pair->value; pair->tag is its bytes. One that
 * is done leaves its pair where it is, since the kernel uses its requests again and again: to
 * delete and to insert is dearer than all the rest. A pair that waits for nothing has no place,
 * and begins when it was done: so user space takes away those that are not used any more.
 */
struct request_note {
	u64 issue_ns;  /* 0: not yet */
	u32 submitted; /* place of the submitter's series; SERIES_NONE: not followed */
	u32 tid;       /* of the submitter; 0: not followed */
	u64 call_ns;   /* when the system call in which it was submitted began; 0: none */
	u32 done;      /* bytes that are completed */
	u8 status;     /* of any part that failed, as BLOCK_STATUSES has it */
	u8 is_back;    /* it was given back by the disk: its start is known */
	u8 is_open;    /* it is under way */
	u8 unused;
};

_Static_assert(sizeof(struct request_note) == sizeof(((struct pair *)0)->value), "must fit");

/*
 * Where the last request of such a kind was counted: disks are few, and so are operations, sizes
 * and who submits. Several may share an entry; whose it is, the place itself tells.
 */
struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, PLACES_MAX);
	__type(key, u32);
	__type(value, u32);
} block_places SEC(".maps");

/* Addresses of requests whose pair may stay when they are done. */
struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, RESTING_MAX);
	__type(key, u32);
	__type(value, u64);
} block_resting SEC(".maps");

static __always_inline struct request_note *note_of(struct pair *pair)
{
	return (struct request_note *)pair->value;
}

static __always_inline u32 device_of(struct gendisk *disk)
{
	return (u32)disk->major << 20 | (u32)disk->first_minor;
}

static __always_inline u32 op_of(struct request *request)
{
	u32 op = request->cmd_flags & REQ_OP_MASK;

	return op < BLOCK_OTHER ? op : BLOCK_OTHER; /* the kernel's first four are the same */
}

/* Global, so that the verifier looks at it once, and not for each way to get there. */
__noinline u64 block_bucket(u64 ns)
{
	return hist_place(ns);
}

/* Up to 2^n bytes, in steps of four. */
__noinline u64 block_size_class(u64 bytes)
{
	u64 class;

	if (!bytes)
		return 0;
	class = hist_log2(bytes - 1) + (bytes > 1);
	return class <= SIZE_CLASS_LEAST ? SIZE_CLASS_LEAST : (class + 1) & ~1ULL;
}

/* Before 5.16 it is an errno, below 0; then the kernel's own number. */
static __always_inline u8 status_of(int error)
{
	u8 status = 0;

	if (error >= 0)
		return error < BLOCK_STATUS_COUNT ? (u8)error : BLOCK_STATUS_COUNT - 1;
#define STATUS(number, name)                                                                       \
	if (error == -(number))                                                                    \
		return status;                                                                     \
	status++;
	BLOCK_STATUSES(STATUS)
#undef STATUS
	return BLOCK_STATUS_COUNT - 1;
}

static __always_inline struct pair_key pair_key_of(struct request *request)
{
	return (struct pair_key){.id = (u64)request, .signal = SIG_BLOCK_IO};
}

static __always_inline struct series_key key_of(struct request *request, u32 device)
{
	return (struct series_key){
		.signal = SIG_BLOCK_IO,
		.kind = BLOCK_TOTAL,
		.detail = (u16)op_of(request),
		.object = device,
	};
}

/* Where the place of a key is remembered. */
static __always_inline u32 *place_of(const struct series_key *key)
{
	u32 place = object_mix(key->object ^ (u64)key->detail << 32, key->more ^ key->tgid) &
		    (PLACES_MAX - 1);

	return bpf_map_lookup_elem(&block_places, &place);
}

/*
 * Processes come and go, and disks stay: these may have half of the places, so that there is always
 * one for what a disk does.
 */
static __always_inline u32 find_submitted(struct series_key *key)
{
	u32 *known = bpf_map_lookup_elem(&series_index, key);
	struct series_share *share;

	if (known)
		return *known;
	share = series_share_of(SIG_BLOCK_IO);
	if (!share || share->used < share->limit / 2)
		return series_make_or_fold(key);
	return series_fold(key);
}

static __always_inline u32 submitted_slot(struct series_key *key)
{
	u32 *place = place_of(key), slot;

	if (!place)
		return SERIES_NONE; /* cannot be */
	slot = *place;		    /* read once: another CPU may keep another there meanwhile */
	if (!series_is_at(key, slot)) {
		slot = find_submitted(key);
		*place = slot;
	}
	return slot;
}

/* But for flushes, which the kernel makes when it likes. */
static __always_inline void note_submitter(struct request_note *note, struct series_key key,
					   struct request *request)
{
	struct ledger_task *account;

	note->submitted = SERIES_NONE;
	if (key.detail == BLOCK_FLUSH)
		return;
	key.kind = BLOCK_SUBMITTED;
	if (current_submits()) {
		account = account_of_current();
		if (!account)
			return; /* not followed */
		series_of(&key, account);
		note->tid = account->tid;
		note->call_ns = account->call_ns;
	} else {
		key.kind = BLOCK_CGROUP;
		key.object = cgroup_object(request->bio);
		if (!key.object)
			return;
	}
	note->submitted = submitted_slot(&key);
}

/*
 * A request is where another was, whose end no program has seen; not every event reaches one. How
 * long it took is not known; but if the disk was given it, it was done, and its bytes are.
 */
static __always_inline void count_unseen_end(const struct pair *pair)
{
	struct series_stripe *stripe = series_stripe_of(pair->slot);

	if (!stripe)
		return;
	__sync_fetch_and_add(&stripe->orphan_starts, 1);
	__sync_fetch_and_add(&stripe->sums[BLOCK_BYTES], pair->tag);
}

static __always_inline void request_begin(struct request *request, struct pair *before, u64 now,
					  u64 issue_ns)
{
	struct pair_key pair_key = pair_key_of(request);
	struct gendisk *disk = request_disk(request);
	struct pair pair = {.begin_ns = now};
	struct series_key key;
	u32 *place;

	if (!disk || !pairs_are_whole())
		return; /* to a controller, not to a disk; or its end might not be seen */
	if (before && note_of(before)->is_open)
		count_unseen_end(before);
	pair.tag = issue_ns ? request->__data_len : 0;
	key = key_of(request, device_of(disk));
	note_of(&pair)->issue_ns = issue_ns;
	note_of(&pair)->is_open = 1;
	note_submitter(note_of(&pair), key, request);
	key.more = block_size_class(request->__data_len);
	place = place_of(&key);
	if (place)
		pair.slot = series_find_again(&key, place);
	if (before)
		*before = pair;
	else
		pair_put(&pair_key, &pair);
}

SEC("?tp_btf/block_rq_insert")
int BPF_PROG(block_insert, struct request *request)
{
	struct pair_key key = pair_key_of(request);
	struct pair *pair = bpf_map_lookup_elem(&pairs, &key);

	if (pair && note_of(pair)->is_back)
		note_of(pair)->is_back = 0;
	else
		request_begin(request, pair, bpf_ktime_get_ns(), 0);
	return 0;
}

SEC("?tp_btf/block_rq_issue")
int BPF_PROG(block_issue, struct request *request)
{
	struct pair_key key = pair_key_of(request);
	struct pair *pair = bpf_map_lookup_elem(&pairs, &key);
	u64 now = bpf_ktime_get_ns();

	if (pair && note_of(pair)->is_open && !note_of(pair)->issue_ns) {
		note_of(pair)->issue_ns = now;
		note_of(pair)->is_back = 0;
		pair->tag = note_of(pair)->done + request->__data_len;
	} else { /* at once; or the last request at this address has ended unseen */
		request_begin(request, pair, now, now);
	}
	return 0;
}

/* The disk could not take it yet: what it waits for is still its turn. */
SEC("?tp_btf/block_rq_requeue")
int BPF_PROG(block_requeue, struct request *request)
{
	struct pair_key key = pair_key_of(request);
	struct pair *pair = bpf_map_lookup_elem(&pairs, &key);

	if (!pair || !note_of(pair)->is_open)
		return 0;
	note_of(pair)->issue_ns = 0;
	note_of(pair)->is_back = 1;
	return 0;
}

/*
 * Nothing is under way at its address. The next request there uses the pair again, which is faster
 * than to take it out and put one in; but the table is all signals', so only so many may stay.
 */
static __always_inline void request_rest(struct pair_key *key, struct pair *pair, u64 now)
{
	u64 address = 0, *resting;
	u32 place;

	bpf_probe_read_kernel(&address, sizeof(address), &key->id); /* a number, no pointer */
	place = object_mix(address, 0) & (RESTING_MAX - 1);
	resting = bpf_map_lookup_elem(&block_resting, &place);
	if (resting && !*resting)
		*resting = address;
	if (!resting || *resting != address) {
		bpf_map_delete_elem(&pairs, key);
		return;
	}
	note_of(pair)->is_open = note_of(pair)->is_back = 0;
	pair->slot = SERIES_NONE;
	pair->begin_ns = now;
}

/* It is part of another one now. */
SEC("?tp_btf/block_rq_merge")
int BPF_PROG(block_merge, struct request *request)
{
	struct pair_key key = pair_key_of(request);
	struct pair *pair = bpf_map_lookup_elem(&pairs, &key);

	if (pair)
		request_rest(&key, pair, bpf_ktime_get_ns());
	return 0;
}

static __always_inline void count_slow(struct series_key *key, const struct request_note *note,
				       u64 queue_ns, u64 total_ns)
{
	struct slow_event event = {.ns = total_ns, .tid = note->tid, .is_owned_by_key = true};
	struct series_slot *submitted;
	u32 slot = note->submitted;

	if (!slow_is_told(SIG_BLOCK_IO, total_ns))
		return;
	submitted = bpf_map_lookup_elem(&series_slots, &slot);
	if (submitted) {
		key->tgid = submitted->key.tgid;
		key->start_ns = submitted->key.start_ns;
	}
	event.value[0] = queue_ns;
	event.value[1] = note->done;
	slow_send(current_task(), key, &event);
}

/* Seldom needed: so it is not in between what is. */
static __noinline u32 find_anew(struct series_key *key)
{
	return series_find(key);
}

static __noinline u32 find_beside(u32 slot, struct series_key *key, u32 kind)
{
	struct series_slot *leader = bpf_map_lookup_elem(&series_slots, &slot);

	return leader ? series_find_beside(leader, key, kind, kind) : SERIES_NONE;
}

/* Each of its times: mostly where they were to be counted when it began. */
static __always_inline void count_times(struct series_key *key, const struct pair *pair, u32 done,
					u64 queue_ns, u64 service_ns, u32 submitted_slot)
{
	u64 total_ns = queue_ns + service_ns, total_at = block_bucket(total_ns);
	u64 queue_at = 0, service_at = total_at;
	struct series_stripe *total, *queue, *service, *submitted;
	u32 slot = pair->slot, beside;
	struct series_slot *leader;

	if (!series_is_at(key, slot))
		slot = find_anew(key);
	leader = bpf_map_lookup_elem(&series_slots, &slot);
	if (!leader)
		return; /* there is no place, which is counted */
	if (queue_ns) {
		queue_at = block_bucket(queue_ns);
		service_at = block_bucket(service_ns);
	}
	total = series_stripe_of(slot);
	beside = leader->beside[BLOCK_QUEUE];
	queue = series_stripe_of(beside ? beside - 1 : find_beside(slot, key, BLOCK_QUEUE));
	beside = leader->beside[BLOCK_SERVICE];
	service = series_stripe_of(beside ? beside - 1 : find_beside(slot, key, BLOCK_SERVICE));
	if (!total || !queue || !service)
		return; /* likewise; they are counted together, or not at all */
	submitted = series_stripe_of(submitted_slot);
	if (submitted)
		stripe_add(submitted, total_ns, total_at, 1);
	stripe_add(total, total_ns, total_at, 1);
	stripe_add(queue, queue_ns, queue_at, 1);
	stripe_add(service, service_ns, service_at, 1);
	__sync_fetch_and_add(&total->sums[BLOCK_BYTES], done);
}

/* All of it is done. */
static __always_inline void request_end(struct request *request, u32 device, struct pair *pair,
					u64 now)
{
	struct series_key key = key_of(request, device);
	struct request_note *note = note_of(pair);
	u64 begin = pair->begin_ns, issue = note->issue_ns ? note->issue_ns : begin;
	u64 queue_ns = issue > begin ? issue - begin : 0,
	    service_ns = now > issue ? now - issue : 0;

	key.detail += BLOCK_OPS * note->status;
	key.more = block_size_class(note->done);
	count_times(&key, pair, note->done, queue_ns, service_ns, note->submitted);
	if (SIGNAL_IS_ON(FILES) && note->call_ns)
		disk_wait_add(note->tid, note->call_ns, queue_ns, service_ns);
	key.kind = BLOCK_TOTAL;
	count_slow(&key, note, queue_ns, queue_ns + service_ns);
}

/*
 * One that is not known was under way when dwell came. But the kernel's flushes end the write that
 * asked for them a second time, or without that it was ever issued: such an end has no bytes.
 */
static __noinline void count_orphan(struct request *request, u32 device, u32 bytes)
{
	struct series_key key = key_of(request, device);

	if ((!bytes && key.detail != BLOCK_FLUSH) || !pairs_are_whole())
		return;
	key.more = block_size_class(bytes);
	series_count(series_find(&key), orphan_ends);
}

SEC("?tp_btf/block_rq_complete")
int BPF_PROG(block_complete, struct request *request, int error, unsigned int bytes)
{
	struct pair_key key = pair_key_of(request);
	struct gendisk *disk = request_disk(request);
	struct pair *pair;
	u32 device;
	u64 now;

	if (!disk)
		return 0;
	device = device_of(disk);
	pair = bpf_map_lookup_elem(&pairs, &key);
	region_add(disk, device, request->__sector, bytes);
	if (!pair || !note_of(pair)->is_open) {
		count_orphan(request, device, bytes);
		return 0;
	}
	note_of(pair)->done += bytes;
	if (error)
		note_of(pair)->status = status_of(error);
	if (bytes < request->__data_len)
		return 0; /* a part of it */
	now = bpf_ktime_get_ns();
	request_end(request, device, pair, now);
	request_rest(&key, pair, now);
	return 0;
}
