// SPDX-License-Identifier: Apache-2.0
#include "person.h"

#include <errno.h>
#include <grp.h>
#include <pwd.h>
#include <stdlib.h>
#include <sys/fsuid.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "cleanup.h"
#include "text.h"

#define ID_MAX	   0xfffffffeULL
#define GROUPS_MAX 1024

void person_find(struct person *ret_person)
{
	const char *uid_text = getenv("SUDO_UID"), *gid_text = getenv("SUDO_GID");
	u64 uid, gid;

	*ret_person = (struct person){0};
	if (geteuid() != 0 || !uid_text || !gid_text || text_parse_u64(uid_text, 1, ID_MAX, &uid) ||
	    text_parse_u64(gid_text, 0, ID_MAX, &gid))
		return;
	ret_person->is_behind_sudo = true;
	ret_person->uid = (uid_t)uid;
	ret_person->gid = (gid_t)gid;
}

bool person_is_owner(const struct person *person, uid_t uid)
{
	return uid == geteuid() || (person->is_behind_sudo && uid == person->uid);
}

/* Of this thread alone; the C library's function changes them for all. */
static int set_groups(const gid_t *groups, int count)
{
	return syscall(SYS_setgroups, (long)count, groups) ? -errno : 0;
}

/* One who is in no list of users has the one group that sudo told. */
static int take_groups(const struct person *person)
{
	gid_t groups[GROUPS_MAX] = {person->gid};
	const struct passwd *entry = getpwuid(person->uid);
	int count = GROUPS_MAX;

	if (!entry || getgrouplist(entry->pw_name, person->gid, groups, &count) < 0)
		count = 1;
	return set_groups(groups, count);
}

static int keep_groups(struct person *person)
{
	int count = getgroups(0, NULL);

	person->groups_before = count < 0 ? NULL : calloc((size_t)count + 1, sizeof(gid_t));
	if (!person->groups_before)
		return -ENOMEM;
	person->group_count_before = getgroups(count, person->groups_before);
	return person->group_count_before < 0 ? -errno : 0;
}

/* These two do not say whether they worked: an impossible id asks for the present one. */
static bool has_rights_of(uid_t uid, gid_t gid)
{
	return (uid_t)setfsuid((uid_t)-1) == uid && (gid_t)setfsgid((gid_t)-1) == gid;
}

int person_begin(struct person *person)
{
	int err;

	if (!person->is_behind_sudo)
		return caller_begin(&person->caller);
	err = keep_groups(person);
	if (!err)
		err = take_groups(person);
	if (!err) {
		setfsgid(person->gid);
		setfsuid(person->uid);
		if (!has_rights_of(person->uid, person->gid))
			err = -EPERM;
	}
	if (err)
		person_end(person);
	return err;
}

void person_end(struct person *person)
{
	caller_end(&person->caller);
	if (!person->groups_before)
		return;
	setfsuid(geteuid());
	setfsgid(getegid());
	set_groups(person->groups_before, person->group_count_before);
	free(person->groups_before);
	person->groups_before = NULL;
}
