// SPDX-License-Identifier: Apache-2.0
/*
 * oracle WORKLOAD: does one thing and says on stdout, as "state nanoseconds", how long its
 * threads did it by its own clocks. dwell must come to the same.
 */
#include <arpa/inet.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <pthread.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define MS 1000000LL

static long long now(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return ts.tv_sec * 1000000000LL + ts.tv_nsec;
}

static long long cpu_time(clockid_t clock)
{
	struct timespec ts;

	clock_gettime(clock, &ts);
	return ts.tv_sec * 1000000000LL + ts.tv_nsec;
}

static void truth(const char *state, long long ns)
{
	printf("%s %lld\n", state, ns);
}

static void sleep_ms(int ms)
{
	struct timespec ts = {.tv_sec = ms / 1000, .tv_nsec = ms % 1000 * MS};

	nanosleep(&ts, NULL);
}

static void do_sleep(void)
{
	long long start = now();

	for (int i = 0; i < 20; i++)
		sleep_ms(20);
	truth("blocked.sleep", now() - start);
}

/* A reader that waits 20 ms for each of 20 bytes. */
static void do_pipe(void)
{
	long long waited = 0;
	int fds[2];
	char byte;

	if (pipe(fds))
		exit(1);
	if (fork() == 0) {
		for (int i = 0; i < 20; i++) {
			sleep_ms(20);
			if (write(fds[1], "x", 1) != 1)
				_exit(1);
		}
		_exit(0);
	}
	for (int i = 0; i < 20; i++) {
		long long start = now();

		if (read(fds[0], &byte, 1) != 1)
			exit(1);
		waited += now() - start;
	}
	wait(NULL);
	truth("blocked.pipe", waited);
}

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_barrier_t barrier;

static void *hold(void *unused)
{
	for (int i = 0; i < 10; i++) {
		pthread_mutex_lock(&lock);
		pthread_barrier_wait(&barrier);
		sleep_ms(30);
		pthread_mutex_unlock(&lock);
		pthread_barrier_wait(&barrier);
	}
	return unused;
}

static void do_mutex(void)
{
	long long waited = 0;
	pthread_t holder;

	pthread_barrier_init(&barrier, NULL, 2);
	pthread_create(&holder, NULL, hold, NULL);
	for (int i = 0; i < 10; i++) {
		long long start;

		pthread_barrier_wait(&barrier);
		start = now();
		pthread_mutex_lock(&lock);
		waited += now() - start;
		pthread_mutex_unlock(&lock);
		pthread_barrier_wait(&barrier);
	}
	pthread_join(holder, NULL);
	truth("blocked.lock", waited);
}

static void *spin(void *ret_ns)
{
	long long end = now() + 400 * MS;

	while (now() < end)
		;
	*(long long *)ret_ns = cpu_time(CLOCK_THREAD_CPUTIME_ID);
	return NULL;
}

static void do_spin(void)
{
	long long ns[6], sum = 0;
	pthread_t threads[6];

	for (int i = 0; i < 6; i++)
		pthread_create(&threads[i], NULL, spin, &ns[i]);
	for (int i = 0; i < 6; i++) {
		pthread_join(threads[i], NULL);
		sum += ns[i];
	}
	truth("cpu", sum + cpu_time(CLOCK_THREAD_CPUTIME_ID));
}

/* A peer that answers 20 ms late. */
static void serve(int listener)
{
	int sock = accept(listener, NULL, NULL);
	char byte;

	while (recv(sock, &byte, 1, 0) == 1) {
		sleep_ms(20);
		if (send(sock, &byte, 1, 0) != 1)
			break;
	}
	_exit(0);
}

static void do_tcp(void)
{
	struct sockaddr_in address = {.sin_family = AF_INET,
				      .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
	int listener = socket(AF_INET, SOCK_STREAM, 0), sock = socket(AF_INET, SOCK_STREAM, 0);
	socklen_t size = sizeof(address);
	long long waited = 0;
	char byte = 0;

	if (bind(listener, (void *)&address, size) || listen(listener, 1) ||
	    getsockname(listener, (void *)&address, &size))
		exit(1);
	if (fork() == 0) {
		close(sock); /* or its end would never be seen */
		serve(listener);
	}
	if (connect(sock, (void *)&address, size))
		exit(1);
	for (int i = 0; i < 20; i++) {
		long long start;

		if (send(sock, &byte, 1, 0) != 1)
			exit(1);
		start = now();
		if (recv(sock, &byte, 1, 0) != 1)
			exit(1);
		waited += now() - start;
	}
	close(sock);
	wait(NULL);
	truth("blocked.net", waited);
}

static void do_epoll(void)
{
	struct epoll_event event;
	int epoll = epoll_create1(0);
	long long start = now();

	for (int i = 0; i < 20; i++)
		epoll_wait(epoll, &event, 1, 20);
	truth("blocked.poll", now() - start);
}

/* A thousand short children; each is waited for. */
static void do_forks(void)
{
	long long waited = 0;

	for (int i = 0; i < 1000; i++) {
		pid_t child = fork();
		long long start;

		if (child == 0)
			_exit(0);
		start = now();
		waitpid(child, NULL, 0);
		waited += now() - start;
	}
	(void)waited; /* part of it is CPU time: closure is what is tested */
}

static void *nap(void *unused)
{
	for (int i = 0; i < 5; i++)
		sleep_ms(40);
	return unused;
}

static void do_threads(void)
{
	static pthread_t threads[2000];
	pthread_attr_t small;

	pthread_attr_init(&small);
	pthread_attr_setstacksize(&small, 65536);
	for (int i = 0; i < 2000; i++)
		if (pthread_create(&threads[i], &small, nap, NULL))
			exit(1);
	for (int i = 0; i < 2000; i++)
		pthread_join(threads[i], NULL);
}

/* From CPU to CPU, as often as it can. */
static void do_migrate(void)
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
}

static void do_faults(void)
{
	for (int round = 0; round < 20; round++) {
		volatile char *memory = mmap(NULL, 64 << 20, PROT_READ | PROT_WRITE,
					     MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

		for (long at = 0; at < 64 << 20; at += 4096)
			memory[at] = 1;
		munmap((void *)memory, 64 << 20);
	}
	truth("cpu", cpu_time(CLOCK_THREAD_CPUTIME_ID));
}

static void do_syscalls(void)
{
	for (int i = 0; i < 4000000; i++)
		getppid();
	truth("cpu", cpu_time(CLOCK_THREAD_CPUTIME_ID));
}

static void do_fdatasync(void)
{
	char name[] = "./dwell-oracle-XXXXXX", data[65536] = "";
	int fd = mkstemp(name);

	unlink(name);
	for (int i = 0; i < 30; i++)
		if (write(fd, data, sizeof(data)) < 0 || fdatasync(fd))
			exit(1);
}

int main(int argc, char **argv)
{
	static const struct {
		const char *name;
		void (*run)(void);
	} workloads[] = {
		{"sleep", do_sleep},   {"pipe", do_pipe},	  {"mutex", do_mutex},
		{"spin", do_spin},     {"tcp", do_tcp},		  {"epoll", do_epoll},
		{"forks", do_forks},   {"threads", do_threads},	  {"migrate", do_migrate},
		{"faults", do_faults}, {"syscalls", do_syscalls}, {"fdatasync", do_fdatasync},
	};

	for (size_t i = 0; argc == 2 && i < sizeof(workloads) / sizeof(workloads[0]); i++)
		if (!strcmp(argv[1], workloads[i].name)) {
			workloads[i].run();
			return 0;
		}
	fprintf(stderr, "usage: oracle WORKLOAD\n");
	return 64;
}
