// SPDX-License-Identifier: Apache-2.0
/*
 * Probes that do another's work where the kernel does not take that one. Until then they rest:
 * they are neither attached nor a failure.
 */
#include <errno.h>
#include <string.h>

#include "internal.h"

/* A program may be attached in several places: has it failed in one of them? */
static bool has_failed(const struct capture *capture, const char *program)
{
	for (size_t i = 0; i < capture->config.probe_count; i++)
		if (capture->probes[i].failure.err &&
		    !strcmp(capture->probes[i].spec->program, program))
			return true;
	return false;
}

bool fallback_is_needed(const struct capture *capture, const struct probe *spec)
{
	return !spec->fallback_of || has_failed(capture, spec->fallback_of);
}

/* Is there one for this program? */
bool fallback_has(const struct capture *capture, const char *program)
{
	for (size_t i = 0; i < capture->config.probe_count; i++)
		if (capture->probes[i].spec->fallback_of &&
		    !strcmp(capture->probes[i].spec->fallback_of, program))
			return true;
	return false;
}

static const struct capture_probe *find(const struct capture *capture, const char *program)
{
	for (size_t i = 0; i < capture->config.probe_count; i++)
		if (!strcmp(capture->probes[i].spec->program, program))
			return &capture->probes[i];
	return NULL;
}

int fallback_error(const struct capture *capture, const struct probe *spec)
{
	const struct capture_probe *first =
		spec->fallback_of ? find(capture, spec->fallback_of) : NULL;

	return first && first->failure.err ? -first->failure.err : -ENOENT;
}

/*
 * Before the attaching it is known of a section's hook, which is looked for when it is loaded; of a
 * perf event, which was tried; of both ends of a call, as the kernel says whether it has such; and
 * of one that rests itself.
 */
static bool is_settled(const struct capture *capture, const char *program)
{
	const struct capture_probe *probe = find(capture, program);

	return probe &&
	       (probe->is_resting || probe->spec->kind == PROBE_SECTION ||
		probe->spec->kind == PROBE_PERF || probe->spec->kind == PROBE_UPROBE_SESSION);
}

/*
 * A fallback that the kernel refuses would cost a round of loading, and one that it takes still
 * costs time: so it is loaded only if it is needed, or if that is not known yet.
 */
void fallback_choose(struct capture *capture)
{
	for (size_t i = 0; i < capture->config.probe_count; i++) {
		const struct probe *spec = capture->probes[i].spec;

		capture->probes[i].is_resting = !fallback_is_needed(capture, spec) &&
						is_settled(capture, spec->fallback_of);
	}
}

bool capture_is_resting(const struct capture *capture, size_t i)
{
	return capture->probes[i].is_resting;
}

bool capture_is_called(const struct capture *capture, size_t i)
{
	return capture->probes[i].is_called;
}

bool capture_is_attached(const struct capture *capture, const char *program)
{
	for (size_t i = 0; i < capture->config.probe_count; i++)
		if (links_are_there(&capture->probes[i]) &&
		    !strcmp(capture->probes[i].spec->program, program))
			return true;
	return false;
}
