// SPDX-License-Identifier: Apache-2.0
/* Where a file has places for the probes of a signal, and what a call of each costs. */
#include "deferred_sites.h"

#include <stdio.h>
#include <string.h>

#include "../worker/finding.h"

#define WORD_BYTES 64

/* Where each return is one trap more, it is one of every function. */
static void note_price(struct deferred_probes *deferred, const struct probe *spec,
		       const struct site *site)
{
	u64 price = site_trap_ns(site->price) + deferred->kind->program_ns;

	if (spec->kind == PROBE_URETPROBE)
		deferred->return_ns = SITE_RETURN_TRAP_NS;
	else if (spec->at_returns)
		deferred->end_ns[spec->cookie] =
			site_trap_ns(PRICE_STEPPED) + deferred->kind->program_ns;
	else if (spec->cookie < DEFERRED_FUNCTIONS_MAX && price > deferred->price_ns[spec->cookie])
		deferred->price_ns[spec->cookie] = price;
}

/* One program may stand in the list for each of its functions: the first is its link's owner. */
static size_t owner_of(const struct deferred_probes *deferred, size_t probe)
{
	for (size_t i = 0; i < probe; i++)
		if (!strcmp(deferred->probes->items[i].program,
			    deferred->probes->items[probe].program))
			return i;
	return probe;
}

static struct deferred_part *part_of(struct deferred_file *file, size_t probe)
{
	for (size_t i = 0; i < file->part_count; i++)
		if (file->parts[i].probe == probe)
			return &file->parts[i];
	if (file->part_count == DEFERRED_PARTS_MAX)
		return NULL;
	file->parts[file->part_count].probe = probe;
	return &file->parts[file->part_count++];
}

/* malloc and the like tell by their result that they failed: no exception passes them. */
static bool may_have_return_probe(const struct site *site)
{
	return site->at_return == RETURN_MAY || site->at_return == RETURN_THROWS ||
	       site->at_return == RETURN_BY_INSTRUCTION;
}

static void take_place(struct deferred_file *file, struct capture_places *places, u64 offset,
		       u64 cookie)
{
	if (places->count == CAPTURE_PLACES_MAX)
		return;
	for (u32 i = 0; i < places->count; i++)
		if (places->offsets[i] == offset)
			return; /* one function under several names */
	places->offsets[places->count] = offset;
	places->cookies[places->count++] = cookie;
	file->site_count++;
}

static void take_site(struct deferred_probes *deferred, struct deferred_file *file, size_t probe,
		      const struct site *site)
{
	const struct probe *spec = &deferred->probes->items[probe];
	struct deferred_part *part = part_of(file, owner_of(deferred, probe));
	struct capture_places *places = part ? &part->places : NULL;
	u64 cookie = deferred->kind->cookie(file->library, site->name, spec->cookie);

	if (cookie == DEFERRED_NO_PROBE || !places || site->kind == SITE_RESOLVER ||
	    (spec->kind != PROBE_UPROBE && !may_have_return_probe(site)))
		return;
	if (spec->is_go && !site->return_count)
		return; /* what begins is not seen to end */
	if (spec->at_returns)
		for (u32 i = 0; i < site->return_count; i++)
			take_place(file, places, site->returns[i], cookie);
	else
		take_place(file, places, site->offset, cookie);
	note_price(deferred, spec, site);
}

static void look_for(struct deferred_probes *deferred, struct deferred_file *file, size_t probe)
{
	const char *names = deferred->probes->items[probe].function;

	for (const char *at = names; at; at = strchr(at, ':') ? strchr(at, ':') + 1 : NULL) {
		struct finding_result result;
		char name[WORD_BYTES];
		struct site site;

		snprintf(name, sizeof(name), "%.*s", (int)strcspn(at, ":"), at);
		if (!worker_finding_search(deferred->worker, FINDING_SYMBOL, name, 0, &result) &&
		    result.count && worker_finding_sites(deferred->worker, 0, &site, 1) == 1)
			take_site(deferred, file, probe, &site);
	}
}

bool deferred_is_ours(const struct deferred_probes *deferred, size_t probe)
{
	const struct probe *spec = &deferred->probes->items[probe];

	return spec->is_deferred && spec->owner == (u32)deferred->signal;
}

/* Go has an allocator of its own, and must not have its returns probed. */
static bool may_have_probes(const struct deferred_probes *deferred,
			    const struct finding_file *facts)
{
	const char *go_function = deferred->kind->go_function;
	struct finding_result result;

	return !facts->is_go ||
	       (go_function &&
		!worker_finding_search(deferred->worker, FINDING_SYMBOL, go_function, 0, &result) &&
		result.count);
}

void deferred_find_sites(struct deferred_probes *deferred, struct deferred_file *file, int fd)
{
	struct finding_file facts;
	bool has_probes;

	if (worker_finding_open(deferred->worker, fd, &facts))
		return;
	has_probes = may_have_probes(deferred, &facts);
	for (size_t i = 0; has_probes && i < deferred->probes->count; i++)
		if (deferred_is_ours(deferred, i) && !capture_failure(deferred->capture, i)->err &&
		    !capture_is_resting(deferred->capture, i) &&
		    deferred->probes->items[i].is_go == !!facts.is_go)
			look_for(deferred, file, i);
	worker_finding_close(deferred->worker);
}
