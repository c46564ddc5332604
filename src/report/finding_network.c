// SPDX-License-Identifier: Apache-2.0
/* What the host's counters say of the network: accept queues that overflow, soft interrupts. */
#include <inttypes.h>
#include <string.h>

#include "../base/cleanup.h"
#include "../base/clock.h"
#include "finding.h"
#include "format.h"

#define SOFTIRQ_SHARE 10.0 /* percent of a CPU */

/* What the busiest device received: its name, or "". */
static const char *busiest_device(const struct digest *digest, u64 *ret_packets)
{
	const char *device = "";

	*ret_packets = 0;
	for (size_t i = 0; i < digest->counter_count; i++) {
		const struct counter *counter = &digest->counters[i];
		u64 growth = counter->end > counter->begin ? counter->end - counter->begin : 0;

		if (strcmp(counter->name, "net.rx_packets") != 0 || growth <= *ret_packets)
			continue;
		*ret_packets = growth;
		device = counter->subject;
	}
	return device;
}

/* The group that lost most time to them. */
static const struct group *most_taken(const struct digest *digest)
{
	const struct group *most = NULL;

	for (size_t i = 0; i < digest->groups.count; i++) {
		const struct group *group = hash_item(&digest->groups, i);

		if (group->account.ns[STATE_CPU_SOFTIRQ] &&
		    (!most ||
		     group->account.ns[STATE_CPU_SOFTIRQ] > most->account.ns[STATE_CPU_SOFTIRQ]))
			most = group;
	}
	return most;
}

static void tell_softirq(const struct digest *digest, const struct cpu_row *cpu, u64 wall,
			 struct findings *findings)
{
	u64 ns = cpu->ns[CPU_USE_SOFTIRQ], packets;
	const struct group *group = most_taken(digest);
	const char *device = busiest_device(digest, &packets);
	struct finding *finding =
		finding_add(findings, "softirq", finding_severity(digest, ns), ns);
	char number[32];

	if (!finding)
		return;
	snprintf(number, sizeof(number), "%" PRIu64, (uint64_t)cpu->cpu);
	finding_evidence(finding, "softirq", number, percent(ns, wall), "%", BASE_CPU);
	finding_say(finding, "Soft interrupts took %s of CPU %s", SHARE(ns, wall), number);
	if (*device) {
		double rate = (double)packets * 1e9 / (double)digest_span(digest);

		finding_evidence(finding, "packets", device, rate, "/s", NULL);
		finding_say(finding, "; %s received %s packets a second", ESCAPED(device),
			    NUMBER((u64)(rate + 0.5)));
	}
	if (group) {
		u64 taken = group->account.ns[STATE_CPU_SOFTIRQ];
		u64 whole = account_cpu(&group->account);
		char who[DIGEST_TEXT];

		finding_set_group(finding, digest, group);
		finding_evidence(finding, "taken", group->comm, percent(taken, whole), "%",
				 BASE_USE);
		finding_evidence(finding, "taken_time", group->comm, (double)taken, "ns", NULL);
		finding_subject_text(finding, who, sizeof(who));
		finding_say(finding, "; %s lost %s to them, %s of its time on a CPU", who,
			    DURATION(taken), SHARE(taken, whole));
	}
	finding_say(finding, ".");
	finding_advise(finding, "-s netrx has what arrived; spread the device's queues over CPUs.");
}

static void find_softirq(const struct digest *digest, struct findings *findings)
{
	const struct cpu_row *worst = NULL;
	u64 worst_wall = 0;

	for (size_t i = 0; i < digest->cpus.count; i++) {
		const struct cpu_row *cpu = hash_item(&digest->cpus, i);
		u64 wall = 0;

		for (int use = 0; use < CPU_USE_COUNT; use++)
			wall += cpu->ns[use];
		if (percent(cpu->ns[CPU_USE_SOFTIRQ], wall) < SOFTIRQ_SHARE ||
		    (worst && cpu->ns[CPU_USE_SOFTIRQ] <= worst->ns[CPU_USE_SOFTIRQ]))
			continue;
		worst = cpu;
		worst_wall = wall;
	}
	if (worst)
		tell_softirq(digest, worst, worst_wall, findings);
}

static bool is_call(const struct digest *digest, u32 call, const char *name)
{
	char buf[64];

	return !strncmp(digest_call_name(digest, call, buf, sizeof(buf)), name, strlen(name));
}

/* What clients waited longest to be connected to; else where connections were accepted most often.
 */
static const struct cause *find_address(const struct digest *digest, bool *ret_is_connect)
{
	const struct cause *best = NULL;

	*ret_is_connect = false;
	for (size_t i = 0; i < digest->causes.count; i++) {
		const struct cause *cause = hash_item(&digest->causes, i);

		if (!cause->object)
			continue;
		if (is_call(digest, cause->call, "connect")) {
			best = *ret_is_connect && best->ns >= cause->ns ? best : cause;
			*ret_is_connect = true;
		} else if (!*ret_is_connect && is_call(digest, cause->call, "accept") &&
			   (!best || cause->count > best->count)) {
			best = cause;
		}
	}
	return best;
}

/* Whether an object is the listener behind an address; one that listens on all has its port. */
static bool is_listener_of(const struct digest *digest, u64 id, const char *address)
{
	static const char start[] = "listening on ";
	const char *any[] = {"0.0.0.0:", "[::]:"}, *port = strrchr(address, ':');
	const struct object *object = hash_find(&digest->objects, &id);
	const char *own;

	if (!object || strncmp(object->name, start, sizeof(start) - 1) || !port)
		return false;
	own = object->name + sizeof(start) - 1;
	for (size_t i = 0; i < ARRAY_SIZE(any); i++)
		if (!strncmp(own, any[i], strlen(any[i])))
			return !strcmp(own + strlen(any[i]), port + 1);
	return !strcmp(own, address) || !strcmp(object->name, address);
}

/* The process that has a listening socket of this name; NULL: not known. */
const struct process *finding_listener(const struct digest *digest, const char *name)
{
	for (size_t i = 0; i < digest->objects.count; i++) {
		const struct object *object = hash_item(&digest->objects, i);

		if (!object->pid || !is_listener_of(digest, object->id, name))
			continue;
		for (size_t p = 0; p < digest->process_count; p++)
			if (digest->processes[p].pid == object->pid)
				return &digest->processes[p];
	}
	return NULL;
}

/* The process that waits for work there; NULL: not known. */
static const struct process *find_listener(const struct digest *digest, char *name, size_t size,
					   bool *ret_is_connect)
{
	const struct cause *address = find_address(digest, ret_is_connect), *best = NULL;

	*name = '\0';
	if (!address)
		return NULL;
	format_object(digest, address->object, name, size);
	for (size_t i = 0; i < digest->causes.count; i++) {
		const struct cause *cause = hash_item(&digest->causes, i);

		if (!cause->object || is_call(digest, cause->call, "connect") ||
		    (cause->state != STATE_BLOCKED_IDLE && !is_call(digest, cause->call, "accept")))
			continue;
		if (is_listener_of(digest, cause->object, name) &&
		    (!best || cause->count > best->count))
			best = cause;
	}
	return best ? &digest->processes[digest->threads[best->thread].process]
		    : finding_listener(digest, name);
}

static void find_overflows(const struct digest *digest, struct findings *findings)
{
	u64 overflows = 0, drops = 0, retries = 0;
	bool is_connect = false;
	const struct process *process;
	struct finding *finding;
	char name[DIGEST_TEXT];

	if (!digest_counter(digest, "tcp.listen_overflows", "", &overflows) || !overflows)
		return;
	digest_counter(digest, "tcp.listen_drops", "", &drops);
	digest_counter(digest, "tcp.syn_retransmits", "", &retries);
	finding = finding_add(findings, "accept-queue", SEVERITY_PROBLEM,
			      profile_add(0, retries * NS_PER_S)); /* a second each, at least */
	if (!finding)
		return;
	process = find_listener(digest, name, sizeof(name), &is_connect);
	if (process)
		finding_set_process(finding, process);
	finding_evidence(finding, "overflows", NULL, (double)overflows, "count", NULL);
	finding_evidence(finding, "drops", NULL, (double)drops, "count", NULL);
	finding_evidence(finding, "syn_retransmits", NULL, (double)retries, "count", NULL);
	finding_say(finding,
		    "Accept queues overflowed %s times; clients sent %s SYNs again, each a "
		    "second or more later",
		    NUMBER(overflows), NUMBER(retries));
	if (*name) {
		finding_evidence(finding, "listener", name, (double)overflows, "count", NULL);
		finding_say(finding,
			    is_connect ? "; clients waited longest to be connected to %s"
				       : "; most connections were accepted at %s",
			    ESCAPED(name));
	}
	if (process)
		finding_say(finding, ", where %s (pid %u) listens", ESCAPED(process->comm),
			    process->pid);
	finding_say(finding, ".");
	finding_advise(finding, "Accept faster, or raise the backlog of listen(); -s tcp has how "
				"long connections waited.");
}

/* Pressure stall information: the share of the time in which somebody, or everybody, waited. */
static void find_pressure(const struct digest *digest, struct findings *findings)
{
	static const struct {
		const char *counter, *what;
	} rows[] = {
		{"psi.cpu.some_us", "CPU"},	{"psi.memory.some_us", "memory"},
		{"psi.memory.full_us", "full"}, {"psi.io.some_us", "I/O"},
		{"psi.io.full_us", "full"},
	};
	u64 span_us = digest_span(digest) / 1000;
	struct finding *finding = NULL;

	if (digest->is_slice || !span_us)
		return; /* counters are of the whole session */
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		u64 us;

		if (!digest_counter(digest, rows[i].counter, "", &us))
			continue;
		/* They are read a moment before the first window, and after the last. */
		us = us < span_us ? us : span_us;
		if (!finding)
			finding = finding_add(findings, "pressure", SEVERITY_INFO, 0);
		if (!finding)
			return;
		finding_evidence(finding, rows[i].counter, NULL, percent(us, span_us), "%",
				 BASE_TIME);
		finding_say(finding, "%s %s %s",
			    *finding->sentence ? "," : "Pressure:", rows[i].what,
			    SHARE(us, span_us));
	}
	finding_say(finding, " of the time.");
}

/* What devices received; what TCP sent again. */
static void find_traffic(const struct digest *digest, struct findings *findings)
{
	double seconds = (double)digest_span(digest) / 1e9;
	u64 again = 0, drops = 0, packets;
	const char *device = busiest_device(digest, &packets);
	struct finding *finding;

	digest_counter(digest, "tcp.retransmits", "", &again);
	if (*device)
		digest_counter(digest, "net.rx_dropped", device, &drops);
	if (digest->is_slice || seconds <= 0 || (!packets && !again))
		return;
	finding = finding_add(findings, "network", SEVERITY_INFO, 0);
	finding_say(finding, "Network:");
	if (packets) {
		finding_evidence(finding, "packets", device, (double)packets / seconds, "/s", NULL);
		finding_say(finding, " %s %s packets/s, %s dropped;", ESCAPED(device),
			    NUMBER((u64)((double)packets / seconds + 0.5)), NUMBER(drops));
	}
	finding_evidence(finding, "retransmits", NULL, (double)again, "count", NULL);
	finding_say(finding, " TCP retransmits %s.", NUMBER(again));
}

/* Those who did nothing, in one line. */
static void find_idle(const struct digest *digest, struct findings *findings)
{
	u64 ns = account_idle(&digest->all), span = digest_span(digest);
	struct finding *finding;

	if (!ns || !span)
		return;
	finding = finding_add(findings, "idle", SEVERITY_INFO, 0);
	finding_evidence(finding, "idle", NULL, (double)ns / (double)span, "count", NULL);
	finding_say(finding, "Idle: %.1f of %s threads on average; %s never ran.",
		    (double)ns / (double)span, NUMBER(digest->present), NUMBER(digest->dormant));
}

void find_network(const struct digest *digest, struct findings *findings)
{
	find_softirq(digest, findings);
	find_overflows(digest, findings);
	find_pressure(digest, findings);
	find_traffic(digest, findings);
	find_idle(digest, findings);
}
