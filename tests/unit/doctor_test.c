// SPDX-License-Identifier: Apache-2.0
/*
 * The doctor's judgement, on hosts that are made up: no root, no kernel asked.
 */
#include "unit.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/capability.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "../../src/doctor/doctor.h"
#include "../../src/doctor/kconfig.h"

#define BIT(capability) (1ULL << (capability))

static const struct feature *feature_named(const char *name)
{
	for (size_t i = 0; i < feature_count; i++)
		if (!strcmp(features[i].name, name))
			return &features[i];
	fail_msg("no feature %s", name);
	return NULL;
}

static struct facts healthy(void)
{
	struct facts facts = {
		.kernel_major = 6,
		.kernel_minor = 18,
		.capabilities = ~0ULL,
		.proc_readable = true,
		.path = "/usr/bin/dwell",
		.uid = 1000,
		.in_initial_userns = true,
		.in_initial_pidns = true,
		.lockdown = LOCKDOWN_NONE,
		.btf_bytes = 5000000,
		.has_seccomp = true,
		.landlock_version = 7,
		.perf_paranoid = 2,
		.kconfig_known = true,
	};

	memset(facts.kconfig, 'y', sizeof(facts.kconfig));
	snprintf(facts.host.release, sizeof(facts.host.release), "6.18.0");
	snprintf(facts.host.machine, sizeof(facts.host.machine), "x86_64");
	return facts;
}

static struct finding refused(const char *feature, enum gate gate, int err)
{
	return (struct finding){
		.feature = feature_named(feature),
		.gate = gate,
		.failure = {.gate = gate, .err = err},
	};
}

static void expect(const struct facts *facts, struct finding finding, enum cause_id id,
		   const char *cause, const char *remedy)
{
	cause_find(facts, &finding);
	if (finding.cause.id != id || !strstr(finding.cause.text, cause) ||
	    !strstr(finding.cause.remedy, remedy))
		fail_msg("%s: %s: '%s' / '%s'", finding.feature->name,
			 cause_names[finding.cause.id], finding.cause.text, finding.cause.remedy);
}

static void missing_capabilities_are_named(void **state)
{
	struct facts facts = healthy();

	(void)state;
	facts.capabilities = 0;
	expect(&facts, refused("tp_btf", GATE_LOAD, EPERM), CAUSE_CAPABILITY,
	       "CAP_BPF and CAP_PERFMON", "+ep /usr/bin/dwell");
	facts.capabilities = BIT(CAP_BPF);
	expect(&facts, refused("tp_btf", GATE_LOAD, EPERM), CAUSE_CAPABILITY, "CAP_PERFMON",
	       "sudo");
	facts.capabilities = BIT(CAP_PERFMON);
	expect(&facts, refused("tp_btf", GATE_LOAD, EPERM), CAUSE_CAPABILITY, "CAP_BPF", "sudo");
	facts.capabilities = BIT(CAP_BPF) | BIT(CAP_PERFMON);
	expect(&facts, refused("uprobe", GATE_ATTACH, EACCES), CAUSE_CAPABILITY, "CAP_SYS_ADMIN",
	       "sudo");
	facts.capabilities = 0;
	facts.uid = 0;
	expect(&facts, refused("tp_btf", GATE_LOAD, EPERM), CAUSE_CAPABILITY, "CAP_BPF",
	       "--cap-add BPF");
}

/* applies VERSION MACHINE HAZARD */
static bool applies(const char *release, const char *machine, const char *name)
{
	struct facts facts = healthy();

	snprintf(facts.host.release, sizeof(facts.host.release), "%s", release);
	snprintf(facts.host.machine, sizeof(facts.host.machine), "%s", machine);
	assert_int_equal(sscanf(release, "%d.%d", &facts.kernel_major, &facts.kernel_minor), 2);
	for (size_t i = 0; i < hazard_count; i++)
		if (!strcmp(hazard_at(i)->name, name))
			return hazard_applies(hazard_at(i), &facts);
	fail_msg("no hazard %s", name);
	return false;
}

static void hazards_are_of_their_versions(void **state)
{
	(void)state;
	assert_false(applies("6.14.2", "x86_64", "nmi_locks"));
	assert_true(applies("6.15.0", "x86_64", "nmi_locks"));
	assert_true(applies("6.18.44-cloud-amd64", "x86_64", "nmi_locks"));
	assert_false(applies("7.0.1", "x86_64", "nmi_locks"));
	assert_false(applies("6.12.80", "x86_64", "uprobe_stacks"));
	assert_true(applies("7.0", "x86_64", "uprobe_stacks"));
	assert_false(applies("6.17.3", "x86_64", "uprobe_nop5"));
	assert_true(applies("6.18.0", "x86_64", "uprobe_nop5"));
	assert_false(applies("6.18.0", "aarch64", "uprobe_nop5"));
	assert_false(applies("6.6.127", "x86_64", "sockmap"));
	assert_true(applies("6.6.128", "x86_64", "sockmap"));
	assert_false(applies("6.7.200", "x86_64", "sockmap"));
	assert_false(applies("6.12.74", "x86_64", "sockmap"));
	assert_true(applies("6.12.75", "x86_64", "sockmap"));
	assert_false(applies("6.18.13", "x86_64", "sockmap"));
	assert_true(applies("7.1", "x86_64", "sockmap"));
	assert_true(applies("5.10.0", "x86_64", "return_probes"));
	assert_false(applies("6.18.0", "x86_64", "memory_order"));
	assert_true(applies("6.18.0", "aarch64", "memory_order"));
}

static void each_cause_is_told_from_the_others(void **state)
{
	struct facts facts = healthy();
	struct finding finding;

	(void)state;
	facts.in_initial_userns = false;
	expect(&facts, refused("tp_btf", GATE_LOAD, EPERM), CAUSE_USER_NAMESPACE, "user namespace",
	       "host");
	facts = healthy();
	facts.lockdown = LOCKDOWN_CONFIDENTIALITY;
	expect(&facts, refused("tp_btf", GATE_LOAD, EPERM), CAUSE_LOCKDOWN, "confidentiality",
	       "lockdown=");
	finding = refused("tp_btf", GATE_LOAD, EINVAL);
	finding.failure.from_verifier = true;
	snprintf(finding.failure.excerpt, sizeof(finding.failure.excerpt),
		 "unknown func bpf_probe_read_kernel#113");
	expect(&facts, finding, CAUSE_LOCKDOWN, "confidentiality", "lockdown=");
	facts = healthy();
	facts.seccomp_filters = true;
	expect(&facts, refused("tp_btf", GATE_LOAD, ENOSYS), CAUSE_SECCOMP, "filter",
	       "seccomp=unconfined");
	snprintf(facts.container, sizeof(facts.container), "Docker");
	expect(&facts, refused("tp_btf", GATE_LOAD, EPERM), CAUSE_SECCOMP, "Docker",
	       "seccomp=unconfined");
	facts = healthy();
	facts.capabilities = BIT(CAP_BPF) | BIT(CAP_PERFMON);
	facts.perf_paranoid = 3;
	expect(&facts, refused("perf_cpu_clock", GATE_ATTACH, EACCES), CAUSE_PARANOID, "is 3",
	       "perf_event_paranoid=2");
	facts = healthy();
	facts.btf_bytes = -ENOENT;
	expect(&facts, refused("tp_btf", GATE_LOAD, ESRCH), CAUSE_NO_BTF, "vmlinux", "BTF");
	facts = healthy();
	facts.kconfig[KCONFIG_KPROBES] = facts.kconfig[KCONFIG_FPROBE] = 'n';
	expect(&facts, refused("kprobe", GATE_ATTACH, EOPNOTSUPP), CAUSE_KCONFIG,
	       "without CONFIG_KPROBES", "with CONFIG_KPROBES");
	expect(&facts, refused("kprobe_multi", GATE_ATTACH, EOPNOTSUPP), CAUSE_KCONFIG,
	       "without CONFIG_KPROBES and CONFIG_FPROBE", "CONFIG_FPROBE");
	facts = healthy();
	facts.proc_readable = false;
	expect(&facts, refused("tp_btf", GATE_ENVIRONMENT, EPERM), CAUSE_NO_PROC, "/proc",
	       "mount -t proc");
	facts = healthy();
	expect(&facts, refused("uprobe", GATE_ATTACH, EMFILE), CAUSE_DESCRIPTORS, "open files",
	       "ulimit -n");
	facts = healthy();
	facts.tracefs = TRACEFS_NOT_MOUNTED;
	expect(&facts, refused("tracepoint", GATE_ATTACH, ENOENT), CAUSE_TRACEFS, "not mounted",
	       "mount -t tracefs");
	facts.tracefs = TRACEFS_UNREADABLE;
	expect(&facts, refused("tracepoint", GATE_ATTACH, EACCES), CAUSE_TRACEFS_ACCESS,
	       "CAP_DAC_READ_SEARCH", "sudo");
	facts = healthy();
	facts.kernel_major = 5;
	facts.kernel_minor = 10;
	expect(&facts, refused("bpf_loop", GATE_LOAD, EINVAL), CAUSE_TOO_OLD, "Linux 5.17",
	       "newer");
	facts = healthy();
	expect(&facts, refused("perf_cycles", GATE_ATTACH, ENOENT), CAUSE_NO_PMU, "virtual",
	       "none needed");
	expect(&facts, refused("block_io_start", GATE_LOAD, ESRCH), CAUSE_HOOK_ABSENT,
	       "no such hook", "report");
	expect(&facts, refused("tp_btf", GATE_DELIVERY, ETIMEDOUT), CAUSE_SILENT, "never fired",
	       "rely");
	finding = refused("block_request", GATE_DELIVERY, ETIMEDOUT);
	finding.trigger_result = -ENODEV;
	expect(&facts, finding, CAUSE_NOT_EXERCISED, "No such device", "disk");
	finding = refused("usdt", GATE_DELIVERY, EBADMSG);
	expect(&facts, finding, CAUSE_WRONG_VALUE, "found 0", "report");
	finding = refused("tp_btf", GATE_LOAD, EACCES);
	finding.failure.from_verifier = true;
	snprintf(finding.failure.excerpt, sizeof(finding.failure.excerpt), "R1 is wrong");
	expect(&facts, finding, CAUSE_VERIFIER, "R1 is wrong", "report");
	expect(&facts, refused("tp_btf", GATE_LOAD, ENOMEM), CAUSE_MEMORY, "memory", "cgroup");
	facts.kernel_major = 5;
	facts.kernel_minor = 10;
	facts.memlock_is_limited = true;
	facts.capabilities = BIT(CAP_BPF) | BIT(CAP_PERFMON);
	expect(&facts, refused("tp_btf", GATE_LOAD, EPERM), CAUSE_MEMORY, "locked memory",
	       "ulimit -l");
	facts = healthy();
	facts.kconfig[KCONFIG_BPF_SYSCALL] = 'n';
	expect(&facts, refused("tp_btf", GATE_LOAD, ENOSYS), CAUSE_KCONFIG, "CONFIG_BPF_SYSCALL",
	       "CONFIG_BPF_SYSCALL");
}

static void what_is_not_known_is_not_guessed(void **state)
{
	struct facts facts = healthy();

	(void)state;
	expect(&facts, refused("fentry", GATE_LOAD, EPERM), CAUSE_UNEXPLAINED,
	       "EPERM although every known precondition holds", "none known");
	expect(&facts, refused("tp_btf", GATE_ATTACH, EIO), CAUSE_UNEXPLAINED, "EIO", "report");
}

static void every_row_is_complete(void **state)
{
	(void)state;
	for (size_t i = 0; i < feature_count; i++) {
		const struct feature *feature = &features[i];
		bool core = feature->fallback && !strcmp(feature->fallback, FALLBACK_CORE);

		assert_non_null(feature->name);
		assert_non_null(feature->group);
		assert_non_null(feature->loses);
		assert_non_null(feature->probe.program);
		assert_true((feature->fallback != NULL) == (feature->instead != NULL));
		if (feature->fallback && !core)
			feature_named(feature->fallback);
		for (size_t k = 0; k < i; k++)
			assert_string_not_equal(features[k].name, feature->name);
	}
}

static char ask_kconfig(const char *text, const char *name)
{
	char path[] = "/tmp/dwell-kconfig-XXXXXX", reply = '?';
	int fd = mkstemp(path);
	ssize_t got;

	assert_true(fd >= 0);
	unlink(path);
	assert_int_equal(write(fd, text, strlen(text)), strlen(text));
	lseek(fd, 0, SEEK_SET);
	got = kconfig_job(fd, name, strlen(name) + 1, &reply, 1);
	close(fd);
	return got == 1 ? reply : '!';
}

static void kernel_config_is_understood(void **state)
{
	const char *text = "# comment\nCONFIG_A=y\nCONFIG_B=m\n# CONFIG_C is not set\n"
			   "CONFIG_D=\"text\"\nCONFIG_\nCONFIG_E\n";

	(void)state;
	assert_int_equal(ask_kconfig(text, "A"), 'y');
	assert_int_equal(ask_kconfig(text, "B"), 'm');
	assert_int_equal(ask_kconfig(text, "C"), 'n');
	assert_int_equal(ask_kconfig(text, "D"), 'y');
	assert_int_equal(ask_kconfig(text, "NOT_THERE"), 'n');
	assert_int_equal(ask_kconfig("no kernel's configuration", "A"), '!');
	assert_int_equal(ask_kconfig("", "A"), '!');
}

/* Of a line: the rest of a UTF-8 character takes no room. */
static int columns(const char *line)
{
	int count = 0;

	for (; *line && *line != '\n'; line++)
		count += (*line & 0xc0) != 0x80;
	return count;
}

/* A report of a made-up host: 80 columns, equal causes told once. UPDATE=1 writes it anew. */
static void report_reads_as_before(void **state)
{
	const char *golden = "tests/golden/doctor.txt";
	struct doctor_report report = {
		.facts = healthy(), .core_works = true, .took_ns = 2100000000, .finding_count = 6};
	struct finding findings[] = {
		{.feature = feature_named("tp_btf"), .gate = GATE_DELIVERY},
		{.feature = feature_named("uprobe"), .gate = GATE_DELIVERY},
		refused("perf_cycles", GATE_ATTACH, ENOENT),
		refused("kprobe", GATE_ATTACH, EOPNOTSUPP),
		refused("kretprobe", GATE_ATTACH, EOPNOTSUPP),
		refused("fentry", GATE_LOAD, EPERM),
	};
	char *text = NULL, *expected = calloc(1, 65536);
	size_t size;
	FILE *out = open_memstream(&text, &size);

	(void)state;
	report.findings = findings;
	report.facts.kconfig[KCONFIG_KPROBES] = 'n';
	report.facts.tracefs = TRACEFS_NOT_MOUNTED;
	report.environment_count = environment_checks(&report.facts, report.environment);
	findings[2].status = STATUS_DEGRADED;
	for (int i = 3; i < 6; i++)
		findings[i].status = STATUS_UNAVAILABLE;
	for (int i = 2; i < 6; i++)
		cause_find(&report.facts, &findings[i]);
	doctor_print_text(&report, false, false, out);
	fclose(out);
	for (const char *line = text; *line; line += strcspn(line, "\n") + 1)
		assert_true(columns(line) <= 80);
	if (getenv("UPDATE")) {
		FILE *file = fopen(golden, "w");

		assert_non_null(file);
		fputs(text, file);
		fclose(file);
	}
	FILE *file = fopen(golden, "r");

	assert_non_null(file);
	assert_true(fread(expected, 1, 65535, file) > 0);
	fclose(file);
	assert_string_equal(text, expected);
	free(text);
	free(expected);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(missing_capabilities_are_named),
		cmocka_unit_test(hazards_are_of_their_versions),
		cmocka_unit_test(each_cause_is_told_from_the_others),
		cmocka_unit_test(what_is_not_known_is_not_guessed),
		cmocka_unit_test(every_row_is_complete),
		cmocka_unit_test(kernel_config_is_understood),
		cmocka_unit_test(report_reads_as_before),
	};

	return cmocka_run_group_tests_name("doctor", tests, NULL, NULL);
}
