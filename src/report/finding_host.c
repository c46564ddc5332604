// SPDX-License-Identifier: Apache-2.0
/* How busy the host's CPUs were, and with whom. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "../base/cleanup.h"
#include "finding.h"
#include "format.h"
#include "host.h"
#include "hot_function.h"

#define BUSY_SHARE  90.0 /* percent: CPUs that are the limit */
#define TOP_SHARE   1.0
#define TOP_SAID    4
#define TOP_MAX	    8
#define PLACES_MAX  2 /* of the top ones: where in the code */
#define PLACE_LEAST 20.0

static void tell_host(const struct host_use *use, struct findings *findings)
{
	bool is_short = use->busy >= BUSY_SHARE && use->waiting >= 1;
	struct finding *finding = finding_add(
		findings, "host-cpu", is_short ? SEVERITY_NOTICE : SEVERITY_INFO, use->queue_ns);

	finding_evidence(finding, "busy", NULL, use->busy, "%", BASE_HOST);
	finding_evidence(finding, "waiting", NULL, use->waiting, "count", NULL);
	finding_evidence(finding, "cpus", NULL, (double)use->cpus, "count", NULL);
	finding_say(finding, "%s CPU%s %.*f %% busy; %.*f threads waiting for one on average.",
		    NUMBER(use->cpus), use->cpus == 1 ? "" : "s", use->busy < 9.95 ? 1 : 0,
		    use->busy, use->waiting < 9.95 ? (use->waiting < 0.095 ? 2 : 1) : 0,
		    use->waiting);
	if (is_short)
		finding_advise(finding, "See cpu-wait for who waits because of whom.");
}

static int add_places(const struct digest *digest, const struct host_row *rows, size_t count,
		      struct finding *finding)
{
	for (size_t i = 0; i < count && i < PLACES_MAX; i++) {
		const struct group *groups = (const struct group *)digest->groups.items;
		struct hot_function place;
		int err;

		if (rows[i].share < PLACE_LEAST || !rows[i].group)
			continue;
		err = hot_function_on_cpu(digest, (u32)(rows[i].group - groups), 0, 0, &place);
		if (err)
			return err;
		if (!*place.function)
			continue;
		finding_evidence(finding, "function", place.function, place.share, "%",
				 BASE_SAMPLES);
		finding_say(finding, " %s: %.0f %% of its CPU samples in %s.",
			    ESCAPED(rows[i].name), place.share, ESCAPED(place.function));
	}
	return 0;
}

/* Who used the CPUs, like top. */
static void tell_top(const struct digest *digest, const struct host_use *use,
		     struct findings *findings)
{
	size_t said = 0;
	struct finding *finding;

	if (!use->row_count || use->rows[0].share < TOP_SHARE)
		return;
	finding = finding_add(findings, "cpu-top", SEVERITY_INFO, use->rows[0].ns);
	if (!finding)
		return;
	if (use->rows[0].group)
		finding_set_group(finding, digest, use->rows[0].group);
	for (size_t i = 0; i < use->row_count && i < TOP_MAX; i++) {
		const struct host_row *row = &use->rows[i];

		if (row->share < TOP_SHARE)
			break;
		finding_evidence(finding, "cpu", row->name, row->share, "%", BASE_HOST);
		if (said >= TOP_SAID)
			continue;
		finding_say(finding, "%s%s", said++ ? ", " : "Most CPU: ", ESCAPED(row->name));
		if (row->group && row->group->processes > 1)
			finding_say(finding, " (%s processes)", NUMBER(row->group->processes));
		finding_say(finding, " %.*f %%", row->share < 9.95 ? 1 : 0, row->share);
	}
	finding_say(finding, " of all CPUs' time.");
	if (add_places(digest, use->rows, use->row_count, finding))
		findings->err = -ENOMEM;
}

void find_host(const struct digest *digest, struct findings *findings)
{
	struct host_use use;
	int err = host_use_find(digest, &use);

	if (err)
		findings->err = err;
	if (!err && use.wall_ns) {
		tell_host(&use, findings);
		tell_top(digest, &use, findings);
	}
	host_use_free(&use);
}
