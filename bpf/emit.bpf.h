/* SPDX-License-Identifier: Apache-2.0 OR GPL-2.0-only */
/*
 * The way out: reserve a record, fill it, submit it. Whatever finds no room is counted.
 * The reader is woken once per cfg_wake_bytes, not per record (a wake-up costs eight times
 * the record) and looks by itself now and then.
 */
#ifndef DWELL_EMIT_BPF_H
#define DWELL_EMIT_BPF_H

#define RINGBUF_HDR_BYTES 8 /* what the ring buffer itself adds to each record */

static __always_inline struct emit_counts *emit_counts_here(void)
{
	u32 zero = 0;

	return bpf_map_lookup_elem(&emit_counts, &zero);
}

/*
 * Atomic although per CPU: an interrupt's program may run between load and store, and uprobes
 * may be preempted. The sum is exact; fetch-and-add would also make seq unique, but needs 5.12.
 */
static __always_inline void emit_count(u64 *counter)
{
	__sync_fetch_and_add(counter, 1);
}

/* A record that could not even be made counts as sent and lost, so that the sum stays exact. */
#define EMIT_LOSE(NAME, cause)                                                                     \
	do {                                                                                       \
		struct emit_counts *counts_ = emit_counts_here();                                  \
                                                                                                   \
		if (counts_) {                                                                     \
			emit_count(&counts_->sent);                                                \
			emit_count(&counts_->of[SIG_##NAME].cause);                                \
		}                                                                                  \
	} while (0)

/* What was counted as coalesced by a failed reservation has no bucket after all. */
#define EMIT_NOT_COALESCED(NAME, cause)                                                            \
	do {                                                                                       \
		struct emit_counts *counts_ = emit_counts_here();                                  \
                                                                                                   \
		if (counts_) {                                                                     \
			__sync_fetch_and_add(&counts_->of[SIG_##NAME].coalesced, -1ULL);           \
			emit_count(&counts_->of[SIG_##NAME].cause);                                \
		}                                                                                  \
	} while (0)

/* Why a reservation failed; an interrupt may have found the ring's lock taken. */
static __always_inline u64 *emit_loss(struct emit_counts *counts, void *ring, u16 type,
				      enum drop_class class, u16 size)
{
	u64 room = bpf_ringbuf_query(ring, BPF_RB_RING_SIZE) -
		   bpf_ringbuf_query(ring, BPF_RB_AVAIL_DATA);

	if (class == DROP_HISTOGRAM)
		return &counts->of[type].coalesced;
	return room > (u64)size + RINGBUF_HDR_BYTES ? &counts->of[type].ring_busy
						    : &counts->of[type].ring_full;
}

static __always_inline void emit_header(struct rec_hdr *hdr, u16 type, u16 version, u16 size,
					u64 seq, struct task_struct *task)
{
	hdr->type = type;
	hdr->version = version;
	hdr->size = size;
	hdr->cpu = bpf_get_smp_processor_id();
	hdr->ts_ns = bpf_ktime_get_ns();
	hdr->seq = seq;
	hdr->tgid = task_tgid(task);
	hdr->tid = task_tid(task);
	hdr->start_ns = BPF_CORE_READ(task, group_leader, start_boottime);
}

static __always_inline void *emit_reserve(void *ring, u16 type, u16 version, enum drop_class class,
					  u16 size, struct task_struct *task)
{
	struct emit_counts *counts = emit_counts_here();
	struct rec_hdr *hdr;

	if (!counts || type >= SIGNAL_LIMIT)
		return NULL;
	emit_count(&counts->sent);
	u64 seq = *(volatile u64 *)&counts->sent;

	hdr = bpf_ringbuf_reserve(ring, size, 0);
	if (!hdr) {
		emit_count(emit_loss(counts, ring, type, class, size));
		return NULL;
	}
	emit_header(hdr, type, version, size, seq, task);
	return hdr;
}

/* struct rec_<name> *, its header filled, or NULL (counted). Every other field must be set. */
#define EMIT_RESERVE(NAME, name, task) EMIT_RESERVE_ON(&records, NAME, name, task)
#define EMIT_RESERVE_ON(ring, NAME, name, task)                                                    \
	((struct rec_##name *)emit_reserve(ring, SIG_##NAME, SIG_VERSION_##NAME,                   \
					   (enum drop_class)SIG_DROP_##NAME,                       \
					   sizeof(struct rec_##name), task))

/*
 * Every other field is 0. Records begin at a multiple of 8 bytes, which the compiler does not know
 * of what a helper returned: it would clear them byte by byte.
 */
#define EMIT_CLEAR(rec)                                                                            \
	__builtin_memset(__builtin_assume_aligned((rec), 8) + sizeof((rec)->hdr), 0,               \
			 sizeof(*(rec)) - sizeof((rec)->hdr))

static __always_inline void emit_submit(void *ring, void *rec, u64 size)
{
	u64 waiting = bpf_ringbuf_query(ring, BPF_RB_AVAIL_DATA);
	u64 before = waiting - size - RINGBUF_HDR_BYTES;
	bool crossed = (waiting ^ before) & ~(u64)(cfg_wake_bytes - 1);

	bpf_ringbuf_submit(rec, crossed ? BPF_RB_FORCE_WAKEUP : BPF_RB_NO_WAKEUP);
}

#define EMIT_SUBMIT(rec)	  EMIT_SUBMIT_ON(&records, rec)
#define EMIT_SUBMIT_ON(ring, rec) emit_submit(ring, rec, sizeof(*(rec)))

#endif
