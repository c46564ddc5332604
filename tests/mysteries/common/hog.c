// SPDX-License-Identifier: Apache-2.0
/* hog: computes, and does nothing else. */
#include "../truth.h"

int main(void)
{
	for (;;)
		compute(1);
}
