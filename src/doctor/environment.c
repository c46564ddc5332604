// SPDX-License-Identifier: Apache-2.0
/*
 * The first gate: what can be said of this host before anything is tried, a row each.
 */
#include <linux/capability.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "../base/cleanup.h"
#include "../base/text.h"
#include "doctor.h"

void check_set(struct check *check, int level, const char *remedy, const char *format, ...)
{
	va_list args;

	check->level = level;
	va_start(args, format);
	vsnprintf(check->text, sizeof(check->text), format, args);
	va_end(args);
	text_copy(check->remedy, sizeof(check->remedy), remedy);
}

static void check_proc(const struct facts *facts, struct check *check)
{
	if (facts->proc_readable)
		check_set(check, CHECK_OK, "", "mounted");
	else
		check_set(check, CHECK_BAD, "mount -t proc proc /proc",
			  "not mounted: no other check is possible");
}

static void check_privileges(const struct facts *facts, struct check *check)
{
	const char *missing = facts_missing_capabilities(facts);

	if (!facts->in_initial_userns)
		check_set(check, CHECK_BAD, "run it on the host, or without user remapping",
			  "root inside a user namespace only, which BPF does not accept");
	else if (missing)
		check_set(check, CHECK_BAD, "run it as root", "uid %u lacks %s", facts->uid,
			  missing);
	else if (facts_has_capability(facts, CAP_SYS_ADMIN))
		check_set(check, CHECK_OK, "", "uid %u with CAP_SYS_ADMIN", facts->uid);
	else
		check_set(check, CHECK_NOTE, "run it as root for uprobes and all tracepoints",
			  "uid %u with CAP_BPF and CAP_PERFMON only", facts->uid);
}

static void check_pids(const struct facts *facts, struct check *check)
{
	if (facts->in_initial_pidns)
		check_set(check, CHECK_OK, "", "the host's own");
	else
		check_set(check, CHECK_NOTE, "run it on the host (or with --pid=host) to see all",
			  "a separate pid namespace: processes outside are not visible");
}

static void check_seccomp(const struct facts *facts, struct check *check)
{
	if (facts->seccomp_filters)
		check_set(check, CHECK_NOTE,
			  "if features fail below: --security-opt seccomp=unconfined",
			  "a filter is in force%s%s", facts->container[0] ? ", perhaps by " : "",
			  facts->container);
	else
		check_set(check, CHECK_OK, "", "no filter");
}

/* Of dwell's own processes that parse: without either they have no privilege all the same. */
static void check_sandbox(const struct facts *facts, struct check *check)
{
	const char *filters = facts->has_seccomp ? "seccomp" : "no seccomp";

	if (facts->has_seccomp && facts->landlock_version)
		check_set(check, CHECK_OK, "", "%s, Landlock ABI %d", filters,
			  facts->landlock_version);
	else
		check_set(check, CHECK_NOTE,
			  facts->has_seccomp ? "boot with lsm=landlock,... (Linux 5.13 or newer)"
					     : "use a kernel with CONFIG_SECCOMP_FILTER=y",
			  facts->landlock_version ? "%s, Landlock ABI %d" : "%s, no Landlock",
			  filters, facts->landlock_version);
}

static void check_btf(const struct facts *facts, struct check *check)
{
	if (facts->btf_bytes < 0)
		check_set(check, CHECK_BAD, "use a kernel with CONFIG_DEBUG_INFO_BTF=y; mount /sys",
			  "/sys/kernel/btf/vmlinux: %s", strerror((int)-facts->btf_bytes));
	else
		check_set(check, CHECK_OK, "", "the kernel describes its types (%.1f MiB)",
			  (double)facts->btf_bytes / (1 << 20));
}

static void check_lockdown(const struct facts *facts, struct check *check)
{
	switch (facts->lockdown) {
	case LOCKDOWN_UNKNOWN:
		check_set(check, CHECK_NOTE, "mount -t securityfs securityfs /sys/kernel/security",
			  "unknown: /sys/kernel/security/lockdown cannot be read");
		break;
	case LOCKDOWN_NONE:
		check_set(check, CHECK_OK, "", "none");
		break;
	case LOCKDOWN_INTEGRITY:
		check_set(check, CHECK_OK, "", "integrity: BPF may read, and dwell never writes");
		break;
	case LOCKDOWN_CONFIDENTIALITY:
		check_set(check, CHECK_BAD, "boot with lockdown=integrity or lower",
			  "confidentiality: BPF may not read kernel memory");
		break;
	}
}

static void check_tracefs(const struct facts *facts, struct check *check)
{
	switch (facts->tracefs) {
	case TRACEFS_READABLE:
		check_set(check, CHECK_OK, "", "mounted and readable");
		break;
	case TRACEFS_UNREADABLE:
		check_set(check, CHECK_NOTE, "run it as root, or add cap_dac_read_search",
			  "mounted, but not readable for this process");
		break;
	case TRACEFS_NOT_MOUNTED:
		check_set(check, CHECK_NOTE, "mount -t tracefs tracefs /sys/kernel/tracing",
			  "not mounted: tracepoints by name cannot be attached");
		break;
	}
}

static void check_perf(const struct facts *facts, struct check *check)
{
	if (facts->perf_paranoid < -1)
		check_set(check, CHECK_BAD, "use a kernel with CONFIG_PERF_EVENTS=y",
			  "/proc/sys/kernel/perf_event_paranoid does not exist");
	else if (facts->perf_paranoid > 2 && !facts_has_capability(facts, CAP_SYS_ADMIN))
		check_set(check, CHECK_BAD,
			  "sysctl kernel.perf_event_paranoid=2, or run it as root",
			  "%lld denies perf events even to CAP_PERFMON",
			  (long long)facts->perf_paranoid);
	else
		check_set(check, CHECK_OK, "", "%lld", (long long)facts->perf_paranoid);
}

static void check_kconfig(const struct facts *facts, struct check *check)
{
	if (facts->kconfig_known)
		check_set(check, CHECK_OK, "", "readable");
	else
		check_set(check, CHECK_NOTE, "install the kernel's config file in /boot",
			  "not found: some causes are known by errno only");
}

size_t environment_checks(const struct facts *facts, struct check checks[CHECKS_MAX])
{
	static const struct {
		const char *name;
		void (*check)(const struct facts *, struct check *);
	} rows[] = {
		{"proc", check_proc},
		{"privileges", check_privileges},
		{"pids", check_pids},
		{"seccomp", check_seccomp},
		{"sandbox", check_sandbox},
		{"btf", check_btf},
		{"lockdown", check_lockdown},
		{"tracefs", check_tracefs},
		{"perf_event_paranoid", check_perf},
		{"kernel_config", check_kconfig},
	};

	_Static_assert(ARRAY_SIZE(rows) <= CHECKS_MAX, "raise CHECKS_MAX");
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		checks[i].name = rows[i].name;
		rows[i].check(facts, &checks[i]);
	}
	return ARRAY_SIZE(rows);
}
