// SPDX-License-Identifier: Apache-2.0
#include "landlock.h"

#include <errno.h>
#include <stddef.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "../../abi/types.h"

/* All architectures share these numbers; headers of older systems lack them, or parts of the rest.
 */
#ifndef SYS_landlock_create_ruleset
#define SYS_landlock_create_ruleset 444
#define SYS_landlock_restrict_self  446
#endif

#define RULESET_VERSION 1u

/* struct landlock_ruleset_attr, of which each version knows more. */
struct ruleset {
	u64 files;  /* LANDLOCK_ACCESS_FS_* */
	u64 ports;  /* LANDLOCK_ACCESS_NET_*: from version 4 on */
	u64 scopes; /* LANDLOCK_SCOPE_*: from version 6 on */
};

#define FILES_OF_1 0x1fffULL /* 13 kinds of access, from execution to making links */
#define FILES_OF_2 0x3fffULL /* and moving files between folders */
#define FILES_OF_3 0x7fffULL /* and truncation */
#define FILES_OF_5 0xffffULL /* and ioctl() of devices */
#define PORTS_OF_4 0x3ULL    /* bind and connect */
/* Abstract sockets. Not signals: the end of this process would no longer end its children. */
#define SCOPES_OF_6 0x1ULL

static u64 files_of(int version)
{
	if (version >= 5)
		return FILES_OF_5;
	if (version >= 3)
		return FILES_OF_3;
	return version == 2 ? FILES_OF_2 : FILES_OF_1;
}

static size_t ruleset_bytes(int version)
{
	if (version >= 6)
		return sizeof(struct ruleset);
	return version >= 4 ? offsetof(struct ruleset, scopes) : offsetof(struct ruleset, ports);
}

int landlock_version(void)
{
	long version = syscall(SYS_landlock_create_ruleset, NULL, (size_t)0, RULESET_VERSION);

	return version < 0 ? 0 : (int)version;
}

int landlock_deny_all(void)
{
	int version = landlock_version(), err;
	struct ruleset ruleset = {
		.files = files_of(version),
		.ports = version >= 4 ? PORTS_OF_4 : 0,
		.scopes = version >= 6 ? SCOPES_OF_6 : 0,
	};
	long fd;

	if (!version)
		return -EOPNOTSUPP;
	fd = syscall(SYS_landlock_create_ruleset, &ruleset, ruleset_bytes(version), 0u);
	if (fd < 0)
		return -errno;
	err = syscall(SYS_landlock_restrict_self, (int)fd, 0u) ? -errno : 0;
	close((int)fd);
	return err;
}
