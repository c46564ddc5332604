// SPDX-License-Identifier: Apache-2.0 OR GPL-2.0-only
/*
 * Memory as the kernel gives it: address space that is asked for, anonymous pages that come into
 * use, and large allocations of the kernel's own.
 */
#include "../../bpf/common.bpf.h"
#include "alloc.bpf.h"

#define PAGE_SHIFT    12
#define GFP_MOVABLE   0x08 /* pages of user space, and of files */
#define MM_ANONPAGES  1
#define MAP_ANONYMOUS 0x20
#define RESIDENTS_MAX 8192
#define ORDER_MAX     20

#if defined(__TARGET_ARCH_x86)
#define CALL_MMAP   9
#define CALL_BRK    12
#define CALL_MREMAP 25
#elif defined(__TARGET_ARCH_arm64)
#define CALL_MMAP   222
#define CALL_BRK    214
#define CALL_MREMAP 216
#endif

/* What a process had when it was last looked at, in pages. One that is forgotten begins anew. */
struct {
	__uint(type, BPF_MAP_TYPE_LRU_HASH);
	__uint(max_entries, RESIDENTS_MAX);
	__type(key, u32);
	__type(value, s64);
} alloc_residents SEC(".maps");

/* Of a thread in the kernel. */
static __always_inline void count_bytes(void *ctx, const struct ledger_task *account, u32 kind,
					u32 function, u64 bytes)
{
	struct alloc_choice *choice = alloc_choice_here();
	struct live_config *live = live_config();
	struct alloc_weights weights;
	struct series_key key;

	if (!choice || !live || !bytes || bytes > ALLOC_SIZE_MAX)
		return;
	alloc_choose(choice, live, bytes, &weights);
	if (!weights.bytes)
		return;
	key = alloc_key(account, kind, function, bytes);
	key.more = alloc_stack(ctx, account, live, NULL, false);
	series_add_weighted(series_find(&key), bytes, weights.bytes);
}

/* --- address space --- */

static __always_inline u64 asked_by_brk(u64 to)
{
	u64 from = BPF_CORE_READ(current_task(), mm, brk);

	return to > from ? to - from : 0;
}

/* Another table of numbers: programs of 32 bits are left out. */
static __always_inline bool is_compat(void)
{
#if defined(__TARGET_ARCH_x86)
	return BPF_CORE_READ(current_task(), thread_info.status) & TS_COMPAT;
#else
	return false;
#endif
}

/* What is asked for is seldom refused: the result is not waited for. */
SEC("?tp_btf/sys_enter")
int BPF_PROG(alloc_call, struct pt_regs *regs, long number)
{
	struct ledger_task *account;
	u64 bytes = 0;
	u32 function;

	if ((number != CALL_MMAP && number != CALL_BRK && number != CALL_MREMAP) || is_compat())
		return 0;
	account = account_of_current();
	if (!account)
		return 0;
	if (number == CALL_MMAP) {
		function = ALLOC_BY_MMAP;
		if (PT_REGS_PARM4_CORE_SYSCALL(regs) & MAP_ANONYMOUS)
			bytes = PT_REGS_PARM2_CORE_SYSCALL(regs);
	} else if (number == CALL_BRK) {
		function = ALLOC_BY_BRK;
		bytes = asked_by_brk(PT_REGS_PARM1_CORE_SYSCALL(regs));
	} else {
		u64 before = PT_REGS_PARM2_CORE_SYSCALL(regs);
		u64 after = PT_REGS_PARM3_CORE_SYSCALL(regs);

		function = ALLOC_BY_MREMAP;
		bytes = after > before ? after - before : 0;
	}
	count_bytes(ctx, account, ALLOC_ASKED, function, bytes);
	return 0;
}

/* --- pages in use --- */

/*
 * From 6.2 on the kernel's count is one for each CPU, of which every 32 or more are summed up: so
 * one sees growth in such steps. Before, the hook tells it.
 */
static __always_inline s64 anonymous_pages(u64 *ctx, struct mm_struct *mm)
{
	struct mm_struct___counters *counters = (void *)mm;

	if (bpf_core_field_exists(counters->rss_stat[MM_ANONPAGES].count))
		return BPF_CORE_READ(counters, rss_stat[MM_ANONPAGES].count);
	return (s64)ctx[2];
}

/* A process's first word is where it begins; by an exec it has less, and begins anew. */
SEC("?tp_btf/rss_stat")
int BPF_PROG(alloc_resident, struct mm_struct *mm, int member)
{
	struct ledger_task *account;
	s64 now, before, *known;
	u32 tgid;

	if (member != MM_ANONPAGES)
		return 0;
	account = account_of_current();
	if (!account || BPF_CORE_READ(current_task(), mm) != mm)
		return 0;
	now = anonymous_pages(ctx, mm);
	tgid = account->tgid;
	known = bpf_map_lookup_elem(&alloc_residents, &tgid);
	if (!known) {
		bpf_map_update_elem(&alloc_residents, &tgid, &now, BPF_ANY);
		return 0;
	}
	before = *known;
	if (now == before)
		return 0;
	*known = now;
	if (now > before)
		count_bytes(ctx, account, ALLOC_RESIDENT, ALLOC_BY_FAULT,
			    (u64)(now - before) << PAGE_SHIFT);
	return 0;
}

/* --- the kernel's own --- */

/* Every large one is told, not sampled: there are few of them. Interrupts' are whoever's they met.
 */
static __always_inline void count_kernel(void *ctx, u32 function, u64 bytes)
{
	struct live_config *live = live_config();
	struct ledger_task *account;
	struct series_key key;

	if (!live || !live->alloc_kernel_bytes || bytes < live->alloc_kernel_bytes)
		return;
	account = account_of_current();
	if (!account)
		return;
	key = alloc_key(account, ALLOC_KERNEL, function, bytes);
	key.more = alloc_stack(ctx, account, live, NULL, true);
	series_add(series_find(&key), bytes);
}

/*
 * kmalloc() takes what is larger than two pages from here, too: so this one hook sees all that is
 * large and in one piece, at the size that it really takes.
 */
SEC("?tp_btf/mm_page_alloc")
int BPF_PROG(alloc_pages, void *page, unsigned int order, u32 flags)
{
	if (order <= ORDER_MAX && !(flags & GFP_MOVABLE))
		count_kernel(ctx, ALLOC_BY_PAGES, 1ULL << (PAGE_SHIFT + order));
	return 0;
}

/* Made of single pages, which are not large: from 6.2. */
SEC("?tp_btf/alloc_vmap_area")
int BPF_PROG(alloc_vmap, unsigned long address, unsigned long size, unsigned long align,
	     unsigned long begin, unsigned long end, int failed)
{
	if (!failed)
		count_kernel(ctx, ALLOC_BY_VMALLOC, size);
	return 0;
}
