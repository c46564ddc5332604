// SPDX-License-Identifier: Apache-2.0
/* rtloop: SCHED_FIFO, computes 50 ms of each 100 ms. */
#include <sched.h>

#include "../truth.h"

int main(void)
{
	struct sched_param param = {.sched_priority = 10};

	truth_start(NULL);
	if (sched_setscheduler(0, SCHED_FIFO, &param)) {
		perror("sched_setscheduler");
		return 1;
	}
	for (;;) {
		uint64_t begin = now_ns(), took;

		burn_ns(50000000);
		took = now_ns() - begin;
		sleep_ns(took < 100000000 ? 100000000 - took : 1000000);
	}
}
