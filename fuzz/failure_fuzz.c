// SPDX-License-Identifier: Apache-2.0
/*
 * The reader of verifier logs, which hold names from any loaded module.
 */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "../src/model/failure.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct failure failure = {.log = strndup((const char *)data, size)};

	failure_excerpt(&failure);
	if (strlen(failure.excerpt) >= sizeof(failure.excerpt))
		abort();
	failure_clear(&failure);
	return 0;
}
