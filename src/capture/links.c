// SPDX-License-Identifier: Apache-2.0
/*
 * The links of one probe: what keeps its programs attached, and what detaches them.
 */
#include <bpf/bpf.h>
#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <unistd.h>

#include "internal.h"

#define CLOSERS_MAX 32

void links_close_one(const struct kept_link *kept)
{
	if (kept->link)
		bpf_link__destroy(kept->link);
	else
		close(kept->fd);
}

/* It is closed if there is no memory for it. */
static int keep(struct kept_link **links, size_t *count, const struct kept_link *one)
{
	struct kept_link *grown = realloc(*links, (*count + 1) * sizeof(*grown));

	if (!grown) {
		links_close_one(one);
		return -ENOMEM;
	}
	*links = grown;
	grown[(*count)++] = *one;
	return 0;
}

int links_keep(struct capture_probe *probe, struct bpf_link *link)
{
	const struct kept_link one = {.link = link, .fd = -1, .pid = probe->for_pid};

	return link ? keep(&probe->links, &probe->link_count, &one) : -errno;
}

int links_keep_fd(struct capture_probe *probe, int fd)
{
	const struct kept_link one = {.fd = fd, .pid = probe->for_pid};

	return keep(&probe->fds, &probe->fd_count, &one);
}

struct closer {
	pthread_t thread;
	const struct kept_link *fds;
	size_t count;
};

static void *close_some(void *context)
{
	struct closer *closer = context;

	for (size_t i = 0; i < closer->count; i++)
		links_close_one(&closer->fds[i]);
	return NULL;
}

/* Each close waits until no CPU can be in the program any more: many wait at once. */
static void close_fds(struct capture_probe *probe)
{
	size_t share = (probe->fd_count + CLOSERS_MAX - 1) / CLOSERS_MAX;
	struct closer closers[CLOSERS_MAX];
	size_t count = 0;

	for (size_t i = 0; i < probe->fd_count; i += share) {
		struct closer *closer = &closers[count];

		closer->fds = probe->fds + i;
		closer->count = probe->fd_count - i < share ? probe->fd_count - i : share;
		if (pthread_create(&closer->thread, NULL, close_some, closer))
			close_some(closer);
		else
			count++;
	}
	for (size_t i = 0; i < count; i++)
		pthread_join(closers[i].thread, NULL);
	free(probe->fds);
	probe->fds = NULL;
	probe->fd_count = 0;
}

/* Whoever calls this program by an array finds it there no more. */
static void leave_caller(struct capture_probe *probe)
{
	u32 zero = 0;

	if (probe->call_array >= 0)
		bpf_map_delete_elem(probe->call_array, &zero);
	probe->call_array = -1;
}

void links_close(struct capture_probe *probe)
{
	leave_caller(probe);
	for (size_t i = 0; i < probe->link_count; i++)
		links_close_one(&probe->links[i]);
	free(probe->links);
	probe->links = NULL;
	probe->link_count = 0;
	close_fds(probe);
}

bool links_are_there(const struct capture_probe *probe)
{
	return probe->link_count || probe->fd_count || probe->call_array >= 0;
}
