// SPDX-License-Identifier: Apache-2.0
#include "privileges.h"

#include <errno.h>
#include <grp.h>
#include <linux/capability.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "../../abi/config.h"
#include "../base/capabilities.h"
#include "../base/person.h"

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

u64 privileges_to_drop(void)
{
	return CAPABILITY(CAP_SETUID) | CAPABILITY(CAP_SETGID);
}

int privileges_drop(void)
{
	int err = change_user();

	if (!err)
		err = capabilities_keep(0);
	if (!err && prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0))
		err = -errno;
	return err;
}

/* What each is for, once programs are loaded and attached. */
static const u64 measuring =
	CAPABILITY(CAP_BPF) |		  /* maps are read and written */
	CAPABILITY(CAP_PERFMON) |	  /* deferred probes, a CPU that comes back */
	CAPABILITY(CAP_SYS_ADMIN) |	  /* own cost, /proc/PID/map_files, uprobes */
	CAPABILITY(CAP_SYS_PTRACE) |	  /* mappings of processes, what helpers wait for */
	CAPABILITY(CAP_DAC_READ_SEARCH) | /* and the files that they have mapped */
	CAPABILITY(CAP_SYSLOG) |	  /* addresses of the kernel's functions */
	CAPABILITY(CAP_KILL) |		  /* children, which are of another user */
	CAPABILITY(CAP_SETUID) |	  /* children that read a session become nobody */
	CAPABILITY(CAP_SETGID);

/* Behind sudo a session is written with the rights of who called it. */
static bool writes_for_others(const char *session)
{
	struct person person;

	person_find(&person);
	return session && !person.is_behind_sudo && capabilities_need_override(session);
}

int privileges_limit(const char *session, struct sandbox_notes *notes)
{
	u64 set = measuring;
	int err;

	if (writes_for_others(session))
		set |= CAPABILITY(CAP_DAC_OVERRIDE);
	err = capabilities_keep(set);
	return err ? err : sandbox_enter(SANDBOX_PRIVILEGED, notes);
}
