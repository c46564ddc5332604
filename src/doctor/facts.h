/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What can be known about this host before anything is tried. Read once, then only asked.
 * Owns nothing. Called by the doctor; its environment rows and causes are drawn from this.
 */
#ifndef DWELL_DOCTOR_FACTS_H
#define DWELL_DOCTOR_FACTS_H

#include <stdbool.h>
#include <sys/utsname.h>

#include "../worker/worker.h"

enum lockdown { LOCKDOWN_UNKNOWN, LOCKDOWN_NONE, LOCKDOWN_INTEGRITY, LOCKDOWN_CONFIDENTIALITY };
enum tracefs { TRACEFS_READABLE, TRACEFS_UNREADABLE, TRACEFS_NOT_MOUNTED };

/* Each option that some feature or row depends on; asked of the kernel's configuration. */
#define KCONFIGS(K)                                                                                \
	K(BPF_SYSCALL)                                                                             \
	K(BPF_JIT)                                                                                 \
	K(BPF_EVENTS)                                                                              \
	K(DEBUG_INFO_BTF)                                                                          \
	K(PERF_EVENTS)                                                                             \
	K(FTRACE_SYSCALLS)                                                                         \
	K(KPROBES)                                                                                 \
	K(FPROBE)                                                                                  \
	K(FUNCTION_TRACER)                                                                         \
	K(DYNAMIC_FTRACE_WITH_DIRECT_CALLS)                                                        \
	K(UPROBE_EVENTS)                                                                           \
	K(BLOCK)                                                                                   \
	K(INET)

enum kconfig {
	KCONFIG_NONE,
#define K(name) KCONFIG_##name,
	KCONFIGS(K)
#undef K
		KCONFIG_COUNT
};

extern const char *const kconfig_names[KCONFIG_COUNT]; /* without CONFIG_ */

struct facts {
	struct utsname host;
	int kernel_major, kernel_minor;
	char path[256];	    /* of this very binary, for remedies that can be pasted */
	bool proc_readable; /* without it the rest is not to be believed */
	unsigned int uid;
	u64 capabilities; /* effective */
	bool in_initial_userns;
	bool in_initial_pidns;
	bool has_seccomp;     /* filters of our own can be loaded */
	int landlock_version; /* 0: there is none */
	bool seccomp_filters;
	char container[32]; /* what kind, by its traces; empty: none seen */
	enum lockdown lockdown;
	enum tracefs tracefs;
	bool memlock_is_limited;
	s64 btf_bytes;		     /* of the kernel's types; negative: errno of reading them */
	s64 perf_paranoid;	     /* perf_event_paranoid; -2: cannot be read */
	s64 kptr_restrict;	     /* -2: cannot be read */
	char kconfig[KCONFIG_COUNT]; /* 'y', 'm', 'n', or '?' */
	bool kconfig_known;
};

/* Without a worker the kernel's configuration stays unknown. */
void facts_read(struct facts *facts, struct worker *worker);
/* The first gate: what makes any trial pointless, in words; NULL if nothing does. */
const char *facts_missing_capabilities(const struct facts *facts);
bool facts_has_capability(const struct facts *facts, unsigned int capability);
bool facts_kernel_is_before(const struct facts *facts, int major, int minor);

#endif
