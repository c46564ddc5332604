// SPDX-License-Identifier: Apache-2.0
/*
 * Which tasks the kernel side wants, compiled for the host and run without a kernel.
 */
#include "unit.h"

#include "bpf_native.h"

#define V1_HIERARCHY 4
#define EXE_INODE    900
#define EXE_DEVICE   0x800001

static struct live_config live;
static struct super_block disk = {.s_dev = EXE_DEVICE};
static struct inode exe_inode = {.i_sb = &disk, .i_ino = EXE_INODE};
static struct file exe = {.f_inode = &exe_inode};
static struct mm_struct memory = {.exe_file = &exe};
static struct cred user = {.uid = {1000}};

/* Two hierarchies, each a root with id 1 and a cgroup below it. */
static struct cgroup_root v2 = {.hierarchy_id = CGROUP_V2_HIERARCHY};
static struct cgroup_root v1 = {.hierarchy_id = V1_HIERARCHY};
static struct kernfs_node root_node = {.id = 1}, v2_node = {.id = 20}, v1_node = {.id = 30};
static struct cgroup v2_root = {.self = {.cgroup = &v2_root}, .kn = &root_node, .root = &v2};
static struct cgroup v2_group = {
	.self = {.cgroup = &v2_group, .parent = &v2_root.self}, .kn = &v2_node, .root = &v2};
static struct cgroup v1_root = {.self = {.cgroup = &v1_root}, .kn = &root_node, .root = &v1};
static struct cgroup v1_group = {
	.self = {.cgroup = &v1_group, .parent = &v1_root.self}, .kn = &v1_node, .root = &v1};
static struct cgrp_cset_link v1_link, v2_link;
static struct css_set cgroups;

static struct task_struct init_task, parent, task;

static void link_cgroups(void)
{
	cgroups = (struct css_set){.dfl_cgrp = &v2_group, .cgrp_links = {&v2_link.cgrp_link}};
	v2_link = (struct cgrp_cset_link){.cgrp = &v2_group, .cgrp_link = {&v1_link.cgrp_link}};
	v1_link = (struct cgrp_cset_link){.cgrp = &v1_group, .cgrp_link = {&cgroups.cgrp_links}};
}

/* Thread 101 of process 100, a child of 50, a child of 1. */
static int start(void **state)
{
	(void)state;
	memset(&fake, 0, sizeof(fake));
	live = (struct live_config){.scope = SCOPE_LISTED, .sample_one_in = 1};
	init_task = (struct task_struct){.pid = 1, .tgid = 1, .comm = "init"};
	parent = (struct task_struct){
		.pid = 50, .tgid = 50, .real_parent = &init_task, .comm = "parent"};
	task = (struct task_struct){.pid = 101,
				    .tgid = 100,
				    .real_parent = &parent,
				    .mm = &memory,
				    .real_cred = &user,
				    .cgroups = &cgroups,
				    .comm = "worker/7"};
	link_cgroups();
	fake.live = &live;
	cfg_pidns_inum = PIDNS_INIT_INUM;
	cfg_self_tgid = cfg_worker_tgid = 0;
	return 0;
}

static void add(u64 kind, u64 first, u64 second)
{
	fake.filters[fake.filter_count++] = (struct filter_key){kind, {first, second}};
	live.filter_kinds |= FILTER_KIND_BIT(kind);
}

static void add_comm(const char *comm)
{
	struct filter_key key = {.kind = FILTER_BY_COMM};

	memcpy(key.value, comm, strlen(comm));
	add(FILTER_BY_COMM, key.value[0], key.value[1]);
}

static bool wants_only_by(u64 kind, u64 first, u64 second)
{
	fake.filter_count = 0;
	live.filter_kinds = 0;
	add(kind, first, second);
	return filter_wants(&task);
}

static void scope_fails_closed(void **state)
{
	(void)state;
	assert_false(filter_wants(&task)); /* listed, but nothing is */
	live.scope = SCOPE_NONE;
	assert_false(filter_wants(&task));
	live.scope = 99;
	assert_false(filter_wants(&task));
	live.scope = SCOPE_ALL;
	assert_true(filter_wants(&task));
	fake.live = NULL;
	assert_false(filter_wants(&task));
}

static void own_processes_are_never_wanted(void **state)
{
	(void)state;
	cfg_self_tgid = 100;
	add(FILTER_BY_PID, 100, 0);
	assert_false(filter_wants(&task));
	live.scope = SCOPE_ALL;
	assert_false(filter_wants(&task));
	cfg_self_tgid = 0;
	cfg_worker_tgid = 100;
	assert_false(filter_wants(&task));
	assert_true(filter_wants(&parent));
}

static void each_kind_looks_at_its_own(void **state)
{
	(void)state;
	assert_true(wants_only_by(FILTER_BY_PID, 100, 0));
	assert_false(wants_only_by(FILTER_BY_PID, 101, 0));
	assert_true(wants_only_by(FILTER_BY_TID, 101, 0));
	assert_false(wants_only_by(FILTER_BY_TID, 100, 0));
	assert_true(wants_only_by(FILTER_BY_UID, 1000, 0));
	assert_false(wants_only_by(FILTER_BY_UID, 0, 0));
	assert_true(wants_only_by(FILTER_BY_EXE, EXE_INODE, EXE_DEVICE));
	assert_false(wants_only_by(FILTER_BY_EXE, EXE_INODE, EXE_DEVICE + 1));
	assert_false(wants_only_by(FILTER_BY_EXE, EXE_INODE + 1, EXE_DEVICE));
	task.mm = NULL; /* a kernel thread has no executable */
	assert_false(wants_only_by(FILTER_BY_EXE, EXE_INODE, EXE_DEVICE));
	assert_false(wants_only_by(FILTER_BY_EXE, 0, 0));
}

static void names_are_whole(void **state)
{
	(void)state;
	add_comm("worker");
	assert_false(filter_wants(&task));
	add_comm("worker/7");
	assert_true(filter_wants(&task));
	strcpy(task.comm, "fifteen-bytes-x");
	assert_false(filter_wants(&task));
	add_comm("fifteen-bytes-x");
	assert_true(filter_wants(&task));
}

static void rename_is_judged_by_the_new_name(void **state)
{
	(void)state;
	add_comm("after");
	add_comm("a-name-that-is-"); /* as the kernel cuts it */
	assert_false(filter_wants_still(&task, false, NULL));
	assert_true(filter_wants_still(&task, false, "after"));
	assert_true(filter_wants_still(&task, false, "a-name-that-is-too-long"));
	strcpy(task.comm, "after");
	assert_false(filter_wants_still(&task, true, "before"));
}

static void cgroups_include_descendants(void **state)
{
	(void)state;
	assert_true(wants_only_by(FILTER_BY_CGROUP, 20, CGROUP_V2_HIERARCHY));
	assert_true(wants_only_by(FILTER_BY_CGROUP, 1, CGROUP_V2_HIERARCHY));
	assert_false(wants_only_by(FILTER_BY_CGROUP, 30, CGROUP_V2_HIERARCHY));
	cgroups.dfl_cgrp = v2_link.cgrp = &v2_root;
	assert_false(wants_only_by(FILTER_BY_CGROUP, 20, CGROUP_V2_HIERARCHY));
}

static void cgroups_of_v1_are_told_apart_by_hierarchy(void **state)
{
	(void)state;
	live.filter_cgroup_v1 = 1;
	assert_true(wants_only_by(FILTER_BY_CGROUP, 30, V1_HIERARCHY));
	assert_true(wants_only_by(FILTER_BY_CGROUP, 1, V1_HIERARCHY));
	assert_false(wants_only_by(FILTER_BY_CGROUP, 20, V1_HIERARCHY));
	assert_false(wants_only_by(FILTER_BY_CGROUP, 30, V1_HIERARCHY + 1));
	assert_true(wants_only_by(FILTER_BY_CGROUP, 20, CGROUP_V2_HIERARCHY)); /* v2 as well */
	live.filter_cgroup_v1 = 0;
	assert_false(wants_only_by(FILTER_BY_CGROUP, 30, V1_HIERARCHY));
}

static void cgroup_lists_are_bounded(void **state)
{
	(void)state;
	live.filter_cgroup_v1 = 1;
	v1_link.cgrp_link.next = &v1_link.cgrp_link; /* never ends */
	v1_group.self.parent = &v1_group.self;
	assert_false(wants_only_by(FILTER_BY_CGROUP, 77, V1_HIERARCHY));
	v1_group.self.parent = &v1_root.self;
	cgroups.cgrp_links.next = NULL;
	assert_false(wants_only_by(FILTER_BY_CGROUP, 30, V1_HIERARCHY));
}

static void kinds_are_anded_and_values_ored(void **state)
{
	(void)state;
	add(FILTER_BY_PID, 100, 0);
	add(FILTER_BY_PID, 200, 0);
	assert_true(filter_wants(&task));
	add(FILTER_BY_UID, 0, 0);
	assert_false(filter_wants(&task));
	add(FILTER_BY_UID, 1000, 0);
	assert_true(filter_wants(&task));
}

static void tree_is_inherited(void **state)
{
	(void)state;
	add(FILTER_BY_TREE, 50, 0);
	assert_true(filter_wants(&parent));
	assert_true(filter_wants(&task)); /* its child, which was there before */
	assert_false(filter_wants(&init_task));
	task.real_parent = &init_task; /* an orphan */
	assert_false(filter_wants_child(&task, false));
	assert_true(filter_wants_child(&task, true));
	assert_true(filter_wants_still(&task, true, NULL));
	add(FILTER_BY_UID, 0, 0); /* a child is judged by itself too */
	assert_false(filter_wants_child(&task, true));
}

static void without_a_tree_a_child_is_judged_by_itself(void **state)
{
	(void)state;
	add(FILTER_BY_PID, 50, 0);
	assert_true(filter_wants(&parent));
	assert_false(filter_wants_child(&task, true));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup(scope_fails_closed, start),
		cmocka_unit_test_setup(own_processes_are_never_wanted, start),
		cmocka_unit_test_setup(each_kind_looks_at_its_own, start),
		cmocka_unit_test_setup(names_are_whole, start),
		cmocka_unit_test_setup(rename_is_judged_by_the_new_name, start),
		cmocka_unit_test_setup(cgroups_include_descendants, start),
		cmocka_unit_test_setup(cgroups_of_v1_are_told_apart_by_hierarchy, start),
		cmocka_unit_test_setup(cgroup_lists_are_bounded, start),
		cmocka_unit_test_setup(kinds_are_anded_and_values_ored, start),
		cmocka_unit_test_setup(tree_is_inherited, start),
		cmocka_unit_test_setup(without_a_tree_a_child_is_judged_by_itself, start),
	};

	return cmocka_run_group_tests_name("filter", tests, NULL, NULL);
}
