// SPDX-License-Identifier: Apache-2.0
/*
 * Functions to be traced: how often each is called, how long its calls take, what they return, and
 * which of them never return at all.
 */
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "oracle.h"
#include "usdt.h"

/* Found by their names: neither inlined, nor copied, nor left out. */
#if defined(__clang__) /* makes no copies of functions, and does not know the word for it */
#define TRACED __attribute__((noinline, used))
#else
#define TRACED __attribute__((noinline, noclone, used))
#endif

int traced_sleep(int ms);
int traced_deep(int depth);
int traced_jump(int how);
int traced_leap(int how);
int traced_catch(int how);
int traced_exit(int how);
long traced_returns(int which);
void traced_read(long request);
void traced_write(long request);
void traced_enqueue(void *task);
void traced_begin(void *task);
void traced_end(void *task);
void traced_tick(void);
void traced_tock(void);

static volatile int sink;

/* --- calls --- */

#define SLEEPS	  200
#define DEPTH	  20
#define DEEP_RUNS 50

TRACED int traced_sleep(int ms)
{
	sleep_ms(ms);
	return 1;
}

static long long deep_ns;

static int timed_deep(int depth)
{
	long long begin = now();
	int result = traced_deep(depth);

	deep_ns += now() - begin;
	return result;
}

TRACED int traced_deep(int depth)
{
	int below = depth > 1 ? timed_deep(depth - 1) : 0;

	if (depth == 1)
		sleep_ms(1);
	sink += below;
	return below + 1;
}

void do_traced_calls(void)
{
	long long sum = 0;

	for (int i = 0; i < SLEEPS; i++) {
		long long begin = now();

		traced_sleep(2);
		sum += now() - begin;
	}
	truth("sleep_calls", SLEEPS);
	truth("sleep_ns", sum);
	for (int i = 0; i < DEEP_RUNS; i++)
		timed_deep(DEPTH);
	truth("deep_calls", (long long)DEPTH * DEEP_RUNS);
	truth("deep_ns", deep_ns);
}

/* --- a wait for another thread --- */

#define HANDOVERS   20
#define HANDOVER_MS 5

int traced_wait(void);

static pthread_mutex_t handover = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t handed = PTHREAD_COND_INITIALIZER;
static int asked, given;

static void *give(void *nothing)
{
	for (int i = 0; i < HANDOVERS; i++) {
		pthread_mutex_lock(&handover);
		while (asked == given)
			pthread_cond_wait(&handed, &handover);
		pthread_mutex_unlock(&handover);
		sleep_ms(HANDOVER_MS);
		pthread_mutex_lock(&handover);
		given++;
		pthread_cond_broadcast(&handed);
		pthread_mutex_unlock(&handover);
	}
	return nothing;
}

TRACED int traced_wait(void)
{
	pthread_mutex_lock(&handover);
	asked++;
	pthread_cond_broadcast(&handed);
	while (given < asked)
		pthread_cond_wait(&handed, &handover);
	pthread_mutex_unlock(&handover);
	return asked;
}

void do_traced_waits(void)
{
	long long begin = now();
	pthread_t thread;

	must(!pthread_create(&thread, NULL, give, NULL), "a thread");
	for (int i = 0; i < HANDOVERS; i++)
		traced_wait();
	pthread_join(thread, NULL);
	truth("wait_calls", HANDOVERS);
	truth("wait_ns", now() - begin);
}

/* --- what does not return --- */

#define JUMPS 50
#define LEAPS 100 /* more than calls that are kept open */
#define EXITS 10

static jmp_buf landing;

TRACED int traced_jump(int how)
{
	sink += how;
	if (how >= 0)
		longjmp(landing, 1);
	return sink;
}

TRACED int traced_leap(int how)
{
	sink -= how;
	if (how >= 0)
		longjmp(landing, 1);
	return sink;
}

TRACED int traced_catch(int how)
{
	if (!setjmp(landing))
		sink += traced_jump(how) + 1;
	return 2;
}

TRACED int traced_exit(int how)
{
	sink += how;
	syscall(SYS_exit, 0); /* this thread's */
	return sink;
}

static void *end_in_call(void *unused)
{
	(void)unused;
	sink += traced_exit(1) + 1;
	return NULL;
}

void do_traced_jumps(void)
{
	/* Nobody who is traced returns here: that the first one is gone shows when the next one
	 * comes. */
	for (volatile int i = 0; i < LEAPS; i++)
		if (!setjmp(landing))
			sink += traced_leap(i) + 1;
	for (int i = 0; i < JUMPS; i++)
		sink += traced_catch(i);
	for (int i = 0; i < EXITS; i++) {
		pthread_t thread;

		must(!pthread_create(&thread, NULL, end_in_call, NULL), "a thread");
		must(!pthread_join(thread, NULL), "join");
	}
	truth("catch_calls", JUMPS);
	truth("jump_calls", JUMPS);
	truth("leap_calls", LEAPS);
	truth("exit_calls", EXITS);
}

/* --- what is returned --- */

TRACED long traced_returns(int which)
{
	/* As an int is returned, too: the upper half of the register is anything, mostly 0. */
	static const long values[] = {0, 5, 0xffffffff, -2, -100000, 0};

	return which == 5 ? (long)&values : values[which];
}

#define RETURNS 60

void do_traced_returns(void)
{
	for (int i = 0; i < RETURNS; i++)
		sink += (int)traced_returns(i % 6);
	truth("returns_each", RETURNS / 6);
}

/* --- from one thread to another --- */

#define REQUESTS 100

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t news = PTHREAD_COND_INITIALIZER;
static long posted, answered;
static long long read_ns[REQUESTS + 1], span_ns;

TRACED void traced_read(long request)
{
	sink += (int)request;
	USDT(dwell_oracle, read, request, 7);
}

TRACED void traced_write(long request)
{
	sink += (int)request;
	USDT(dwell_oracle, write, request, -7);
}

static void *answer(void *unused)
{
	for (long i = 1; i <= REQUESTS; i++) {
		pthread_mutex_lock(&lock);
		while (posted < i)
			pthread_cond_wait(&news, &lock);
		pthread_mutex_unlock(&lock);
		sleep_ms(3);
		span_ns += now() - read_ns[i];
		traced_write(i);
		pthread_mutex_lock(&lock);
		answered = i;
		pthread_cond_broadcast(&news);
		pthread_mutex_unlock(&lock);
	}
	return unused;
}

void do_traced_span(void)
{
	pthread_t thread;

	must(!pthread_create(&thread, NULL, answer, NULL), "a thread");
	for (long i = 1; i <= REQUESTS; i++) {
		traced_read(i);
		read_ns[i] = now();
		pthread_mutex_lock(&lock);
		posted = i;
		pthread_cond_broadcast(&news);
		while (answered < i)
			pthread_cond_wait(&news, &lock);
		pthread_mutex_unlock(&lock);
	}
	must(!pthread_join(thread, NULL), "join");
	traced_read(REQUESTS + 1); /* nobody answers it */
	truth("span_count", REQUESTS);
	truth("span_ns", span_ns);
}

/* --- a pool --- */

#define TASKS	40
#define WORKERS 4
#define LOST_MS 2500

struct task {
	long long queued_ns, begin_ns, end_ns;
	int is_busy;
};

static struct task tasks[TASKS];
static int next_task, queued_tasks;

TRACED void traced_enqueue(void *task)
{
	sink += task != NULL;
}

TRACED void traced_begin(void *task)
{
	sink += task != NULL;
}

TRACED void traced_end(void *task)
{
	sink += task != NULL;
}

static void burn(long long ns)
{
	long long until = thread_cpu() + ns;

	while (thread_cpu() < until)
		sink++;
}

static void *work(void *unused)
{
	for (;;) {
		struct task *task = NULL;

		pthread_mutex_lock(&lock);
		while (next_task == queued_tasks && next_task < TASKS)
			pthread_cond_wait(&news, &lock);
		if (next_task < TASKS)
			task = &tasks[next_task++];
		pthread_mutex_unlock(&lock);
		if (!task)
			return unused;
		traced_begin(task);
		task->begin_ns = now();
		if (task->is_busy)
			burn(10 * MS);
		else
			sleep_ms(10);
		task->end_ns = now();
		traced_end(task);
	}
}

static void run_pool(int is_busy)
{
	long long queueing = 0, execution = 0, sojourn = 0;
	pthread_t workers[WORKERS];

	for (int i = 0; i < WORKERS; i++)
		must(!pthread_create(&workers[i], NULL, work, NULL), "a thread");
	for (int i = 0; i < TASKS; i++) {
		tasks[i].is_busy = is_busy;
		pthread_mutex_lock(&lock);
		traced_enqueue(&tasks[i]);
		tasks[i].queued_ns = now();
		queued_tasks++;
		pthread_cond_broadcast(&news);
		pthread_mutex_unlock(&lock);
	}
	for (int i = 0; i < WORKERS; i++)
		must(!pthread_join(workers[i], NULL), "join");
	for (int i = 0; i < TASKS; i++) {
		queueing += tasks[i].begin_ns - tasks[i].queued_ns;
		execution += tasks[i].end_ns - tasks[i].begin_ns;
		sojourn += tasks[i].end_ns - tasks[i].queued_ns;
	}
	truth("tasks", TASKS);
	truth("queueing_ns", queueing);
	truth("execution_ns", execution);
	truth("sojourn_ns", sojourn);
}

void do_traced_pool(void)
{
	run_pool(0);
}

void do_traced_pool_busy(void)
{
	run_pool(1);
}

/* Tasks that no worker ever takes are given up on; then comes one more, which is done. */
#define LOST_TASKS 20

void do_traced_pool_lost(void)
{
	for (int i = 0; i < LOST_TASKS; i++)
		traced_enqueue(&tasks[i]);
	sleep_ms(LOST_MS);
	traced_enqueue(&tasks[LOST_TASKS]);
	traced_begin(&tasks[LOST_TASKS]);
	traced_end(&tasks[LOST_TASKS]);
	truth("lost", LOST_TASKS);
	truth("tasks", LOST_TASKS + 1);
	truth("depths", LOST_TASKS * (LOST_TASKS + 1) / 2 + 1);
}

/* --- what is called all the time --- */

#define STORM_MS    2500
#define STORM_BATCH 64

TRACED void traced_tick(void)
{
	sink++;
}

/* It begins with a push, which a probe can emulate; the other one has to be single-stepped. */
#if defined(__x86_64__)
__asm__(".text\n.globl traced_tock\n.type traced_tock, @function\n"
	"traced_tock:\n push %rbp\n pop %rbp\n ret\n"
	".size traced_tock, . - traced_tock\n");
#else
TRACED void traced_tock(void)
{
	sink++;
}
#endif

static void pass_probe(void)
{
	sink++;
	USDT(dwell_oracle, tick, sink, 7);
}

static void storm(void (*function)(void))
{
	long long until = now() + STORM_MS * MS, begin = thread_cpu(), count = 0;

	for (; now() < until; count += STORM_BATCH)
		for (int i = 0; i < STORM_BATCH; i++)
			function();
	truth("ticks", count);
	truth("tick_cpu_ns", thread_cpu() - begin);
}

void do_traced_storm(void)
{
	storm(traced_tick);
}

void do_traced_storm_push(void)
{
	storm(traced_tock);
}

void do_traced_storm_usdt(void)
{
	storm(pass_probe);
}

#define STEADY_BATCH 20 /* each millisecond */
#define STEADY_LATE  (100 * MS)
#define STEADY_MS    30000 /* or until it is told to end: who watches it may take long to begin */

static volatile sig_atomic_t is_over;

static void end_steady(int signal)
{
	is_over = signal;
}

/* So many a second, and little of the CPU; what was missed for long is not made up for. */
void do_traced_steady(void)
{
	long long begin = now(), next = begin, count = 0;

	must(signal(SIGTERM, end_steady) != SIG_ERR, "a signal");
	for (; !is_over && next < begin + STEADY_MS * MS; count += STEADY_BATCH) {
		const struct timespec until = {.tv_sec = next / 1000000000,
					       .tv_nsec = next % 1000000000};

		clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &until, NULL);
		for (int i = 0; i < STEADY_BATCH; i++)
			traced_tock();
		next = now() > next + STEADY_LATE ? now() + MS : next + MS;
	}
	truth("ticks", count);
	truth("steady_ns", now() - begin);
}
