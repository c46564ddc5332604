// SPDX-License-Identifier: Apache-2.0
/*
 * Probes that do another's work where the kernel does not take that one. Until then they rest:
 * they are neither attached nor a failure.
 */
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

/* Whether its hook is there, a program of this kind learns no later than when it is loaded. */
static bool is_settled_by_load(const struct capture *capture, const char *program)
{
	for (size_t i = 0; i < capture->config.probe_count; i++)
		if (!strcmp(capture->probes[i].spec->program, program))
			return capture->probes[i].spec->kind == PROBE_SECTION;
	return false;
}

/*
 * A fallback that the kernel refuses would cost a round of loading, so it is loaded only if it is
 * needed, or if that is not known before the attaching.
 */
void fallback_choose(struct capture *capture)
{
	for (size_t i = 0; i < capture->config.probe_count; i++) {
		const struct probe *spec = capture->probes[i].spec;

		capture->probes[i].is_resting = !fallback_is_needed(capture, spec) &&
						is_settled_by_load(capture, spec->fallback_of);
	}
}

bool capture_is_resting(const struct capture *capture, size_t i)
{
	return capture->probes[i].is_resting;
}
