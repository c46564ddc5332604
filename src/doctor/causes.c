// SPDX-License-Identifier: Apache-2.0
/*
 * From a refusal to its cause: rules in order, the first that applies is the answer. What no
 * rule explains is said to be unexplained; nothing is guessed.
 */
#include <errno.h>
#include <linux/capability.h>
#include <linux/perf_event.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "../base/cleanup.h"
#include "../base/descriptors.h"
#include "doctor.h"

const char *const cause_names[CAUSE_COUNT] = {
#define C(NAME, name) [CAUSE_##NAME] = #name,
	CAUSES(C)
#undef C
};

#define REPORT_IT	    "please report it with the output of dwell doctor -v (stdout and stderr)"
#define PARANOID_DENIES_ALL 3 /* Debian's and Ubuntu's addition: even CAP_PERFMON is not enough */

__attribute__((format(printf, 3, 4))) static bool say(struct cause *cause, enum cause_id id,
						      const char *format, ...)
{
	va_list args;

	cause->id = id;
	va_start(args, format);
	vsnprintf(cause->text, sizeof(cause->text), format, args);
	va_end(args);
	return true;
}

__attribute__((format(printf, 2, 3))) static void mend(struct cause *cause, const char *format, ...)
{
	va_list args;

	va_start(args, format);
	vsnprintf(cause->remedy, sizeof(cause->remedy), format, args);
	va_end(args);
}

static bool is_refusal(const struct finding *finding)
{
	return finding->failure.err == EPERM || finding->failure.err == EACCES;
}

static const char *err_name(int err)
{
	const char *name = strerrorname_np(err);

	return name ? name : "an unknown error";
}

/* --- the rules --- */

static bool no_proc(const struct facts *facts, struct finding *finding)
{
	if (facts->proc_readable)
		return false;
	say(&finding->cause, CAUSE_NO_PROC,
	    "/proc is not mounted: no check is possible without it");
	mend(&finding->cause, "mount -t proc proc /proc");
	return true;
}

static bool missing_capability(const struct facts *facts, struct finding *finding)
{
	const char *missing = facts_missing_capabilities(facts);

	if (!is_refusal(finding) || finding->failure.from_verifier)
		return false;
	if (missing) {
		say(&finding->cause, CAUSE_CAPABILITY, "this process lacks %s", missing);
		if (facts->uid == 0)
			mend(&finding->cause,
			     "a container starts without them by default: docker run "
			     "--cap-add BPF --cap-add PERFMON, or --privileged");
		else
			mend(&finding->cause,
			     "run it with sudo, or once: sudo setcap "
			     "cap_bpf,cap_perfmon,cap_dac_read_search+ep %s (all but uprobes)",
			     facts->path);
		return true;
	}
	if (finding->feature->need == NEEDS_PERF_PROBE && finding->failure.gate == GATE_ATTACH &&
	    !facts_has_capability(facts, CAP_SYS_ADMIN)) {
		say(&finding->cause, CAUSE_CAPABILITY,
		    "this process lacks CAP_SYS_ADMIN, without which kernels since July 2025, and "
		    "older ones with that change, attach no uprobe through perf");
		mend(&finding->cause, "run it with sudo");
		return true;
	}
	return false;
}

static bool inside_user_namespace(const struct facts *facts, struct finding *finding)
{
	if (!is_refusal(finding) || facts->in_initial_userns || finding->failure.from_verifier)
		return false;
	say(&finding->cause, CAUSE_USER_NAMESPACE,
	    "this process is root in its user namespace only; BPF needs root on the host");
	mend(&finding->cause, "run it on the host, or in a container without user remapping");
	return true;
}

static bool seccomp_denies(const struct facts *facts, struct finding *finding)
{
	bool denied = is_refusal(finding) || finding->failure.err == ENOSYS;

	if (!denied || !facts->seccomp_filters || finding->failure.from_verifier)
		return false;
	say(&finding->cause, CAUSE_SECCOMP,
	    "the process has the capabilities, but a seccomp filter is active%s%s, and such "
	    "filters often deny bpf() and perf_event_open()",
	    facts->container[0] ? ", perhaps by " : "", facts->container);
	mend(&finding->cause,
	     "start the container with --privileged, or with --security-opt seccomp=unconfined "
	     "and --cap-add BPF,PERFMON,SYS_PTRACE");
	return true;
}

/* The kernel then withholds the helpers that read its memory: the verifier knows them not. */
static bool locked_down(const struct facts *facts, struct finding *finding)
{
	bool denied = is_refusal(finding) || (finding->failure.from_verifier &&
					      strstr(finding->failure.excerpt, "bpf_probe_read"));

	if (!denied || facts->lockdown != LOCKDOWN_CONFIDENTIALITY)
		return false;
	say(&finding->cause, CAUSE_LOCKDOWN,
	    "the kernel is locked down to 'confidentiality': BPF may not read kernel memory");
	mend(&finding->cause,
	     "boot with lockdown=integrity or lower (Secure Boot may force it; see "
	     "/sys/kernel/security/lockdown)");
	return true;
}

static bool paranoid(const struct facts *facts, struct finding *finding)
{
	if (!is_refusal(finding) || finding->feature->probe.kind != PROBE_PERF ||
	    finding->failure.gate != GATE_ATTACH || facts_has_capability(facts, CAP_SYS_ADMIN) ||
	    facts->perf_paranoid < PARANOID_DENIES_ALL)
		return false;
	say(&finding->cause, CAUSE_PARANOID,
	    "kernel.perf_event_paranoid is %lld, which denies perf events even to CAP_PERFMON",
	    (long long)facts->perf_paranoid);
	mend(&finding->cause, "sysctl kernel.perf_event_paranoid=2, or run it as root");
	return true;
}

static bool tracefs_missing(const struct facts *facts, struct finding *finding)
{
	if (finding->feature->need != NEEDS_TRACEFS || finding->failure.gate != GATE_ATTACH)
		return false;
	if (facts->tracefs == TRACEFS_NOT_MOUNTED) {
		say(&finding->cause, CAUSE_TRACEFS,
		    "tracefs is not mounted, so a tracepoint's number cannot be looked up");
		mend(&finding->cause, "mount -t tracefs tracefs /sys/kernel/tracing");
		return true;
	}
	if (facts->tracefs == TRACEFS_UNREADABLE) {
		say(&finding->cause, CAUSE_TRACEFS_ACCESS,
		    "tracefs is mounted, but this process may not read it (it lacks "
		    "CAP_DAC_READ_SEARCH)");
		mend(&finding->cause, "run it with sudo, or add cap_dac_read_search");
		return true;
	}
	return false;
}

static bool no_btf(const struct facts *facts, struct finding *finding)
{
	if (facts->btf_bytes >= 0 || finding->failure.gate != GATE_LOAD)
		return false;
	say(&finding->cause, CAUSE_NO_BTF,
	    "the kernel's types (BTF) cannot be read from /sys/kernel/btf/vmlinux: %s",
	    strerror((int)-facts->btf_bytes));
	mend(&finding->cause, "%s",
	     facts->kconfig[KCONFIG_DEBUG_INFO_BTF] == 'n'
		     ? "use a kernel built with CONFIG_DEBUG_INFO_BTF=y, as distributions' are"
		     : "mount sysfs on /sys, or use a kernel with CONFIG_DEBUG_INFO_BTF=y");
	return true;
}

static bool kernel_config(const struct facts *facts, struct finding *finding)
{
	char missing[160] = "";

	if (finding->failure.err == ENOSYS && facts->kconfig[KCONFIG_BPF_SYSCALL] == 'n')
		snprintf(missing, sizeof(missing), "CONFIG_BPF_SYSCALL");
	for (size_t i = 0; i < FEATURE_KCONFIGS_MAX; i++) {
		enum kconfig option = finding->feature->kconfig[i];
		size_t length = strlen(missing);

		if (option != KCONFIG_NONE && facts->kconfig[option] == 'n')
			snprintf(missing + length, sizeof(missing) - length, "%sCONFIG_%s",
				 length ? " and " : "", kconfig_names[option]);
	}
	if (!missing[0])
		return false;
	say(&finding->cause, CAUSE_KCONFIG, "this kernel is built without %s", missing);
	mend(&finding->cause, "boot a kernel with %s", missing);
	return true;
}

/* Where the kernel's configuration is not to be read, what it offers tells. */
static bool no_dynamic_probes(const struct facts *facts, struct finding *finding)
{
	bool is_kernel = strstr(finding->failure.excerpt, "/devices/kprobe/");

	(void)facts;
	if (finding->failure.err != EOPNOTSUPP ||
	    (!is_kernel && !strstr(finding->failure.excerpt, "/devices/uprobe/")))
		return false;
	say(&finding->cause, CAUSE_KCONFIG, "this kernel is built without CONFIG_%s",
	    is_kernel ? "KPROBES" : "UPROBES");
	mend(&finding->cause, "%s",
	     is_kernel ? "boot a kernel with it, or use a tracepoint with dwell trace -t: "
			 "/sys/kernel/tracing/events lists them"
		       : "boot a kernel with it");
	return true;
}

static bool too_old(const struct facts *facts, struct finding *finding)
{
	const struct feature *feature = finding->feature;

	if (!feature->since_major ||
	    !facts_kernel_is_before(facts, feature->since_major, feature->since_minor))
		return false;
	say(&finding->cause, CAUSE_TOO_OLD, "it came with Linux %d.%d; this is %d.%d",
	    feature->since_major, feature->since_minor, facts->kernel_major, facts->kernel_minor);
	mend(&finding->cause, "boot a newer kernel if you need it");
	return true;
}

static bool no_pmu(const struct facts *facts, struct finding *finding)
{
	int err = finding->failure.err;

	(void)facts;
	if (finding->feature->probe.perf_type != PERF_TYPE_HARDWARE ||
	    finding->feature->probe.kind != PROBE_PERF ||
	    (err != ENOENT && err != EOPNOTSUPP && err != ENODEV))
		return false;
	say(&finding->cause, CAUSE_NO_PMU,
	    "no hardware counter for CPU cycles: usual in virtual machines");
	mend(&finding->cause, "none needed; on bare metal, or with a virtual PMU, it works");
	return true;
}

static bool verifier_refuses(const struct facts *facts, struct finding *finding)
{
	(void)facts;
	if (finding->failure.gate != GATE_LOAD || !finding->failure.from_verifier)
		return false;
	say(&finding->cause, CAUSE_VERIFIER, "the verifier rejected the program: %s",
	    finding->failure.excerpt);
	mend(&finding->cause, REPORT_IT);
	return true;
}

static bool hook_absent(const struct facts *facts, struct finding *finding)
{
	int err = finding->failure.err;

	(void)facts;
	if (finding->failure.gate == GATE_DELIVERY || (err != ESRCH && err != ENOENT))
		return false;
	say(&finding->cause, CAUSE_HOOK_ABSENT,
	    "this kernel has no such hook: renamed, inlined or not built (%s)",
	    finding->failure.excerpt[0] ? finding->failure.excerpt : strerror(err));
	mend(&finding->cause, "none; please report the kernel version if it should have the hook");
	return true;
}

static bool not_exercised(const struct facts *facts, struct finding *finding)
{
	(void)facts;
	if (finding->failure.gate != GATE_DELIVERY || !finding->trigger_result)
		return false;
	say(&finding->cause, CAUSE_NOT_EXERCISED,
	    "it was attached, but cannot be triggered here: %s",
	    strerror(-finding->trigger_result));
	mend(&finding->cause, "%s",
	     finding->feature->trigger == TRIGGER_DISK
		     ? "none needed; run it where a disk can be read to prove it"
	     : finding->feature->trigger == TRIGGER_TCP
		     ? "bring the loopback interface up (ip link set lo up) to prove it"
		     : "none needed");
	return true;
}

static bool silent(const struct facts *facts, struct finding *finding)
{
	(void)facts;
	if (finding->failure.gate != GATE_DELIVERY)
		return false;
	if (finding->failure.err == EBADMSG) {
		say(&finding->cause, CAUSE_WRONG_VALUE,
		    "it fired, but found %llu instead of at least %llu",
		    (unsigned long long)finding->value,
		    (unsigned long long)finding->feature->least_value);
		mend(&finding->cause, REPORT_IT);
		return true;
	}
	say(&finding->cause, CAUSE_SILENT,
	    "the program was loaded and attached, but it never fired");
	mend(&finding->cause, "do not rely on it on this kernel; please report its version");
	return true;
}

static bool descriptors(const struct facts *facts, struct finding *finding)
{
	bool is_hosts = finding->failure.err == ENFILE;

	(void)facts;
	if (finding->failure.err != EMFILE && finding->trigger_result != -EMFILE && !is_hosts)
		return false;
	if (is_hosts)
		say(&finding->cause, CAUSE_DESCRIPTORS,
		    "the host has reached its limit of open files (fs.file-max)");
	else
		say(&finding->cause, CAUSE_DESCRIPTORS,
		    "the limit of open files (ulimit -n), %llu, is too low for it%s%s",
		    (unsigned long long)descriptors_limit(),
		    finding->failure.excerpt[0] ? ": " : "", finding->failure.excerpt);
	mend(&finding->cause, "%s, then retry",
	     is_hosts ? "raise it with sysctl" : "ulimit -n 1024");
	return true;
}

/* Before 5.11 maps and programs count as locked memory, and too much of it is EPERM. */
static bool memory(const struct facts *facts, struct finding *finding)
{
	bool locked = is_refusal(finding) && !finding->failure.from_verifier &&
		      finding->failure.gate == GATE_LOAD && facts->memlock_is_limited &&
		      facts_kernel_is_before(facts, 5, 11) &&
		      !facts_has_capability(facts, CAP_SYS_RESOURCE);

	if (finding->failure.err == EAGAIN) {
		say(&finding->cause, CAUSE_MEMORY,
		    "there was not enough memory to start a thread, or too many are running");
		mend(&finding->cause, "free some, or raise ulimit -u");
		return true;
	}
	if (finding->failure.err != ENOMEM && !locked)
		return false;
	say(&finding->cause, CAUSE_MEMORY, "there was not enough%s memory for it",
	    locked ? " locked" : "");
	mend(&finding->cause, "%s",
	     locked ? "ulimit -l unlimited before it, or add cap_sys_resource"
		    : "free some, or raise the cgroup's limit");
	return true;
}

static bool unexplained(const struct facts *facts, struct finding *finding)
{
	const struct failure *failure = &finding->failure;

	if (is_refusal(finding))
		say(&finding->cause, CAUSE_UNEXPLAINED,
		    "%s was refused with %s although every known precondition holds "
		    "(capabilities, %sno seccomp filter, BTF%s), and the kernel gives no reason",
		    failure->gate == GATE_LOAD ? "loading" : "attaching", err_name(failure->err),
		    facts->lockdown == LOCKDOWN_UNKNOWN ? "" : "lockdown, ",
		    facts->kconfig_known ? ", kernel configuration" : "");
	else
		say(&finding->cause, CAUSE_UNEXPLAINED, "%s failed with %s%s%s",
		    failure->gate == GATE_LOAD ? "loading" : "attaching", err_name(failure->err),
		    failure->excerpt[0] ? ": " : "", failure->excerpt);
	mend(&finding->cause, "none known; " REPORT_IT);
	return true;
}

void cause_find(const struct facts *facts, struct finding *finding)
{
	static bool (*const rules[])(const struct facts *, struct finding *) = {
		descriptors, /* first: without one, no fact that is read from a file is known */
		no_proc,
		inside_user_namespace,
		missing_capability,
		memory,
		too_old,
		kernel_config,
		no_dynamic_probes,
		no_btf,
		tracefs_missing,
		locked_down,
		paranoid,
		seccomp_denies,
		no_pmu,
		not_exercised,
		silent,
		verifier_refuses,
		hook_absent,
		unexplained,
	};

	for (size_t i = 0; i < ARRAY_SIZE(rules); i++)
		if (rules[i](facts, finding))
			return;
}
