// SPDX-License-Identifier: Apache-2.0
/*
 * Paths from dentries and mounts, compiled for the host and run without a kernel.
 */
#include "unit.h"

#include <stdio.h>

#include "bpf_native.h"

#define NAME(text) .d_name = {sizeof(text) - 1, (const unsigned char *)(text)}

static struct dentry root = {.d_parent = &root, NAME("/")};
static struct dentry opt = {.d_parent = &root, NAME("opt")};
static struct dentry disk_root = {.d_parent = &disk_root, NAME("/")};
static struct dentry bin = {.d_parent = &disk_root, NAME("bin")};
static struct dentry server = {.d_parent = &bin, NAME("server")};
static struct mount root_mount = {.mnt_parent = &root_mount, .mnt = {&root}};
static struct mount disk = {.mnt_parent = &root_mount, .mnt_mountpoint = &opt, .mnt = {&disk_root}};
static struct path_scratch scratch;

static const char *path_at(struct vfsmount *mount, struct dentry *dentry)
{
	struct file file = {.f_path = {mount, dentry}};

	path_of_file(&scratch, &file);
	return (const char *)scratch.text + scratch.start;
}

static void mounts_are_crossed(void **state)
{
	(void)state;
	assert_string_equal(path_at(&root_mount.mnt, &opt), "/opt");
	assert_string_equal(path_at(&disk.mnt, &server), "/opt/bin/server");
	assert_string_equal(path_at(&root_mount.mnt, &root), "");
}

static void long_paths_lose_their_beginning(void **state)
{
	static struct dentry parts[PATH_DEPTH_MAX + 6];
	static char names[PATH_DEPTH_MAX + 6][16];
	size_t last = sizeof(parts) / sizeof(parts[0]) - 1;
	const char *path;

	(void)state;
	for (size_t i = 0; i <= last; i++) {
		snprintf(names[i], sizeof(names[i]), "part%02zu", i);
		parts[i] = (struct dentry){.d_parent = i ? &parts[i - 1] : &root,
					   .d_name = {6, (const unsigned char *)names[i]}};
	}
	path = path_at(&root_mount.mnt, &parts[last]);
	assert_int_equal(strlen(path), PATH_DEPTH_MAX * 7);
	assert_string_equal(path + strlen(path) - 7, "/part29");
}

static void name_that_has_no_room_ends_it(void **state)
{
	static unsigned char text[255];
	struct dentry large = {.d_parent = &root, .d_name = {255, text}};
	struct dentry middle = {.d_parent = &large, .d_name = {200, text}};
	struct dentry child = {.d_parent = &middle, NAME("x")};
	const char *path;

	(void)state;
	memset(text, 'l', sizeof(text));
	path = path_at(&root_mount.mnt, &child);
	assert_int_equal(strlen(path), 203);
	assert_string_equal(path_at(&root_mount.mnt, &large), "");
	assert_string_equal(path_at(NULL, NULL), "");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(mounts_are_crossed),
		cmocka_unit_test(long_paths_lose_their_beginning),
		cmocka_unit_test(name_that_has_no_room_ends_it),
	};

	return cmocka_run_group_tests_name("path", tests, NULL, NULL);
}
