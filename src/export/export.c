// SPDX-License-Identifier: Apache-2.0
#include "export.h"

#include <string.h>

#include "../base/cleanup.h"

const struct exporter exporters[] = {
#define EXPORTER(name, flags, post_path, about) {#name, about, flags, post_path, export_##name},
#include "exporters.def"
#undef EXPORTER
};

const size_t exporter_count = ARRAY_SIZE(exporters);

const struct exporter *exporter_find(const char *name)
{
	for (size_t i = 0; i < exporter_count; i++)
		if (!strcmp(exporters[i].name, name))
			return &exporters[i];
	return NULL;
}
