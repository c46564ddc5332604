// SPDX-License-Identifier: Apache-2.0 OR GPL-2.0-only
/*
 * What the scheduler does with threads: how long each stay on a CPU is, how often they are moved,
 * whom they wake, who waits far too long. The ledger's programs at these hooks come first.
 */
#include "../../bpf/common.bpf.h"
#include "sched.h"

#define TASK_DEAD  0x80
#define PLACES_MAX 8 /* 2^n */

/* What happens on this CPU. No thread's own storage: none may be made where locks are held. */
struct sched_here {
	u64 since_ns; /* of the stay under way */
	u32 pid;      /* whose it is */
	u32 waker;    /* who wakes others here */
	u64 burst_ns; /* since when */
	u64 woken;    /* how many different ones since then, at least */
	u64 seen[4];  /* a bit for each, by a hash: two may share one */

	/* Where was counted before: what runs here in turns is few. */
	u32 cpu_place;
	u32 wake_place;
	u32 run_places[PLACES_MAX];
};

struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, 1);
	__type(key, u32);
	__type(value, struct sched_here);
} sched_cpus SEC(".maps");

static __always_inline struct sched_here *sched_here(void)
{
	u32 zero = 0;

	return bpf_map_lookup_elem(&sched_cpus, &zero);
}

/* A stay that is over, of its process, and of its CPU. */
static __always_inline void count_stay(struct sched_here *here, const struct ledger_task *account,
				       u64 ns)
{
	struct series_key key = {.signal = SIG_SCHED, .kind = SCHED_CPU};

	u64 place = account->tgid;

	key.detail = (u16)bpf_get_smp_processor_id();
	series_add(series_find_again(&key, &here->cpu_place), ns);
	key.kind = SCHED_RUN;
	key.detail = SERIES_NO_CPU;
	series_of(&key, account);
	ledger_bound(place, PLACES_MAX - 1);
	series_add(series_find_again(&key, &here->run_places[place]), ns);
}

static __always_inline void count_starved(struct task_struct *task,
					  const struct ledger_task *account)
{
	struct series_key key = {
		.signal = SIG_SCHED, .kind = SCHED_STARVED, .detail = SERIES_NO_CPU};
	struct slow_event event = {.ns = account->over.queue_ns};

	if (event.ns < SCHED_STARVED_NS)
		return;
	series_of(&key, account);
	series_add(series_find_of(task, &key), event.ns);
	if (slow_is_told(SIG_SCHED, event.ns))
		slow_send(task, &key, &event);
}

/* The account of one that leaves for good is closed by now; its last stay counts all the same. */
static __always_inline struct ledger_task *account_of_leaving(struct task_struct *task)
{
	struct ledger_task *account = account_place(task);

	if (!account || account->begin_ns)
		return account;
	return (task_state(task) & TASK_DEAD) && !account->is_unwanted ? account : NULL;
}

SEC("?tp_btf/sched_switch")
int BPF_PROG(sched_switched, bool preempt, struct task_struct *prev, struct task_struct *next)
{
	struct ledger_task *leaves = prev->pid ? account_of_leaving(prev) : NULL;
	struct ledger_task *comes = next->pid ? account_of(next) : NULL;
	struct ledger_cpu *cpu = this_cpu_account();
	struct sched_here *here = sched_here();
	u64 now;

	if (!here || !cpu)
		return 0;
	now = cpu->last_ns;	      /* the ledger has just read the clock */
	if (leaves && cpu->is_late) { /* nobody saw it come */
		here->pid = (u32)prev->pid;
		here->since_ns = leaves->over.back_ns;
		count_starved(prev, leaves);
	}
	if (leaves && here->pid == (u32)prev->pid && now > here->since_ns)
		count_stay(here, leaves, now - here->since_ns);
	here->since_ns = now;
	here->pid = (u32)next->pid;
	if (comes)
		count_starved(next, comes);
	return 0;
}

/*
 * How long it had not run: who is moved at once leaves warm caches behind. One that runs is moved
 * by another thread on its CPU, and so it does not run either.
 */
SEC("?tp_btf/sched_migrate_task")
int BPF_PROG(sched_migrated, struct task_struct *task, int to)
{
	struct ledger_task *account = account_of(task);
	struct series_key key = {
		.signal = SIG_SCHED, .kind = SCHED_MIGRATION, .detail = SERIES_NO_CPU};

	if (!account)
		return 0;
	series_of(&key, account);
	series_add_span(series_find(&key), account->last_ns, bpf_ktime_get_ns());
	return 0;
}

static __always_inline void begin_burst(struct sched_here *here, u32 waker, u64 now)
{
	here->waker = waker;
	here->burst_ns = now;
	here->woken = 0;
	for (u32 i = 0; i < 4; i++)
		here->seen[i] = 0;
}

/* Two threads that wake each other all the time are no storm: it takes different ones. */
static __always_inline void note_woken(struct sched_here *here, u32 pid)
{
	u32 hash = (pid * 0x9e3779b9U) >> 24;
	u64 word = hash >> 6, bit = 1ULL << (hash & 63);

	ledger_bound(word, 3);
	if (!(here->seen[word] & bit))
		here->woken++;
	here->seen[word] |= bit;
}

/*
 * The value is how many different threads it has woken in this burst: so the count is that of all
 * wake-ups, and the largest is the largest burst. Interrupts wake in the name of nobody.
 */
SEC("?tp_btf/sched_waking")
int BPF_PROG(sched_wakes, struct task_struct *task)
{
	struct ledger_cpu *cpu = this_cpu_account();
	struct sched_here *here = sched_here();
	struct series_key key = {
		.signal = SIG_SCHED, .kind = SCHED_WAKEUP, .detail = SERIES_NO_CPU};
	struct ledger_task *account;
	u32 waker = (u32)bpf_get_current_pid_tgid();
	u64 now;

	if (!here || !cpu || cpu->irq || cpu->softirq || !waker)
		return 0;
	account = account_of_current();
	if (!account)
		return 0;
	now = bpf_ktime_get_ns();
	if (here->waker != waker || now - here->burst_ns > SCHED_BURST_NS)
		begin_burst(here, waker, now);
	note_woken(here, (u32)task->pid);
	series_of(&key, account);
	series_add(series_find_again(&key, &here->wake_place), here->woken);
	return 0;
}
