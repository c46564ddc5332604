// SPDX-License-Identifier: Apache-2.0
/*
 * Counters of the host and limits of cgroups, from made-up files of procfs and cgroupfs.
 */
#include "unit.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "../../src/engine/cgroup_limits.h"
#include "../../src/engine/host_counters.h"

static char root[64];

static int start(void **state)
{
	(void)state;
	snprintf(root, sizeof(root), "/tmp/host_state_test.XXXXXX");
	return mkdtemp(root) ? 0 : -1;
}

static int stop(void **state)
{
	char command[128];

	(void)state;
	snprintf(command, sizeof(command), "rm -rf %s", root);
	return system(command);
}

/* Makes the folders on the way too. */
static void put(const char *file, const char *text)
{
	char path[256];
	FILE *stream;

	snprintf(path, sizeof(path), "%s/%s", root, file);
	for (char *slash = path + strlen(root) + 1; (slash = strchr(slash, '/')); slash++) {
		*slash = '\0';
		mkdir(path, 0700);
		*slash = '/';
	}
	stream = fopen(path, "w");
	assert_non_null(stream);
	fputs(text, stream);
	fclose(stream);
}

static u64 value_of(const struct host_counters *counters, const char *name, const char *subject)
{
	const struct host_counter *counter = host_counters_find(counters, name, subject);

	assert_non_null(counter);
	return counter->value;
}

static void counters_are_read(void **state)
{
	struct host_counters counters;

	(void)state;
	put("pressure/cpu", "some avg10=0.00 avg60=0.00 avg300=0.00 total=11\n"
			    "full avg10=0.00 avg60=0.00 avg300=0.00 total=0\n");
	put("pressure/io", "some avg10=1.00 avg60=0.00 avg300=0.00 total=22\n"
			   "full avg10=0.00 avg60=0.00 avg300=0.00 total=33\n");
	put("net/netstat", "TcpExt: SyncookiesSent ListenOverflows ListenDrops TCPSynRetrans\n"
			   "TcpExt: 1 2 3 4\nIpExt: ListenDrops\nIpExt: 99\n");
	put("net/snmp", "Ip: RetransSegs\nIp: 98\nTcp: RtoMin RetransSegs\nTcp: -1 5\n");
	put("net/dev", "Inter-|   Receive                     |  Transmit\n"
		       " face |bytes    packets errs drop fifo|bytes\n"
		       "    lo:  100  6 0 7 0 0 0 0 100 6 0 0\n"
		       "veth0@x: 1 8 0 9 0 0 0 0 1 1 0 0\n");
	put("softirqs", "          CPU0 CPU1\n  NET_TX: 1 1\n  NET_RX: 40 2\n   BLOCK: 1 1\n");
	host_counters_read(root, &counters);
	assert_int_equal(value_of(&counters, "psi.cpu.some_us", ""), 11);
	assert_int_equal(value_of(&counters, "psi.io.some_us", ""), 22);
	assert_int_equal(value_of(&counters, "psi.io.full_us", ""), 33);
	assert_int_equal(value_of(&counters, "tcp.listen_overflows", ""), 2);
	assert_int_equal(value_of(&counters, "tcp.listen_drops", ""), 3);
	assert_int_equal(value_of(&counters, "tcp.syn_retransmits", ""), 4);
	assert_int_equal(value_of(&counters, "tcp.retransmits", ""), 5);
	assert_int_equal(value_of(&counters, "net.rx_packets", "lo"), 6);
	assert_int_equal(value_of(&counters, "net.rx_dropped", "lo"), 7);
	assert_int_equal(value_of(&counters, "net.rx_packets", "veth0@x"), 8);
	assert_int_equal(value_of(&counters, "softirq.net_rx", ""), 42);
	assert_null(host_counters_find(&counters, "psi.memory.some_us", ""));
	assert_int_equal(counters.count, 12);
}

static void many_devices_are_counted(void **state)
{
	static char text[64 * 64];
	struct host_counters counters;

	(void)state;
	for (int i = 0; i < 60; i++)
		snprintf(text + strlen(text), sizeof(text) - strlen(text), "e%d: 1 2 3 4\n", i);
	put("net/dev", text);
	host_counters_read(root, &counters);
	assert_int_equal(counters.count, HOST_COUNTERS_MAX);
	assert_int_equal(counters.count + counters.dropped, 120);
}

/* --- cgroups --- */

static struct cgroup_limits limits;
static u32 found;

static void on_member(void *context, const struct cgroup_limit *limit, u32 pid)
{
	(void)context;
	(void)limit;
	found += pid;
}

static void open_mount(const char *folder, u32 hierarchy)
{
	struct cgroup_mount *mount = &limits.mounts[limits.mount_count++];

	mount->hierarchy = hierarchy;
	snprintf(mount->at, sizeof(mount->at), "%s/%s", root, folder);
}

static void walk(void)
{
	found = 0;
	assert_int_equal(cgroup_limits_open_mounts(&limits), 0);
	limits.begun_real_ns = ~0ULL; /* the files of tests are all young */
	cgroup_limits_walk(&limits, on_member, NULL);
}

static int stop_limits(void **state)
{
	cgroup_limits_close(&limits);
	memset(&limits, 0, sizeof(limits));
	return stop(state);
}

static const struct cgroup_limit *limit_of(const char *path)
{
	for (size_t i = 0; i < limits.count; i++)
		if (!strcmp(limits.limits[i].path, path))
			return &limits.limits[i];
	return NULL;
}

static const char *by(const struct cgroup_limit *limit, enum cgroup_resource resource)
{
	return limit->by[resource] == CGROUP_NOBODY ? NULL
						    : limits.limits[limit->by[resource]].path;
}

static void limits_of_v2(void **state)
{
	const struct cgroup_limit *limit;

	(void)state;
	put("two/a/cpu.max", "50000 100000\n");
	put("two/a/memory.high", "max\n");
	put("two/a/memory.max", "1048576\n");
	put("two/a/cpu.stat", "usage_usec 5\nnr_throttled 3\nthrottled_usec 700\n");
	put("two/a/cgroup.procs", "");
	put("two/a/b/cpu.max", "max 100000\n");
	put("two/a/b/memory.high", "4096\n");
	put("two/a/b/memory.max", "max\n");
	put("two/a/b/io.max", "999:0 rbps=max wbps=1000 riops=max wiops=9\n");
	put("two/a/b/cgroup.procs", "10\n20\n");
	put("two/a/empty/cgroup.procs", "");
	put("two/ab/cpu.max", "max 100000\n");
	put("two/ab/cgroup.procs", "30\n");
	open_mount("two", 0);
	walk();
	assert_int_equal(limits.count, 2);
	limit = limit_of("/a");
	assert_int_equal(limit->quota_us, 50000);
	assert_int_equal(limit->period_us, 100000);
	assert_int_equal(limit->memory_max, 1048576);
	assert_true(limit->memory_high == CGROUP_NO_LIMIT);
	assert_null(by(limit, CGROUP_IO));
	limit = limit_of("/a/b");
	assert_int_equal(limit->quota_us, 50000);
	assert_string_equal(by(limit, CGROUP_CPU), "/a");
	assert_int_equal(limit->memory_high, 4096);
	assert_int_equal(limit->memory_max, 1048576);
	assert_string_equal(by(limit, CGROUP_MEMORY), "/a/b");
	assert_string_equal(limit->io, "999:0 wbps=1000; 999:0 wiops=9");
	assert_int_equal(found, 30);
}

/* Only what was throttled during the session counts, and a removed cgroup keeps it. */
static void throttling_is_a_difference(void **state)
{
	const struct cgroup_limit *limit;
	char path[128];

	(void)state;
	put("two/a/cpu.max", "50000 100000\n");
	put("two/a/cpu.stat", "nr_throttled 3\nthrottled_usec 700\n");
	open_mount("two", 0);
	walk();
	put("two/a/cpu.stat", "nr_throttled 10\nthrottled_usec 1700\n");
	cgroup_limits_walk(&limits, on_member, NULL);
	snprintf(path, sizeof(path), "%s/two/a/cpu.stat", root);
	assert_int_equal(unlink(path), 0);
	cgroup_limits_walk(&limits, on_member, NULL);
	limit = limit_of("/a");
	assert_int_equal(limit->throttled - limit->throttled_before, 7);
	assert_int_equal(limit->throttled_us - limit->throttled_before_us, 1000);
}

static void limits_of_v1(void **state)
{
	const struct cgroup_limit *limit;

	(void)state;
	put("cpu/cpu.shares", "1024\n");
	put("cpu/cpu.cfs_quota_us", "-1\n");
	put("cpu/cpu.cfs_period_us", "100000\n");
	put("cpu/x/cpu.cfs_quota_us", "20000\n");
	put("cpu/x/cpu.cfs_period_us", "100000\n");
	put("cpu/x/cpu.stat", "nr_periods 9\nnr_throttled 4\nthrottled_time 5000000\n");
	put("cpu/x/cgroup.procs", "7\n");
	put("blkio/blkio.throttle.read_bps_device", "");
	put("blkio/x/blkio.throttle.write_bps_device", "999:16 4096\n");
	put("blkio/x/blkio.throttle.read_iops_device", "999:16 100\n");
	put("blkio/x/cgroup.procs", "7\n8\n");
	put("memory/memory.limit_in_bytes", "9223372036854771712\n");
	put("memory/x/y/memory.limit_in_bytes", "65536\n");
	put("memory/x/memory.limit_in_bytes", "9223372036854771712\n");
	open_mount("cpu", 1);
	open_mount("blkio", 2);
	open_mount("memory", 3);
	walk();
	assert_int_equal(limits.count, 2);
	limit = limit_of("/x");
	assert_int_equal(limit->quota_us, 20000);
	assert_int_equal(limit->throttled, 4);
	assert_int_equal(limit->throttled_us, 5000);
	assert_string_equal(limit->io, "999:16 wbps=4096; 999:16 riops=100");
	assert_null(by(limit, CGROUP_MEMORY));
	limit = limit_of("/x/y");
	assert_int_equal(limit->memory_max, 65536);
	/* /x/y is in the tree of memory alone: the quota of /x in another tree is not its own. */
	assert_null(by(limit, CGROUP_CPU));
	assert_int_equal(found, 15);
}

static void too_many_cgroups_are_counted(void **state)
{
	(void)state;
	for (int i = 0; i < CGROUP_LIMITS_MAX + 5; i++) {
		char name[64];

		snprintf(name, sizeof(name), "two/c%d/memory.max", i);
		put(name, "4096\n");
	}
	open_mount("two", 0);
	walk();
	cgroup_limits_walk(&limits, on_member, NULL);
	assert_int_equal(limits.count, CGROUP_LIMITS_MAX);
	assert_int_equal(limits.dropped, 5);
}

/* Numbers that no process can have: they have all ended. */
#define DEAD_PID 4194305

static void put_members(int first, int count)
{
	static char text[CGROUP_MEMBERS_MAX * 8 + 1];
	int used = 0;

	for (int i = 0; i < count; i++)
		used += sprintf(text + used, "%d\n", DEAD_PID + first + i);
	put("two/a/cgroup.procs", text);
}

static void members_that_have_ended_make_room(void **state)
{
	(void)state;
	put("two/a/cpu.max", "50000 100000\n");
	put_members(0, CGROUP_MEMBERS_MAX);
	open_mount("two", 0);
	walk();
	assert_int_equal(limits.members.count, CGROUP_MEMBERS_MAX);
	put_members(CGROUP_MEMBERS_MAX, 10);
	cgroup_limits_walk(&limits, on_member, NULL);
	assert_int_equal(limits.members.count, 10);
	assert_int_equal(limits.forgotten, CGROUP_MEMBERS_MAX);
	assert_false(limits.is_members_full);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(counters_are_read, start, stop),
		cmocka_unit_test_setup_teardown(many_devices_are_counted, start, stop),
		cmocka_unit_test_setup_teardown(limits_of_v2, start, stop_limits),
		cmocka_unit_test_setup_teardown(throttling_is_a_difference, start, stop_limits),
		cmocka_unit_test_setup_teardown(limits_of_v1, start, stop_limits),
		cmocka_unit_test_setup_teardown(too_many_cgroups_are_counted, start, stop_limits),
		cmocka_unit_test_setup_teardown(members_that_have_ended_make_room, start,
						stop_limits),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
