// SPDX-License-Identifier: Apache-2.0
/*
 * fetch BUILD-ID MS: asks debuginfod_fetch() for it, and copies what it gets to stdout; else says
 * on stderr which error it was.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "../../src/symbolize/debuginfod.h"

int main(int argc, char **argv)
{
	u8 id[64];
	size_t size = 0;
	char buffer[4096];
	ssize_t got;
	int fd;

	if (argc != 3)
		return 64;
	for (; size < sizeof(id) && sscanf(argv[1] + 2 * size, "%2hhx", &id[size]) == 1; size++)
		;
	fd = debuginfod_fetch(id, size, "it", strtoull(argv[2], NULL, 10));
	if (fd < 0) {
		fprintf(stderr, "%s\n", strerrorname_np(-fd));
		return 1;
	}
	while ((got = read(fd, buffer, sizeof(buffer))) > 0)
		fwrite(buffer, 1, (size_t)got, stdout);
	return 0;
}
