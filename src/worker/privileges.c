// SPDX-License-Identifier: Apache-2.0
#include "privileges.h"

#include <errno.h>
#include <grp.h>
#include <sys/capability.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "../../abi/config.h"

#define NOBODY 65534

/* There "root" owns nothing of the host's, and often no other user exists. */
static int is_in_user_namespace(void)
{
	struct stat st;

	return !stat("/proc/self/ns/user", &st) && st.st_ino != USERNS_INIT_INUM;
}

/* Root only: an ordinary user has no other identity to take. */
static int change_user(void)
{
	if (geteuid() != 0)
		return 0;
	if (setgroups(0, NULL) || setresgid(NOBODY, NOBODY, NOBODY) ||
	    setresuid(NOBODY, NOBODY, NOBODY))
		return is_in_user_namespace() ? 0 : -errno;
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
	int err = change_user();

	if (!err)
		err = drop_capabilities();
	if (!err && prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0))
		err = -errno;
	return err;
}
