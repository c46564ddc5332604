// SPDX-License-Identifier: Apache-2.0
/*
 * hanging_fs [--reads] PROGRAM ARGS...: runs PROGRAM from a file system that stops answering as
 * soon as the program runs (--reads: its file can be opened, and its first bytes be read, but no
 * more): overlayfs over FUSE, both made in a user namespace of its own. FUSE alone would refuse
 * processes outside of the namespace; overlayfs asks it with its maker's rights, so that whoever
 * opens the program's file from outside waits for ever.
 *
 * Prints the program's pid, and ends it and the file system when its own stdin ends.
 */
#include <errno.h>
#include <fcntl.h>
#include <linux/fuse.h>
#include <sched.h>
#include <signal.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#define FILE_NODE   2
#define VALID_S	    100000 /* what was said of a file holds for longer than the test */
#define MESSAGE_MAX (1u << 20)

static struct {
	char *bytes;
	size_t size;
} program;

static volatile int *is_silent; /* shared by all processes here */
static bool only_reads_hang;

static void fail(const char *what)
{
	perror(what);
	exit(1);
}

static char *print(const char *format, ...)
{
	va_list args;
	char *text;

	va_start(args, format);
	if (vasprintf(&text, format, args) < 0)
		fail("vasprintf");
	va_end(args);
	return text;
}

/* --- the server --- */

static void reply(int fd, uint64_t unique, int err, const void *data, size_t size)
{
	static char message[MESSAGE_MAX];
	struct fuse_out_header head = {
		.len = (uint32_t)(sizeof(head) + size), .error = err, .unique = unique};

	memcpy(message, &head, sizeof(head));
	if (size)
		memcpy(message + sizeof(head), data, size);
	if (write(fd, message, sizeof(head) + size) < 0 && errno != ENOENT)
		perror("reply");
}

static struct fuse_attr attr_of(uint64_t node)
{
	bool is_file = node == FILE_NODE;

	return (struct fuse_attr){
		.ino = node,
		.size = is_file ? program.size : 0,
		.mode = is_file ? S_IFREG | 0755 : S_IFDIR | 0755,
		.nlink = 1,
		.blksize = 4096,
	};
}

static void look_up(int fd, const struct fuse_in_header *head, const char *name)
{
	struct fuse_entry_out entry = {
		.nodeid = FILE_NODE,
		.entry_valid = VALID_S,
		.attr_valid = VALID_S,
		.attr = attr_of(FILE_NODE),
	};

	if (!strcmp(name, "program"))
		reply(fd, head->unique, 0, &entry, sizeof(entry));
	else
		reply(fd, head->unique, -ENOENT, NULL, 0);
}

static void answer(int fd, const struct fuse_in_header *head, const void *body)
{
	switch (head->opcode) {
	case FUSE_INIT: {
		const struct fuse_init_in *in = body;
		struct fuse_init_out out = {
			.major = FUSE_KERNEL_VERSION,
			.minor = in->minor < FUSE_KERNEL_MINOR_VERSION ? in->minor
								       : FUSE_KERNEL_MINOR_VERSION,
			.max_readahead = in->max_readahead,
			.max_write = 4096,
		};
		reply(fd, head->unique, 0, &out, sizeof(out));
		return;
	}
	case FUSE_LOOKUP:
		look_up(fd, head, body);
		return;
	case FUSE_GETATTR: {
		struct fuse_attr_out out = {.attr_valid = VALID_S, .attr = attr_of(head->nodeid)};
		reply(fd, head->unique, 0, &out, sizeof(out));
		return;
	}
	case FUSE_OPEN:
	case FUSE_OPENDIR: {
		struct fuse_open_out out = {.open_flags = FOPEN_KEEP_CACHE};

		if (*is_silent) /* reads do not find what the page cache has */
			out.open_flags |= FOPEN_DIRECT_IO;
		reply(fd, head->unique, 0, &out, sizeof(out));
		return;
	}
	case FUSE_READ: {
		const struct fuse_read_in *in = body;
		size_t left = in->offset < program.size ? program.size - in->offset : 0;
		size_t size = in->size < left ? in->size : left;

		reply(fd, head->unique, 0, program.bytes + in->offset, size);
		return;
	}
	case FUSE_STATFS: {
		struct fuse_statfs_out out = {.st = {.bsize = 4096, .namelen = 255}};
		reply(fd, head->unique, 0, &out, sizeof(out));
		return;
	}
	case FUSE_RELEASE:
	case FUSE_RELEASEDIR:
	case FUSE_FLUSH:
	case FUSE_ACCESS:
	case FUSE_READDIR:
		reply(fd, head->unique, 0, NULL, 0);
		return;
	case FUSE_FORGET:
	case FUSE_BATCH_FORGET:
	case FUSE_INTERRUPT:
		return;
	case FUSE_GETXATTR:
	case FUSE_LISTXATTR:
		reply(fd, head->unique, -EOPNOTSUPP, NULL, 0);
		return;
	default:
		reply(fd, head->unique, -ENOSYS, NULL, 0);
	}
}

static bool is_answered(const struct fuse_in_header *head)
{
	const struct fuse_read_in *read = (const void *)(head + 1);

	return !*is_silent || (only_reads_hang && (head->opcode != FUSE_READ || !read->offset));
}

static void serve(int fd)
{
	static char message[MESSAGE_MAX];

	for (;;) {
		ssize_t got = read(fd, message, sizeof(message));

		if (got < 0 && errno == ENODEV)
			_exit(0);
		if (got >= (ssize_t)sizeof(struct fuse_in_header) &&
		    is_answered((struct fuse_in_header *)message))
			answer(fd, (struct fuse_in_header *)message,
			       message + sizeof(struct fuse_in_header));
	}
}

/* --- the file systems --- */

static void write_text(const char *path, const char *text)
{
	int fd = open(path, O_WRONLY);

	if (fd < 0 || write(fd, text, strlen(text)) < 0)
		fail(path);
	close(fd);
}

static void enter_namespaces(void)
{
	char *uids = print("0 %d 1", getuid()), *gids = print("0 %d 1", getgid());

	if (unshare(CLONE_NEWUSER | CLONE_NEWNS))
		fail("unshare");
	write_text("/proc/self/setgroups", "deny");
	write_text("/proc/self/uid_map", uids);
	write_text("/proc/self/gid_map", gids);
	if (mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL))
		fail("private mounts");
}

static void make_folder(const char *dir, const char *name)
{
	if (mkdir(print("%s/%s", dir, name), 0755))
		fail(name);
}

/* Returns the server's pid. */
static pid_t mount_all(const char *dir)
{
	pid_t server;
	int fd;

	if (mount("none", dir, "tmpfs", 0, NULL))
		fail("tmpfs");
	make_folder(dir, "lower");
	make_folder(dir, "upper");
	make_folder(dir, "work");
	make_folder(dir, "merged");
	fd = open("/dev/fuse", O_RDWR | O_CLOEXEC);
	if (fd < 0)
		fail("/dev/fuse");
	if (mount("hanging", print("%s/lower", dir), "fuse", MS_NOSUID | MS_NODEV,
		  print("fd=%d,rootmode=40000,user_id=0,group_id=0,allow_other", fd)))
		fail("mount fuse");
	server = fork();
	if (server == 0) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		serve(fd);
	}
	close(fd);
	if (mount("overlay", print("%s/merged", dir), "overlay", 0,
		  print("lowerdir=%s/lower,upperdir=%s/upper,workdir=%s/work,userxattr", dir, dir,
			dir)))
		fail("mount overlay");
	return server;
}

/* All of it is in the page cache then, and the program runs without the server. */
static void read_whole(const char *path)
{
	char block[65536];
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	ssize_t got;

	if (fd < 0)
		fail(path);
	do
		got = read(fd, block, sizeof(block));
	while (got > 0);
	if (got < 0)
		fail("read through overlayfs");
	close(fd);
}

static void load_program(const char *path)
{
	struct stat st;
	int fd = open(path, O_RDONLY | O_CLOEXEC);

	if (fd < 0 || fstat(fd, &st))
		fail(path);
	program.size = (size_t)st.st_size;
	program.bytes = mmap(NULL, program.size, PROT_READ, MAP_PRIVATE, fd, 0);
	if (program.bytes == MAP_FAILED)
		fail("mmap");
}

int main(int argc, char **argv)
{
	char dir[] = "/tmp/hanging-fs-XXXXXX", *path, byte;
	pid_t server, pid;

	only_reads_hang = argc > 1 && !strcmp(argv[1], "--reads");
	argv += only_reads_hang;
	if (argc < 2 + only_reads_hang)
		return 64;
	is_silent = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	load_program(argv[1]);
	if (!mkdtemp(dir))
		fail("mkdtemp");
	enter_namespaces();
	server = mount_all(dir);
	path = print("%s/merged/program", dir);
	read_whole(path);
	pid = fork();
	if (pid == 0) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		execv(path, argv + 1);
		fail(path);
	}
	usleep(300000); /* it is past its first page faults then */
	*is_silent = 1;
	printf("%d\n", pid);
	fflush(stdout);
	while (read(STDIN_FILENO, &byte, 1) > 0)
		;
	kill(server, SIGKILL);
	kill(pid, SIGKILL);
	waitpid(server, NULL, 0);
	waitpid(pid, NULL, 0);
	return 0;
}
