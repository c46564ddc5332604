// SPDX-License-Identifier: Apache-2.0
/* What a process that read sessions from anywhere sends to the one that judges: whatever it sends.
 */
#include <stdint.h>
#include <stdio.h>

#include "../src/base/log.h"
#include "../src/diff/transfer.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* The same as both sides, since a comparison needs two. */
static int receive_twice(struct diff *diff, const uint8_t *data, size_t size)
{
	const char *const names[] = {"session"};
	int err = 0;

	for (int side = 0; !err && side < 2; side++) {
		FILE *from = fmemopen((void *)(uintptr_t)data, size, "r");

		if (!from)
			return -1;
		err = diff_receive(diff, from, side, names, 1);
		fclose(from);
	}
	return err;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct diff_options options = {.force = true, .fail_over = 0, .run_count = 2};
	static struct diff diff;
	FILE *out = fopen("/dev/null", "w");

	if (!out)
		return 0;
	log_set_level(LOG_SILENT);
	(void)diff_parse_per("wall", &options.per);
	if (size && !diff_init(&diff, &options)) {
		if (!receive_twice(&diff, data, size) && !diff_judge(&diff)) {
			diff_print_text(&diff, out);
			diff_print_json(&diff, out);
		}
		diff_free(&diff);
	}
	fclose(out);
	return 0;
}
