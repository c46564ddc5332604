// SPDX-License-Identifier: Apache-2.0
#include "ledger.h"

#include <stdbool.h>
#include <sys/syscall.h>

#include "../../src/base/cleanup.h"
#include "../../src/model/signal.h"
#include "waits.h"

/* What each syscall waits for when it blocks; those not named wait for something else. */
static const struct map_entry waits[] = {
	{SYS_nanosleep, WAIT_SLEEP},
	{SYS_clock_nanosleep, WAIT_SLEEP},
	{SYS_futex, WAIT_FUTEX},
	{SYS_read, WAIT_FILE},
	{SYS_write, WAIT_FILE},
	{SYS_readv, WAIT_FILE},
	{SYS_writev, WAIT_FILE},
	{SYS_pread64, WAIT_FILE},
	{SYS_pwrite64, WAIT_FILE},
	{SYS_preadv, WAIT_FILE},
	{SYS_pwritev, WAIT_FILE},
	{SYS_sendfile, WAIT_FILE},
	{SYS_splice, WAIT_FILE},
	{SYS_tee, WAIT_FILE},
	{SYS_vmsplice, WAIT_FILE},
	{SYS_copy_file_range, WAIT_FILE},
	{SYS_ioctl, WAIT_FILE},
	{SYS_fsync, WAIT_DISK},
	{SYS_fdatasync, WAIT_DISK},
	{SYS_sync, WAIT_DISK},
	{SYS_syncfs, WAIT_DISK},
	{SYS_sync_file_range, WAIT_DISK},
	{SYS_fallocate, WAIT_DISK},
	{SYS_ftruncate, WAIT_DISK},
	{SYS_recvfrom, WAIT_NET},
	{SYS_recvmsg, WAIT_NET},
	{SYS_recvmmsg, WAIT_NET},
	{SYS_sendto, WAIT_NET},
	{SYS_sendmsg, WAIT_NET},
	{SYS_sendmmsg, WAIT_NET},
	{SYS_connect, WAIT_NET},
	{SYS_accept, WAIT_IDLE},
	{SYS_accept4, WAIT_IDLE},
	{SYS_epoll_pwait, WAIT_POLL},
	{SYS_ppoll, WAIT_POLL},
	{SYS_pselect6, WAIT_POLL},
	{SYS_io_getevents, WAIT_DISK},
	{SYS_wait4, WAIT_CHILD},
	{SYS_waitid, WAIT_CHILD},
	{SYS_rt_sigtimedwait, WAIT_IDLE},
	{SYS_rt_sigsuspend, WAIT_IDLE},
	{SYS_clone, WAIT_CHILD}, /* vfork: until the child lets go of the memory */
#ifdef SYS_clone3
	{SYS_clone3, WAIT_CHILD},
#endif
#ifdef SYS_epoll_pwait2
	{SYS_epoll_pwait2, WAIT_POLL},
#endif
#ifdef SYS_vfork
	{SYS_vfork, WAIT_CHILD},
#endif
#ifdef SYS_epoll_wait
	{SYS_epoll_wait, WAIT_POLL},
#endif
#ifdef SYS_poll
	{SYS_poll, WAIT_POLL},
#endif
#ifdef SYS_select
	{SYS_select, WAIT_POLL},
#endif
#ifdef SYS_pause
	{SYS_pause, WAIT_IDLE},
#endif
};

static u32 hash_of(const struct rec_ledger *row)
{
	u64 mix = (row->thread_start_ns ^ ((u64)row->hdr.tid << 32)) * 0x9e3779b97f4a7c15ULL;

	return (u32)(mix >> 40) & (LEDGER_INDEX_MAX - 1);
}

static bool is_same_thread(const struct rec_ledger *a, const struct rec_ledger *b)
{
	return a->hdr.tid == b->hdr.tid && a->thread_start_ns == b->thread_start_ns;
}

/* The place in the index where the thread is, or where it would be. */
static u32 *find_slot(struct ledger_book *book, const struct rec_ledger *row)
{
	u32 at = hash_of(row);

	while (book->index[at] && !is_same_thread(&book->rows[book->index[at] - 1], row))
		at = (at + 1) & (LEDGER_INDEX_MAX - 1);
	return &book->index[at];
}

static void fold(struct ledger_book *book, const struct rec_ledger *row)
{
	book->folded++;
	for (int i = 0; i < STATE_COUNT; i++)
		book->other.ns[i] += row->ns[i];
	book->other.end_ns += row->end_ns - row->begin_ns; /* from begin_ns 0: the wall */
}

static void on_record(void *state, const struct rec_hdr *record)
{
	const struct rec_ledger *row = (const struct rec_ledger *)record;
	struct ledger_book *book = state;
	u32 *slot = find_slot(book, row);

	if (!*slot && book->count == LEDGER_ROWS_MAX) {
		fold(book, row);
		return;
	}
	if (!*slot)
		*slot = (u32)++book->count;
	/* A thread is read while it lives, and tells its end: the last word holds. */
	if (!(book->rows[*slot - 1].flags & LEDGER_LAST))
		book->rows[*slot - 1] = *row;
}

static const struct probe probes[] = {
	{.program = "ledger_switch",
	 .maps = {"ledger_tasks", "ledger_waits"},
	 .fill = waits,
	 .fill_count = ARRAY_SIZE(waits),
	 .fill_map = 1},
	{.program = "ledger_waking", .maps = {"ledger_tasks"}},
	{.program = "ledger_wakeup", .maps = {"ledger_tasks"}},
	{.program = "ledger_wakeup_new", .maps = {"ledger_tasks"}},
	{.program = "ledger_newtask", .maps = {"ledger_tasks"}},
	{.program = "ledger_seed", .kind = PROBE_ITER, .maps = {"ledger_tasks", "ledger_waits"}},
	{.program = "ledger_rows", .kind = PROBE_ITER, .maps = {"ledger_tasks", "ledger_scratch"}},
};

const struct signal signal_ledger = {
	.about = "where every nanosecond of each thread went",
	.probes = probes,
	.probe_count = ARRAY_SIZE(probes),
	.state_size = sizeof(struct ledger_book),
	.on_record = on_record,
};
