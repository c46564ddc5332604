// SPDX-License-Identifier: Apache-2.0
/*
 * Names out of anybody's files, demangled: short in time, and fit to be shown.
 */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "../src/base/utf8.h"
#include "../src/symbolize/demangle.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	char *name = strndup((const char *)data, size);
	char text[DEMANGLED_MAX], again[DEMANGLED_MAX], small[16];

	demangle(name, text, sizeof(text));
	utf8_escape(again, sizeof(again), text);
	if (strcmp(text, again))
		abort(); /* something in it was not harmless */
	demangle(name, small, sizeof(small));
	free(name);
	return 0;
}
