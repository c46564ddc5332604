// SPDX-License-Identifier: Apache-2.0
/* pages REQUESTS STATS: handles so many requests, each with so many calls of stat, and one write().
 */
#include <fcntl.h>
#include <sys/stat.h>

#include "../truth.h"

enum { REQUESTS, STATS };

int main(int argc, char **argv)
{
	int answer = open("/dev/null", O_WRONLY | O_CLOEXEC);

	if (argc != 3 || answer < 0)
		return 64;
	truth_start("requests", "stats", NULL);
	for (int i = 0; i < atoi(argv[1]); i++) {
		struct stat info;

		for (int k = 0; k < atoi(argv[2]); k++)
			if (!stat("/etc/hostname", &info))
				truth_add(STATS, 1);
		burn_ns(200000);
		if (write(answer, "", 1) != 1)
			return 1;
		truth_add(REQUESTS, 1);
	}
	truth_write();
	return 0;
}
