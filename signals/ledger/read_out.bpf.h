/* SPDX-License-Identifier: Apache-2.0 OR GPL-2.0-only */
/*
 * Accounts are read while others write them: which are to be read again, which have nothing new to
 * say, and what the reader notes of those that it has read.
 */
#ifndef DWELL_LEDGER_READ_OUT_BPF_H
#define DWELL_LEDGER_READ_OUT_BPF_H

#define ROW_ATTEMPTS 3	/* at once ... */
#define ROW_PAUSES   16 /* ... and after a pause each, which only the reading process can make */

/*
 * One whose CPU was taken away while it wrote stays torn for longer than a program can wait. With 1
 * the kernel ends this read and shows the same thread at the next one, after the reader's pause.
 */
static __always_inline bool is_read_again(u32 *torn_reads)
{
	return ++*torn_reads <= ROW_PAUSES;
}

static __always_inline void note_told(struct ledger_told *told, const struct rec_ledger *row)
{
	/* Not in a loop: compilers make one that goes below an array, which 7.x refuses. */
	__builtin_memcpy(told->ns, row->ns, sizeof(told->ns));
	__builtin_memcpy(told->entries, row->entries, sizeof(told->entries));
	told->exec_ns = row->kernel_exec_ns;
	told->delay_ns = row->kernel_delay_ns;
	told->end_ns = row->end_ns;
}

/* A sleeper that has not moved since it was last read has nothing new to say. */
static __always_inline bool is_as_before(const struct ledger_task *account)
{
	struct live_config *live = live_config();

	return account->read_seq == account->seq && ledger_is_blocked(account->state) &&
	       !account->wake_ns && !account->is_unwanted && live && !live->all_rows;
}

#endif
