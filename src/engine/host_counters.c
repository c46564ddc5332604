// SPDX-License-Identifier: Apache-2.0
#include "host_counters.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../base/cleanup.h"
#include "../base/text.h"

#define PATH_BYTES 512

static void add(struct host_counters *counters, const char *name, const char *subject, u64 value)
{
	struct host_counter *item = &counters->items[counters->count];

	if (counters->count == HOST_COUNTERS_MAX) {
		counters->dropped++;
		return;
	}
	counters->count++;
	*item = (struct host_counter){.name = name, .value = value};
	text_copy(item->subject, sizeof(item->subject), subject);
}

static FILE *open_below(const char *proc, const char *file)
{
	char path[PATH_BYTES];

	snprintf(path, sizeof(path), "%s/%s", proc, file);
	return fopen(path, "re");
}

/* "some avg10=0.00 avg60=0.00 avg300=0.00 total=123", in microseconds. */
static void read_pressure(const char *proc, const char *file, const char *some, const char *full,
			  struct host_counters *counters)
{
	_cleanup_fclose_ FILE *stream = open_below(proc, file);
	_cleanup_free_ char *line = NULL;
	size_t size = 0;

	while (stream && getline(&line, &size, stream) > 0) {
		const char *name = !strncmp(line, "some ", 5)	? some
				   : !strncmp(line, "full ", 5) ? full
								: NULL;
		const char *total = strstr(line, " total=");

		if (name && total)
			add(counters, name, "", strtoull(total + 7, NULL, 10));
	}
}

struct wanted {
	const char *group; /* "TcpExt:" */
	const char *key;   /* as the kernel names it */
	const char *name;  /* as the session does */
};

static const struct wanted wanted[] = {
	{"TcpExt:", "ListenOverflows", "tcp.listen_overflows"},
	{"TcpExt:", "ListenDrops", "tcp.listen_drops"},
	{"TcpExt:", "TCPSynRetrans", "tcp.syn_retransmits"},
	{"Tcp:", "RetransSegs", "tcp.retransmits"},
};

/* The words of two lines belong together: the first has the keys, the second the values. */
static void read_pair(char *keys, char *values, struct host_counters *counters)
{
	char *key_rest, *value_rest;
	const char *group = strtok_r(keys, " \n", &key_rest);
	const char *again = strtok_r(values, " \n", &value_rest);

	if (!group || !again || strcmp(group, again))
		return;
	for (;;) {
		const char *key = strtok_r(NULL, " \n", &key_rest);
		const char *value = strtok_r(NULL, " \n", &value_rest);

		if (!key || !value)
			return;
		for (size_t i = 0; i < ARRAY_SIZE(wanted); i++)
			if (!strcmp(group, wanted[i].group) && !strcmp(key, wanted[i].key))
				add(counters, wanted[i].name, "", strtoull(value, NULL, 10));
	}
}

static void read_pairs(const char *proc, const char *file, struct host_counters *counters)
{
	_cleanup_fclose_ FILE *stream = open_below(proc, file);
	_cleanup_free_ char *keys = NULL, *values = NULL;
	size_t keys_size = 0, values_size = 0;

	while (stream && getline(&keys, &keys_size, stream) > 0 &&
	       getline(&values, &values_size, stream) > 0)
		read_pair(keys, values, counters);
}

/* "  eth0: bytes packets errs drop ...": received first. */
static void read_devices(const char *proc, struct host_counters *counters)
{
	_cleanup_fclose_ FILE *stream = open_below(proc, "net/dev");
	_cleanup_free_ char *line = NULL;
	size_t size = 0;

	while (stream && getline(&line, &size, stream) > 0) {
		unsigned long long packets, dropped;
		char name[HOST_COUNTER_SUBJECT_SIZE];

		if (sscanf(line, " %15[^: |]: %*u %llu %*u %llu", name, &packets, &dropped) != 3)
			continue;
		add(counters, "net.rx_packets", name, packets);
		add(counters, "net.rx_dropped", name, dropped);
	}
}

/* "NET_RX: 1 2 3", a number for each CPU. */
static void read_softirqs(const char *proc, struct host_counters *counters)
{
	_cleanup_fclose_ FILE *stream = open_below(proc, "softirqs");
	_cleanup_free_ char *line = NULL;
	size_t size = 0;
	u64 sum = 0;

	while (stream && getline(&line, &size, stream) > 0) {
		char *at = strstr(line, "NET_RX:"), *end;

		if (!at)
			continue;
		for (at += 7;; at = end) {
			u64 value = strtoull(at, &end, 10);

			if (end == at)
				break;
			sum += value;
		}
		add(counters, "softirq.net_rx", "", sum);
		return;
	}
}

void host_counters_read(const char *proc, struct host_counters *ret_counters)
{
	*ret_counters = (struct host_counters){0};
	/* Of the whole host nobody is "full" for the CPU: the line is there, and always 0. */
	read_pressure(proc, "pressure/cpu", "psi.cpu.some_us", NULL, ret_counters);
	read_pressure(proc, "pressure/memory", "psi.memory.some_us", "psi.memory.full_us",
		      ret_counters);
	read_pressure(proc, "pressure/io", "psi.io.some_us", "psi.io.full_us", ret_counters);
	read_pairs(proc, "net/netstat", ret_counters);
	read_pairs(proc, "net/snmp", ret_counters);
	read_softirqs(proc, ret_counters);
	read_devices(proc, ret_counters);
}

const struct host_counter *host_counters_find(const struct host_counters *counters,
					      const char *name, const char *subject)
{
	for (size_t i = 0; i < counters->count; i++)
		if (!strcmp(counters->items[i].name, name) &&
		    !strcmp(counters->items[i].subject, subject))
			return &counters->items[i];
	return NULL;
}
