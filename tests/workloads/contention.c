// SPDX-License-Identifier: Apache-2.0
/*
 * Locks that are waited for in known ways: two mutexes in functions of known names, a long hold, a
 * convoy, a holder that gets no CPU, broadcasts, thousands of locks.
 *
 * "lock NAME ADDRESS COUNT NS": so often did threads block there, and so long until it was free.
 */
#include <pthread.h>
#include <sched.h>
#include <stdio.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "oracle.h"

struct count {
	long long count, ns;
};

static void tell_lock(const char *name, const void *lock, struct count count)
{
	printf("lock %s %#lx %lld %lld\n", name, (unsigned long)lock, count.count, count.ns);
}

/*
 * released_ns: when its last holder let go of it, written by that one (NULL: nobody does). The wait
 * is over then; what the thread takes to run again is not in it, and on an idle host that is long.
 */
static void take(pthread_mutex_t *lock, const long long *released_ns, struct count *count)
{
	long long delay = thread_delay(); /* reads a file, for which it may block itself */
	long blocks = thread_blocks();
	long long start = now(), end;

	pthread_mutex_lock(lock);
	end = now();
	blocks = thread_blocks() - blocks;
	if (!blocks)
		return;
	if (released_ns && *released_ns > start)
		end = *released_ns;
	else
		end -= thread_delay() - delay;
	count->ns += end - start;
	count->count += blocks;
}

static void sleep_us(long us)
{
	nanosleep(&(struct timespec){.tv_nsec = us * 1000}, NULL);
}

/* --- two mutexes --- */

pthread_mutex_t known_lock_a = PTHREAD_MUTEX_INITIALIZER;
static pthread_mutex_t known_lock_b = PTHREAD_MUTEX_INITIALIZER;

struct duel {
	pthread_mutex_t *lock;
	void (*hold)(struct duel *);
	void (*wait)(struct duel *);
	int rounds, ms;
	struct count count;
	long long released_ns;
	pthread_barrier_t barrier;
	pthread_t threads[2];
};

/* Nothing follows the calls, so they must not become jumps: hence the barriers behind them. */
#define KNOWN(x)                                                                                   \
	__attribute__((noinline)) static void known_hold_##x(struct duel *duel)                    \
	{                                                                                          \
		sleep_ms(duel->ms);                                                                \
		duel->released_ns = now();                                                         \
		pthread_mutex_unlock(duel->lock);                                                  \
		__asm__ volatile("");                                                              \
	}                                                                                          \
	__attribute__((noinline)) static void known_wait_##x(struct duel *duel)                    \
	{                                                                                          \
		take(duel->lock, &duel->released_ns, &duel->count);                                \
		__asm__ volatile("");                                                              \
	}
KNOWN(a)
KNOWN(b)
#undef KNOWN

static void *duel_hold(void *argument)
{
	struct duel *duel = argument;

	for (int i = 0; i < duel->rounds; i++) {
		pthread_mutex_lock(duel->lock);
		pthread_barrier_wait(&duel->barrier);
		duel->hold(duel);
		pthread_barrier_wait(&duel->barrier);
	}
	return NULL;
}

static void *duel_wait(void *argument)
{
	struct duel *duel = argument;

	for (int i = 0; i < duel->rounds; i++) {
		pthread_barrier_wait(&duel->barrier);
		duel->wait(duel);
		pthread_mutex_unlock(duel->lock);
		pthread_barrier_wait(&duel->barrier);
	}
	return NULL;
}

static void begin_duel(struct duel *duel)
{
	pthread_barrier_init(&duel->barrier, NULL, 2);
	pthread_create(&duel->threads[0], NULL, duel_hold, duel);
	pthread_create(&duel->threads[1], NULL, duel_wait, duel);
}

static void end_duel(struct duel *duel, const char *name)
{
	pthread_join(duel->threads[0], NULL);
	pthread_join(duel->threads[1], NULL);
	tell_lock(name, duel->lock, duel->count);
}

void do_two_locks(void)
{
	static struct duel a = {&known_lock_a, known_hold_a, known_wait_a, .rounds = 60, .ms = 8};
	static struct duel b = {&known_lock_b, known_hold_b, known_wait_b, .rounds = 100, .ms = 3};

	begin_duel(&a);
	begin_duel(&b);
	end_duel(&a, "known_lock_a");
	end_duel(&b, "known_lock_b");
}

/* --- many threads and one mutex --- */

#define CROWD_MAX 8

struct crowd {
	pthread_mutex_t lock;
	int threads, rounds, hold_us, pause_us;
	long long released_ns;
	struct count counts[CROWD_MAX];
	int next;
};

static void *crowd_member(void *argument)
{
	struct crowd *crowd = argument;
	struct count *count = &crowd->counts[__atomic_fetch_add(&crowd->next, 1, __ATOMIC_SEQ_CST)];

	prctl(PR_SET_TIMERSLACK, 1);
	for (int i = 0; i < crowd->rounds; i++) {
		take(&crowd->lock, &crowd->released_ns, count);
		sleep_us(crowd->hold_us);
		crowd->released_ns = now();
		pthread_mutex_unlock(&crowd->lock);
		sleep_us(crowd->pause_us);
	}
	return NULL;
}

static void run_crowd(struct crowd *crowd, const char *name)
{
	struct count sum = {0};
	pthread_t threads[CROWD_MAX];

	for (int i = 0; i < crowd->threads; i++)
		pthread_create(&threads[i], NULL, crowd_member, crowd);
	for (int i = 0; i < crowd->threads; i++)
		pthread_join(threads[i], NULL);
	for (int i = 0; i < crowd->threads; i++) {
		sum.count += crowd->counts[i].count;
		sum.ns += crowd->counts[i].ns;
	}
	tell_lock(name, &crowd->lock, sum);
}

static struct crowd convoy_lock = {PTHREAD_MUTEX_INITIALIZER, .threads = 5, .rounds = 2500,
				   .hold_us = 10, .pause_us = 10};
static struct crowd long_hold_lock = {PTHREAD_MUTEX_INITIALIZER, .threads = 2, .rounds = 110,
				      .hold_us = 4700, .pause_us = 1000};

void do_convoy(void)
{
	run_crowd(&convoy_lock, "convoy_lock");
}

void do_long_hold(void)
{
	run_crowd(&long_hold_lock, "long_hold_lock");
}

/* --- a holder that has to share its CPU --- */

#define STARVED_ROUNDS 6
#define STARVED_NICE   7

static struct {
	pthread_mutex_t lock;
	pthread_barrier_t barrier;
	struct count count;
	volatile bool is_over;
} starved = {.lock = PTHREAD_MUTEX_INITIALIZER};

static void stay_on_cpu(int cpu)
{
	cpu_set_t cpus;

	CPU_ZERO(&cpus);
	CPU_SET(cpu, &cpus);
	must(!sched_setaffinity(0, sizeof(cpus), &cpus), "stay on a CPU");
}

static void *compete(void *unused)
{
	stay_on_cpu(0);
	while (!starved.is_over)
		;
	return unused;
}

static void *starve(void *unused)
{
	long long wall = 0, cpu = 0;

	stay_on_cpu(0);
	must(!setpriority(PRIO_PROCESS, (id_t)syscall(SYS_gettid), STARVED_NICE), "be nice");
	for (int i = 0; i < STARVED_ROUNDS; i++) {
		long long start, start_cpu;

		pthread_mutex_lock(&starved.lock);
		pthread_barrier_wait(&starved.barrier);
		start = now();
		start_cpu = thread_cpu();
		while (thread_cpu() < start_cpu + 30 * MS)
			;
		wall += now() - start;
		cpu += thread_cpu() - start_cpu;
		pthread_mutex_unlock(&starved.lock);
		pthread_barrier_wait(&starved.barrier);
	}
	truth("held", wall);
	truth("held_runq", wall - cpu);
	return unused;
}

void do_starved_holder(void)
{
	pthread_t competitor, holder;

	if (sysconf(_SC_NPROCESSORS_ONLN) < 2)
		skip("it needs two CPUs");
	pthread_barrier_init(&starved.barrier, NULL, 2);
	pthread_create(&competitor, NULL, compete, NULL);
	pthread_create(&holder, NULL, starve, NULL);
	stay_on_cpu(1);
	for (int i = 0; i < STARVED_ROUNDS; i++) {
		pthread_barrier_wait(&starved.barrier);
		take(&starved.lock, NULL, &starved.count);
		pthread_mutex_unlock(&starved.lock);
		pthread_barrier_wait(&starved.barrier);
	}
	pthread_join(holder, NULL);
	starved.is_over = true;
	pthread_join(competitor, NULL);
	tell_lock("starved", &starved.lock, starved.count);
}

/* --- broadcasts --- */

#define HERD	    6
#define HERD_ROUNDS 20

static struct {
	pthread_mutex_t lock;
	pthread_cond_t news;
	int waiting, round;
} herd = {PTHREAD_MUTEX_INITIALIZER, PTHREAD_COND_INITIALIZER, 0, 0};

static void *herd_member(void *unused)
{
	pthread_mutex_lock(&herd.lock);
	while (herd.round < HERD_ROUNDS) {
		int round = herd.round;

		herd.waiting++;
		while (herd.round == round)
			pthread_cond_wait(&herd.news, &herd.lock);
	}
	pthread_mutex_unlock(&herd.lock);
	return unused;
}

void do_broadcast(void)
{
	pthread_t threads[HERD];

	for (int i = 0; i < HERD; i++)
		pthread_create(&threads[i], NULL, herd_member, NULL);
	for (int i = 0; i < HERD_ROUNDS; i++) {
		for (int waiting = 0; waiting < HERD;) {
			sleep_ms(5);
			pthread_mutex_lock(&herd.lock);
			waiting = herd.waiting;
			pthread_mutex_unlock(&herd.lock);
		}
		sleep_ms(5);
		pthread_mutex_lock(&herd.lock);
		herd.waiting = 0;
		herd.round++;
		pthread_mutex_unlock(&herd.lock);
		pthread_cond_broadcast(&herd.news);
	}
	for (int i = 0; i < HERD; i++)
		pthread_join(threads[i], NULL);
	truth("broadcasts", HERD_ROUNDS);
	truth("woken", HERD_ROUNDS * HERD);
}

/* --- a mutex that goes from hand to hand, faster than a broadcast is --- */

#define HANDS 8

static struct {
	pthread_mutex_t lock;
	volatile long turns;
	volatile bool is_over;
} hands = {PTHREAD_MUTEX_INITIALIZER, 0, false};

static void *hand_on(void *unused)
{
	while (!hands.is_over) {
		pthread_mutex_lock(&hands.lock);
		for (int i = 0; i < 300; i++)
			hands.turns++;
		pthread_mutex_unlock(&hands.lock);
	}
	return unused;
}

void do_one_by_one(void)
{
	pthread_t threads[HANDS];

	for (int i = 0; i < HANDS; i++)
		pthread_create(&threads[i], NULL, hand_on, NULL);
	sleep_ms(3000);
	hands.is_over = true;
	for (int i = 0; i < HANDS; i++)
		pthread_join(threads[i], NULL);
	truth("broadcasts", 0);
}

/* --- thousands of locks --- */

#define MANY 5000

static struct {
	pthread_mutex_t locks[MANY];
	pthread_barrier_t barrier;
} many;

static void *many_hold(void *unused)
{
	prctl(PR_SET_TIMERSLACK, 1);
	for (int i = 0; i < MANY; i++) {
		pthread_mutex_lock(&many.locks[i]);
		pthread_barrier_wait(&many.barrier);
		sleep_us(100);
		pthread_mutex_unlock(&many.locks[i]);
	}
	return unused;
}

void do_thousands_of_locks(void)
{
	struct count count = {0};
	pthread_t holder;

	for (int i = 0; i < MANY; i++)
		pthread_mutex_init(&many.locks[i], NULL);
	pthread_barrier_init(&many.barrier, NULL, 2);
	pthread_create(&holder, NULL, many_hold, NULL);
	for (int i = 0; i < MANY; i++) {
		pthread_barrier_wait(&many.barrier);
		take(&many.locks[i], NULL, &count);
		pthread_mutex_unlock(&many.locks[i]);
	}
	pthread_join(holder, NULL);
	tell_lock("many", &many.locks, count);
}

/* --- a lock of the kernel's --- */

#define MAPPERS	   4
#define MAP_ROUNDS 20000

static void *map_memory(void *unused)
{
	for (int i = 0; i < MAP_ROUNDS; i++) {
		char *memory = mmap(NULL, 16384, PROT_READ | PROT_WRITE,
				    MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

		must(memory != MAP_FAILED, "map memory");
		memory[0] = 1;
		munmap(memory, 16384);
	}
	return unused;
}

/* What they are mapped into belongs to all threads: a lock for all of it, to be written. */
void do_kernel_lock(void)
{
	long long start = now();
	pthread_t threads[MAPPERS];

	for (int i = 0; i < MAPPERS; i++)
		pthread_create(&threads[i], NULL, map_memory, NULL);
	for (int i = 0; i < MAPPERS; i++)
		pthread_join(threads[i], NULL);
	truth("most", (now() - start) * MAPPERS);
}
