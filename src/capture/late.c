// SPDX-License-Identifier: Apache-2.0
/*
 * Uprobes that are attached while the capture runs, when a file is seen that has their function.
 * The file is named by its descriptor: its path may be another one's, or nobody's, by now.
 */
#include <bpf/bpf.h>
#include <bpf/btf.h>
#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "../base/cleanup.h"
#include "internal.h"

#define FD_PATH_BYTES 64
#define CLOSERS_MAX   32

static bool has_attach_type(const struct btf *btf, const char *name)
{
	s32 id = btf__find_by_name_kind(btf, "bpf_attach_type", BTF_KIND_ENUM);
	const struct btf_type *type = id < 0 ? NULL : btf__type_by_id(btf, (u32)id);

	for (u16 i = 0; type && i < btf_vlen(type); i++)
		if (!strcmp(btf__name_by_offset(btf, btf_enum(type)[i].name_off), name))
			return true;
	return false;
}

bool late_has_sessions(void)
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

static int keep(struct capture_probe *probe, int fd)
{
	int *grown = realloc(probe->late_fds, (probe->late_count + 1) * sizeof(*grown));

	if (!grown) {
		close(fd);
		return -ENOMEM;
	}
	probe->late_fds = grown;
	probe->late_fds[probe->late_count++] = fd;
	return 0;
}

/* libbpf 1.1 has no call for this link, and the UAPI headers of 6.1 no fields. */
static int attach_session(struct capture_probe *probe, const char *path,
			  const struct capture_places *places, pid_t pid)
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

	return fd < 0 ? -errno : keep(probe, fd);
}

static int attach_each(struct capture_probe *probe, const char *path,
		       const struct capture_places *places, pid_t pid)
{
	LIBBPF_OPTS(bpf_uprobe_opts, opts, .retprobe = probe->spec->kind == PROBE_URETPROBE);
	int err = 0;

	for (u32 i = 0; i < places->count && !err; i++)
		err = attach_keep(probe,
				  bpf_program__attach_uprobe_opts(probe->program, pid ? pid : -1,
								  path, places->offsets[i], &opts));
	return err;
}

int capture_attach_late(struct capture *capture, size_t i, int fd,
			const struct capture_places *places, pid_t pid)
{
	struct capture_probe *probe = &capture->probes[i];
	char path[FD_PATH_BYTES];
	int err;

	if (!probe_is_on(probe) || !probe->program)
		return -ENOENT;
	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	bpflog_begin(&capture->log);
	err = probe->spec->kind == PROBE_UPROBE_SESSION ? attach_session(probe, path, places, pid)
							: attach_each(probe, path, places, pid);
	bpflog_end();
	return err;
}

/* --- the end --- */

struct closer {
	pthread_t thread;
	const int *fds;
	size_t count;
};

static void *close_some(void *context)
{
	struct closer *closer = context;

	for (size_t i = 0; i < closer->count; i++)
		close(closer->fds[i]);
	return NULL;
}

/* Each close waits until no CPU can be in the program any more: many wait at once. */
void late_undo(struct capture_probe *probe)
{
	size_t share = (probe->late_count + CLOSERS_MAX - 1) / CLOSERS_MAX;
	struct closer closers[CLOSERS_MAX];
	size_t count = 0;

	for (size_t i = 0; i < probe->late_count; i += share) {
		struct closer *closer = &closers[count];

		closer->fds = probe->late_fds + i;
		closer->count = probe->late_count - i < share ? probe->late_count - i : share;
		if (pthread_create(&closer->thread, NULL, close_some, closer))
			close_some(closer);
		else
			count++;
	}
	for (size_t i = 0; i < count; i++)
		pthread_join(closers[i].thread, NULL);
	free(probe->late_fds);
	probe->late_fds = NULL;
	probe->late_count = 0;
}

/* --- counts --- */

int capture_read_cpus(const struct capture *capture, const char *map, size_t size,
		      void (*on_one)(void *context, const void *value), void *context)
{
	int cpus = libbpf_num_possible_cpus(), fd = capture_map_fd(capture, map);
	size_t stride = (size + 7) / 8 * 8; /* as the kernel has them */
	_cleanup_free_ char *values = NULL;
	u32 zero = 0;

	if (cpus <= 0 || fd < 0)
		return -ENOENT;
	values = calloc((size_t)cpus, stride);
	if (!values)
		return -ENOMEM;
	if (bpf_map_lookup_elem(fd, &zero, values))
		return -errno;
	for (int cpu = 0; cpu < cpus; cpu++)
		on_one(context, values + (size_t)cpu * stride);
	return 0;
}
