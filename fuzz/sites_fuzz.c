// SPDX-License-Identifier: Apache-2.0
/*
 * An ELF file of anybody's, asked for places of probes; and an argument of a USDT probe.
 */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "../src/symbolize/sites.h"
#include "../src/symbolize/thread_context.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void look_at(struct sites *sites, int err)
{
	if (err)
		return;
	if (sites->count > SITES_MAX || sites->matched < sites->count)
		abort();
	for (size_t i = 0; i < sites->count; i++)
		if (strlen(sites->items[i].name) >= SITE_NAME_MAX ||
		    sites->items[i].arg_count > SITE_ARGS_MAX ||
		    sites->items[i].return_count > SITE_RETURNS_MAX)
			abort();
	sites_free(sites);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	char *image = malloc(size ? size : 1); /* libelf may write into it */
	struct thread_context context;
	struct elf_file file;
	struct sites sites;

	memcpy(image, data, size);
	if (!elf_file_open_memory(image, size, &file)) {
		look_at(&sites, sites_find(&file, NULL, "*", &sites));
		look_at(&sites, sites_find(&file, &file, "a::*", &sites));
		look_at(&sites, sites_find_usdt(&file, "*", &sites));
		look_at(&sites, sites_at(&file, NULL, 0x1000, &sites));
		sites_is_inlined(&file, "main");
		thread_context_find(&file, &context);
		elf_file_close(&file);
	} else {
		struct site_arg arg = site_parse_arg(image, size);

		if (arg.kind > ARG_ODD || arg.place > 63)
			abort();
	}
	free(image);
	return 0;
}
