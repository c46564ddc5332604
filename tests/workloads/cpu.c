// SPDX-License-Identifier: Apache-2.0
/*
 * Time on a CPU: spinning, moving, faulting, calling.
 */
#include <pthread.h>
#include <sched.h>
#include <setjmp.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "oracle.h"

#define PAGE		4096
#define SPINNERS	6
#define SEGV_JUMPS	20000
#define SEGV_MAPPED	2000
#define SEGV_EFAULTS	5000
#define ORDINARY_FAULTS 20000
#define SYSCALLS	4000000
#define LOOKUPS		300000

static void spin_for(long long ns)
{
	long long end = now() + ns;

	while (now() < end)
		;
}

static void *spin(void *ret_ns)
{
	spin_for(400 * MS);
	*(long long *)ret_ns = thread_cpu();
	return NULL;
}

void do_spin(void)
{
	long long ns[SPINNERS], sum = 0;
	pthread_t threads[SPINNERS];

	for (int i = 0; i < SPINNERS; i++)
		pthread_create(&threads[i], NULL, spin, &ns[i]);
	for (int i = 0; i < SPINNERS; i++) {
		pthread_join(threads[i], NULL);
		sum += ns[i];
	}
	truth("cpu", sum + thread_cpu());
}

void do_quota(void)
{
	spin_for(3000 * MS);
	truth("cpu", thread_cpu());
}

/* From CPU to CPU, as often as it can. */
/* migrations: by the kernel's own count, since the thread was made; -1: it does not say. */
static long long migrations(void)
{
	FILE *file = fopen("/proc/thread-self/sched", "r");
	long long count = -1;
	char line[256];

	while (file && fgets(line, sizeof(line), file))
		if (strstr(line, "nr_migrations"))
			sscanf(strchr(line, ':') + 1, "%lld", &count);
	if (file)
		fclose(file);
	return count;
}

void do_migrate(void)
{
	long long end = now() + 400 * MS;
	cpu_set_t all, one;

	sched_getaffinity(0, sizeof(all), &all);
	while (now() < end)
		for (int cpu = 0; cpu < CPU_SETSIZE; cpu++) {
			if (!CPU_ISSET(cpu, &all))
				continue;
			CPU_ZERO(&one);
			CPU_SET(cpu, &one);
			sched_setaffinity(0, sizeof(one), &one);
		}
	truth("migrations", migrations());
}

static volatile char *fresh_memory(size_t size, int protection)
{
	void *memory = mmap(NULL, size, protection, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	must(memory != MAP_FAILED, "mmap");
	return memory;
}

void do_faults(void)
{
	for (int round = 0; round < 20; round++) {
		volatile char *memory = fresh_memory(64 << 20, PROT_READ | PROT_WRITE);

		for (long at = 0; at < 64 << 20; at += PAGE)
			memory[at] = 1;
		munmap((void *)memory, 64 << 20);
	}
	truth("cpu", thread_cpu());
}

static sigjmp_buf away;
static volatile bool maps_the_page;

static void on_segv(int signal, siginfo_t *info, void *context)
{
	(void)signal, (void)context;
	if (!maps_the_page)
		siglongjmp(away, 1);
	mprotect((void *)((unsigned long)info->si_addr & ~(PAGE - 1UL)), PAGE,
		 PROT_READ | PROT_WRITE);
}

static void touch(volatile char *memory, long pages)
{
	for (long i = 0; i < pages; i++)
		memory[i * PAGE] = 1;
}

/*
 * faults_failed: how many faults ended in SIGSEGV or EFAULT.
 * faults: how many others there were until then, by the kernel's count.
 */
void do_segv(void)
{
	struct sigaction action = {.sa_sigaction = on_segv, .sa_flags = SA_SIGINFO | SA_NODEFER};
	volatile char *forbidden = fresh_memory(PAGE, PROT_NONE);
	volatile char *mapped = fresh_memory(SEGV_MAPPED * PAGE, PROT_NONE);
	volatile char *ordinary =
		fresh_memory((size_t)ORDINARY_FAULTS * PAGE, PROT_READ | PROT_WRITE);
	struct rusage usage;

	madvise((void *)ordinary, (size_t)ORDINARY_FAULTS * PAGE, MADV_NOHUGEPAGE);
	sigaction(SIGSEGV, &action, NULL);
	for (volatile int i = 0; i < SEGV_JUMPS; i++)
		if (!sigsetjmp(away, 0))
			forbidden[0] = 1;
	maps_the_page = true;
	touch(mapped, SEGV_MAPPED);
	for (int i = 0; i < SEGV_EFAULTS; i++)
		must(syscall(SYS_getcpu, forbidden, NULL, NULL) < 0, "expect EFAULT");
	touch(ordinary, ORDINARY_FAULTS);
	getrusage(RUSAGE_SELF, &usage);
	truth("faults_failed", SEGV_JUMPS + SEGV_MAPPED + SEGV_EFAULTS);
	truth("faults", usage.ru_minflt + usage.ru_majflt);
}

/* count.getppid: how often it made that call. */
void do_syscalls(void)
{
	for (int i = 0; i < SYSCALLS; i++)
		getppid();
	truth("count.getppid", SYSCALLS);
	truth("cpu", thread_cpu());
}

/* count.lookups: how often it looked for a file that is not there. */
void do_lookups(void)
{
	for (int i = 0; i < LOOKUPS; i++)
		access("/usr/share/dwell/no-such-folder/no-such-file", R_OK);
	truth("count.lookups", LOOKUPS);
}
