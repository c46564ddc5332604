// SPDX-License-Identifier: Apache-2.0
#include "privileges.h"

#include <errno.h>
#include <grp.h>
#include <stdlib.h>
#include <sys/capability.h>
#include <sys/prctl.h>
#include <unistd.h>

#include "../base/text.h"

#define NOBODY 65534
#define ID_MAX 0xfffffffeULL

static u64 id_from_sudo(const char *variable)
{
	const char *text = getenv(variable);
	u64 id;

	return text && !text_parse_u64(text, 1, ID_MAX, &id) ? id : NOBODY;
}

/* Root only: an ordinary user has no other identity to take. */
static int change_user(void)
{
	uid_t uid = (uid_t)id_from_sudo("SUDO_UID");
	gid_t gid = (gid_t)id_from_sudo("SUDO_GID");

	if (geteuid() != 0)
		return 0;
	if (setgroups(0, NULL) || setresgid(gid, gid, gid) || setresuid(uid, uid, uid))
		return -errno;
	return 0;
}

static int drop_capabilities(void)
{
	cap_t none = cap_init();
	int err = 0;

	if (!none)
		return -errno;
	if (cap_set_proc(none))
		err = -errno;
	cap_free(none);
	return err;
}

int privileges_drop(void)
{
	int user_err = change_user();
	int err = drop_capabilities();

	if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0))
		return -errno;
	/*
	 * Some user namespaces map one identity only, and some containers withhold CAP_SETUID:
	 * there the user stays, but without any capability.
	 */
	if (user_err && user_err != -EPERM && user_err != -EINVAL)
		return user_err;
	return err;
}
