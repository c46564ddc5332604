// SPDX-License-Identifier: Apache-2.0
/*
 * A load for hours, paced by the clock: processes that come and go, each of another binary, new
 * files, and new connections. What a profiler remembers of them has to be given up again.
 */
#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <pthread.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "oracle.h"

#define FORKS_A_SECOND	     300
#define FILES_A_SECOND	     2000
#define CONNECTIONS_A_SECOND 200
#define BINARIES	     1000
#define RUNS_IN_SUCCESSION   3	  /* of a binary: it comes back when it is forgotten */
#define CHILDREN_MAX	     64	  /* that live at a time */
#define FILES_KEPT	     1000 /* the last ones; those before are removed */
#define BLINK_NS	     MS
#define BUILD_ID_BYTES	     20

extern char **environ;

static long long begin_ns, end_ns;

/* --- a load that goes by the clock --- */

struct load {
	long rate; /* of one() a second */
	void (*one)(long number);
	long done;
};

/* Late ones are made up for: the rate is that of the whole time, as far as the host allows. */
static void *keep_pace(void *context)
{
	struct load *load = context;

	while (now() < end_ns) {
		long long due = begin_ns + load->done * (1000 * MS) / load->rate;
		struct timespec until = {.tv_sec = due / (1000 * MS), .tv_nsec = due % (1000 * MS)};

		if (now() < due)
			clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &until, NULL);
		load->one(load->done++);
	}
	return NULL;
}

/* --- processes --- */

/* Behind the header of its note. NULL: the linker made none. */
static unsigned char *find_build_id(unsigned char *image, size_t size)
{
	static const char header[] = "\x04\0\0\0\x14\0\0\0\x03\0\0\0GNU";
	unsigned char *at = memmem(image, size, header, sizeof(header));

	return at && at + sizeof(header) + BUILD_ID_BYTES <= image + size ? at + sizeof(header)
									  : NULL;
}

static void write_whole(const char *path, const void *bytes, size_t size)
{
	int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0755);

	must(fd >= 0 && write(fd, bytes, size) == (ssize_t)size, "write a copy of the program");
	close(fd);
}

/* Copies of $BINARY, or of this program, each with a build id of its own. */
static void make_binaries(void)
{
	const char *path = getenv("BINARY");
	int fd = open(path ? path : "/proc/self/exe", O_RDONLY | O_CLOEXEC);
	unsigned char *image, *build_id;
	struct stat st;
	char name[32];

	must(fd >= 0 && !fstat(fd, &st), "read the program");
	image = mmap(NULL, (size_t)st.st_size, PROT_READ | PROT_WRITE, MAP_PRIVATE, fd, 0);
	must(image != MAP_FAILED, "map the program");
	close(fd);
	build_id = find_build_id(image, (size_t)st.st_size);
	errno = ENOENT;
	must(build_id, "find the program's build id");
	for (int i = 0; i < BINARIES; i++) {
		memcpy(build_id, &i, sizeof(i));
		snprintf(name, sizeof(name), "binary-%d", i);
		write_whole(name, image, (size_t)st.st_size);
	}
	munmap(image, (size_t)st.st_size);
}

static void start_process(long number)
{
	char path[32], *arguments[] = {path, (char *)"blink", NULL};
	static int live;
	pid_t pid;

	snprintf(path, sizeof(path), "./binary-%ld", number / RUNS_IN_SUCCESSION % BINARIES);
	while (live && waitpid(-1, NULL, live < CHILDREN_MAX ? WNOHANG : 0) > 0)
		live--;
	must(!posix_spawn(&pid, path, NULL, NULL, arguments, environ), "start a process");
	live++;
}

/* Long enough to be sampled at times. */
void do_blink(void)
{
	while (thread_cpu() < BLINK_NS)
		;
}

/* --- files --- */

static void make_file(long number)
{
	char name[32];
	int fd;

	snprintf(name, sizeof(name), "file-%ld", number);
	fd = open(name, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
	must(fd >= 0 && write(fd, name, strlen(name)) > 0, "write a new file");
	close(fd);
	snprintf(name, sizeof(name), "file-%ld", number - FILES_KEPT);
	if (number >= FILES_KEPT)
		must(!unlink(name), "remove a file");
}

/* --- connections --- */

static struct sockaddr_in address = {.sin_family = AF_INET};

static void *answer(void *context)
{
	int listener = *(int *)context, fd;
	char byte;

	while ((fd = accept4(listener, NULL, NULL, SOCK_CLOEXEC)) >= 0) {
		if (read(fd, &byte, 1) == 1)
			must(write(fd, &byte, 1) == 1, "answer");
		close(fd);
	}
	return NULL;
}

static void listen_here(int *ret_listener)
{
	socklen_t size = sizeof(address);
	pthread_t thread;

	*ret_listener = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
	address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
	must(*ret_listener >= 0 && !bind(*ret_listener, (struct sockaddr *)&address, size) &&
		     !listen(*ret_listener, 128) &&
		     !getsockname(*ret_listener, (struct sockaddr *)&address, &size) &&
		     !pthread_create(&thread, NULL, answer, ret_listener),
	     "listen");
}

static void make_connection(long number)
{
	int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
	char byte = 'x';

	(void)number;
	must(fd >= 0 && !connect(fd, (struct sockaddr *)&address, sizeof(address)) &&
		     write(fd, &byte, 1) == 1 && read(fd, &byte, 1) == 1,
	     "ask over a new connection");
	close(fd);
}

/* --- all of it --- */

/*
 * For $SOAK_SECONDS, in the working directory, which its caller removes. X.asked is how many X a
 * second there should be, X.reached how many there were; binaries: how many different ones ran.
 */
void do_soak(void)
{
	static struct load loads[] = {
		{.rate = FORKS_A_SECOND, .one = start_process},
		{.rate = FILES_A_SECOND, .one = make_file},
		{.rate = CONNECTIONS_A_SECOND, .one = make_connection},
	};
	static const char *const names[] = {"forks", "files", "connections"};
	const char *seconds = getenv("SOAK_SECONDS");
	pthread_t threads[3];
	static int listener;
	char key[32];

	must(seconds && atol(seconds) > 0, "read SOAK_SECONDS");
	make_binaries();
	listen_here(&listener);
	begin_ns = now();
	end_ns = begin_ns + atol(seconds) * (1000 * MS);
	for (int i = 0; i < 3; i++)
		must(!pthread_create(&threads[i], NULL, keep_pace, &loads[i]), "start a thread");
	for (int i = 0; i < 3; i++)
		pthread_join(threads[i], NULL);
	for (int i = 0; i < 3; i++) {
		snprintf(key, sizeof(key), "%s.asked", names[i]);
		truth(key, loads[i].rate);
		snprintf(key, sizeof(key), "%s.reached", names[i]);
		truth(key, loads[i].done * (1000 * MS) / (now() - begin_ns));
	}
	truth("binaries", loads[0].done < RUNS_IN_SUCCESSION * BINARIES
				  ? loads[0].done / RUNS_IN_SUCCESSION
				  : BINARIES);
}
