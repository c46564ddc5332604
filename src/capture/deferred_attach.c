// SPDX-License-Identifier: Apache-2.0
/*
 * Uprobes that are attached while the capture runs, when a file is seen that has their function.
 * The file is named by its descriptor: its path may be another one's, or nobody's, by now. Links of
 * a process that has ended are given back.
 */
#include <errno.h>
#include <stdio.h>

#include "internal.h"

#define FD_PATH_BYTES 64

static int attach_all(struct capture_probe *probe, const char *path,
		      const struct capture_places *places, pid_t pid)
{
	const struct uprobe_places all = {places->offsets, places->cookies, places->count};

	return uprobe_multi_attach(probe, path, &all, pid);
}

static int attach_each(struct capture_probe *probe, const char *path,
		       const struct capture_places *places, pid_t pid)
{
	LIBBPF_OPTS(bpf_uprobe_opts, opts, .retprobe = probe->spec->kind == PROBE_URETPROBE);
	int err = 0;

	for (u32 i = 0; i < places->count && !err; i++)
		err = links_keep(probe,
				 bpf_program__attach_uprobe_opts(probe->program, pid ? pid : -1,
								 path, places->offsets[i], &opts));
	return err;
}

int capture_attach_deferred(struct capture *capture, size_t i, int fd,
			    const struct capture_places *places, pid_t pid)
{
	struct capture_probe *probe = &capture->probes[i];
	char path[FD_PATH_BYTES];
	int err;

	if (!probe_is_on(probe) || !probe->program)
		return -ENOENT;
	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	probe->for_pid = pid;
	bpflog_begin(&capture->log);
	err = probe->spec->kind == PROBE_UPROBE_SESSION ? attach_all(probe, path, places, pid)
							: attach_each(probe, path, places, pid);
	bpflog_end();
	probe->for_pid = 0;
	return err;
}

/* The rest stays in its order. */
static size_t retire(struct kept_link *links, size_t count, pid_t pid, struct capture *capture)
{
	size_t kept = 0;

	for (size_t i = 0; i < count; i++)
		if (links[i].pid == pid)
			retired_links_add(capture->retired, &links[i]);
		else
			links[kept++] = links[i];
	return kept;
}

void capture_retire_process(struct capture *capture, pid_t pid)
{
	if (!capture->retired)
		capture->retired = retired_links_open();
	if (!capture->retired)
		return; /* they go with all others */
	for (size_t i = 0; i < capture->config.probe_count; i++) {
		struct capture_probe *probe = &capture->probes[i];

		if (!probe->spec->is_deferred)
			continue;
		probe->link_count = retire(probe->links, probe->link_count, pid, capture);
		probe->fd_count = retire(probe->fds, probe->fd_count, pid, capture);
	}
}

u64 capture_retired_links(const struct capture *capture)
{
	return capture->retired ? retired_links_closed(capture->retired) : 0;
}
