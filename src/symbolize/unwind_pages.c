// SPDX-License-Identifier: Apache-2.0
/*
 * Room is used again at once: a walk that has read rows of a page looks whether the page is still
 * the same, and if it is not, does without them. So nobody has to wait for it to leave.
 */
#include "unwind_pages.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define SPARE_PART    8			   /* one in so many rows is kept for who asks */
#define SWEEP_NS      (UNWIND_IDLE_NS / 2) /* between looks at all marks of use */
#define LOOK_AGAIN_NS (UNWIND_IDLE_NS / 20)
#define NO_PLACE      0xffffffffU

struct resident {
	u32 first, count; /* its rows; count 0: it is not loaded */
	u32 module;
	u32 at;	     /* its place in the list of those that are loaded */
	u64 used_ns; /* it was used then, or later; 0: nobody has ever used it */
	bool was_evicted;
};

int unwind_pages_init(struct unwind_pages *pages, struct unwind_row *rows, u32 row_count,
		      struct unwind_page *places, u32 place_count, u32 module_count)
{
	*pages = (struct unwind_pages){
		.rows = rows,
		.places = places,
		.row_count = row_count,
		.place_count = place_count,
		.module_count = module_count,
		.residents = calloc(place_count, sizeof(struct resident)),
		.loaded = calloc(place_count, sizeof(u32)),
		.held = calloc(module_count, sizeof(u32)),
	};
	if (pages->residents && pages->loaded && pages->held &&
	    !range_pool_init(&pages->pool, row_count))
		return 0;
	unwind_pages_free(pages);
	return -ENOMEM;
}

void unwind_pages_free(struct unwind_pages *pages)
{
	range_pool_free(&pages->pool);
	free(pages->residents);
	free(pages->loaded);
	free(pages->held);
	*pages = (struct unwind_pages){0};
}

/* Before rows that it names are written, and after. */
static void set_run(struct unwind_pages *pages, u32 place, u64 run)
{
	__atomic_store_n(&pages->places[place].run, run, __ATOMIC_SEQ_CST);
}

static bool is_marked(const struct unwind_pages *pages, u32 place)
{
	return __atomic_load_n(&pages->places[place].is_used, __ATOMIC_RELAXED);
}

static void unload(struct unwind_pages *pages, u32 place)
{
	struct resident *resident = &pages->residents[place];
	u32 last = pages->loaded[pages->loaded_count - 1];

	set_run(pages, place, 0);
	range_pool_give_back(&pages->pool, resident->first, resident->count, 0);
	pages->held[resident->module] -= resident->count;
	pages->loaded[resident->at] = last;
	pages->residents[last].at = resident->at;
	pages->loaded_count--;
	resident->count = 0;
}

void unwind_pages_clear(struct unwind_pages *pages, u32 first, u32 count)
{
	for (u32 i = first; i < first + count; i++) {
		if (pages->residents[i].count)
			unload(pages, i);
		set_run(pages, i, 0);
		pages->residents[i] = (struct resident){0};
		pages->places[i].is_used = pages->places[i].asked = 0;
	}
}

void unwind_pages_set_empty(struct unwind_pages *pages, u32 place)
{
	set_run(pages, place, UNWIND_RUN_EMPTY);
}

bool unwind_pages_is_loaded(const struct unwind_pages *pages, u32 place)
{
	return pages->places[place].run != 0;
}

bool unwind_pages_has_spare(const struct unwind_pages *pages, u32 count)
{
	u32 most = pages->row_count - pages->row_count / SPARE_PART;

	return pages->pool.used <= most && count <= most - pages->pool.used;
}

/* --- who makes room --- */

/* Marks of use become times. */
static void sweep(struct unwind_pages *pages, u64 now_ns)
{
	if (now_ns - pages->swept_ns < SWEEP_NS)
		return;
	pages->swept_ns = now_ns;
	for (u32 i = 0; i < pages->loaded_count; i++) {
		u32 place = pages->loaded[i];

		if (!is_marked(pages, place))
			continue;
		__atomic_store_n(&pages->places[place].is_used, 0, __ATOMIC_RELAXED);
		pages->residents[place].used_ns = now_ns;
	}
}

/* The one that was not used for longest, and for long; NO_PLACE: all are. */
static u32 find_idle(const struct unwind_pages *pages, u64 now_ns)
{
	u64 oldest_ns = now_ns > UNWIND_IDLE_NS ? now_ns - UNWIND_IDLE_NS : 0;
	u32 oldest = NO_PLACE;

	for (u32 i = 0; i < pages->loaded_count; i++) {
		u32 place = pages->loaded[i];
		u64 used_ns = pages->residents[place].used_ns;

		if (used_ns > oldest_ns || is_marked(pages, place))
			continue;
		oldest = place;
		oldest_ns = used_ns;
		if (!used_ns)
			break;
	}
	return oldest;
}

static u32 find_largest(const struct unwind_pages *pages)
{
	u32 largest = 0;

	for (u32 i = 1; i < pages->module_count; i++)
		if (pages->held[i] > pages->held[largest])
			largest = i;
	return largest;
}

/*
 * A module that has more than the asking one will have makes room, so that one alone cannot keep
 * all others out: with the page of it that was used least recently, or only with one that was never
 * used.
 */
static u32 find_fair(const struct unwind_pages *pages, u32 module, u32 count, bool is_unused)
{
	u32 largest = find_largest(pages), oldest = NO_PLACE;
	u32 most = pages->held[largest] / (is_unused ? 2 : 1); /* else the same would come back */

	if (largest == module || most <= pages->held[module] + count)
		return NO_PLACE;
	for (u32 i = 0; i < pages->loaded_count; i++) {
		u32 place = pages->loaded[i];

		if (pages->residents[place].module == largest &&
		    !(is_unused && (pages->residents[place].used_ns || is_marked(pages, place))) &&
		    (oldest == NO_PLACE ||
		     pages->residents[place].used_ns < pages->residents[oldest].used_ns))
			oldest = place;
	}
	return oldest;
}

static void evict(struct unwind_pages *pages, u32 place)
{
	/* Who was never used is not missed, but for one sample, if it is asked for later. */
	pages->residents[place].was_evicted =
		pages->residents[place].used_ns || is_marked(pages, place);
	unload(pages, place);
	pages->counts.evicted++;
}

/* For a page that a walk has asked for. */
static bool make_room(struct unwind_pages *pages, u32 module, u32 count, u64 now_ns)
{
	u32 place = NO_PLACE;

	sweep(pages, now_ns);
	if (now_ns >= pages->no_idle_ns) {
		place = find_idle(pages, now_ns);
		if (place == NO_PLACE)
			pages->no_idle_ns = now_ns + LOOK_AGAIN_NS;
	}
	if (place == NO_PLACE)
		place = find_fair(pages, module, count, false);
	if (place != NO_PLACE)
		evict(pages, place);
	return place != NO_PLACE;
}

/* For one that nobody has asked for yet. */
static bool make_spare(struct unwind_pages *pages, u32 module, u32 count)
{
	u32 place = find_fair(pages, module, count, true);

	if (place != NO_PLACE)
		evict(pages, place);
	return place != NO_PLACE;
}

static bool take_room(struct unwind_pages *pages, u32 module, u32 count, bool is_asked, u64 now_ns,
		      u32 *ret_first)
{
	while ((!is_asked && !unwind_pages_has_spare(pages, count)) ||
	       !range_pool_take(&pages->pool, count, now_ns, ret_first))
		if (is_asked ? !make_room(pages, module, count, now_ns)
			     : !make_spare(pages, module, count))
			return false;
	return true;
}

bool unwind_pages_load(struct unwind_pages *pages, u32 place, u32 module,
		       const struct unwind_row *rows, u32 count, bool is_asked, u64 now_ns)
{
	struct resident *resident = &pages->residents[place];
	bool is_cut = count > UNWIND_PAGE_ROWS_MAX;
	u32 first;

	if (is_cut)
		count = UNWIND_PAGE_ROWS_MAX;
	if (is_asked) {
		pages->counts.asked++;
		pages->counts.again += resident->was_evicted;
	}
	if (!take_room(pages, module, count, is_asked, now_ns, &first)) {
		pages->counts.refused += is_asked;
		return false;
	}
	memcpy(pages->rows + first, rows, count * sizeof(*rows));
	if (is_cut)
		pages->rows[first + count - 1].kind = ROW_BAD;
	resident->first = first;
	resident->count = count;
	resident->module = module;
	resident->used_ns = is_asked ? now_ns : 0;
	resident->at = pages->loaded_count;
	pages->loaded[pages->loaded_count++] = place;
	pages->held[module] += count;
	if (pages->pool.used > pages->counts.most)
		pages->counts.most = pages->pool.used;
	set_run(pages, place, (u64)first << UNWIND_RUN_SHIFT | count);
	return true;
}
