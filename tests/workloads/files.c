// SPDX-License-Identifier: Apache-2.0
/*
 * Files, used in known ways. Keys are "<file>.<op>[.<error>] calls asked returned" in one: a line
 * each for .calls, .asked, .returned; and .ns, what the calls took by the program's own clock.
 */
#include <fcntl.h>
#include <linux/userfaultfd.h>
#include <pthread.h>
#include <stdio.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

#include "oracle.h"

#define BLOCK	4096
#define LATE_MS 40

static char data[BLOCK] __attribute__((aligned(BLOCK)));

static void tell(const char *what, const char *measure, long long value)
{
	char key[64];

	snprintf(key, sizeof(key), "%s.%s", what, measure);
	truth(key, value);
}

static int open_here(const char *name, int flags)
{
	int fd = open(name, flags | O_CLOEXEC, 0600);

	must(fd >= 0, name);
	return fd;
}

/* All of one kind, and what they took. */
static void many(const char *what, int calls, ssize_t asked, ssize_t (*one)(int fd, int i), int fd)
{
	long long begin = now(), returned = 0;

	for (int i = 0; i < calls; i++) {
		ssize_t got = one(fd, i);

		returned += got > 0 ? got : 0;
	}
	tell(what, "ns", now() - begin);
	tell(what, "calls", calls);
	tell(what, "asked", asked * calls);
	tell(what, "returned", returned);
}

static ssize_t write_block(int fd, int i)
{
	return pwrite(fd, data, BLOCK, (off_t)i * BLOCK);
}

static ssize_t read_some(int fd, int i)
{
	return pread(fd, data, 1000, (off_t)i * BLOCK);
}

static ssize_t read_beyond(int fd, int i)
{
	return pread(fd, data, 96, (1 << 30) + i);
}

static ssize_t read_parts(int fd, int i)
{
	struct iovec parts[] = {{data, 100}, {data + 100, 200}, {data + 300, 300}};

	return preadv(fd, parts, 3, i);
}

static ssize_t read_ten(int fd, int i)
{
	(void)i;
	return read(fd, data, 10);
}

static ssize_t sync_it(int fd, int i)
{
	(void)i;
	return fdatasync(fd);
}

void do_files(void)
{
	int ends[2], fd = open_here("dwell-first", O_RDWR | O_CREAT | O_TRUNC), other;

	many("dwell-first.write", 400, BLOCK, write_block, fd);
	many("dwell-first.sync", 2, 0, sync_it, fd);
	many("dwell-first.read", 300, 1000, read_some, fd);
	many("dwell-first.read", 7, 96, read_beyond, fd);
	many("dwell-first.read", 20, 600, read_parts, fd);
	close(fd);

	/* The same number is another file's. */
	other = open_here("dwell-second", O_RDWR | O_CREAT | O_TRUNC);
	must(other == fd && write(other, data, BLOCK) == BLOCK, "the same number again");
	lseek(other, 0, SEEK_SET);
	many("dwell-second.read", 50, 10, read_ten, other);
	close(other);

	fd = open_here("dwell-second", O_WRONLY);
	many("dwell-second.read.EBADF", 3, 0, read_ten, fd);
	close(fd);
	for (int i = 0; i < 9; i++)
		must(open("dwell-third", O_RDONLY) < 0, "no such file");
	truth("open.ENOENT.calls", 9);
	truth("dwell-first.open.calls", 1);
	truth("dwell-second.open.calls", 2);

	/* What is no file is not counted. */
	must(!pipe(ends) && write(ends[1], data, BLOCK) == BLOCK, "a pipe");
	for (int i = 0; i < 20; i++)
		must(read(ends[0], data, 1) == 1, "read from it");
	unlink("dwell-first");
	unlink("dwell-second");

	/* A deleted file's number is soon another's. */
	fd = open_here("dwell-fourth", O_RDWR | O_CREAT | O_TRUNC);
	many("dwell-fourth.write", 11, BLOCK, write_block, fd);
	close(fd);
	unlink("dwell-fourth");
}

/*
 * Who writes has the file's lock while it waits for the page that is to be written, which comes
 * late; who reads around the cache waits for that lock.
 */
struct late {
	int uffd;
	char *page;
	pthread_barrier_t held; /* the lock is, and who reads may come */
};

static void *bring_late(void *context)
{
	struct late *late = context;
	struct uffdio_zeropage zero = {.range = {(unsigned long)late->page, BLOCK}};
	struct uffd_msg message;

	must(read(late->uffd, &message, sizeof(message)) == sizeof(message), "a page is missed");
	pthread_barrier_wait(&late->held);
	sleep_ms(LATE_MS);
	must(!ioctl(late->uffd, UFFDIO_ZEROPAGE, &zero), "bring it");
	return NULL;
}

static void *write_late(void *context)
{
	struct late *late = context;
	int fd = open_here("dwell-held", O_WRONLY);

	must(pwrite(fd, late->page, BLOCK, BLOCK) == BLOCK, "write");
	close(fd);
	return NULL;
}

static void make_late(struct late *late)
{
	struct uffdio_api api = {.api = UFFD_API};
	struct uffdio_register range = {.mode = UFFDIO_REGISTER_MODE_MISSING};

	late->uffd = (int)syscall(SYS_userfaultfd, O_CLOEXEC);
	if (late->uffd < 0 || ioctl(late->uffd, UFFDIO_API, &api))
		skip("no userfaultfd here");
	late->page = mmap(NULL, BLOCK, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	must(late->page != MAP_FAILED, "a page");
	range.range.start = (unsigned long)late->page;
	range.range.len = BLOCK;
	must(!ioctl(late->uffd, UFFDIO_REGISTER, &range), "register it");
}

void do_readlock(void)
{
	int fd = open_here("dwell-held", O_RDWR | O_CREAT | O_TRUNC);
	pthread_t bringer, writer;
	struct late late;
	long long begin;
	int direct;

	make_late(&late);
	pthread_barrier_init(&late.held, NULL, 2);
	must(write(fd, data, BLOCK) == BLOCK && !fsync(fd), "a file");
	direct = open("dwell-held", O_RDONLY | O_DIRECT);
	if (direct < 0)
		skip("files cannot be read around the cache here");
	must(!pthread_create(&bringer, NULL, bring_late, &late), "a thread");
	must(!pthread_create(&writer, NULL, write_late, &late), "a thread");
	pthread_barrier_wait(&late.held);
	begin = now();
	must(pread(direct, data, BLOCK, 0) == BLOCK, "read");
	truth("read.ns", now() - begin);
	pthread_join(bringer, NULL);
	pthread_join(writer, NULL);
	close(direct);
	close(fd);
	unlink("dwell-held");
}
