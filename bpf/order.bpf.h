/* SPDX-License-Identifier: Apache-2.0 OR GPL-2.0-only */
/*
 * Words that one CPU writes and another reads, and what else must be seen in their order. Compiled
 * for the host too, as ledger.bpf.h is, where ThreadSanitizer checks each of the four
 * (tests/unit/order.sh).
 *
 * x86 keeps loads in order, and stores, and stores behind loads: nothing but the compiler has to be
 * told. arm64 keeps none of it. BPF has no fences there, but an atomic instruction that returns the
 * old value is one: the kernel makes a fully ordered instruction of it. arm64 has these from 5.18.
 */
#ifndef DWELL_ORDER_BPF_H
#define DWELL_ORDER_BPF_H

#define ledger_barrier() __asm__ volatile("" ::: "memory") /* for the compiler alone */

#if defined(__bpf__) || defined(ORDER_BY_COMPILER_ONLY) /* the latter is what the test sees fail   \
							 */

#if defined(__bpf__) && defined(__TARGET_ARCH_arm64)
static __always_inline void ledger_fence(void)
{
	u64 word = 0, before;

	before = __sync_fetch_and_add(&word, 1);
	/* Whose result is not used is no fence: the compiler would take the weaker instruction. */
	__asm__ volatile("" : : "r"(before) : "memory");
}
#else
#define ledger_fence() ledger_barrier()
#endif

#define ledger_word(place) (*(volatile __typeof__(*(place)) *)(place))
#define ledger_own(place)  (*(place)) /* a word that nobody else writes */

/* What is read after it is at least as new. */
#define ledger_load_acquire(place)                                                                 \
	({                                                                                         \
		__typeof__(*(place)) now_ = ledger_word(place);                                    \
		ledger_fence();                                                                    \
		now_;                                                                              \
	})

/* It is at least as new as all that was read before. */
#define ledger_load_last(place)                                                                    \
	({                                                                                         \
		ledger_fence();                                                                    \
		ledger_word(place);                                                                \
	})

/* Who sees it also sees all that was written before. */
#define ledger_store_release(place, value)                                                         \
	do {                                                                                       \
		ledger_fence();                                                                    \
		ledger_word(place) = (value);                                                      \
	} while (0)

/* Who sees anything that is written after it also sees it. */
#define ledger_store_first(place, value)                                                           \
	do {                                                                                       \
		ledger_word(place) = (value);                                                      \
		ledger_fence();                                                                    \
	} while (0)

#else

/* ThreadSanitizer knows no fences: those that need one are exchanges here, which it does know. */
#define ledger_own(place)	   __atomic_load_n(place, __ATOMIC_RELAXED)
#define ledger_load_acquire(place) __atomic_load_n(place, __ATOMIC_ACQUIRE)
#define ledger_load_last(place)                                                                    \
	__atomic_fetch_add((__typeof__(*(place) + 0) *)(place), 0, __ATOMIC_ACQ_REL)
#define ledger_store_release(place, value) __atomic_store_n(place, value, __ATOMIC_RELEASE)
#define ledger_store_first(place, value)   ((void)__atomic_exchange_n(place, value, __ATOMIC_ACQ_REL))

#endif

/* --- a sequence counter: one writer makes it odd while it writes, readers compare --- */

static __always_inline void ledger_seq_open(u32 *seq)
{
	ledger_store_first(seq, ledger_own(seq) + 1);
}

static __always_inline void ledger_seq_close(u32 *seq)
{
	ledger_store_release(seq, ledger_own(seq) + 1);
}

static __always_inline u32 ledger_read_seq(const u32 *seq)
{
	return ledger_load_acquire(seq);
}

/* Whether what was copied since seq was read is whole. */
static __always_inline bool ledger_is_whole(const u32 *seq, u32 before)
{
	return !(before & 1) && before == ledger_load_last(seq);
}

#endif
