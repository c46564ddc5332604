// SPDX-License-Identifier: Apache-2.0
/*
 * The worker's side: one file is open at a time, and what was last found in it.
 */
#include <errno.h>
#include <string.h>
#include <unistd.h>

#include "finding.h"

static void close_one(struct elf_file *file, int *fd)
{
	if (*fd)
		elf_file_close(file);
	if (*fd > 0)
		close(*fd);
	*fd = 0;
}

static void close_all(struct finding_inside *finding)
{
	sites_free(&finding->sites);
	spans_free(&finding->names);
	close_one(&finding->debug_file, &finding->debug_fd);
	close_one(&finding->file, &finding->fd);
}

static const struct elf_file *debug_file_of(const struct finding_inside *finding)
{
	return finding->debug_fd ? &finding->debug_file : NULL;
}

static ssize_t tell_file(const struct finding_inside *finding, struct finding_file *reply)
{
	struct sites_facts facts;

	sites_facts(&finding->file, debug_file_of(finding), &facts);
	*reply = (struct finding_file){
		.build_id_size = (u32)finding->file.build_id_size,
		.is_go = facts.is_go,
		.is_full = facts.is_full,
		.has_dwarf = facts.has_dwarf,
		.is_position_independent = facts.is_position_independent,
	};
	memcpy(reply->build_id, finding->file.build_id, sizeof(reply->build_id));
	return sizeof(*reply);
}

/* Takes the descriptor, if it is a file of ours. */
static int open_one(int *fd, struct elf_file *ret_file, int *ret_fd)
{
	int err = *fd <= 0 ? -EINVAL : elf_file_open(*fd, ret_file);

	if (err)
		return err;
	*ret_fd = *fd;
	*fd = -1;
	return 0;
}

static ssize_t job_open(struct finding_inside *finding, int *fd, struct finding_file *reply)
{
	int err;

	close_all(finding);
	err = open_one(fd, &finding->file, &finding->fd);
	return err ? err : tell_file(finding, reply);
}

static ssize_t job_debug(struct finding_inside *finding, int *fd, struct finding_file *reply)
{
	int err;

	if (!finding->fd)
		return -EINVAL;
	spans_free(&finding->names); /* the debug file adds to them */
	close_one(&finding->debug_file, &finding->debug_fd);
	err = open_one(fd, &finding->debug_file, &finding->debug_fd);
	if (err)
		return err;
	if (finding->debug_file.build_id_size != finding->file.build_id_size ||
	    memcmp(finding->debug_file.build_id, finding->file.build_id,
		   finding->file.build_id_size) != 0) {
		close_one(&finding->debug_file, &finding->debug_fd);
		return -ESTALE; /* of another build */
	}
	return tell_file(finding, reply);
}

static int search_functions(struct finding_inside *finding, const char *pattern,
			    struct finding_result *reply)
{
	const struct elf_file *debug_file = debug_file_of(finding);
	int err = sites_find(&finding->file, debug_file, pattern, &finding->sites);

	if (!err && !finding->sites.count && !strpbrk(pattern, "*?"))
		reply->is_inlined =
			sites_is_inlined(debug_file ? debug_file : &finding->file, pattern);
	return err;
}

static ssize_t job_search(struct finding_inside *finding, const struct finding_search *search,
			  struct finding_result *reply)
{
	int err;

	*reply = (struct finding_result){0};
	if (!finding->fd || !memchr(search->pattern, '\0', sizeof(search->pattern)))
		return -EINVAL;
	sites_free(&finding->sites);
	switch (search->what) {
	case FINDING_FUNCTIONS:
		err = search_functions(finding, search->pattern, reply);
		break;
	case FINDING_SYMBOL:
		err = sites_find_symbol(&finding->file, debug_file_of(finding), &finding->names,
					search->pattern, &finding->sites);
		break;
	case FINDING_OFFSET:
		err = sites_at(&finding->file, debug_file_of(finding), search->offset,
			       &finding->sites);
		break;
	case FINDING_USDT:
		err = sites_find_usdt(&finding->file, search->pattern, &finding->sites);
		break;
	default:
		err = -EINVAL;
	}
	if (err)
		return err;
	reply->count = (u32)finding->sites.count;
	reply->matched = finding->sites.matched;
	return sizeof(*reply);
}

static ssize_t job_sites(const struct finding_inside *finding, u32 first, void *reply,
			 size_t reply_size)
{
	size_t count = finding->sites.count, room = reply_size / sizeof(struct site);

	if (first >= count)
		return 0;
	count -= first;
	if (count > room)
		count = room;
	memcpy(reply, finding->sites.items + first, count * sizeof(struct site));
	return (ssize_t)(count * sizeof(struct site));
}

ssize_t finding_inside_run(struct finding_inside *finding, enum finding_job job, int *fd,
			   const void *request, size_t size, void *reply, size_t reply_size)
{
	u32 first;

	if (reply_size < WORKER_MESSAGE_MAX)
		return -EBADMSG;
	switch (job) {
	case FINDING_JOB_OPEN:
		return job_open(finding, fd, reply);
	case FINDING_JOB_DEBUG:
		return job_debug(finding, fd, reply);
	case FINDING_JOB_SEARCH:
		return size == sizeof(struct finding_search) ? job_search(finding, request, reply)
							     : -EBADMSG;
	case FINDING_JOB_SITES:
		if (size != sizeof(first))
			return -EBADMSG;
		memcpy(&first, request, sizeof(first));
		return job_sites(finding, first, reply, WORKER_MESSAGE_MAX);
	case FINDING_JOB_CLOSE:
		close_all(finding);
		return 0;
	default:
		return -ENOSYS;
	}
}
