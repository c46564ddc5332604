// SPDX-License-Identifier: Apache-2.0
/*
 * Locks on files that another process holds: flock(), fcntl(), and those of open file descriptions.
 *
 * "file KIND PATH HOLDER COUNT NS": so often did the first process wait for that file's lock, and
 * so long did it take.
 */
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/file.h>
#include <sys/wait.h>
#include <unistd.h>

#include "oracle.h"

#define ROUNDS	20
#define HELD_MS 15

struct file_lock {
	const char *kind;
	int fd, command; /* 0: by flock() */
};

static void set(const struct file_lock *lock, bool is_taken)
{
	struct flock range = {.l_type = is_taken ? F_WRLCK : F_UNLCK};

	if (!lock->command)
		must(!flock(lock->fd, is_taken ? LOCK_EX : LOCK_UN), "flock");
	else
		must(!fcntl(lock->fd, lock->command, &range), "fcntl");
}

static void tell(int fd)
{
	must(write(fd, "", 1) == 1, "write to a pipe");
}

static void hear(int fd)
{
	char byte;

	must(read(fd, &byte, 1) == 1, "read from a pipe");
}

__attribute__((noinline)) static void known_hold_file(struct file_lock lock, const char *path,
						      const int pipes[2][2])
{
	lock.fd = open(path, O_RDWR); /* a description of its own */
	must(lock.fd >= 0, "open the file");
	for (int i = 0; i < ROUNDS; i++) {
		set(&lock, true);
		tell(pipes[0][1]);
		sleep_ms(HELD_MS);
		set(&lock, false);
		hear(pipes[1][0]);
	}
	_exit(0);
}

static void contend(struct file_lock lock)
{
	char path[128];
	long long ns = 0, count = 0;
	int pipes[2][2];
	pid_t holder;

	snprintf(path, sizeof(path), "/tmp/known-%s-%d", lock.kind, (int)getpid());
	lock.fd = open(path, O_RDWR | O_CREAT | O_EXCL, 0600);
	must(lock.fd >= 0 && !pipe(pipes[0]) && !pipe(pipes[1]), "make a file and pipes");
	holder = fork();
	if (!holder)
		known_hold_file(lock, path, (const int(*)[2])pipes);
	for (int i = 0; i < ROUNDS; i++) {
		long long start;
		long blocks;

		hear(pipes[0][0]);
		start = now() - thread_delay();
		blocks = thread_blocks();
		set(&lock, true);
		ns += now() - thread_delay() - start;
		count += thread_blocks() - blocks;
		set(&lock, false);
		tell(pipes[1][1]);
	}
	waitpid(holder, NULL, 0);
	unlink(path);
	printf("file %s %s %d %lld %lld\n", lock.kind, path, (int)holder, count, ns);
}

void do_file_locks(void)
{
	contend((struct file_lock){.kind = "flock"});
	contend((struct file_lock){.kind = "fcntl", .command = F_SETLKW});
	contend((struct file_lock){.kind = "OFD", .command = F_OFD_SETLKW});
}
