// SPDX-License-Identifier: Apache-2.0
/*
 * Paths from dentries and mounts, compiled for the host and run without a kernel.
 */
#include "unit.h"

#include <stdio.h>

#include "bpf_native.h"

#define STEPS_MAX (PATH_BYTES / PATH_PART_BYTES)

#define NAME(text) .d_name = {sizeof(text) - 1, (const unsigned char *)(text)}

static struct dentry root = {.d_parent = &root, NAME("/")};
static struct dentry opt = {.d_parent = &root, NAME("opt")};
static struct dentry disk_root = {.d_parent = &disk_root, NAME("/")};
static struct dentry bin = {.d_parent = &disk_root, NAME("bin")};
static struct dentry server = {.d_parent = &bin, NAME("server")};
static struct mount root_mount = {.mnt_parent = &root_mount, .mnt = {&root}};
static struct mount disk = {.mnt_parent = &root_mount, .mnt_mountpoint = &opt, .mnt = {&disk_root}};
static u8 text[2 * PATH_BYTES];
static bool is_whole;

static const char *path_at(struct vfsmount *mount, struct dentry *dentry)
{
	struct file file = {.f_path = {mount, dentry}};

	u32 start;

	is_whole = path_of_file(text, PATH_BYTES, &start, &file);
	assert_in_range(start, 0, PATH_BYTES - 1);
	return (const char *)text + start;
}

static void mounts_are_crossed(void **state)
{
	(void)state;
	assert_string_equal(path_at(&root_mount.mnt, &opt), "/opt");
	assert_string_equal(path_at(&disk.mnt, &server), "/opt/bin/server");
	assert_true(is_whole);
	assert_string_equal(path_at(&disk.mnt, &disk_root), "/opt");
	assert_string_equal(path_at(&root_mount.mnt, &root), "");
}

static void long_paths_lose_their_beginning(void **state)
{
	static struct dentry parts[STEPS_MAX + 6];
	static char names[STEPS_MAX + 6][16];
	size_t last = sizeof(parts) / sizeof(parts[0]) - 1;
	const char *path;

	(void)state;
	for (size_t i = 0; i <= last; i++) {
		snprintf(names[i], sizeof(names[i]), "part%02zu", i);
		parts[i] = (struct dentry){.d_parent = i ? &parts[i - 1] : &root,
					   .d_name = {6, (const unsigned char *)names[i]}};
	}
	path = path_at(&root_mount.mnt, &parts[last]);
	assert_int_equal(strlen(path), STEPS_MAX * 7);
	assert_string_equal(path + strlen(path) - 7, "/part37");
	assert_false(is_whole);
}

static void file_in_no_folder_has_its_name(void **state)
{
	struct dentry memfd = {.d_parent = &memfd, NAME("memfd:code")};

	(void)state;
	assert_string_equal(path_at(&disk.mnt, &memfd), "/memfd:code");
	assert_true(is_whole);
}

static void end_of_what_has_no_room_is_kept(void **state)
{
	static unsigned char name[255];
	struct dentry large = {.d_parent = &root, .d_name = {255, name}};
	struct dentry middle = {.d_parent = &large, .d_name = {200, name}};
	struct dentry child = {.d_parent = &middle, NAME("x")};
	struct dentry fitting = {.d_parent = &root, .d_name = {254, name}};
	const char *path;

	(void)state;
	memset(name, 'l', sizeof(name));
	name[254] = 'e';
	path = path_at(&root_mount.mnt, &child);
	assert_int_equal(strlen(path), PATH_BYTES - 1);
	assert_string_equal(path + PATH_BYTES - 4, "l/x"); /* of the second part */
	assert_memory_equal(path + PATH_BYTES - 1 - 203 - 2, "le/l", 4);
	assert_false(is_whole);
	path = path_at(&root_mount.mnt, &large);
	assert_int_equal(strlen(path), PATH_BYTES - 1);
	assert_string_equal(path + PATH_BYTES - 3, "le");
	assert_false(is_whole); /* "/" is missing */
	path = path_at(&root_mount.mnt, &fitting);
	assert_int_equal(strlen(path), PATH_BYTES - 1);
	assert_int_equal(path[0], '/');
	assert_true(is_whole);
	assert_string_equal(path_at(NULL, NULL), "");
	assert_false(is_whole);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(mounts_are_crossed),
		cmocka_unit_test(long_paths_lose_their_beginning),
		cmocka_unit_test(file_in_no_folder_has_its_name),
		cmocka_unit_test(end_of_what_has_no_room_is_kept),
	};

	return cmocka_run_group_tests_name("path", tests, NULL, NULL);
}
