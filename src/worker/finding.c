// SPDX-License-Identifier: Apache-2.0
/*
 * The privileged side: descriptors out, answers checked.
 */
#include "finding.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "../base/utf8.h"

#define FINDING_TIMEOUT_MS 30000 /* a slow disk is no reason to kill the worker */
#define PAGE_SITES	   (WORKER_MESSAGE_MAX / sizeof(struct site))

static ssize_t call(struct worker *worker, enum finding_job job, int fd, const void *request,
		    size_t size, void *reply, size_t reply_size)
{
	return worker_call_within(worker, FINDING_JOB_FIRST + job, fd, request, size, reply,
				  reply_size, FINDING_TIMEOUT_MS);
}

/* An answer of exactly this size: 0 or -errno. */
static int call_exact(struct worker *worker, enum finding_job job, int fd, const void *request,
		      size_t size, void *reply, size_t reply_size)
{
	ssize_t got = call(worker, job, fd, request, size, reply, reply_size);

	if (got < 0)
		return (int)got;
	return (size_t)got == reply_size ? 0 : -EBADMSG;
}

static int hand_over(struct worker *worker, enum finding_job job, int fd,
		     struct finding_file *ret_file)
{
	int err = call_exact(worker, job, fd, NULL, 0, ret_file, sizeof(*ret_file));

	return !err && ret_file->build_id_size > BUILD_ID_MAX ? -EBADMSG : err;
}

int worker_finding_open(struct worker *worker, int fd, struct finding_file *ret_file)
{
	return hand_over(worker, FINDING_JOB_OPEN, fd, ret_file);
}

int worker_finding_debug(struct worker *worker, int fd, struct finding_file *ret_file)
{
	return hand_over(worker, FINDING_JOB_DEBUG, fd, ret_file);
}

int worker_finding_search(struct worker *worker, enum finding_what what, const char *pattern,
			  u64 offset, struct finding_result *ret_result)
{
	struct finding_search search = {.what = what, .offset = offset};
	int err;

	if (strlen(pattern) >= sizeof(search.pattern))
		return -ENAMETOOLONG;
	memcpy(search.pattern, pattern, strlen(pattern));
	err = call_exact(worker, FINDING_JOB_SEARCH, -1, &search, sizeof(search), ret_result,
			 sizeof(*ret_result));
	return !err && ret_result->count > SITES_MAX ? -EBADMSG : err;
}

/* What a worker may have made up must at least be a site. */
static bool is_sound(const struct site *site)
{
	if (site->kind > SITE_USDT || site->price > PRICE_STEPPED ||
	    site->at_return > RETURN_BY_INSTRUCTION || site->arg_count > SITE_ARGS_MAX ||
	    site->return_count > SITE_RETURNS_MAX ||
	    (site->at_return == RETURN_BY_INSTRUCTION && !site->return_count) ||
	    !memchr(site->name, '\0', sizeof(site->name)))
		return false;
	for (u32 i = 0; i < site->arg_count; i++)
		if (site->args[i].kind > ARG_ODD || site->args[i].place > 63)
			return false;
	return true;
}

static int read_page(struct worker *worker, u32 first, struct site *ret_sites, u32 max)
{
	struct site page[PAGE_SITES];
	ssize_t got =
		call(worker, FINDING_JOB_SITES, -1, &first, sizeof(first), page, sizeof(page));
	u32 count;

	if (got < 0)
		return (int)got;
	if ((size_t)got % sizeof(page[0]))
		return -EBADMSG;
	count = (u32)((size_t)got / sizeof(page[0]));
	if (count > max)
		count = max;
	for (u32 i = 0; i < count; i++) {
		if (!is_sound(&page[i]))
			return -EBADMSG;
		ret_sites[i] = page[i];
		/* Names are a foreign file's words, and are shown on a terminal. */
		utf8_escape(ret_sites[i].name, sizeof(ret_sites[i].name), page[i].name);
	}
	return (int)count;
}

int worker_finding_sites(struct worker *worker, u32 first, struct site *ret_sites, u32 max)
{
	u32 count = 0;

	while (count < max) {
		int got = read_page(worker, first + count, ret_sites + count, max - count);

		if (got < 0)
			return got;
		if (!got)
			break;
		count += (u32)got;
	}
	return (int)count;
}

int worker_finding_close(struct worker *worker)
{
	return call_exact(worker, FINDING_JOB_CLOSE, -1, NULL, 0, NULL, 0);
}

int worker_find_functions(struct worker *worker, int fd, const char *pattern,
			  struct finding_file *ret_file, struct site *ret_sites, u32 max)
{
	struct finding_result result;
	int err = worker_finding_open(worker, fd, ret_file), count;

	if (err)
		return err;
	err = worker_finding_search(worker, FINDING_FUNCTIONS, pattern, 0, &result);
	count = err ? err : worker_finding_sites(worker, 0, ret_sites, max);
	err = worker_finding_close(worker);
	return count < 0 || !err ? count : err;
}
