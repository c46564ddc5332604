// SPDX-License-Identifier: Apache-2.0
/*
 * Links of uprobes at many places, by the raw system call: libbpf 1.1 has no call for them, and the
 * UAPI headers of 6.1 no fields.
 */
#include <bpf/bpf.h>
#include <bpf/btf.h>
#include <errno.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "internal.h"

static bool has_attach_type(const struct btf *btf, const char *name)
{
	s32 id = btf__find_by_name_kind(btf, "bpf_attach_type", BTF_KIND_ENUM);
	const struct btf_type *type = id < 0 ? NULL : btf__type_by_id(btf, (u32)id);

	for (u16 i = 0; type && i < btf_vlen(type); i++)
		if (!strcmp(btf__name_by_offset(btf, btf_enum(type)[i].name_off), name))
			return true;
	return false;
}

bool uprobe_multi_has_sessions(void)
{
	static int known = -1; /* a kernel does not change its mind */
	struct btf *btf;

	if (known >= 0)
		return known;
	btf = btf__load_vmlinux_btf();
	known = btf && has_attach_type(btf, "BPF_TRACE_UPROBE_SESSION");
	btf__free(btf);
	return known;
}

int uprobe_multi_attach(struct capture_probe *probe, const char *path,
			const struct uprobe_places *places, pid_t pid)
{
	struct {
		u32 prog_fd, target_fd, attach_type, flags;
		u64 path, offsets, ref_ctr_offsets, cookies;
		u32 count, multi_flags, pid, unused;
	} attr = {
		.prog_fd = (u32)bpf_program__fd(probe->program),
		.attach_type = (u32)bpf_program__expected_attach_type(probe->program),
		.path = (u64)(uintptr_t)path,
		.offsets = (u64)(uintptr_t)places->offsets,
		.cookies = (u64)(uintptr_t)places->cookies,
		.count = places->count,
		.pid = (u32)pid,
	};
	int fd = (int)syscall(SYS_bpf, BPF_LINK_CREATE, &attr, sizeof(attr));

	return fd < 0 ? -errno : links_keep_fd(probe, fd);
}
