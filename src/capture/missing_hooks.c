// SPDX-License-Identifier: Apache-2.0
/*
 * Tracepoints that this kernel lacks. libbpf tells of one at each load, and all that was loaded
 * before it is loaded again: so once it has told of one, the kernel's types are asked for all.
 */
#include <bpf/btf.h>
#include <stdio.h>
#include <string.h>

#include "internal.h"

#define TYPED	    "tp_btf/"
#define TYPE_PREFIX "btf_trace_"

/* The tracepoint that a program needs; NULL: none whose types it uses. */
static const char *tracepoint_of(const struct capture_probe *probe)
{
	const char *section = probe->program ? bpf_program__section_name(probe->program) : NULL;
	const char *name = section ? strstr(section, TYPED) : NULL;

	return name && probe->spec->kind == PROBE_SECTION ? name + strlen(TYPED) : NULL;
}

bool missing_hooks_are_told(const struct bpflog *log)
{
	return log->length && strstr(log->text, "failed to find kernel BTF type ID");
}

void missing_hooks_find(struct capture *capture, missing_hook_fn *on_missing)
{
	struct btf *kernel = btf__load_vmlinux_btf();

	if (!kernel)
		return; /* then libbpf goes on telling of one after the other */
	for (size_t i = 0; i < capture->config.probe_count; i++) {
		struct capture_probe *probe = &capture->probes[i];
		const char *name = probe_is_on(probe) ? tracepoint_of(probe) : NULL;
		char type[128];

		if (!name)
			continue;
		snprintf(type, sizeof(type), TYPE_PREFIX "%s", name);
		if (btf__find_by_name_kind(kernel, type, BTF_KIND_TYPEDEF) < 0)
			on_missing(capture, probe, name);
	}
	btf__free(kernel);
}
