// SPDX-License-Identifier: Apache-2.0 OR GPL-2.0-only
/*
 * How long system calls took, by process, call and outcome: counted when they end. Tier B's program
 * at this hook comes first, and has left the time in the thread's account.
 *
 * A thread makes few different calls, many times: it remembers where it counted each, so that a
 * call costs no look-up of its key (series_is_at).
 */
#include "../../bpf/common.bpf.h"
#include "path.bpf.h"
#include "syscalls.h"

#define CALL_ENOENT	2
#define ERRNO_MAX	4095
#define PATH_QUARTERS	2
#define CALLER_QUARTERS 3
#define PLACES_MAX	32 /* that a thread remembers, of each of both; 2^n */

struct syscalls_task {
	u64 begin_ns; /* of the account that this belongs to */
	u32 calls[PLACES_MAX];
	u32 paths[PLACES_MAX];
};

struct {
	__uint(type, BPF_MAP_TYPE_TASK_STORAGE);
	__uint(map_flags, BPF_F_NO_PREALLOC);
	__type(key, int);
	__type(value, struct syscalls_task);
} syscalls_tasks SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, 1);
	__type(key, u32);
	__type(value, struct label_path);
} syscalls_paths SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, 1);
	__type(key, u32);
	__type(value, u64);
} syscalls_left SEC(".maps"); /* calls until the next one whose stack is taken */

static __always_inline u32 *place_at(u32 *places, u64 place)
{
	ledger_bound(place, PLACES_MAX - 1);
	return &places[place];
}

/*
 * Directories and callers may be any number: a new one gets a place while fewer than so many
 * quarters of the signal's are taken, so that the calls themselves have one. What has none is
 * looked for each time, and counted as folded each time.
 */
static __always_inline u32 find_detail(struct series_key *key, u64 quarters)
{
	struct series_share *share = series_share_of(SIG_SYSCALLS);
	u32 *known = bpf_map_lookup_elem(&series_index, key);

	if (known)
		return *known;
	return share && share->used < share->limit * quarters / 4 ? series_make_or_fold(key)
								  : series_fold(key);
}

static __always_inline void count_not_found(struct task_struct *task, struct syscalls_task *places,
					    struct series_key *key, u64 address, u64 ns)
{
	u32 zero = 0, *place;
	struct label_path *path = bpf_map_lookup_elem(&syscalls_paths, &zero);

	if (!path || !label_read(path, address))
		return;
	key->kind = SYSCALLS_NOT_FOUND;
	key->object = path->id;
	place = place_at(places->paths, path->id ^ key->detail);
	if (!series_is_at(key, *place)) {
		*place = find_detail(key, PATH_QUARTERS);
		label_send(task, SIG_SYSCALLS, path->id, path);
	}
	series_add(*place, ns);
}

static __always_inline void count_call(struct task_struct *task, struct syscalls_task *places,
				       struct series_key *key, u32 error, u64 ns)
{
	u32 *place = place_at(places->calls, key->detail + error * 5);

	if (error) {
		key->kind = SYSCALLS_ERROR;
		key->object = error;
	}
	if (!series_is_at(key, *place)) {
		*place = series_find(key);
		if (error)
			label_send(task, SIG_SYSCALLS, error, NULL);
	}
	series_add(*place, ns);
}

/* The end of a call whose beginning was not seen, or the other way round. */
static __always_inline void count_orphans(struct ledger_task *account, struct series_key *key)
{
	if (account->call_open) {
		key->detail = (u16)account->call_open;
		account->call_open = 0;
		series_count(series_find(key), orphan_starts);
	}
	if (!account->call_done_ns) {
		key->detail = 0;
		series_count(series_find(key), orphan_ends);
	}
}

/*
 * What a thread remembers. Its first call that ends had begun before it was followed, where its
 * beginning was not seen: then there is nothing to be counted, and *ret_is_first says so.
 */
static __always_inline struct syscalls_task *
places_of(struct task_struct *task, const struct ledger_task *account, bool *ret_is_first)
{
	struct syscalls_task *places =
		bpf_task_storage_get(&syscalls_tasks, task, NULL, BPF_LOCAL_STORAGE_GET_F_CREATE);

	if (!places)
		return NULL;
	*ret_is_first = places->begin_ns != account->begin_ns;
	places->begin_ns = account->begin_ns;
	return places;
}

static __always_inline void count_caller(void *ctx, const struct ledger_task *account,
					 struct series_key *key)
{
	u32 zero = 0, stop;
	u64 *left = bpf_map_lookup_elem(&syscalls_left, &zero);
	u64 weight = left ? series_weight_of_next(left) : 0;
	struct stack_wish wish = {
		.context = STACK_RESUME,
		.tgid = account->tgid,
		.kind = SAMPLE_CPU,
		.has_user = true,
	};

	if (!weight)
		return;
	key->kind = SYSCALLS_CALLER;
	key->object = 0;
	key->more = stack_take(ctx, &wish, &stop);
	series_add_weighted(find_detail(key, CALLER_QUARTERS), account->call_done_ns, weight);
}

static __always_inline int call_ends(void *ctx, struct pt_regs *regs, long result, bool with_stacks)
{
	struct task_struct *task = bpf_get_current_task_btf();
	struct ledger_task *account = account_of(task);
	struct series_key key = {.signal = SIG_SYSCALLS};
	struct syscalls_task *places;
	bool is_first = false;
	u32 error = 0;
	u64 address;

	if (!account || !ledger_is_split(account))
		return 0;
	places = places_of(task, account, &is_first);
	if (!places) {
		EMIT_LOSE(SYSCALLS, no_storage);
		return 0;
	}
	series_of(&key, account);
	if (!is_first && (account->call_open || !account->call_done_ns))
		count_orphans(account, &key);
	if (!account->call_done_ns)
		return 0;
	key.detail = (u16)account->call;
	if (result < 0 && result >= -ERRNO_MAX)
		error = (u32)-result;
	count_call(task, places, &key, error, account->call_done_ns);
	if (error == CALL_ENOENT) {
		address = path_of_call(regs, account->call);
		if (address)
			count_not_found(task, places, &key, address, account->call_done_ns);
	}
	if (with_stacks)
		count_caller(ctx, account, &key);
	return 0;
}

SEC("?tp_btf/sys_exit")
int BPF_PROG(syscalls_exit, struct pt_regs *regs, long result)
{
	return call_ends(ctx, regs, result, false);
}

SEC("?tp_btf/sys_exit")
int BPF_PROG(syscalls_exit_stacks, struct pt_regs *regs, long result)
{
	return call_ends(ctx, regs, result, true);
}
