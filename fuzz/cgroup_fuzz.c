// SPDX-License-Identifier: Apache-2.0
/*
 * The readers of cgroup paths and mounts: names that any container's owner may choose.
 */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "../src/base/cgroup.h"
#include "../src/base/cgroup_name.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	char *text = strndup((const char *)data, size);
	const char *second = text + strcspn(text, "\n");
	struct cgroup_mount mount;
	struct cgroup_name name;
	char service[64];

	cgroup_name_parse(text, &name);
	cgroup_name_service(&name, text, service, sizeof(service));
	if (strlen(service) >= sizeof(service) || strlen(name.unit) >= sizeof(name.unit))
		abort();
	cgroup_parse_mount(text, second, &mount);
	free(text);
	return 0;
}
