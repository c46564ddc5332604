/* SPDX-License-Identifier: Apache-2.0 */
/* The places in a file for probes that wait for one. Owns nothing. Called by deferred_probes.c. */
#ifndef DWELL_ENGINE_DEFERRED_SITES_H
#define DWELL_ENGINE_DEFERRED_SITES_H

#include "deferred_probes.h"

/* Is this probe one of those that wait for a file, of this signal? */
bool deferred_is_ours(const struct deferred_probes *deferred, size_t probe);

/* All places of a file that the worker opens; none if it must not have any. */
void deferred_find_sites(struct deferred_probes *deferred, struct deferred_file *file, int fd);

#endif
