// SPDX-License-Identifier: Apache-2.0
/* forker MB SECONDS: has so much memory, and starts a child twenty times a second. */
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>

#include "../truth.h"

enum { FORKS, FORK_CPU_NS };

int main(int argc, char **argv)
{
	size_t size = strtoull(argv[1], NULL, 10) << 20;
	uint64_t end;

	if (argc != 3 || prctl(PR_SET_THP_DISABLE, 1, 0, 0, 0))
		return 64;
	if (mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_POPULATE, -1,
		 0) == MAP_FAILED)
		return 1;
	end = now_ns() + strtoull(argv[2], NULL, 10) * 1000000000;
	truth_start("forks", "fork_cpu_ns", NULL);
	while (now_ns() < end) {
		uint64_t begin = now_ns(), cpu = cpu_ns();
		pid_t child = fork();

		if (!child)
			_exit(0);
		truth_add(FORK_CPU_NS, cpu_ns() - cpu);
		waitpid(child, NULL, 0);
		truth_add(FORKS, 1);
		if (now_ns() - begin < 50000000)
			sleep_ns(50000000 - (now_ns() - begin));
	}
	truth_write();
	return 0;
}
