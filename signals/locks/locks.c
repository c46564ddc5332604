// SPDX-License-Identifier: Apache-2.0
#include "../../abi/locks.h"

#include <stdbool.h>
#include <stdio.h>

#include "../../src/base/cleanup.h"
#include "../../src/base/hash.h"
#include "../../src/model/signal.h"
#include "judge.h"

#define BOOK_MAX   8192 /* locks; when so many have been seen, all are forgotten, and named anew */
#define NAME_SIZE  512
#define LABEL_SIZE (NAME_SIZE + 32)

static const struct probe probes[] = {
	{.program = "locks_switch",
	 .maps = {"locks_told", "locks_waiters", "lock_herds", "lock_kernel_waits", PROBE_ACCOUNTS,
		  PROBE_SERIES, PROBE_SLOW, "unwind_processes"}},
	{.program = "locks_waking", .maps = {"lock_herds", PROBE_ACCOUNTS, PROBE_SERIES}},
	{.program = "locks_contention_begin",
	 .is_optional = true,
	 .is_rare = true,
	 .maps = {"lock_kernel_waits", PROBE_ACCOUNTS}},
	{.program = "locks_contention_end",
	 .is_optional = true,
	 .is_rare = true,
	 .maps = {"lock_kernel_waits", PROBE_ACCOUNTS, PROBE_SERIES}},
};

static const struct series_kind kinds[LOCKS_KIND_COUNT] = {
	[LOCKS_WAIT] = {"wait", UNIT_NS, "from when a thread blocked until it was woken"},
	[LOCKS_WAITER] = {"waiter", UNIT_COUNT, "threads that waited for it"},
	[LOCKS_HELD] = {"held", UNIT_NS,
			"how long who ended a wait had kept the lock meanwhile, at least"},
	[LOCKS_HELD_QUEUE] = {"held_runq", UNIT_NS, "of held: the holder waited for a CPU"},
	[LOCKS_HELD_BLOCK] = {"held_blocked", UNIT_NS, "of held: the holder was blocked itself"},
	[LOCKS_WAIT_STACK] = {"wait_stack", UNIT_NS,
			      "waits by stack: all long ones, and some for all others"},
	[LOCKS_HOLDER_STACK] = {"holder_stack", UNIT_NS,
				"waits by the stack of who ended them: long ones"},
	[LOCKS_BROADCAST] = {"broadcast", UNIT_COUNT, "threads that were woken together"},
	[LOCKS_FILE_WAIT] = {"file_wait", UNIT_NS, "from when a thread blocked until it was woken"},
	[LOCKS_KERNEL_WAIT] = {"kernel_wait", UNIT_NS, "from contention_begin to contention_end"},
};

static const char *const type_names[] = {
#define LOCK(NAME, name, meaning) name,
#include "../../abi/locks.def"
#undef LOCK
};

/* --- their names --- */

struct lock {
	u64 id;
	u64 address;
	struct place place;
	u32 type;	/* enum lock_type */
	bool has_place; /* it is, or may be, a variable of a file */
	bool is_told;	/* the session has its label */
};

struct locks_book {
	struct hash locks; /* struct lock */
	struct resolver *resolver;
	u64 refused;
};

static void open_book(void *state, const struct services *services)
{
	struct locks_book *book = state;

	book->resolver = services->resolver;
	hash_init(&book->locks, sizeof(struct lock), sizeof(u64), BOOK_MAX);
}

static void release(void *state)
{
	struct locks_book *book = state;

	hash_free(&book->locks);
}

static bool is_kernel(u32 type)
{
	return type >= LOCK_SPIN;
}

/* Its place is looked up at once, while the process's mappings are still known. */
static void on_record(void *state, const struct rec_hdr *record)
{
	const struct rec_locks *told = (const struct rec_locks *)record;
	struct locks_book *book = state;
	struct lock *lock;

	if (told->type >= LOCK_TYPE_COUNT) {
		book->refused++;
		return;
	}
	if (book->locks.count == BOOK_MAX)
		hash_clear(&book->locks);
	lock = hash_add(&book->locks, &told->lock);
	if (!lock)
		return; /* it is shown by its number */
	lock->address = told->address;
	lock->type = told->type;
	lock->is_told = false;
	lock->has_place = false;
	if (book->resolver->place_data && (told->generation || is_kernel(told->type)))
		lock->has_place = book->resolver->place_data(book->resolver, told->generation,
							     told->address, &lock->place);
}

/* False: its name is not known yet. The last time it is told without. */
static bool name_lock(struct locks_book *book, const struct lock *lock, bool is_last,
		      struct sink *sink)
{
	char name[NAME_SIZE], label[LABEL_SIZE];
	enum name_answer answer = lock->has_place
					  ? book->resolver->name_data(book->resolver, &lock->place,
								      name, sizeof(name))
					  : NAME_ABSENT;
	bool has_name = answer == NAME_FOUND;

	if (answer == NAME_PENDING && !is_last)
		return false;
	/* Where things are in the kernel is not for those who may read a session. */
	if (is_kernel(lock->type) && has_name)
		snprintf(label, sizeof(label), "%s", name);
	else if (is_kernel(lock->type))
		snprintf(label, sizeof(label), "kernel lock %06llx",
			 (unsigned long long)lock->id & 0xffffff);
	else if (has_name)
		snprintf(label, sizeof(label), "%s (0x%llx)", name,
			 (unsigned long long)lock->address);
	else
		snprintf(label, sizeof(label), "0x%llx", (unsigned long long)lock->address);
	labels_add(sink, "locks", lock->id, label);
	return true;
}

static void name_locks(struct locks_book *book, bool is_last, struct sink *sink)
{
	for (size_t i = 0; i < book->locks.count; i++) {
		struct lock *lock = hash_item(&book->locks, i);

		lock->is_told = lock->is_told || name_lock(book, lock, is_last, sink);
	}
}

static void flush(void *state, u64 window, struct sink *sink)
{
	(void)window;
	name_locks(state, false, sink);
}

/* The next file gets all that are known: waits for a lock may name it without its record. */
static void renew(void *state, u64 window, struct sink *sink)
{
	struct locks_book *book = state;

	(void)window;
	name_locks(book, true, sink);
	for (size_t i = 0; i < book->locks.count; i++)
		((struct lock *)hash_item(&book->locks, i))->is_told = false;
}

static void close_book(void *state, struct sink *sink)
{
	name_locks(state, true, sink);
}

static const struct signal_loss losses[] = {
	{"locks_refused", "a lock of a type that there is not",
	 offsetof(struct locks_book, refused)},
};

/* --- how it is shown --- */

#define STATES(pattern) "state IN (SELECT id FROM states WHERE name LIKE '" pattern "')"
#define SUM_OF(pattern) "sum(ns * (" STATES(pattern) "))"
#define CPU		SUM_OF("cpu%")
#define RUNQ		SUM_OF("runq%")
#define LOCKED		SUM_OF("blocked.%lock")
#define IDLE		SUM_OF("blocked.idle")
#define BUSY		"(sum(ns) - " IDLE ")"

/*
 * Both are the ledger's. A pool is the threads of one process whose names differ in the digits at
 * their end alone; its time without work, waiting for a task, is no part of what it is judged by.
 */
static const struct signal_list lists[] = {
	{.name = "holders",
	 .about = "who held locks while others waited for them; 0: not known",
	 .table = "ledger",
	 .columns = "(SELECT pid FROM threads WHERE id = thread) AS pid, "
		    "coalesce((SELECT name FROM objects WHERE id = object), "
		    "printf('0x%x', object)) AS lock, "
		    "CASE WHEN holder = (SELECT tid FROM threads WHERE id = thread) THEN 0 "
		    "ELSE holder END AS holder, "
		    "count(DISTINCT thread) AS waiters, sum(count) AS waits, "
		    "sum(ns) AS wait_ns",
	 .group = "1, object, 3, state HAVING sum(ns) > 0 AND " STATES("blocked.lock"),
	 .order = "wait_ns DESC",
	 .shown = 10},
	{.name = "pools",
	 .about = "threads of one name: what they did, and which resource they lack",
	 .table = "ledger",
	 .columns = "(SELECT pid FROM threads WHERE id = thread) AS pid, "
		    "(SELECT rtrim(comm, '0123456789') FROM threads WHERE id = thread) AS name, "
		    "count(DISTINCT thread) AS threads, " CPU " AS cpu_ns, " RUNQ
		    " AS runq_ns, " LOCKED " AS lock_ns, " BUSY " - " CPU " - " RUNQ " - " LOCKED
		    " AS blocked_ns, " IDLE " AS idle_ns, CASE WHEN " IDLE
		    " * 10 > sum(ns) * 9 THEN 'work' WHEN " RUNQ " * 3 > " BUSY
		    " THEN 'CPUs' WHEN " LOCKED " * 3 > " BUSY " THEN 'locks' ELSE '' END AS lacks",
	 .group = "1, 2 HAVING count(DISTINCT thread) > 1",
	 .order = "runq_ns DESC",
	 .shown = 10},
};

static const struct signal_view view = {
	.kinds = kinds,
	.kind_count = ARRAY_SIZE(kinds),
	.estimates = 1U << LOCKS_WAIT_STACK,
	.detail = {"type", FIELD_NAME, type_names, ARRAY_SIZE(type_names)},
	.object = {.name = "lock", .kind = FIELD_LABEL},
	.more = {.name = "stack", .kind = FIELD_STACK},
	.value_names = {"holder", "waker"},
	.share = 768,
	.cost = COST_CHEAP,
	.price = "about 0.6 us per wait for a lock, 50 ns per other switch",
	.lists = lists,
	.list_count = ARRAY_SIZE(lists),
	.judge = locks_judge,
};

static const char *const told_maps[] = {"locks_told", NULL};

const struct signal signal_locks = {
	.about = "lock waits: which lock, where, and what its holder did",
	.told_maps = told_maps,
	.probes = probes,
	.probe_count = ARRAY_SIZE(probes),
	.state_size = sizeof(struct locks_book),
	.open = open_book,
	.release = release,
	.on_record = on_record,
	.flush = flush,
	.close = close_book,
	.renew = renew,
	.losses = losses,
	.loss_count = ARRAY_SIZE(losses),
	.view = &view,
};
