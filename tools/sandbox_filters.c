// SPDX-License-Identifier: Apache-2.0
/*
 * sandbox_filters: prints the seccomp filter of each kind of process as C. The build runs it, and
 * src/base/sandbox.c includes what it prints. libseccomp crashes when it has no memory, so dwell
 * does not call it.
 *
 * The lists were made with strace, and from calls that were refused in the tests, on glibc 2.36.
 * Another C library may need another call: it is refused, reported by name, and belongs here.
 */
#include <asm/ioctls.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/filter.h>
#include <seccomp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "../src/base/cleanup.h"
#include "../src/base/sandbox.h"

#define REFUSED SCMP_ACT_TRAP /* the handler notes it, and has it fail */

/* --- who works on descriptors --- */

static const char *const parser_calls[] = {
	/* descriptors that it was given */
	"read",
	"readv",
	"pread64",
	"write",
	"writev",
	"pwrite64",
	"lseek",
	"_llseek",
	"close",
	"fstat",
	"fstat64",
	"newfstatat", /* how the C library asks for the state of a descriptor */
	"fstatat64",
	"ftruncate",
	"ftruncate64",
	"fsync",
	"fdatasync",
	"poll",
	"ppoll",
	"sendto",
	"sendmsg",
	"recvfrom",
	"recvmsg",
	/* memory */
	"brk",
	"munmap",
	"mremap",
	"madvise",
	/* time, itself */
	"clock_gettime",
	"clock_getres",
	"clock_nanosleep",
	"nanosleep",
	"gettimeofday",
	"time",
	"getrusage",
	"getrandom",
	"sysinfo", /* qsort() asks for the memory's size */
	"getpid",
	"gettid",
	"geteuid",
	"getuid",
	"futex",
	"sched_yield",
	"restart_syscall",
	"rt_sigaction",
	"rt_sigprocmask",
	"rt_sigreturn",
	"exit",
	"exit_group",
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
	/* A sanitizer reads its own mappings and writes what it found; a product's build has none.
	 */
	"openat",
	"sigaltstack",
	"getdents64",
	"sched_getaffinity",
	"prctl",
	"clone",
	"wait4",
	"set_robust_list",
	"rseq",
#endif
};

/* Refused without a note: libdw asks for the path of each file that it gets, and does without. */
static const char *const unnoted_calls[] = {
	"readlink",
	"readlinkat",
};

struct limited_call {
	const char *name;
	struct scmp_arg_cmp condition;
};

static int allow_limited(scmp_filter_ctx filter, const struct limited_call *calls, size_t count)
{
	int err = 0;

	for (size_t i = 0; i < count && !err; i++)
		err = seccomp_rule_add_array(filter, SCMP_ACT_ALLOW,
					     seccomp_syscall_resolve_name(calls[i].name), 1,
					     &calls[i].condition);
	return err;
}

/* What else the same calls could do is refused: run new code, type into a terminal, kill others. */
static int allow_parser_limited(scmp_filter_ctx filter)
{
	const struct limited_call calls[] = {
		{"mmap", SCMP_A2(SCMP_CMP_MASKED_EQ, PROT_EXEC, 0)},
		{"mprotect", SCMP_A2(SCMP_CMP_MASKED_EQ, PROT_EXEC, 0)},
		{"ioctl", SCMP_A1(SCMP_CMP_EQ, TCGETS, 0)},
		{"ioctl", SCMP_A1(SCMP_CMP_EQ, TIOCGWINSZ, 0)},
		{"fcntl", SCMP_A1(SCMP_CMP_EQ, F_GETFD, 0)},
		{"fcntl", SCMP_A1(SCMP_CMP_EQ, F_SETFD, 0)},
		{"fcntl", SCMP_A1(SCMP_CMP_EQ, F_GETFL, 0)},
		{"fcntl", SCMP_A1(SCMP_CMP_EQ, F_DUPFD_CLOEXEC, 0)},
		{"fcntl", SCMP_A1(SCMP_CMP_EQ, F_OFD_GETLK, 0)},
		{"fcntl", SCMP_A1(SCMP_CMP_EQ, F_OFD_SETLK, 0)},
		{"prlimit64", SCMP_A0(SCMP_CMP_EQ, 0, 0)},	  /* its own */
		{"tgkill", SCMP_A0(SCMP_CMP_EQ, SANDBOX_PID, 0)}, /* abort() */
	};

	return allow_limited(filter, calls, ARRAY_SIZE(calls));
}

/* Its modes, not its input: to type into a terminal is to run commands as whoever sits there. */
static int allow_terminal(scmp_filter_ctx filter)
{
	const struct limited_call calls[] = {
		{"ioctl", SCMP_A1(SCMP_CMP_EQ, TCSETS, 0)},
		{"ioctl", SCMP_A1(SCMP_CMP_EQ, TCSETSW, 0)},
		{"ioctl", SCMP_A1(SCMP_CMP_EQ, TCSETSF, 0)},
		{"ioctl", SCMP_A1(SCMP_CMP_EQ, TCFLSH, 0)},
	};

	return allow_limited(filter, calls, ARRAY_SIZE(calls));
}

/* --- who works with files, or with the kernel --- */

/* What nobody of dwell's does once a measurement runs. */
static const char *const refused_calls[] = {
	/* other programs, and code and data of other processes */
	"execve",
	"execveat",
#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
	"ptrace", /* a sanitizer looks for leaks with it, when the process ends */
#endif
	"process_vm_readv",
	"process_vm_writev",
	"process_madvise",
	"pidfd_getfd",
	"kcmp",
	"userfaultfd",
	"personality",
	/* the kernel's code */
	"init_module",
	"finit_module",
	"delete_module",
	"create_module",
	"kexec_load",
	"kexec_file_load",
	/* mounts and namespaces */
	"mount",
	"umount",
	"umount2",
	"pivot_root",
	"chroot",
	"move_mount",
	"open_tree",
	"fsopen",
	"fsconfig",
	"fsmount",
	"fspick",
	"mount_setattr",
	"setns",
	"unshare",
	/* the machine */
	"reboot",
	"swapon",
	"swapoff",
	"acct",
	"quotactl",
	"quotactl_fd",
	"settimeofday",
	"clock_settime",
	"clock_adjtime",
	"adjtimex",
	"sethostname",
	"setdomainname",
	"iopl",
	"ioperm",
	"syslog",
	"nfsservctl",
	"vhangup",
	"mknod",
	"mknodat",
	/* keys, and rings that make calls unseen by a filter */
	"add_key",
	"keyctl",
	"request_key",
	"io_uring_setup",
	"io_uring_enter",
	"io_uring_register",
};

/* Besides, for who has no business with the kernel's insides. */
static const char *const fetcher_refused_calls[] = {
	"bpf",	  "perf_event_open", "kill",	  "tkill",     "setuid",
	"setgid", "setresuid",	     "setresgid", "setgroups",
};

/* A socket that it was given is not concerned. */
static const char *const network_calls[] = {"socket", "connect", "bind",
					    "listen", "accept",	 "accept4"};

/* What this architecture or library does not know is no rule. */
static int add_calls(scmp_filter_ctx filter, uint32_t action, const char *const *names,
		     size_t count)
{
	int err = 0;

	for (size_t i = 0; i < count && !err; i++) {
		int number = seccomp_syscall_resolve_name(names[i]);

		if (number != __NR_SCMP_ERROR)
			err = seccomp_rule_add(filter, action, number, 0);
	}
	return err;
}

/* Who may do what is listed, and nothing else. */
static bool is_allow_list(enum sandbox_rules rules)
{
	return rules == SANDBOX_PARSER || rules == SANDBOX_SCREEN;
}

static int fill(scmp_filter_ctx filter, enum sandbox_rules rules)
{
	int err;

	if (is_allow_list(rules)) {
		err = add_calls(filter, SCMP_ACT_ALLOW, parser_calls, ARRAY_SIZE(parser_calls));
		if (!err)
			err = add_calls(filter, SCMP_ACT_ERRNO(EPERM), unnoted_calls,
					ARRAY_SIZE(unnoted_calls));
		if (!err && rules == SANDBOX_SCREEN)
			err = allow_terminal(filter);
		return err ? err : allow_parser_limited(filter);
	}
	err = add_calls(filter, REFUSED, refused_calls, ARRAY_SIZE(refused_calls));
	if (!err && rules == SANDBOX_OPENER)
		err = add_calls(filter, REFUSED, network_calls, ARRAY_SIZE(network_calls));
	if (!err && rules != SANDBOX_PRIVILEGED)
		err = add_calls(filter, REFUSED, fetcher_refused_calls,
				ARRAY_SIZE(fetcher_refused_calls));
	return err;
}

static scmp_filter_ctx make_filter(enum sandbox_rules rules)
{
	scmp_filter_ctx filter = seccomp_init(is_allow_list(rules) ? REFUSED : SCMP_ACT_ALLOW);

	if (!filter)
		return NULL;
	/* As a tree: a call costs some 6 comparisons instead of 60. */
	seccomp_attr_set(filter, SCMP_FLTATR_CTL_OPTIMIZE, 2);
	if (fill(filter, rules)) {
		seccomp_release(filter);
		return NULL;
	}
	return filter;
}

/* --- as C --- */

/* All of a memory file, as instructions: how many, or -1. */
static ssize_t read_code(int fd, struct sock_filter *code, size_t max)
{
	ssize_t got = pread(fd, code, max * sizeof(*code), 0);

	return got <= 0 || (size_t)got == max * sizeof(*code) || (size_t)got % sizeof(*code)
		       ? -1
		       : got / (ssize_t)sizeof(*code);
}

static void print_code(const char *name, const struct sock_filter *code, ssize_t count)
{
	printf("static const struct sock_filter %s_code[] = {\n", name);
	for (ssize_t i = 0; i < count; i++)
		printf("\t{%#x, %u, %u, %#x},\n", code[i].code, code[i].jt, code[i].jf, code[i].k);
	printf("};\n");
}

static int print_filter(const char *name, enum sandbox_rules rules)
{
	struct sock_filter code[SANDBOX_CODE_MAX + 1];
	scmp_filter_ctx filter = make_filter(rules);
	int fd = memfd_create("filter", MFD_CLOEXEC), err = -1;
	ssize_t count;

	if (filter && fd >= 0 && !seccomp_export_bpf(filter, fd)) {
		count = read_code(fd, code, ARRAY_SIZE(code));
		if (count > 0) {
			print_code(name, code, count);
			err = 0;
		}
	}
	seccomp_release(filter);
	close(fd);
	return err;
}

int main(void)
{
	static const struct {
		const char *name;
		enum sandbox_rules rules;
	} kinds[] = {
		{"parser", SANDBOX_PARSER},	    {"screen", SANDBOX_SCREEN},
		{"fetcher", SANDBOX_FETCHER},	    {"opener", SANDBOX_OPENER},
		{"privileged", SANDBOX_PRIVILEGED},
	};

	for (size_t i = 0; i < ARRAY_SIZE(kinds); i++)
		if (print_filter(kinds[i].name, kinds[i].rules)) {
			fprintf(stderr,
				"sandbox_filters: libseccomp cannot make the filter of the "
				"%s\n",
				kinds[i].name);
			return 1;
		}
	return fflush(stdout) ? 1 : 0;
}
