/* SPDX-License-Identifier: Apache-2.0 OR GPL-2.0-only */
/*
 * Taking a stack: the kernel's by its own walk, the user's by ours, and sending it if it is new.
 *
 * A stack is known by a hash of its frames. Which were sent is remembered in a table with one place
 * for each: another stack that belongs there takes it, and the first is sent again when it comes
 * back. So no table is ever full, and no look-up takes a lock.
 */
#ifndef DWELL_STACK_BPF_H
#define DWELL_STACK_BPF_H

#include "regs.bpf.h"

#define UNWIND_TABLE(name, type_, entries)                                                         \
	struct name##_map {                                                                        \
		__uint(type, BPF_MAP_TYPE_ARRAY);                                                  \
		__uint(map_flags, BPF_F_MMAPABLE);                                                 \
		__uint(max_entries, entries);                                                      \
		__type(key, u32);                                                                  \
		__type(value, struct type_);                                                       \
	};                                                                                         \
	extern struct name##_map name SEC(".maps")

UNWIND_TABLE(unwind_rows, unwind_row, UNWIND_ROWS_DEFAULT);
UNWIND_TABLE(unwind_pages, unwind_page, UNWIND_PAGES_MAX);
UNWIND_TABLE(unwind_modules, unwind_module, UNWIND_MODULES_MAX);
UNWIND_TABLE(unwind_mappings, unwind_mapping, UNWIND_MAPPINGS_MAX);

static __always_inline struct unwind_row *unwind_row_at(u32 place)
{
	return bpf_map_lookup_elem(&unwind_rows, &place);
}

static __always_inline struct unwind_page *unwind_page_at(u32 place)
{
	return bpf_map_lookup_elem(&unwind_pages, &place);
}

static __always_inline struct unwind_module *unwind_module_at(u32 place)
{
	return bpf_map_lookup_elem(&unwind_modules, &place);
}

static __always_inline struct unwind_mapping *unwind_mapping_at(u32 place)
{
	return bpf_map_lookup_elem(&unwind_mappings, &place);
}

static __always_inline long unwind_read(void *to, u32 size, u64 from)
{
	return bpf_probe_read_user(to, size, (const void *)from);
}

#define RETURNS_MAX 8 /* return probes within each other that are looked at */

/* Where the call whose return address was at this place does return to, if that is replaced. */
static __always_inline bool unwind_find_return(u64 at, u64 *ret_ip)
{
	struct task_struct___uprobes *task = (void *)current_task();
	struct return_instance___any *instance;

	if (!bpf_core_field_exists(task->utask))
		return false;
	instance = BPF_CORE_READ(task, utask, return_instances);
	for (u32 i = 0; i < RETURNS_MAX && instance; i++) {
		if (BPF_CORE_READ(instance, stack) == at) {
			*ret_ip = BPF_CORE_READ(instance, orig_ret_vaddr);
			return true;
		}
		instance = BPF_CORE_READ(instance, next);
	}
	return false;
}

#include "unwind.bpf.h"

#define STACKS_SEEN_MAX	    32768
#define KERNEL_FRAMES_BYTES (KERNEL_FRAMES_MAX * 8)
#define WAKER_FRAMES_MAX    64 /* of user space: a lock is held, and interrupts are off */

/* Who takes stacks may be interrupted by another who does: each has a place to work in. */
enum stack_context { STACK_CPU, STACK_RESUME, STACK_WAKE, STACK_ALLOC, STACK_FUNC, STACK_CONTEXTS };

struct stack_scratch {
	struct unwind_walk walk;
	struct cpu_regs regs;
	u64 users; /* who work in it, or are about to find out that another does */
	struct rec_stack rec;
};

struct stack_scratches_map {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, STACK_CONTEXTS);
	__type(key, u32);
	__type(value, struct stack_scratch);
};

struct stacks_seen_map {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, STACKS_SEEN_MAX);
	__type(key, u32);
	__type(value, u64);
};

struct unwind_processes_map {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, UNWIND_PROCESSES_MAX);
	__type(key, u32);
	__type(value, struct unwind_process);
};

struct unwind_requests_map {
	__uint(type, BPF_MAP_TYPE_RINGBUF);
	__uint(max_entries, UNWIND_REQUESTS_BYTES);
};

extern struct stack_scratches_map stack_scratches SEC(".maps");
extern struct stacks_seen_map stacks_seen SEC(".maps");
extern struct unwind_processes_map unwind_processes SEC(".maps");
extern struct unwind_requests_map unwind_requests SEC(".maps");
extern struct unwind_requests_map unwind_requests_nmi SEC(".maps");

struct stack_wish {
	u32 context;		     /* enum stack_context */
	u32 tgid;		     /* of the current thread */
	u32 kind;		     /* enum sample_kind */
	bool has_user;		     /* the thread's own doing, not an interrupt's */
	bool has_kernel;	     /* it is in the kernel */
	bool is_nmi;		     /* may have interrupted whoever: known when compiled */
	u32 skip;		     /* of the kernel's frames, the hook's own */
	const struct cpu_regs *regs; /* of user space, in the scratch; NULL: read them */
};

/*
 * One frame further in the walk of this context: 0, or 1 when it is over. A function that the
 * verifier checks by itself, once: so a loop around it costs nothing to load, on every kernel.
 */
int stack_walk_frame(u32 context);

/*
 * The walk of this context has come to a page that is not loaded: asks for it, and for those that
 * words further up on the stack lead to, as the next walk would come to them one by one.
 */
int stack_ask_pages(u32 context, u32 tgid);
int stack_ask_pages_nmi(u32 context, u32 tgid); /* in NMI, which has a ring buffer of its own */

static __always_inline struct stack_scratch *stack_scratch_of(u32 context)
{
	return bpf_map_lookup_elem(&stack_scratches, &context);
}

/*
 * A place to work in, or NULL while another has it, whom this one has interrupted or preempted. All
 * are on this CPU: who finds himself alone after he has entered is alone until he leaves, wherever
 * they interrupt each other. (To exchange a word would need 5.12.)
 */
static __always_inline struct stack_scratch *stack_claim(u32 context)
{
	struct stack_scratch *scratch = stack_scratch_of(context);

	if (!scratch)
		return NULL;
	__sync_fetch_and_add(&scratch->users, 1);
	if (*(volatile u64 *)&scratch->users == 1)
		return scratch;
	__sync_fetch_and_add(&scratch->users, -1ULL);
	return NULL;
}

static __always_inline void stack_release(struct stack_scratch *scratch)
{
	__sync_fetch_and_add(&scratch->users, -1ULL);
}

#include "unwind_ask.bpf.h"

/* --- walking --- */

static __always_inline bool has_user_stack(void)
{
	struct task_struct *task = current_task();

	return !(BPF_CORE_READ(task, flags) & (PF_KTHREAD | PF_IO_WORKER | PF_USER_WORKER));
}

/* Nobody removes what a process that ends asks for after its last word, sched_process_exit. */
static __always_inline bool is_ending(void)
{
	return BPF_CORE_READ(current_task(), flags) & PF_EXITING;
}

/* On every way into the kernel all registers are saved, also those of which a call makes no use. */
static __always_inline void stack_start(struct unwind_walk *walk, const struct cpu_regs *regs)
{
#if defined(__TARGET_ARCH_x86)
	walk->ip = regs->ip;
	walk->sp = regs->sp;
	walk->fp = regs->bp;
	walk->registers[0] = regs->ax;
	walk->registers[1] = regs->dx;
	walk->registers[2] = regs->cx;
	walk->registers[3] = regs->bx;
	walk->registers[4] = regs->si;
	walk->registers[5] = regs->di;
	walk->registers[6] = regs->bp;
	walk->registers[7] = regs->sp;
	walk->registers[8] = regs->r8;
	walk->registers[9] = regs->r9;
	walk->registers[10] = regs->r10;
	walk->registers[11] = regs->r11;
	walk->registers[12] = regs->r12;
	walk->registers[13] = regs->r13;
	walk->registers[14] = regs->r14;
	walk->registers[15] = regs->r15;
	if (regs->cs == CS_USER_32)
		walk->stop = STOP_COMPAT;
#elif defined(__TARGET_ARCH_arm64)
	walk->ip = regs->pc;
	walk->sp = regs->sp;
	walk->fp = regs->regs[29];
#endif
}

/* Where its mappings are: NULL if it is not known, or in NMI. */
static __always_inline struct unwind_process *stack_find_mappings(struct unwind_walk *walk,
								  u32 tgid, bool is_nmi)
{
	struct unwind_process *process = NULL;

	walk->first = walk->count = 0;
	if (is_nmi) {
		struct unwind_range *range = unwind_range_of(tgid);

		if (range) {
			walk->first = range->first;
			walk->count = range->count;
			walk->generation = range->generation;
		}
		return NULL;
	}
	process = bpf_map_lookup_elem(&unwind_processes, &tgid);
	if (process) {
		walk->first = process->first;
		walk->count = process->count;
		walk->generation = process->generation;
	}
	return process;
}

/* The user part: regs are those of user space. */
static __always_inline void stack_walk(struct stack_scratch *scratch, const struct stack_wish *wish)
{
	const u32 frames_max = wish->context == STACK_WAKE ? WAKER_FRAMES_MAX : USER_FRAMES_MAX;
	u32 tgid = wish->tgid;
	struct unwind_walk *walk = &scratch->walk;
	struct unwind_process *process = stack_find_mappings(walk, tgid, wish->is_nmi);

	for (u32 i = 0; i < frames_max; i++)
		if (stack_walk_frame(wish->context))
			break;
	if (!walk->stop)
		walk->stop = STOP_TRUNCATED;
	if (walk->stop == STOP_NO_MAPPING && !walk->generation)
		walk->stop = STOP_NO_PROCESS;
	if ((walk->stop == STOP_NO_MAPPING || walk->stop == STOP_NO_PROCESS ||
	     walk->stop == STOP_STALE) &&
	    !is_ending()) {
		if (wish->is_nmi)
			unwind_ask_nmi(tgid, walk->generation != 0);
		else
			unwind_ask(tgid, process);
	}
	if (walk->stop == STOP_NO_PAGE) {
		if (wish->is_nmi)
			stack_ask_pages_nmi(wish->context, tgid);
		else
			stack_ask_pages(wish->context, tgid);
	}
	scratch->rec.user_count = (u16)walk->frames;
	scratch->rec.generation = walk->generation;
}

/* --- sending --- */

static __always_inline void stack_send(struct stack_scratch *scratch, u64 key, bool is_nmi)
{
	void *ring = records_ring(is_nmi);
	struct rec_stack *rec = &scratch->rec;
	struct emit_counts *counts = emit_counts_here();
	u64 frames = (u64)rec->kernel_count + rec->user_count;
	u32 place = (u32)key & (STACKS_SEEN_MAX - 1);
	u64 *seen = bpf_map_lookup_elem(&stacks_seen, &place);
	u64 size;

	if (!seen || *seen == key || !counts)
		return;
	rec->key = key;
	rec->unused2 = 0;
	if (frames > KERNEL_FRAMES_MAX + USER_FRAMES_MAX)
		return; /* cannot be; the verifier wants to see it */
	size = __builtin_offsetof(struct rec_stack, frames) + frames * 8;
	emit_count(&counts->sent);
	emit_header(&rec->hdr, SIG_STACK, SIG_VERSION_STACK, (u16)size,
		    *(volatile u64 *)&counts->sent, current_task());
	ledger_at_most(size, sizeof(*rec)); /* it is; but older verifiers forget what frames said */
	if (bpf_ringbuf_output(ring, rec, size, BPF_RB_NO_WAKEUP))
		emit_count(emit_loss(counts, ring, SIG_STACK, DROP_SAMPLE, (u16)size));
	else
		*seen = key;
}

/*
 * Takes the current thread's stack and sends it: its key, or 0 if none could be taken; where the
 * user part ended is in *ret_stop. The scratch was claimed, and is released here; NULL: it is busy.
 */
static __always_inline u64 stack_take_in(void *ctx, const struct stack_wish *wish,
					 struct stack_scratch *scratch, u32 *ret_stop)
{
	struct unwind_walk *walk;
	long bytes = 0;
	u64 key;

	*ret_stop = STOP_BUSY;
	if (!scratch)
		return 0;
	walk = &scratch->walk;
	walk->stop = STOP_NONE;
	walk->frames = walk->mapping = walk->is_return = walk->generation = 0;
	walk->hash = unwind_mix(0, wish->tgid);
	if (wish->has_kernel)
		bytes = bpf_get_stack(ctx, scratch->rec.frames, KERNEL_FRAMES_BYTES,
				      wish->skip & BPF_F_SKIP_FIELD_MASK);
	scratch->rec.kernel_count = bytes > 0 ? (u16)(bytes / 8) : 0;
	scratch->rec.user_count = 0;
	scratch->rec.generation = 0;
	scratch->rec.kind = (u8)wish->kind;
	scratch->rec.is_waker = wish->context == STACK_WAKE;
	for (u32 i = 0; i < KERNEL_FRAMES_MAX && i < scratch->rec.kernel_count; i++)
		walk->hash = unwind_mix(walk->hash, scratch->rec.frames[i]);
	if (wish->has_user && has_user_stack()) {
		if (wish->regs)
			stack_start(walk, wish->regs);
		else if (regs_of_user(&scratch->regs))
			stack_start(walk, &scratch->regs);
		else
			walk->stop = STOP_UNREADABLE;
		if (!walk->stop)
			stack_walk(scratch, wish);
	}
	*ret_stop = walk->stop;
	scratch->rec.stop = (u8)walk->stop;
	key = unwind_mix(walk->hash, (u64)walk->generation << 8 | walk->stop);
	if (!scratch->rec.kernel_count && !scratch->rec.user_count)
		key = 0;
	if (key)
		stack_send(scratch, key, wish->is_nmi);
	stack_release(scratch);
	return key;
}

static __always_inline u64 stack_take(void *ctx, const struct stack_wish *wish, u32 *ret_stop)
{
	return stack_take_in(ctx, wish, stack_claim(wish->context), ret_stop);
}

#endif
