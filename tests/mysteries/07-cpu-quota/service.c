// SPDX-License-Identifier: Apache-2.0
/* service: computes 5 ms, pauses 1 ms. One thread, so that the cgroup's throttled time is that
 * thread's. */
#include "../truth.h"

int main(void)
{
	for (;;) {
		burn_ns(5000000);
		sleep_ns(1000000);
	}
}
