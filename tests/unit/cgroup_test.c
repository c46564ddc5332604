// SPDX-License-Identifier: Apache-2.0
/*
 * What cgroup paths and mounts say, as Docker, podman, containerd, CRI-O, Kubernetes, systemd, LXC
 * and ECS write them.
 */
#include "unit.h"

#include <stdio.h>
#include <string.h>
#include <sys/sysmacros.h>

#include "../../src/base/cgroup.h"
#include "../../src/base/cgroup_name.h"

#define ID    "0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef"
#define OTHER "ffff456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef"
#define UID   "0f8d2c1a-1111-2222-3333-444455556666"
#define UID_  "0f8d2c1a_1111_2222_3333_444455556666"
#define HASH  "89abcdef0123456789abcdef01234567"

static void paths_tell_who_runs_there(void **state)
{
	static const struct {
		const char *path, *container, *unit, *pod;
	} rows[] = {
		{"", "", "", ""},
		{"/", "", "", ""},
		{"/init.scope", "", "init.scope", ""},
		{"/system.slice/nginx.service", "", "nginx.service", ""},
		{"/system.slice/system-getty.slice/getty@tty1.service", "", "getty@tty1.service",
		 ""},
		{"/user.slice/user-1000.slice/session-3.scope", "", "session-3.scope", ""},
		{"/user.slice/user-1000.slice/user@1000.service/app.slice/app-x.scope", "",
		 "app-x.scope", ""},
		{"/system.slice", "", "", ""},
		/* docker: systemd's and its own driver; a systemd inside; docker in docker */
		{"/system.slice/docker-" ID ".scope", ID, "", ""},
		{"/docker/" ID, ID, "", ""},
		{"/docker/" ID "/system.slice/sshd.service", ID, "sshd.service", ""},
		{"/docker/" OTHER "/docker/" ID, ID, "", ""},
		{"/system.slice:docker:" ID, ID, "", ""},
		/* podman, with and without root, and its keeper */
		{"/machine.slice/libpod-" ID ".scope/container", ID, "", ""},
		{"/user.slice/user-1000.slice/user@1000.service/user.slice/libpod-" ID ".scope", ID,
		 "user@1000.service", ""},
		{"/machine.slice/libpod-conmon-" ID ".scope", "", "", ""},
		{"/libpod_parent/libpod-" ID, ID, "", ""},
		/* Kubernetes: containerd and CRI-O, both drivers, all classes, a static pod, kind
		 */
		{"/kubepods.slice/kubepods-burstable.slice/kubepods-burstable-pod" UID_
		 ".slice/cri-containerd-" ID ".scope",
		 ID, "", UID},
		{"/kubepods.slice/kubepods-pod" UID_ ".slice/crio-" ID ".scope", ID, "", UID},
		{"/kubepods/besteffort/pod" UID "/" ID, ID, "", UID},
		{"/kubepods/burstable/pod" HASH "/" ID, ID, "", HASH},
		{"/kubepods.slice/kubepods-besteffort.slice/kubepods-besteffort-pod" UID_
		 ".slice:cri-containerd:" ID,
		 ID, "", UID},
		{"/docker/" OTHER "/kubelet.slice/kubelet-kubepods.slice/kubelet-kubepods-pod" UID_
		 ".slice/cri-containerd-" ID ".scope",
		 ID, "", UID},
		{"/kubepods.slice/kubepods-pod" UID_ ".slice/crio-conmon-" ID ".scope", "", "",
		 UID},
		/* LXC and LXD, ECS */
		{"/lxc.payload.web1/system.slice/cron.service", "web1", "cron.service", ""},
		{"/lxc/web1", "web1", "", ""},
		{"/ecs/" HASH "/" HASH "-1234567890", HASH "-1234567890", "", ""},
		/* not what they look like */
		{"/system.slice/" ID "f", "", "", ""},
		{"/x" ID, "", "", ""},
		{"/podcast.service", "", "podcast.service", ""},
		{"/system.slice/a\nb.service", "", "", ""},
		{"/lxc/a\033[31m", "", "", ""},
		{"//.service/.scope", "", "", ""},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct cgroup_name name;

		cgroup_name_parse(rows[i].path, &name);
		if (strcmp(name.container, rows[i].container) || strcmp(name.unit, rows[i].unit) ||
		    strcmp(name.pod, rows[i].pod))
			fail_msg("%s: container '%s', unit '%s', pod '%s'", rows[i].path,
				 name.container, name.unit, name.pod);
	}
}

static void names_that_do_not_fit_are_left_out(void **state)
{
	struct cgroup_name name;
	char path[400] = "/";

	(void)state;
	memset(path + 1, 'a', 300);
	strcpy(path + 301, ".service");
	cgroup_name_parse(path, &name);
	assert_string_equal(name.unit, "");
}

static const char *service_of(const char *path, const char *exe)
{
	static char service[128];
	struct cgroup_name name;

	cgroup_name_parse(path, &name);
	cgroup_name_service(&name, exe, service, sizeof(service));
	return service;
}

static void service_is_the_first_that_is_known(void **state)
{
	(void)state;
	assert_string_equal(service_of("/kubepods/pod" UID "/" ID, "/bin/x"),
			    "pod " UID "/0123456789ab");
	assert_string_equal(service_of("/system.slice/docker-" ID ".scope", "/bin/x"),
			    "container 0123456789ab");
	assert_string_equal(service_of("/lxc/a-name-that-is-long", "/bin/x"),
			    "container a-name-that-is-long");
	assert_string_equal(service_of("/system.slice/nginx.service", "/bin/x"), "nginx.service");
	assert_string_equal(service_of("/", "/usr/bin/redis-server"), "redis-server");
	assert_string_equal(service_of("/", "bare"), "bare");
	assert_string_equal(service_of("/", ""), "");
}

static void mounts_are_found_with_their_hierarchy(void **state)
{
	static const char hierarchies[] =
		"12:cpu,cpuacct:/\n5:memory:/a:b\n1:name=systemd:/init.scope\n0::/init.scope\n";
	static const struct {
		const char *line, *at;
		u32 hierarchy;
	} good[] = {
		{"30 23 0:26 / /sys/fs/cgroup rw,nosuid shared:4 - cgroup2 cgroup2 rw,nsdelegate",
		 "/sys/fs/cgroup", 0},
		{"35 32 0:30 / /sys/fs/cgroup/cpu,cpuacct rw - cgroup cgroup rw,cpu,cpuacct",
		 "/sys/fs/cgroup/cpu,cpuacct", 12},
		{"36 32 0:31 / /a\\040b rw - cgroup cgroup rw,memory\n", "/a b", 5},
		{"33 32 0:28 / /x rw - cgroup cgroup rw,xattr,name=systemd", "/x", 1},
	};
	static const char *const bad[] = {
		"",
		"30 23 0:26 / /tmp rw - tmpfs tmpfs rw",
		"30 23 0:26 / /x rw - cgroup cgroup rw,hugetlb", /* of no hierarchy that is known */
		"30 23 0:26 / /x rw",
		"30 23 / /x rw - cgroup2 cgroup2 rw",
		"30 23 0:26 / /x rw - cgroup2",
	};
	struct cgroup_mount mount;

	(void)state;
	for (size_t i = 0; i < sizeof(good) / sizeof(good[0]); i++) {
		assert_true(cgroup_parse_mount(good[i].line, hierarchies, &mount));
		assert_string_equal(mount.at, good[i].at);
		assert_int_equal(mount.hierarchy, good[i].hierarchy);
		assert_int_equal(major(mount.device), 0);
	}
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
		assert_false(cgroup_parse_mount(bad[i], hierarchies, &mount));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(paths_tell_who_runs_there),
		cmocka_unit_test(names_that_do_not_fit_are_left_out),
		cmocka_unit_test(service_is_the_first_that_is_known),
		cmocka_unit_test(mounts_are_found_with_their_hierarchy),
	};

	return cmocka_run_group_tests_name("cgroup", tests, NULL, NULL);
}
