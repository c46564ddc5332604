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

static void take_site(struct deferred_probes *deferred, struct deferred_file *file, size_t probe,
		      const struct site *site)
{
	const struct probe *spec = &deferred->probes->items[probe];
	struct deferred_part *part = part_of(file, owner_of(deferred, probe));
	struct capture_places *places = part ? &part->places : NULL;
	u64 cookie = deferred->kind->cookie(file->library, site->name, spec->cookie);

	if (cookie == DEFERRED_NO_PROBE || !places || site->kind == SITE_RESOLVER ||
	    places->count == CAPTURE_PLACES_MAX ||
	    (spec->kind != PROBE_UPROBE && !may_have_return_probe(site)))
		return;
	for (u32 i = 0; i < places->count; i++)
		if (places->offsets[i] == site->offset)
			return; /* one function under several names */
	places->offsets[places->count] = site->offset;
	places->cookies[places->count++] = cookie;
	file->site_count++;
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

void deferred_find_sites(struct deferred_probes *deferred, struct deferred_file *file, int fd)
{
	struct finding_file facts;

	if (worker_finding_open(deferred->worker, fd, &facts))
		return;
	/* Go has an allocator of its own, and must not have its returns probed. */
	for (size_t i = 0; !facts.is_go && i < deferred->probes->count; i++)
		if (deferred_is_ours(deferred, i) && !capture_failure(deferred->capture, i)->err &&
		    !capture_is_resting(deferred->capture, i))
			look_for(deferred, file, i);
	worker_finding_close(deferred->worker);
}
