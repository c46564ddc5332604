// SPDX-License-Identifier: Apache-2.0
#include "capabilities.h"

#include <errno.h>
#include <fcntl.h>
#include <libgen.h>
#include <limits.h>
#include <sys/capability.h>
#include <unistd.h>

#include "text.h"

#define CAPABILITIES_MAX 64

/* With those of the set that are permitted: in force, permitted if they are to stay so. */
static int change(cap_t caps, u64 set, bool is_for_good)
{
	for (cap_value_t cap = 0; cap < CAPABILITIES_MAX && CAP_IS_SUPPORTED(cap); cap++) {
		cap_flag_value_t has = CAP_CLEAR;

		if (cap_get_flag(caps, cap, CAP_PERMITTED, &has))
			return -errno;
		if (!(set & CAPABILITY(cap)))
			has = CAP_CLEAR;
		if (cap_set_flag(caps, CAP_EFFECTIVE, 1, &cap, has) ||
		    (is_for_good && cap_set_flag(caps, CAP_PERMITTED, 1, &cap, has)))
			return -errno;
	}
	if (is_for_good && cap_clear_flag(caps, CAP_INHERITABLE))
		return -errno;
	return cap_set_proc(caps) ? -errno : 0;
}

int capabilities_keep(u64 set)
{
	cap_t caps = cap_get_proc();
	int err = caps ? change(caps, set, true) : -errno;

	cap_free(caps);
	return err;
}

bool capabilities_has(u64 set)
{
	cap_t caps = cap_get_proc();
	bool has_all = caps != NULL;

	for (cap_value_t cap = 0; caps && cap < CAPABILITIES_MAX; cap++) {
		cap_flag_value_t has = CAP_CLEAR;

		if (set & CAPABILITY(cap))
			has_all &= !cap_get_flag(caps, cap, CAP_EFFECTIVE, &has) && has == CAP_SET;
	}
	cap_free(caps);
	return has_all;
}

/* Asked of the kernel without the capability, as groups and access lists count, too. */
bool capabilities_need_override(const char *path)
{
	cap_t now = cap_get_proc(), less = now ? cap_dup(now) : NULL;
	char folder[PATH_MAX];
	bool needs = true;

	text_copy(folder, sizeof(folder), path);
	if (less && !change(less, ~CAPABILITY(CAP_DAC_OVERRIDE), false)) {
		needs = faccessat(AT_FDCWD, dirname(folder), W_OK | X_OK, AT_EACCESS) != 0;
		cap_set_proc(now);
	}
	cap_free(less);
	cap_free(now);
	return needs;
}
