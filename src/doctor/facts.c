// SPDX-License-Identifier: Apache-2.0
#include "facts.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/capability.h>
#include <linux/magic.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/statfs.h>
#include <unistd.h>

#include "../../abi/config.h"
#include "../base/cleanup.h"
#include "../base/sandbox.h"
#include "../base/text.h"
#include "doctor.h"
#include "kconfig.h"

#define CANNOT_BE_READ (-2)

const char *const kconfig_names[KCONFIG_COUNT] = {
#define K(name) [KCONFIG_##name] = #name,
	KCONFIGS(K)
#undef K
};

/* A kernel without that kind of namespace has no such file: then there is only the initial one. */
static bool is_initial(const char *path, unsigned int inum)
{
	struct stat st;

	return stat(path, &st) ? errno == ENOENT : st.st_ino == inum;
}

static bool is_memlock_limited(void)
{
	struct rlimit limit;

	return !getrlimit(RLIMIT_MEMLOCK, &limit) && limit.rlim_max != RLIM_INFINITY;
}

static void read_path(struct facts *facts)
{
	ssize_t length = readlink("/proc/self/exe", facts->path, sizeof(facts->path) - 1);

	if (length > 0)
		facts->path[length] = '\0';
	else
		text_copy(facts->path, sizeof(facts->path), "dwell");
}

static void read_status(struct facts *facts)
{
	_cleanup_fclose_ FILE *file = fopen("/proc/self/status", "re");
	unsigned long long caps;
	char line[256];
	int mode;

	/* Without a descriptor, /proc may be there all the same. */
	facts->proc_readable = file || !access("/proc/self/status", F_OK);
	while (file && fgets(line, sizeof(line), file)) {
		if (sscanf(line, "CapEff: %llx", &caps) == 1)
			facts->capabilities = caps;
		if (sscanf(line, "Seccomp: %d", &mode) == 1)
			facts->seccomp_filters = mode == 2;
	}
}

static void read_container(struct facts *facts)
{
	static const struct {
		const char *path, *kind;
	} traces[] = {
		{"/.dockerenv", "Docker"},
		{"/run/.containerenv", "Podman"},
		{"/var/run/secrets/kubernetes.io", "Kubernetes"},
	};

	for (size_t i = 0; i < ARRAY_SIZE(traces); i++)
		if (!access(traces[i].path, F_OK))
			text_copy(facts->container, sizeof(facts->container), traces[i].kind);
}

/* The file lists all levels with the one in force in brackets. */
static enum lockdown read_lockdown(void)
{
	char text[128];

	if (text_read_file("/sys/kernel/security/lockdown", text, sizeof(text)) <= 0)
		return LOCKDOWN_UNKNOWN;
	if (strstr(text, "[confidentiality]"))
		return LOCKDOWN_CONFIDENTIALITY;
	if (strstr(text, "[integrity]"))
		return LOCKDOWN_INTEGRITY;
	return LOCKDOWN_NONE;
}

static enum tracefs read_tracefs(void)
{
	static const char *const places[] = {"/sys/kernel/tracing", "/sys/kernel/debug/tracing"};
	enum tracefs found = TRACEFS_NOT_MOUNTED;

	for (size_t i = 0; i < ARRAY_SIZE(places); i++) {
		struct statfs fs;

		if (statfs(places[i], &fs) || fs.f_type != TRACEFS_MAGIC)
			continue;
		if (!faccessat(AT_FDCWD, places[i], R_OK | X_OK, AT_EACCESS))
			return TRACEFS_READABLE;
		found = TRACEFS_UNREADABLE;
	}
	return found;
}

static s64 read_btf(void)
{
	struct stat st;

	if (stat("/sys/kernel/btf/vmlinux", &st) ||
	    faccessat(AT_FDCWD, "/sys/kernel/btf/vmlinux", R_OK, AT_EACCESS))
		return -errno;
	return st.st_size;
}

static s64 read_sysctl(const char *path)
{
	s64 value;

	return text_read_number(path, &value) ? CANNOT_BE_READ : value;
}

static void read_kconfig(struct facts *facts, struct worker *worker)
{
	_cleanup_close_ int fd = kconfig_open(facts->host.release);
	char names[KCONFIG_COUNT * KCONFIG_NAME_MAX], answers[KCONFIG_COUNT];
	size_t size = 0;
	ssize_t got;

	memset(facts->kconfig, KCONFIG_UNKNOWN, sizeof(facts->kconfig));
	if (fd < 0 || !worker)
		return;
	for (int i = KCONFIG_NONE + 1; i < KCONFIG_COUNT; i++) {
		size_t length = strlen(kconfig_names[i]) + 1;

		memcpy(names + size, kconfig_names[i], length);
		size += length;
	}
	got = worker_call(worker, DOCTOR_JOB_KCONFIG, fd, names, size, answers, sizeof(answers));
	if (got != KCONFIG_COUNT - 1)
		return;
	memcpy(facts->kconfig + 1, answers, (size_t)got);
	facts->kconfig_known = true;
}

void facts_read(struct facts *facts, struct worker *worker)
{
	*facts = (struct facts){0};
	uname(&facts->host);
	if (sscanf(facts->host.release, "%d.%d", &facts->kernel_major, &facts->kernel_minor) != 2)
		facts->kernel_major = facts->kernel_minor = 0;
	facts->uid = geteuid();
	read_path(facts);
	read_status(facts);
	facts->in_initial_userns = is_initial("/proc/self/ns/user", USERNS_INIT_INUM);
	facts->in_initial_pidns = is_initial("/proc/self/ns/pid", PIDNS_INIT_INUM);
	read_container(facts);
	facts->has_seccomp = sandbox_has_filters();
	facts->landlock_version = sandbox_landlock_version();
	facts->memlock_is_limited = is_memlock_limited();
	facts->lockdown = read_lockdown();
	facts->tracefs = read_tracefs();
	facts->btf_bytes = read_btf();
	facts->perf_paranoid = read_sysctl("/proc/sys/kernel/perf_event_paranoid");
	facts->kptr_restrict = read_sysctl("/proc/sys/kernel/kptr_restrict");
	read_kconfig(facts, worker);
}

bool facts_has_capability(const struct facts *facts, unsigned int capability)
{
	return facts->capabilities >> capability & 1;
}

const char *facts_missing_capabilities(const struct facts *facts)
{
	bool all = facts_has_capability(facts, CAP_SYS_ADMIN);
	bool bpf = all || facts_has_capability(facts, CAP_BPF);
	bool perfmon = all || facts_has_capability(facts, CAP_PERFMON);

	if (bpf && perfmon)
		return NULL;
	return bpf ? "CAP_PERFMON" : perfmon ? "CAP_BPF" : "CAP_BPF and CAP_PERFMON";
}

bool facts_kernel_is_before(const struct facts *facts, int major, int minor)
{
	return facts->kernel_major < major ||
	       (facts->kernel_major == major && facts->kernel_minor < minor);
}
