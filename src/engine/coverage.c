// SPDX-License-Identifier: Apache-2.0
#include "coverage.h"

#include <string.h>

#include "../base/text.h"

void coverage_begin(struct coverage *coverage, u64 begin_ns)
{
	coverage->begin_ns = begin_ns;
	for (size_t i = 0; i < coverage->count; i++)
		coverage->parts[i].since_ns = begin_ns;
}

/* A new file has nothing to say of a process that is covered again, or has ended. */
static void drop_settled(struct coverage *coverage)
{
	size_t kept = 0;

	for (size_t i = 0; i < coverage->count; i++) {
		const struct coverage_part *part = &coverage->parts[i];

		if (part->is_lasting || !(part->is_on || part->is_over))
			coverage->parts[kept++] = *part;
	}
	coverage->count = kept;
	coverage->dropped = 0;
}

void coverage_renew(struct coverage *coverage, u64 begin_ns)
{
	drop_settled(coverage);
	coverage_begin(coverage, begin_ns);
	for (size_t i = 0; i < coverage->count; i++) {
		coverage->parts[i].covered_ns = 0;
		coverage->parts[i].thinned = coverage->parts[i].thinned_now;
	}
}

static struct coverage_part *find(struct coverage *coverage, const char *name)
{
	for (size_t i = 0; i < coverage->count; i++)
		if (!strncmp(coverage->parts[i].name, name, COVERAGE_NAME_BYTES - 1))
			return &coverage->parts[i];
	return NULL;
}

static struct coverage_part *add(struct coverage *coverage, const char *name)
{
	struct coverage_part *part = &coverage->parts[coverage->count];

	if (coverage->count == COVERAGE_PARTS_MAX) {
		coverage->dropped++;
		return NULL;
	}
	coverage->count++;
	*part = (struct coverage_part){
		.is_on = true, .since_ns = coverage->begin_ns, .thinned = 1, .thinned_now = 1};
	text_copy(part->name, sizeof(part->name), name);
	return part;
}

void coverage_add(struct coverage *coverage, const char *name)
{
	struct coverage_part *part = find(coverage, name);

	if (!part)
		part = add(coverage, name);
	if (part)
		part->is_lasting = true;
}

void coverage_switch(struct coverage *coverage, const char *name, bool is_on, u64 now_ns)
{
	struct coverage_part *part = find(coverage, name);

	if (!part)
		part = add(coverage, name);
	if (part)
		part->is_over = false;
	if (!part || part->is_on == is_on)
		return;
	part->covered_ns = coverage_of(part, now_ns);
	part->since_ns = now_ns;
	part->is_on = is_on;
}

void coverage_end(struct coverage *coverage, const char *name)
{
	struct coverage_part *part = find(coverage, name);

	if (part)
		part->is_over = true;
}

void coverage_thin(struct coverage *coverage, const char *name, u64 one_in)
{
	struct coverage_part *part = find(coverage, name);

	if (!part)
		return;
	part->thinned_now = one_in;
	if (one_in > part->thinned)
		part->thinned = one_in;
}

u64 coverage_of(const struct coverage_part *part, u64 now_ns)
{
	return part->covered_ns +
	       (part->is_on && now_ns > part->since_ns ? now_ns - part->since_ns : 0);
}
