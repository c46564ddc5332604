// SPDX-License-Identifier: Apache-2.0
#include "trigger.h"

#include <arpa/inet.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <link.h>
#include <netinet/in.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/sdt.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "../base/child.h"
#include "../base/cleanup.h"
#include "../base/clock.h"
#include "../base/socket.h"
#include "../base/text.h"

#define FIRE_TIMEOUT_MS 10000
#define REPEAT		10
#define BURN_NS		(40 * NS_PER_MS)
#define CONTEND_NS	(400 * NS_PER_MS)
#define PAGE		4096

struct trigger {
	struct child child;
};

u32 trigger_syscall(void)
{
	return SYS_getpgid;
}

/* Kept whole and apart, so that it has an address and a first instruction of its own. */
__attribute__((noinline, used)) static u64 trigger_call_target(const u64 *mark)
{
	__asm__ volatile("" ::: "memory");
	return *mark;
}

static int find_offset(struct dl_phdr_info *info, size_t size, void *ret_offset)
{
	u64 address = (u64)(uintptr_t)trigger_call_target - info->dlpi_addr;

	(void)size;
	for (int i = 0; i < info->dlpi_phnum; i++) {
		const ElfW(Phdr) *segment = &info->dlpi_phdr[i];

		if (segment->p_type != PT_LOAD || address < segment->p_vaddr ||
		    address >= segment->p_vaddr + segment->p_filesz)
			continue;
		*(u64 *)ret_offset = address - segment->p_vaddr + segment->p_offset;
		return 1;
	}
	return 1; /* the first object is this executable; look no further */
}

u64 trigger_call_offset(void)
{
	u64 offset = 0;

	dl_iterate_phdr(find_offset, &offset);
	return offset;
}

static int fire_syscall(void)
{
	for (int i = 0; i < REPEAT; i++)
		syscall(SYS_getpgid, 0);
	return 0;
}

static int fire_cpu(void)
{
	u64 end = clock_now_ns() + BURN_NS;

	while (clock_now_ns() < end)
		for (volatile int i = 0; i < 10000; i++)
			;
	return 0;
}

static int fire_sleep(void)
{
	const struct timespec pause = {.tv_nsec = NS_PER_MS};

	for (int i = 0; i < REPEAT; i++)
		nanosleep(&pause, NULL);
	return 0;
}

static int fire_faults(void)
{
	volatile char *memory = mmap(NULL, REPEAT * PAGE, PROT_READ | PROT_WRITE,
				     MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (memory == MAP_FAILED)
		return -errno;
	for (int i = 0; i < REPEAT; i++)
		memory[i * PAGE] = 1;
	munmap((void *)memory, REPEAT * PAGE);
	return 0;
}

static int fire_call(void)
{
	u64 (*volatile target)(const u64 *) = trigger_call_target;
	const u64 mark = TRIGGER_MARK;

	for (int i = 0; i < REPEAT; i++)
		if (target(&mark) != mark)
			return -EINVAL;
	return 0;
}

static int fire_usdt(void)
{
	for (int i = 0; i < REPEAT; i++)
		DTRACE_PROBE1(dwell, canary, TRIGGER_MARK);
	return 0;
}

struct contention {
	int fd;
	char *data;
	size_t size;
	u64 end;
};

/* A large write holds the file's lock all the while. */
static void *write_until(void *context)
{
	const struct contention *contention = context;

	while (clock_now_ns() < contention->end)
		if (pwrite(contention->fd, contention->data, contention->size, 0) < 0)
			break;
	return NULL;
}

static int fire_contend(void)
{
	_cleanup_close_ int fd = memfd_create("dwell-canary", MFD_CLOEXEC);
	size_t size = 4u << 20;
	_cleanup_free_ char *data = calloc(1, size);
	struct contention contention = {fd, data, size, clock_now_ns() + CONTEND_NS};
	pthread_t other;

	if (fd < 0 || !data)
		return -errno;
	if (pthread_create(&other, NULL, write_until, &contention))
		return -EAGAIN;
	write_until(&contention);
	pthread_join(other, NULL);
	return 0;
}

static int read_one_block(const char *path)
{
	_cleanup_close_ int fd = open(path, O_RDONLY | O_DIRECT | O_CLOEXEC);
	_cleanup_free_ void *block = NULL;

	if (fd < 0)
		return -errno;
	if (posix_memalign(&block, PAGE, PAGE))
		return -ENOMEM;
	return pread(fd, block, PAGE, 0) < 0 ? -errno : 0;
}

/* Any disk that can be read will do; memory disks and empty loops make no requests. */
static int read_some_disk(void)
{
	DIR *disks = opendir("/sys/block");
	struct dirent *entry;
	int err = -ENODEV;

	while (disks && err && (entry = readdir(disks))) {
		char path[300];
		s64 sectors;

		if (entry->d_name[0] == '.' || !strncmp(entry->d_name, "ram", 3) ||
		    !strncmp(entry->d_name, "zram", 4))
			continue;
		snprintf(path, sizeof(path), "/sys/block/%s/size", entry->d_name);
		if (text_read_number(path, &sectors) || sectors == 0)
			continue;
		snprintf(path, sizeof(path), "/dev/%s", entry->d_name);
		err = read_one_block(path);
	}
	if (disks)
		closedir(disks);
	return err;
}

static int fire_disk(void)
{
	int err = read_some_disk();

	/* Without the right to open a disk, a file on one does it too. */
	return err ? read_one_block("/proc/self/exe") : 0;
}

static int fire_tcp(void)
{
	struct sockaddr_in address = {
		.sin_family = AF_INET,
		.sin_addr.s_addr = htonl(INADDR_LOOPBACK),
	};
	socklen_t size = sizeof(address);
	_cleanup_close_ int listener = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
	_cleanup_close_ int client = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
	_cleanup_close_ int server = -1;
	char byte = 0;

	if (listener < 0 || client < 0 || bind(listener, (struct sockaddr *)&address, size) ||
	    listen(listener, 1) || getsockname(listener, (struct sockaddr *)&address, &size) ||
	    connect(client, (struct sockaddr *)&address, size))
		return -errno;
	server = accept4(listener, NULL, NULL, SOCK_CLOEXEC);
	if (server < 0 || send(client, &byte, 1, MSG_NOSIGNAL) != 1 ||
	    recv(server, &byte, 1, 0) != 1)
		return -errno;
	return 0;
}

static int fire(enum trigger_kind kind)
{
	switch (kind) {
	case TRIGGER_NONE:
		return 0;
	case TRIGGER_SYSCALL:
		return fire_syscall();
	case TRIGGER_CPU:
		return fire_cpu();
	case TRIGGER_SLEEP:
		return fire_sleep();
	case TRIGGER_FAULTS:
		return fire_faults();
	case TRIGGER_CALL:
		return fire_call();
	case TRIGGER_USDT:
		return fire_usdt();
	case TRIGGER_CONTEND:
		return fire_contend();
	case TRIGGER_DISK:
		return fire_disk();
	case TRIGGER_TCP:
		return fire_tcp();
	}
	return -EINVAL;
}

static void serve(int sock, void *unused)
{
	enum trigger_kind kind;

	(void)unused;
	while (socket_receive(sock, &kind, sizeof(kind), NULL, -1) == sizeof(kind)) {
		int result = fire(kind);

		if (socket_send(sock, &result, sizeof(result), -1))
			return;
	}
}

int trigger_start(struct trigger **ret_trigger)
{
	struct trigger *trigger = calloc(1, sizeof(*trigger));
	int err;

	if (!trigger)
		return -ENOMEM;
	err = child_start(&trigger->child, serve, NULL, -1);
	if (err) {
		free(trigger);
		return err;
	}
	*ret_trigger = trigger;
	return 0;
}

pid_t trigger_pid(const struct trigger *trigger)
{
	return trigger->child.pid;
}

int trigger_fire(struct trigger *trigger, enum trigger_kind kind)
{
	ssize_t got;
	int result;
	int err = socket_send(trigger->child.sock, &kind, sizeof(kind), -1);

	if (err)
		return err;
	got = socket_receive(trigger->child.sock, &result, sizeof(result), NULL, FIRE_TIMEOUT_MS);
	if (got < 0) {
		/* A late answer would be taken for the next one's. */
		kill(trigger->child.pid, SIGKILL);
		return (int)got;
	}
	return got == sizeof(result) ? result : -EPIPE;
}

void trigger_stop(struct trigger *trigger)
{
	if (!trigger)
		return;
	child_stop(&trigger->child, 0);
	free(trigger);
}
