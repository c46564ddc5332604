// SPDX-License-Identifier: Apache-2.0
#include "scratch.h"

#include <errno.h>
#include <ftw.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <unistd.h>

#include "clock.h"

#define REMOVE_WAIT_NS (10 * NS_PER_S)
#define FOLDERS_OPEN   16

static int make_in(const char *folder, struct scratch *scratch)
{
	int length = snprintf(scratch->path, sizeof(scratch->path), "%s/dwell-XXXXXX", folder);

	if (length >= (int)sizeof(scratch->path))
		return -ENAMETOOLONG;
	return mkdtemp(scratch->path) ? 0 : -errno;
}

static int remove_one(const char *path, const struct stat *st, int kind, struct FTW *ftw)
{
	(void)st;
	(void)kind;
	(void)ftw;
	return remove(path) && errno != ENOENT;
}

/* Its maker's death closes the socket; it must not be this process's death too. */
static void wait_and_remove(int sock, void *context)
{
	const struct scratch *scratch = context;
	char byte;

	prctl(PR_SET_PDEATHSIG, 0);
	while (read(sock, &byte, 1) > 0)
		;
	nftw(scratch->path, remove_one, FOLDERS_OPEN, FTW_DEPTH | FTW_PHYS);
}

int scratch_make(struct scratch *ret_scratch)
{
	const char *folder = getenv("TMPDIR");
	int err = folder && *folder ? make_in(folder, ret_scratch) : -ENOENT;

	if (err)
		err = make_in("/tmp", ret_scratch);
	if (err)
		return err;
	err = child_start(&ret_scratch->remover, wait_and_remove, ret_scratch, -1);
	if (err)
		rmdir(ret_scratch->path);
	return err;
}

void scratch_remove(struct scratch *scratch)
{
	child_stop(&scratch->remover, REMOVE_WAIT_NS);
}
