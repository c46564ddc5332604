// SPDX-License-Identifier: Apache-2.0
/* What limits the trust in the rest: time without a cause, tables that were full, parts cut off. */
#include <string.h>

#include "../base/cleanup.h"
#include "finding.h"
#include "format.h"

#define UNATTRIBUTED_SHARE 1.0 /* percent */

static void tell_unattributed(const struct digest *digest, struct findings *findings)
{
	u64 ns = digest->all.ns[STATE_UNATTRIBUTED], whole = account_sum(&digest->all);
	struct finding *finding;

	if (percent(ns, whole) < UNATTRIBUTED_SHARE)
		return;
	finding = finding_add(findings, "unattributed", SEVERITY_PROBLEM, ns);
	finding_evidence(finding, "unattributed", NULL, (double)ns, "ns", NULL);
	finding_evidence(finding, "share", NULL, percent(ns, whole), "%", BASE_ALL);
	finding_say(finding,
		    "%s of the threads' wall time is unattributed and may belong to any "
		    "state.",
		    SHARE(ns, whole));
}

/* Facts of meta that count what found no room. */
static const struct {
	const char *key, *what, *cost;
} full[] = {
	{"unwind_tables_full", "unwind tables", "stacks of those programs may be incomplete"},
	{"unwind_processes_refused", "processes with unwind tables",
	 "their stacks may be incomplete"},
	{"unwind_modules_refused", "modules", "their functions cannot be symbolized"},
	{"jit_names_refused", "lines of JIT compilers' /tmp/perf-PID.map files",
	 "functions of theirs are shown without a name (the limit is 40 MB for each user, 120 MB "
	 "in all)"},
};

static void tell_full(const struct digest *digest, struct findings *findings)
{
	for (size_t i = 0; i < ARRAY_SIZE(full); i++) {
		u64 count = digest_meta_number(digest, full[i].key);
		struct finding *finding;

		if (!count)
			continue;
		finding = finding_add(findings, "table-full", SEVERITY_NOTICE, 0);
		finding_evidence(finding, "refused", full[i].what, (double)count, "count", NULL);
		finding_say(finding, "A table was full: %s %s did not fit; %s.", NUMBER(count),
			    full[i].what, full[i].cost);
	}
	for (size_t i = 0; i < digest->losses.count; i++) {
		const struct loss_row *loss = hash_item(&digest->losses, i);
		struct finding *finding;

		if (!loss->count || !strstr(loss->cause, "no_"))
			continue;
		finding = finding_add(findings, "table-full", SEVERITY_NOTICE, 0);
		finding_evidence(finding, "lost", loss->cause, (double)loss->count, "count", NULL);
		finding_say(finding, "A table was full: %s records lost (%s).", NUMBER(loss->count),
			    ESCAPED(loss->cause));
	}
}

/* What the overhead limit switched off covers a part of the time only; what it thinned covers all.
 */
static void tell_partial(const struct digest *digest, struct findings *findings)
{
	struct finding *finding = NULL;

	for (size_t i = 0; i < digest->cover_count; i++) {
		const struct cover *cover = &digest->covers[i];

		if (!digest_partial_cover(digest, cover->part))
			continue;
		if (!finding)
			finding = finding_add(findings, "partial-cover", SEVERITY_NOTICE, 0);
		if (!finding)
			return;
		finding_say(finding, "%s%s %.1f of %.1f s",
			    finding->evidence_count ? ", "
						    : "Not everything covers the whole time: ",
			    ESCAPED(cover->part), (double)cover->covered_ns / 1e9,
			    (double)cover->total_ns / 1e9);
		finding_evidence(finding, "covered", cover->part, (double)cover->covered_ns, "ns",
				 NULL);
	}
	if (!finding)
		return;
	finding_say(finding, ".");
	finding_advise(finding, "Raise --max-overhead, or choose fewer signals.");
}

void find_trust(const struct digest *digest, struct findings *findings)
{
	tell_unattributed(digest, findings);
	tell_full(digest, findings);
	tell_partial(digest, findings);
}
