// SPDX-License-Identifier: Apache-2.0
/* What a session has cost its host. */
#include <inttypes.h>

#include "text.h"

#define LINE_BYTES 1024

void text_overhead(const struct digest *digest, const struct page *page)
{
	const struct overhead *overhead = &digest->overhead;
	u64 wall_ns = digest->end_ns - digest->begin_ns;
	u64 cpus = digest_meta_number(digest, "cpus"), bpf_ns = overhead->bpf_ns;
	u64 start_ns = digest_meta_number(digest, "start_cpu_ns");
	const char *unknown = digest_meta(digest, "cost_unknown");
	char line[LINE_BYTES] = "";

	if (!overhead->rss_bytes && !overhead->bpf_ns && !overhead->user_cpu_ns)
		return; /* not measured */
	/* Measured in some windows, and taken to be the same in the others. */
	if (overhead->bpf_windows && overhead->bpf_windows < digest->window_count)
		bpf_ns = (u64)((double)bpf_ns * (double)digest->window_count /
			       (double)overhead->bpf_windows);
	if (*unknown)
		format_add(line, sizeof(line), "overhead: not known in BPF, %s in dwell: over ",
			   DURATION(overhead->user_cpu_ns));
	else
		format_add(line, sizeof(line), "overhead: %s%s in BPF, %s in dwell: ",
			   bpf_ns > overhead->bpf_ns ? "about " : "", DURATION(bpf_ns),
			   DURATION(overhead->user_cpu_ns));
	format_add(line, sizeof(line), "%s of ",
		   SHARE(bpf_ns + overhead->user_cpu_ns, wall_ns * (cpus ? cpus : 1)));
	format_add(line, sizeof(line), cpus ? "%" PRIu64 " CPUs" : "one CPU", (uint64_t)cpus);
	if (start_ns)
		format_add(line, sizeof(line), ", and %s to start", DURATION(start_ns));
	format_add(line, sizeof(line), "; memory %s",
		   BYTES(overhead->rss_bytes + overhead->map_bytes +
			 digest_meta_number(digest, "thread_bytes")));
	if (*unknown)
		format_add(line, sizeof(line),
			   "; the cost in BPF and how often hooks fired are not known: %s",
			   ESCAPED(unknown));
	fputs("  ", page->out);
	page_wrap(page, 2, 2, line);
}
