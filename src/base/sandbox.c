// SPDX-License-Identifier: Apache-2.0
#include "sandbox.h"

#include <errno.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <ucontext.h>
#include <unistd.h>

#include "../../abi/types.h"
#include "cleanup.h"
#include "landlock.h"
#include "log.h"

#define CALLS_MAX 1024 /* numbers of system calls end below 500 by now */
#define WORD_BITS 64
#define WORDS	  (CALLS_MAX / WORD_BITS)

/* Shared with the process that is confined, which may write anything. */
struct shared_notes {
	_Atomic u64 refused[WORDS]; /* a bit for each number */
};

struct sandbox_notes {
	struct shared_notes *shared;
	u64 reported[WORDS];
};

/* A test's build has this function; see tests/hooks. Nothing of the kind is in the product. */
__attribute__((weak, visibility("hidden"))) void sandbox_test_hook(enum sandbox_rules rules);

/* --- notes --- */

/* A signal's handler finds it nowhere else. */
static struct shared_notes *handler_notes;

int sandbox_notes_make(struct sandbox_notes **ret_notes)
{
	struct sandbox_notes *notes = calloc(1, sizeof(*notes));
	void *shared;

	if (!notes)
		return -ENOMEM;
	shared = mmap(NULL, sizeof(*notes->shared), PROT_READ | PROT_WRITE,
		      MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	if (shared == MAP_FAILED) {
		free(notes);
		return -ENOMEM;
	}
	notes->shared = shared;
	*ret_notes = notes;
	return 0;
}

void sandbox_notes_free(struct sandbox_notes *notes)
{
	if (!notes)
		return;
	if (handler_notes == notes->shared)
		handler_notes = NULL;
	munmap(notes->shared, sizeof(*notes->shared));
	free(notes);
}

/* The last one stands for all numbers that are higher. */
static const char *const call_names[CALLS_MAX] = {
#define SYSCALL(number, name)	     [number] = name,
#define SYSCALL_COMPAT(number, name) /* nobody here is a 32-bit program */
#include "syscalls.inc"		     /* generated from <asm/unistd.h> */
#undef SYSCALL
#undef SYSCALL_COMPAT
};

static void report_call(int number, const char *who)
{
	char unnamed[32];

	snprintf(unnamed, sizeof(unnamed), "%s%d", number == CALLS_MAX - 1 ? "above " : "", number);
	log_error("the %s tried the system call %s, which its sandbox refuses: it failed with "
		  "EPERM. Either a hostile file misled the process, or a library needs the "
		  "call: please report this",
		  who, call_names[number] ? call_names[number] : unnamed);
}

void sandbox_report(struct sandbox_notes *notes, const char *who)
{
	for (int word = 0; notes && word < WORDS; word++) {
		u64 fresh =
			atomic_load_explicit(&notes->shared->refused[word], memory_order_relaxed) &
			~notes->reported[word];

		notes->reported[word] |= fresh;
		for (; fresh; fresh &= fresh - 1)
			report_call(word * WORD_BITS + __builtin_ctzll(fresh), who);
	}
}

/* --- what happens to a refused call --- */

static void fail_call(ucontext_t *context)
{
#if defined(__x86_64__)
	context->uc_mcontext.gregs[REG_RAX] = -EPERM;
#elif defined(__aarch64__)
	context->uc_mcontext.regs[0] = (u64)-EPERM;
#else
#error "how a system call returns on this architecture is not known here"
#endif
}

static void on_refused(int signal, siginfo_t *info, void *context)
{
	int number = info->si_syscall;

	(void)signal;
	if (number < 0 || number >= CALLS_MAX)
		number = CALLS_MAX - 1;
	if (handler_notes)
		atomic_fetch_or_explicit(&handler_notes->refused[number / WORD_BITS],
					 1ULL << number % WORD_BITS, memory_order_relaxed);
	fail_call(context);
}

/* Whoever has the signal blocked is killed instead. */
static int handle_refusals(struct sandbox_notes *notes)
{
	struct sigaction action = {.sa_sigaction = on_refused, .sa_flags = SA_SIGINFO | SA_RESTART};
	sigset_t mask;

	handler_notes = notes ? notes->shared : NULL;
	sigemptyset(&action.sa_mask);
	sigemptyset(&mask);
	sigaddset(&mask, SIGSYS);
	if (sigaction(SIGSYS, &action, NULL))
		return -errno;
	return -pthread_sigmask(SIG_UNBLOCK, &mask, NULL);
}

/* --- the way in --- */

bool sandbox_has_filters(void)
{
	u32 action = SECCOMP_RET_TRAP;

	return !syscall(SYS_seccomp, SECCOMP_GET_ACTION_AVAIL, 0u, &action);
}

int sandbox_landlock_version(void)
{
	return landlock_version();
}

static int confine_files(void)
{
	int err = landlock_deny_all();

	if (err == -EOPNOTSUPP) {
		log_verbose("this kernel has no Landlock: seccomp alone keeps the processes that "
			    "parse from files");
		return 0;
	}
	return err;
}

#include "sandbox_filters.inc" /* printed by tools/sandbox_filters.c */

static const struct {
	const struct sock_filter *code;
	unsigned short count;
	unsigned int flags;
} filters[] = {
	[SANDBOX_PARSER] = {parser_code, ARRAY_SIZE(parser_code), 0},
	[SANDBOX_SCREEN] = {screen_code, ARRAY_SIZE(screen_code), 0},
	[SANDBOX_FETCHER] = {fetcher_code, ARRAY_SIZE(fetcher_code), 0},
	[SANDBOX_OPENER] = {opener_code, ARRAY_SIZE(opener_code), 0},
	[SANDBOX_PRIVILEGED] = {privileged_code, ARRAY_SIZE(privileged_code),
				SECCOMP_FILTER_FLAG_TSYNC},
};

static int confine_calls(enum sandbox_rules rules)
{
	struct sock_filter code[SANDBOX_CODE_MAX];
	const struct sock_fprog program = {.len = filters[rules].count, .filter = code};
	/* Nobody runs foreign code here: older kernels would slow the process down against it. */
	unsigned int flags = filters[rules].flags | SECCOMP_FILTER_FLAG_SPEC_ALLOW;
	long stray;

	if (!sandbox_has_filters()) {
		log_verbose("this kernel has no seccomp filters: system calls are not limited");
		return 0;
	}
	memcpy(code, filters[rules].code, program.len * sizeof(*code));
	for (size_t i = 0; i < program.len; i++)
		if (code[i].k == SANDBOX_PID)
			code[i].k = (u32)getpid();
	stray = syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, flags, &program);
	if (stray < 0)
		return -errno;
	return stray ? -ECANCELED : 0; /* a thread has a filter of its own */
}

int sandbox_enter(enum sandbox_rules rules, struct sandbox_notes *notes)
{
	int err = handle_refusals(notes);

	if (!err && prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0))
		err = -errno;
	if (!err && (rules == SANDBOX_PARSER || rules == SANDBOX_SCREEN))
		err = confine_files();
	if (!err)
		err = confine_calls(rules);
	if (!err && sandbox_test_hook)
		sandbox_test_hook(rules);
	return err;
}
