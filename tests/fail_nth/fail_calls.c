// SPDX-License-Identifier: Apache-2.0
/*
 * A library for LD_PRELOAD that fails one call of a program, as SQLite's own tests do: the
 * FAIL_AT-th call of the kind FAIL_CALL, in the process FAIL_PROCESS (0: the program; then its
 * children in the order in which they were forked), ends with the errno FAIL_ERRNO, and does
 * nothing. All other calls work. FAIL_FILE is the file of a struct shared, which counts the calls
 * of each process and says what failed. Calls of the program FAIL_PROGRAM alone are counted: what
 * it executes is left alone.
 *
 * Calls of shared libraries (libbpf, libelf, SQLite) are counted too. Those that the C library
 * makes by itself are not, hence fopen() and opendir() beside open(); nor is what stdio writes.
 */
#include <dirent.h>
#include <dlfcn.h>
#include <errno.h>
#include <execinfo.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/mman.h>
#include <sys/sendfile.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#define KINDS(X)                                                                                   \
	X(open)                                                                                    \
	X(mmap) X(malloc) X(bpf) X(perf_event_open) X(socketpair) X(fork) X(write) X(send) X(fsync)

enum kind {
#define ROW(name) KIND_##name,
	KINDS(ROW)
#undef ROW
		KIND_COUNT,
};

static const char *const kind_names[] = {
#define ROW(name) #name,
	KINDS(ROW)
#undef ROW
};

#define PROCESSES_MAX 32
#define FRAMES_MAX    32
#define SITES_MAX     16384

/* The first call of a kind with one stack of callers, where FAIL_FRAMES says how many callers
 * count. */
struct site {
	uint64_t hash; /* 0: an empty slot */
	uint64_t nth;
	uint32_t process;
	uint32_t kind;
};

/* The driver reads it: tests/fail_nth/shared.py. */
struct shared {
	uint32_t processes;
	uint32_t has_failed;
	int32_t pids[PROCESSES_MAX];
	int32_t ended_by[PROCESSES_MAX]; /* the signal that ended a child, as its parent saw it */
	uint64_t counts[PROCESSES_MAX][KIND_COUNT];
	char what[128];
	char trace[4096];
	struct site sites[SITES_MAX];
};

static struct shared *shared;
static uint32_t process;
static int chosen_kind = -1, chosen_errno;
static uint64_t chosen_at;
static uint32_t chosen_process;
static int site_frames; /* 0: sites are not wanted */

void *__libc_malloc(size_t size);
void *__libc_calloc(size_t count, size_t size);
void *__libc_realloc(void *old, size_t size);
void *__libc_memalign(size_t alignment, size_t size);

#define REAL(name)                                                                                 \
	({                                                                                         \
		static typeof(&name) real_;                                                        \
		if (!real_)                                                                        \
			real_ = (typeof(&name))dlsym(RTLD_NEXT, #name);                            \
		real_;                                                                             \
	})

static const char *file_name(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash ? slash + 1 : path;
}

/* As "dwell+0x1234": addr2line has the rest. */
static void keep_trace(void)
{
	void *frames[FRAMES_MAX];
	int count = backtrace(frames, FRAMES_MAX);
	size_t at = 0;

	for (int i = 2; i < count && at < sizeof(shared->trace); i++) {
		Dl_info info;

		if (dladdr(frames[i], &info) && info.dli_fname)
			at += (size_t)snprintf(
				shared->trace + at, sizeof(shared->trace) - at, "%s+%#lx ",
				file_name(info.dli_fname),
				(unsigned long)((char *)frames[i] - (char *)info.dli_fbase - 1));
	}
}

/* A full table leaves the rest out. */
static void keep_site(enum kind kind, uint64_t nth)
{
	void *frames[FRAMES_MAX];
	int count = backtrace(frames, site_frames + 2);
	uint64_t hash = process * KIND_COUNT + kind + 1;

	for (int i = 2; i < count; i++)
		hash = (hash ^ (uint64_t)(uintptr_t)frames[i]) * 0x9e3779b97f4a7c15ULL;
	hash += !hash;
	for (uint64_t i = 0; i < SITES_MAX; i++) {
		struct site *site = &shared->sites[(hash + i) % SITES_MAX];
		uint64_t empty = 0;

		if (__atomic_compare_exchange_n(&site->hash, &empty, hash, false, __ATOMIC_RELAXED,
						__ATOMIC_RELAXED)) {
			site->nth = nth;
			site->process = process;
			site->kind = kind;
			return;
		}
		if (empty == hash)
			return;
	}
}

/* Counts a call; true if it is the one to fail, with errno set. */
static bool fails(enum kind kind, const char *function, const char *of)
{
	uint64_t nth;

	if (!shared)
		return false;
	nth = __atomic_add_fetch(&shared->counts[process][kind], 1, __ATOMIC_RELAXED);
	if (site_frames)
		keep_site(kind, nth);
	if ((int)kind != chosen_kind || process != chosen_process || nth != chosen_at)
		return false;
	snprintf(shared->what, sizeof(shared->what), "%s(%s)", function, of);
	keep_trace();
	shared->has_failed = 1;
	errno = chosen_errno;
	return true;
}

static void choose(void)
{
	const char *kind = getenv("FAIL_CALL"), *at = getenv("FAIL_AT"),
		   *process_number = getenv("FAIL_PROCESS"), *number = getenv("FAIL_ERRNO"),
		   *frames = getenv("FAIL_FRAMES");

	if (frames && atoi(frames) > 0 && atoi(frames) <= FRAMES_MAX - 2)
		site_frames = atoi(frames);
	if (!kind || !at || !process_number || !number)
		return; /* calls are counted only */
	chosen_at = strtoull(at, NULL, 10);
	chosen_process = (uint32_t)strtoul(process_number, NULL, 10);
	chosen_errno = atoi(number);
	for (int i = 0; i < KIND_COUNT; i++)
		if (!strcmp(kind, kind_names[i]))
			chosen_kind = i;
}

__attribute__((constructor)) static void begin(void)
{
	const char *file = getenv("FAIL_FILE"), *program = getenv("FAIL_PROGRAM");
	void *frame, *mapped;
	int fd;

	if (!file || !program || strcmp(program, program_invocation_short_name))
		return;
	fd = REAL(open)(file, O_RDWR | O_CLOEXEC);
	if (fd < 0)
		_exit(125);
	mapped = REAL(mmap)(NULL, sizeof(*shared), PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	close(fd);
	if (mapped == MAP_FAILED)
		_exit(125);
	backtrace(&frame, 1); /* its library is loaded now, not within a call that fails */
	choose();
	shared = mapped;
	shared->pids[0] = getpid();
	shared->processes = 1;
}

/* --- memory --- */

void *malloc(size_t size)
{
	return fails(KIND_malloc, "malloc", "") ? NULL : __libc_malloc(size);
}

void *calloc(size_t count, size_t size)
{
	return fails(KIND_malloc, "calloc", "") ? NULL : __libc_calloc(count, size);
}

void *realloc(void *old, size_t size)
{
	return fails(KIND_malloc, "realloc", "") ? NULL : __libc_realloc(old, size);
}

void *reallocarray(void *old, size_t count, size_t size)
{
	size_t bytes;

	if (__builtin_mul_overflow(count, size, &bytes)) {
		errno = ENOMEM;
		return NULL;
	}
	return fails(KIND_malloc, "reallocarray", "") ? NULL : __libc_realloc(old, bytes);
}

void *aligned_alloc(size_t alignment, size_t size)
{
	return fails(KIND_malloc, "aligned_alloc", "") ? NULL : __libc_memalign(alignment, size);
}

int posix_memalign(void **ret, size_t alignment, size_t size)
{
	*ret = aligned_alloc(alignment, size);
	return *ret ? 0 : ENOMEM;
}

void *mmap(void *address, size_t size, int protection, int flags, int fd, off_t offset)
{
	if (fails(KIND_mmap, "mmap", ""))
		return MAP_FAILED;
	return REAL(mmap)(address, size, protection, flags, fd, offset);
}

void *mmap64(void *address, size_t size, int protection, int flags, int fd, off64_t offset)
	__attribute__((alias("mmap")));

/* --- descriptors --- */

static mode_t mode_of(int flags, va_list args)
{
	return flags & O_CREAT || (flags & O_TMPFILE) == O_TMPFILE ? va_arg(args, mode_t) : 0;
}

int open(const char *path, int flags, ...)
{
	va_list args;
	mode_t mode;

	va_start(args, flags);
	mode = mode_of(flags, args);
	va_end(args);
	return fails(KIND_open, "open", path) ? -1 : REAL(open)(path, flags, mode);
}

int openat(int dir, const char *path, int flags, ...)
{
	va_list args;
	mode_t mode;

	va_start(args, flags);
	mode = mode_of(flags, args);
	va_end(args);
	return fails(KIND_open, "openat", path) ? -1 : REAL(openat)(dir, path, flags, mode);
}

int open64(const char *path, int flags, ...) __attribute__((alias("open")));
int openat64(int dir, const char *path, int flags, ...) __attribute__((alias("openat")));

FILE *fopen(const char *path, const char *mode)
{
	return fails(KIND_open, "fopen", path) ? NULL : REAL(fopen)(path, mode);
}

FILE *fopen64(const char *path, const char *mode) __attribute__((alias("fopen")));

DIR *opendir(const char *path)
{
	return fails(KIND_open, "opendir", path) ? NULL : REAL(opendir)(path);
}

int memfd_create(const char *name, unsigned int flags)
{
	return fails(KIND_open, "memfd_create", name) ? -1 : REAL(memfd_create)(name, flags);
}

int mkostemp(char *name, int flags)
{
	return fails(KIND_open, "mkostemp", name) ? -1 : REAL(mkostemp)(name, flags);
}

int pipe2(int fds[2], int flags)
{
	return fails(KIND_open, "pipe2", "") ? -1 : REAL(pipe2)(fds, flags);
}

int eventfd(unsigned int count, int flags)
{
	return fails(KIND_open, "eventfd", "") ? -1 : REAL(eventfd)(count, flags);
}

int epoll_create1(int flags)
{
	return fails(KIND_open, "epoll_create1", "") ? -1 : REAL(epoll_create1)(flags);
}

int dup(int fd)
{
	return fails(KIND_open, "dup", "") ? -1 : REAL(dup)(fd);
}

int socketpair(int domain, int type, int protocol, int fds[2])
{
	if (fails(KIND_socketpair, "socketpair", ""))
		return -1;
	return REAL(socketpair)(domain, type, protocol, fds);
}

/* --- processes --- */

pid_t fork(void)
{
	uint32_t number;
	pid_t pid;

	if (fails(KIND_fork, "fork", ""))
		return -1;
	if (!shared)
		return REAL(fork)();
	number = __atomic_fetch_add(&shared->processes, 1, __ATOMIC_RELAXED);
	if (number >= PROCESSES_MAX)
		abort(); /* more than the driver knows of */
	pid = REAL(fork)();
	if (pid == 0) {
		process = number;
		shared->pids[number] = getpid();
	}
	return pid;
}

int pthread_create(pthread_t *thread, const pthread_attr_t *attr, void *(*run)(void *),
		   void *context)
{
	if (fails(KIND_fork, "pthread_create", ""))
		return chosen_errno;
	return REAL(pthread_create)(thread, attr, run, context);
}

/* A child that crashed is a failure even if its parent makes the best of it. */
pid_t waitpid(pid_t pid, int *status, int options)
{
	int own = 0;
	pid_t ended = REAL(waitpid)(pid, &own, options);

	for (uint32_t i = 0; shared && ended > 0 && i < PROCESSES_MAX; i++)
		if (shared->pids[i] == ended && WIFSIGNALED(own))
			shared->ended_by[i] = WTERMSIG(own);
	if (status && ended > 0)
		*status = own;
	return ended;
}

/* --- system calls without a function --- */

long syscall(long number, ...)
{
	long a[6];
	va_list args;

	va_start(args, number);
	for (int i = 0; i < 6; i++)
		a[i] = va_arg(args, long);
	va_end(args);
	if (number == SYS_bpf) {
		char command[16];

		snprintf(command, sizeof(command), "command %ld", a[0]);
		if (fails(KIND_bpf, "bpf", command))
			return -1;
	}
	if (number == SYS_perf_event_open && fails(KIND_perf_event_open, "perf_event_open", ""))
		return -1;
	return REAL(syscall)(number, a[0], a[1], a[2], a[3], a[4], a[5]);
}

/* --- writing --- */

ssize_t write(int fd, const void *bytes, size_t size)
{
	return fails(KIND_write, "write", "") ? -1 : REAL(write)(fd, bytes, size);
}

ssize_t pwrite(int fd, const void *bytes, size_t size, off_t offset)
{
	return fails(KIND_write, "pwrite", "") ? -1 : REAL(pwrite)(fd, bytes, size, offset);
}

ssize_t pwrite64(int fd, const void *bytes, size_t size, off64_t offset)
	__attribute__((alias("pwrite")));

ssize_t sendfile(int to, int from, off_t *offset, size_t size)
{
	return fails(KIND_write, "sendfile", "") ? -1 : REAL(sendfile)(to, from, offset, size);
}

int ftruncate(int fd, off_t size)
{
	return fails(KIND_write, "ftruncate", "") ? -1 : REAL(ftruncate)(fd, size);
}

int ftruncate64(int fd, off64_t size) __attribute__((alias("ftruncate")));

ssize_t sendmsg(int fd, const struct msghdr *message, int flags)
{
	return fails(KIND_send, "sendmsg", "") ? -1 : REAL(sendmsg)(fd, message, flags);
}

ssize_t send(int fd, const void *bytes, size_t size, int flags)
{
	return fails(KIND_send, "send", "") ? -1 : REAL(send)(fd, bytes, size, flags);
}

int fsync(int fd)
{
	return fails(KIND_fsync, "fsync", "") ? -1 : REAL(fsync)(fd);
}

int fdatasync(int fd)
{
	return fails(KIND_fsync, "fdatasync", "") ? -1 : REAL(fdatasync)(fd);
}
