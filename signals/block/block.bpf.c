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
#include "regions.bpf.h"

#define REQ_OP_MASK 0xff
#define ERRNO_MAX   4095

#define PLACES_MAX	 64
#define SIZE_CLASS_LEAST 12 /* log2: what is smaller is not told apart */

/* What is kept of a request beside its pair's own, in pair->value; pair->tag is its bytes. */
struct request_note {
	u64 issue_ns;  /* 0: not yet */
	u32 submitted; /* place of the submitter's series; SERIES_NONE: not followed */
	u32 tid;       /* of the submitter; 0: not followed */
	u64 call_ns;   /* when the system call in which it was submitted began; 0: none */
	u32 done;      /* bytes that are completed */
	u8 status;     /* of any part that failed, as BLOCK_STATUSES has it */
	u8 is_back;    /* it was given back by the disk: its start is known */
	u16 unused;
};

_Static_assert(sizeof(struct request_note) == sizeof(((struct pair *)0)->value), "must fit");

/*
 * Where the last request of such a kind was counted: disks are few, and so are operations and
 * sizes. Kinds may share an entry; who it is, the place itself tells.
 */
struct block_places {
	u32 slots[BLOCK_SIZE + 1];
};

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, PLACES_MAX);
	__type(key, u32);
	__type(value, struct block_places);
} block_places SEC(".maps");

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

/* Up to 2^n bytes, in steps of four. */
static __always_inline u64 size_class(u64 bytes)
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

/*
 * Processes come and go, and disks stay: these may have half of the places, so that there is always
 * one for what a disk does.
 */
static __always_inline u32 submitted_place(struct series_key *key)
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

/* Who submits it is on this CPU; but for flushes, which the kernel makes when it likes. */
static __always_inline void note_submitter(struct request_note *note, struct series_key key)
{
	struct ledger_task *account = key.detail == BLOCK_FLUSH ? NULL : account_of_current();

	note->submitted = SERIES_NONE;
	if (!account)
		return;
	series_of(&key, account);
	key.kind = BLOCK_SUBMITTED;
	note->submitted = submitted_place(&key);
	note->tid = account->tid;
	note->call_ns = account->call_ns;
}

/*
 * A request is where another was, whose end no program has seen; not every event reaches one. How
 * long it took is not known (pair_begin counts that); but it was done, and its bytes are.
 */
static __always_inline void count_unseen_end(const struct pair *pair)
{
	u32 slot = pair->slot;
	struct series_slot *place = bpf_map_lookup_elem(&series_slots, &slot);
	struct series_key key;

	if (!place)
		return;
	key = place->key;
	key.kind = BLOCK_SIZE;
	key.more = 0;
	series_add(series_find(&key), pair->tag);
}

static __always_inline void request_begin(struct request *request, const struct pair *before,
					  u64 now, u64 issue_ns)
{
	struct pair_key pair_key = pair_key_of(request);
	struct gendisk *disk = request_disk(request);
	struct pair pair = {.begin_ns = now};
	struct series_key key;

	if (!disk || !pairs_are_whole())
		return; /* to a controller, not to a disk; or its end might not be seen */
	if (before && before->tag)
		count_unseen_end(before);
	pair.tag = issue_ns ? request->__data_len : 0;
	key = key_of(request, device_of(disk));
	note_of(&pair)->issue_ns = issue_ns;
	note_submitter(note_of(&pair), key);
	key.more = size_class(request->__data_len);
	pair.slot = series_find(&key);
	pair_begin(&pair_key, &pair);
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

	if (pair && !note_of(pair)->issue_ns) {
		note_of(pair)->issue_ns = now;
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

	if (!pair)
		return 0;
	note_of(pair)->issue_ns = 0;
	note_of(pair)->is_back = 1;
	return 0;
}

/* It is part of another one now. */
SEC("?tp_btf/block_rq_merge")
int BPF_PROG(block_merge, struct request *request)
{
	struct pair_key key = pair_key_of(request);

	bpf_map_delete_elem(&pairs, &key);
	return 0;
}

static __always_inline void count_slow(struct series_key *key, const struct request_note *note,
				       u64 queue_ns, u64 total_ns)
{
	struct slow_event event = {.ns = total_ns, .tid = note->tid};
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

static __always_inline struct block_places *places_of(const struct series_key *key)
{
	u32 place = object_mix(key->object ^ (u64)key->detail << 32, key->more) & (PLACES_MAX - 1);

	return bpf_map_lookup_elem(&block_places, &place);
}

static __always_inline void add(struct block_places *places, struct series_key *key, u32 kind,
				u64 value)
{
	u32 slot = places->slots[kind];

	key->kind = (u8)kind;
	if (!series_is_at(key, slot)) {
		slot = series_find(key);
		places->slots[kind] = slot;
	}
	series_add(slot, value);
}

/* All of it is done. */
static __always_inline void request_end(struct request *request, u32 device, struct pair *pair)
{
	struct series_key key = key_of(request, device);
	struct request_note *note = note_of(pair);
	u64 now = bpf_ktime_get_ns(), begin = pair->begin_ns;
	u64 issue = note->issue_ns ? note->issue_ns : begin, class = size_class(note->done);
	struct block_places *places;

	key.detail += BLOCK_OPS * note->status;
	key.more = class;
	places = places_of(&key);
	if (!places)
		return; /* cannot be */
	key.more = 0;
	add(places, &key, BLOCK_SIZE, note->done);
	key.more = class;
	add(places, &key, BLOCK_QUEUE, issue > begin ? issue - begin : 0);
	add(places, &key, BLOCK_SERVICE, now > issue ? now - issue : 0);
	add(places, &key, BLOCK_TOTAL, now > begin ? now - begin : 0);
	if (note->submitted != SERIES_NONE)
		series_add_span(note->submitted, begin, now);
	if (SIGNAL_IS_ON(FILES) && note->call_ns)
		disk_wait_add(note->tid, note->call_ns, issue - begin,
			      now > issue ? now - issue : 0);
	count_slow(&key, note, issue - begin, now > begin ? now - begin : 0);
}

/*
 * One that is not known was under way when dwell came. But the kernel's flushes end the write that
 * asked for them a second time, or without that it was ever issued: such an end has no bytes.
 */
static __always_inline void count_orphan(struct request *request, u32 device, u32 bytes)
{
	struct series_key key = key_of(request, device);

	if ((!bytes && key.detail != BLOCK_FLUSH) || !pairs_are_whole())
		return;
	key.more = size_class(bytes);
	series_count(series_find(&key), orphan_ends);
}

SEC("?tp_btf/block_rq_complete")
int BPF_PROG(block_complete, struct request *request, int error, unsigned int bytes)
{
	struct pair_key key = pair_key_of(request);
	struct gendisk *disk = request_disk(request);
	struct pair *pair;
	u32 device;

	if (!disk)
		return 0;
	device = device_of(disk);
	pair = bpf_map_lookup_elem(&pairs, &key);
	region_add(disk, device, request->__sector, bytes);
	if (!pair) {
		count_orphan(request, device, bytes);
		return 0;
	}
	note_of(pair)->done += bytes;
	if (error)
		note_of(pair)->status = status_of(error);
	if (bytes < request->__data_len)
		return 0; /* a part of it */
	request_end(request, device, pair);
	bpf_map_delete_elem(&pairs, &key);
	return 0;
}
