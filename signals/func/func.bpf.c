// SPDX-License-Identifier: Apache-2.0 OR GPL-2.0-only
/*
 * Any function, tracepoint or USDT probe that a person names: how long its calls take, or how often
 * it is reached; and what passes between two of them.
 *
 * A thread's open calls are a stack of its own. A return belongs to the call of the same place
 * whose return address was where it is taken from now; calls above that never returned: a longjmp
 * passed them by. So recursion, tail calls, longjmp and the end of a thread need no guesses.
 */
#include "../../bpf/common.bpf.h"

#include "args.bpf.h"
#include "func.bpf.h"
#include "pool.bpf.h"

/* The compiler computes the address before it asks whether it may: the mask is for the verifier. */
static __always_inline struct func_frame *frame_at(struct func_task *task, u64 i)
{
	if (i >= FUNC_DEPTH_MAX)
		return NULL;
	asm volatile("%0 &= %1" : "+r"(i) : "i"(FUNC_DEPTH_MAX - 1));
	return &task->frames[i];
}

/* The same place at the same address again: the first one did not return. */
static __always_inline bool is_alive(const struct func_frame *frame, u64 sp, u32 place)
{
	return !frame->sp || frame->sp > sp || (frame->sp == sp && frame->place != place);
}

/*
 * What is rare, and has loops, is in functions that the verifier checks by themselves, once: hence
 * they are not static, and find the thread's calls anew.
 */
int func_lose_call(u32 place);
int func_drop_calls(u32 left);
int func_drop_dead_calls(u64 sp, u32 place);
int func_find_call(u64 sp, u32 place);

static __always_inline struct func_task *func_task_here(void)
{
	return bpf_task_storage_get(&func_tasks, bpf_get_current_task_btf(), NULL, 0);
}

/* A call that will not return. Its class is not known. */
__noinline int func_lose_call(u32 place)
{
	struct ledger_task *account = account_of_current();
	struct func_spec *spec = spec_of(place);
	struct series_key key = {};

	if (!spec || !account)
		return 0;
	if (lacks_ends())
		return 0;
	begin_key(&key, spec, FUNC_KIND_CALL, account);
	series_count(series_find(&key), orphan_starts);
	return 0;
}

/* Takes calls off the top, down to so many, which had no return. */
__noinline int func_drop_calls(u32 left)
{
	struct func_task *task = func_task_here();

	for (u32 i = 0; task && i < FUNC_DEPTH_MAX && task->depth > left; i++) {
		struct func_frame *frame = frame_at(task, task->depth - 1);

		if (frame && frame->weight)
			func_lose_call(frame->place);
		task->depth--;
	}
	return 0;
}

/* Those on whose part of the stack the thread is no more: a longjmp has passed them by. */
__noinline int func_drop_dead_calls(u64 sp, u32 place)
{
	struct func_task *task = func_task_here();
	u32 depth = task ? task->depth : 0;

	for (u32 i = 0; task && i < FUNC_DEPTH_MAX && depth; i++) {
		struct func_frame *frame = frame_at(task, depth - 1);

		if (!frame || is_alive(frame, sp, place))
			break;
		depth--;
	}
	return func_drop_calls(depth);
}

/* The number of the call that returns; FUNC_DEPTH_MAX: it is not there. */
__noinline int func_find_call(u64 sp, u32 place)
{
	struct func_task *task = func_task_here();
	u32 depth = task ? task->depth : 0;

	for (u32 i = 0; task && i < FUNC_DEPTH_MAX && depth; i++) {
		struct func_frame *frame = frame_at(task, --depth);

		if (!frame || frame->sp > sp)
			break;
		if (frame->place == place && frame->sp == sp)
			return (int)depth;
	}
	return FUNC_DEPTH_MAX;
}

static __always_inline struct func_task *func_task_of(const struct ledger_task *account)
{
	struct task_struct *current = bpf_get_current_task_btf();
	struct func_task *task;

	task = bpf_task_storage_get(&func_tasks, current, NULL, BPF_LOCAL_STORAGE_GET_F_CREATE);
	if (!task) {
		EMIT_LOSE(LABEL, no_storage);
		return NULL;
	}
	if (task->begin_ns != account->begin_ns) { /* new, or another program since an exec */
		if (task->depth)
			func_drop_calls(0);
		task->depth = 0;
		task->begin_ns = account->begin_ns;
	}
	return task;
}

/* --- what calls are told apart by --- */

static __always_inline u64 stack_here(void *ctx, const struct func_spec *spec,
				      const struct ledger_task *account)
{
	struct stack_wish wish = {
		.context = STACK_FUNC,
		.tgid = account->tgid,
		.kind = SAMPLE_CPU,
		.has_user = true,
		.has_kernel = spec->is_kernel,
	};
	u32 stop;

	return stack_take(ctx, &wish, &stop);
}

/* A label of its own for each name of a thread, told when it is first met. */
static __always_inline u64 label_of_comm(u64 label)
{
	struct task_struct *task = current_task();
	struct rec_label *rec;
	u64 comm[2] = {}, id;
	u8 is_told = 1;

	bpf_get_current_comm(comm, sizeof(comm));
	id = unwind_mix(unwind_mix(label, comm[0]), comm[1]) >> 1 | FUNC_LABEL_OF_COMM;
	if (bpf_map_lookup_elem(&func_comms, &id))
		return id;
	rec = EMIT_RESERVE(LABEL, label, task);
	if (!rec)
		return id; /* counted; the next one tells it */
	rec->id = id;
	rec->of = label;
	rec->signal = SIG_FUNC;
	rec->is_cut = 0;
	__builtin_memset(rec->name, 0, sizeof(rec->name));
	__builtin_memcpy(rec->name, comm, sizeof(comm));
	EMIT_SUBMIT(rec);
	bpf_map_update_elem(&func_comms, &id, &is_told, BPF_ANY);
	return id;
}

static __always_inline u64 more_at_entry(void *ctx, const struct func_spec *spec,
					 const struct ledger_task *account, enum func_form form)
{
	if (spec->by == FUNC_BY_ARG)
		return arg_of(ctx, spec, spec->by_arg, form);
	if (spec->by == FUNC_BY_STACK)
		return stack_here(ctx, spec, account);
	return 0;
}

/* --- calls --- */

static __always_inline void call_begin(void *ctx, const struct func_spec *spec, u32 place,
				       const struct ledger_task *account, enum func_form form)
{
	u64 sp = sp_of(ctx, spec, 0, form);
	struct func_task *task = func_task_of(account);
	struct live_config *live = live_config();
	struct func_frame *frame;
	u32 weight;

	if (!task)
		return;
	frame = task->depth ? frame_at(task, task->depth - 1) : NULL;
	if (sp && frame && !is_alive(frame, sp, place))
		func_drop_dead_calls(sp, place);
	/*
	 * In the kernel only their order ties ends together: so those that are left out are in it,
	 * too. And it may miss returns, where many threads are in a function at once: calls that
	 * stand there for good must not fill up all places.
	 */
	weight = choose_weight();
	if (!weight && sp)
		return;
	if (!sp && task->depth >= FUNC_DEPTH_MAX)
		func_drop_calls(0);
	frame = frame_at(task, task->depth);
	if (!frame) {
		func_lose_call(place); /* deeper than the kernel tells returns of */
		return;
	}
	frame->sp = sp;
	frame->place = place;
	frame->weight = weight;
	frame->more = more_at_entry(ctx, spec, account, form);
	if (live && live->slow_ns)
		slow_mark(account, &frame->mark);
	task->depth++;
	frame->begin_ns = bpf_ktime_get_ns();
}

/* The call that returns is mostly the last one; NULL: it is not there. */
static __always_inline struct func_frame *take_call(struct func_task *task, u64 sp, u32 place)
{
	struct func_frame *frame = task->depth ? frame_at(task, task->depth - 1) : NULL;
	u32 at;

	if (frame && frame->place == place && frame->sp == sp) {
		task->depth--;
		return frame;
	}
	at = (u32)func_find_call(sp, place);
	frame = frame_at(task, at);
	if (frame) {
		func_drop_calls(at + 1);
		task->depth = at;
	}
	return frame;
}

static __always_inline void tell_slow(void *ctx, const struct series_key *key,
				      const struct func_spec *spec, const struct func_frame *frame,
				      u64 ns, u64 returned, const struct ledger_task *account)
{
	struct slow_event event = {.ns = ns, .value = {returned}, .begin = &frame->mark};
	struct slow_mark now;

	if (!slow_is_told(SIG_FUNC, ns))
		return;
	slow_mark(account, &now);
	event.end = &now;
	event.stack = stack_here(ctx, spec, account);
	slow_send(current_task(), key, &event);
}

static __always_inline void call_end(void *ctx, const struct func_spec *spec, u32 place,
				     struct ledger_task *account, enum func_form form)
{
	u64 now = bpf_ktime_get_ns(), returned = returned_of(ctx, spec, form), ns;
	u64 sp = sp_of(ctx, spec, FUNC_RETURN_BYTES, form);
	struct func_task *task = func_task_here();
	struct func_frame *frame = NULL;
	struct series_key key = {};

	/* On a thread where nothing began yet, it began before we came: that is no loss. */
	if (!task || task->begin_ns != account->begin_ns)
		return;
	begin_key(&key, spec, FUNC_KIND_CALL, account);
	frame = take_call(task, sp, place);
	if (!frame) {
		if (!lacks_starts())
			series_count(series_find(&key), orphan_ends);
		return;
	}
	if (!frame->weight)
		return; /* it was left out */
	key.detail = spec->has_class ? (u16)class_of(returned) : 0;
	key.more = spec->by == FUNC_BY_RETURN ? returned : frame->more;
	if (spec->by == FUNC_BY_COMM)
		key.object = label_of_comm(spec->label);
	ns = now > frame->begin_ns ? now - frame->begin_ns : 0;
	series_add_weighted(series_find(&key), ns, frame->weight);
	tell_slow(ctx, &key, spec, frame, ns, returned, account);
}

/* --- what else a place can mean --- */

static __always_inline void count_one(void *ctx, const struct func_spec *spec, bool has_args,
				      const struct ledger_task *account, enum func_form form)
{
	struct series_key key = {};
	u32 weight = choose_weight();

	if (!weight)
		return;
	begin_key(&key, spec, FUNC_KIND_HIT, account);
	if (has_args || spec->by == FUNC_BY_STACK)
		key.more = more_at_entry(ctx, spec, account, form);
	if (spec->by == FUNC_BY_COMM)
		key.object = label_of_comm(spec->label);
	series_add_weighted(series_find(&key), 1, weight);
}

/* What happens between places, by the id that ties them together. */
static __always_inline void pass(const struct func_spec *spec, u64 id,
				 const struct ledger_task *account)
{
	struct func_task *task;

	if (lacks_ends())
		return;
	switch (spec->role) {
	case FUNC_FROM:
		span_begin(spec, id, account);
		break;
	case FUNC_TO:
		span_end(spec, id, account);
		break;
	case FUNC_ENQUEUE:
		pool_enqueue(spec, id, account);
		break;
	case FUNC_START:
		task = func_task_of(account);
		if (task)
			pool_start(spec, id, task, account);
		break;
	case FUNC_END:
		pool_end(spec, id, account);
		break;
	default:
		break;
	}
}

static __always_inline u64 id_at_entry(const void *ctx, const struct func_spec *spec,
				       const struct ledger_task *account, enum func_form form)
{
	return spec->key == FUNC_KEY_TID ? account->tid : arg_of(ctx, spec, spec->key, form);
}

static __always_inline int enter(void *ctx, u32 place, enum func_form form)
{
	struct func_spec *spec = spec_of(place);
	struct ledger_task *account;

	count_hit(place);
	account = account_of_current();
	if (!spec || !account)
		return 0;
	if (spec->role == FUNC_CALL)
		call_begin(ctx, spec, place, account, form);
	else if (spec->role == FUNC_COUNT)
		count_one(ctx, spec, true, account, form);
	else
		pass(spec, id_at_entry(ctx, spec, account, form), account);
	return 0;
}

static __always_inline int leave(void *ctx, u32 place, enum func_form form)
{
	struct func_spec *spec = spec_of(place);
	struct ledger_task *account;

	account = account_of_current();
	if (!spec || !account)
		return 0;
	if (spec->role == FUNC_CALL)
		call_end(ctx, spec, place, account, form);
	else
		pass(spec, spec->key == FUNC_KEY_TID ? account->tid : returned_of(ctx, spec, form),
		     account);
	return 0;
}

SEC("?uprobe")
int func_enter(struct cpu_regs *ctx)
{
	return enter(ctx, place_of(ctx), FORM_REGS);
}

SEC("?uretprobe")
int func_leave(struct cpu_regs *ctx)
{
	return leave(ctx, place_of(ctx), FORM_REGS);
}

SEC("?kprobe")
int func_kernel_enter(struct cpu_regs *ctx)
{
	return enter(ctx, place_of(ctx), FORM_REGS);
}

SEC("?kretprobe")
int func_kernel_leave(struct cpu_regs *ctx)
{
	return leave(ctx, place_of(ctx), FORM_REGS);
}

/*
 * Cheaper, as there is no trap; each is of one function, as it is loaded for it. Links of this kind
 * have cookies from 5.19 on only: hence the place is agreed upon.
 */
SEC("?fentry")
int func_fentry(void *ctx)
{
	return enter(ctx, FUNC_FENTRY_PLACE, FORM_ARRAY);
}

SEC("?fexit")
int func_fexit(void *ctx)
{
	return leave(ctx, FUNC_FENTRY_PLACE, FORM_ARRAY);
}

#define FUNC_CONTEXT_BYTES 4096 /* of a tracepoint's fields */

/* --- tracepoints: their fields are at places that the kernel's format file tells --- */

static __always_inline u64 field_of(void *ctx, const struct func_spec *spec, u32 n)
{
	u32 place = n - 1;
	u64 value = 0, at;

	if (place >= FUNC_ARGS_MAX || spec->args[place].kind != FUNC_ARG_CONTEXT)
		return 0;
	at = (u64)spec->args[place].value;
	if (at < FUNC_CONTEXT_BYTES)
		bpf_probe_read_kernel(&value, sizeof(value), ctx + at);
	return cut_to_size(value, spec->args[place].size);
}

SEC("?tracepoint")
int func_tracepoint(void *ctx)
{
	u32 place = place_of(ctx);
	struct func_spec *spec = spec_of(place);
	struct ledger_task *account;

	count_hit(place);
	account = account_of_current();
	if (!spec || !account)
		return 0;
	if (spec->role == FUNC_COUNT)
		count_one(ctx, spec, false, account, FORM_REGS);
	else
		pass(spec,
		     spec->key == FUNC_KEY_TID ? account->tid : field_of(ctx, spec, spec->key),
		     account);
	return 0;
}

/* --- a thread's end --- */

SEC("?tp_btf/sched_process_exit")
int BPF_PROG(func_exit, struct task_struct *task)
{
	struct ledger_task *account = account_of_current();
	struct func_pool *pool = pool_here();
	struct func_task *mine;

	mine = account ? func_task_here() : NULL;
	if (!mine)
		return 0;
	if (mine->begin_ns == account->begin_ns && mine->depth)
		func_drop_calls(0);
	mine->depth = 0;
	if (mine->is_worker && pool)
		__sync_fetch_and_add(&pool->workers, -1);
	return 0;
}

/* --- how often places are reached, before they are measured --- */

SEC("?uprobe")
int func_tick(struct cpu_regs *ctx)
{
	count_hit(place_of(ctx));
	return 0;
}
