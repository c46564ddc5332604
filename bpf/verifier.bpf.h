/* SPDX-License-Identifier: Apache-2.0 OR GPL-2.0-only */
/*
 * What makes verifiers of all ages follow what is done, and compilers leave it as it is written.
 * Compiled for the host too, as ledger.bpf.h is.
 */
#ifndef DWELL_VERIFIER_BPF_H
#define DWELL_VERIFIER_BPF_H

#define ledger_barrier_value(value)                                                                \
	__asm__ volatile(""                                                                        \
			 : "+r"(value)) /* the compiler forgets it                                 \
					 */

/* An index, bounded where every verifier sees it: older ones lose track otherwise. */
#ifdef __bpf__
#define ledger_bound(index, mask) __asm__ volatile("%0 &= %1" : "+r"(index) : "i"(mask))
#define ledger_at_most(value, limit)                                                               \
	__asm__ volatile("if %0 <= %1 goto +1\n%0 = %1" : "+r"(value) : "i"(limit))
#else
#define ledger_at_most(value, limit) ((value) = (value) < (limit) ? (value) : (limit))
#define ledger_bound(index, mask)    ((index) &= (mask))
#endif

/*
 * The verifier remembers what each path may have left in a word, and goes through all that follows
 * once for each. So it is made to forget: loading takes a fraction of the time.
 */
static __always_inline u64 ledger_forget(u64 known, u64 unknown)
{
#ifdef __bpf__
	__asm__ volatile("%0 += %1\n%0 -= %1" : "+r"(known) : "r"(unknown));
#else
	(void)unknown;
#endif
	return known;
}

#endif
