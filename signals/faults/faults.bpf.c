// SPDX-License-Identifier: Apache-2.0 OR GPL-2.0-only
/*
 * How long page faults took: counted when they end, which the kernel tells by a software event of
 * perf's, one for those that needed no disk and one for those that did. Tier B has left their
 * beginning in the thread's account. Which of perf's programs comes first is not said: so this one
 * does not look at what Tier B's has made of the end.
 */
#include "../../bpf/common.bpf.h"
#include "faults.h"

struct faults_here {
	u64 left;      /* faults until the next one whose stack is taken */
	u32 places[2]; /* where the last one was counted, of each kind */
};

struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, 1);
	__type(key, u32);
	__type(value, struct faults_here);
} faults_cpus SEC(".maps");

static __always_inline void count_stack(void *ctx, struct faults_here *here,
					const struct ledger_task *account, struct series_key *key,
					u64 ns)
{
	u64 weight = series_weight_of_next(&here->left);
	u32 stop;
	struct stack_wish wish = {
		.context = STACK_RESUME,
		.tgid = account->tgid,
		.kind = SAMPLE_CPU,
		.has_user = true,
		.has_kernel = true,
	};

	if (!weight)
		return;
	key->kind += FAULTS_MINOR_STACK;
	key->more = stack_take(ctx, &wish, &stop);
	series_add_weighted(series_find(key), ns, weight);
}

/*
 * One whose beginning was not seen is counted all the same, without its time: where the kernel has
 * no hook for beginnings, that is all of them.
 */
static __always_inline int fault_ends(void *ctx, u32 kind, bool with_stacks)
{
	struct ledger_task *account = account_of_current();
	struct series_key key = {.signal = SIG_FAULTS, .kind = (u8)kind};
	u32 zero = 0, slot;
	struct faults_here *here = bpf_map_lookup_elem(&faults_cpus, &zero);
	u64 began, now, ns;

	if (!here || !account || !ledger_is_split(account))
		return 0;
	began = account->fault_ns;
	account->fault_ns = 0;
	now = bpf_ktime_get_ns();
	ns = began && now > began ? now - began : 0;
	series_of(&key, account);
	slot = series_find_again(&key, &here->places[kind]);
	series_add(slot, ns);
	if (!began)
		series_count(slot, orphan_ends);
	if (with_stacks)
		count_stack(ctx, here, account, &key, ns);
	return 0;
}

SEC("?perf_event")
int faults_minor(void *ctx)
{
	return fault_ends(ctx, FAULTS_MINOR, false);
}

SEC("?perf_event")
int faults_major(void *ctx)
{
	return fault_ends(ctx, FAULTS_MAJOR, false);
}

SEC("?perf_event")
int faults_minor_stacks(void *ctx)
{
	return fault_ends(ctx, FAULTS_MINOR, true);
}

SEC("?perf_event")
int faults_major_stacks(void *ctx)
{
	return fault_ends(ctx, FAULTS_MAJOR, true);
}
