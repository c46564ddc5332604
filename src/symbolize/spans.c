// SPDX-License-Identifier: Apache-2.0
#include "spans.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "../base/cleanup.h"

#define ALIAS_MAX   64 /* names of one address that are sorted one by one */
#define RADIX_LEAST 256
#define DIGIT_BITS  11
#define DIGITS	    (1U << DIGIT_BITS)

void spans_init(struct spans *spans, size_t max, size_t text_max)
{
	*spans = (struct spans){.max = max, .text_max = text_max};
}

void spans_free(struct spans *spans)
{
	free(spans->items);
	free(spans->text);
	*spans = (struct spans){0};
}

/* Room for more in an array of count items, at most max: 0, -E2BIG or -ENOMEM. */
static int make_room(void *array, size_t item_size, size_t count, size_t more, size_t max,
		     size_t *capacity)
{
	size_t wanted = count + more, larger = *capacity ? *capacity * 2 : 1024;
	void *items;

	if (wanted <= *capacity)
		return 0;
	if (wanted > max)
		return -E2BIG;
	while (larger < wanted)
		larger *= 2;
	if (larger > max)
		larger = max;
	items = reallocarray(*(void **)array, larger, item_size);
	if (!items)
		return -ENOMEM;
	*(void **)array = items;
	*capacity = larger;
	return 0;
}

int spans_add(struct spans *spans, struct span span, const char *name, size_t length)
{
	int err;

	if (length > SPAN_NAME_MAX)
		length = SPAN_NAME_MAX;
	err = make_room(&spans->items, sizeof(*spans->items), spans->count, 1, spans->max,
			&spans->capacity);
	if (!err)
		err = make_room(&spans->text, 1, spans->text_size, length + 1, spans->text_max,
				&spans->text_capacity);
	if (err == -E2BIG)
		spans->refused++;
	if (err)
		return err;
	if (span.size > ~0ULL - span.begin)
		span.size = (u32)(~0ULL - span.begin);
	span.name = (u32)spans->text_size;
	memcpy(spans->text + spans->text_size, name, length);
	spans->text[spans->text_size + length] = '\0';
	spans->text_size += length + 1;
	spans->items[spans->count++] = span;
	return 0;
}

static int by_address(const void *a, const void *b, void *text)
{
	const struct span *left = a, *right = b;

	if (left->begin != right->begin)
		return left->begin < right->begin ? -1 : 1;
	if (left->order != right->order)
		return left->order > right->order ? -1 : 1;
	return strcmp((char *)text + left->name, (char *)text + right->name);
}

/* Many come by address, but not by order: how many at the front do, which are sorted then. */
static size_t sort_front(struct spans *spans)
{
	for (size_t i = 1; i < spans->count; i++) {
		struct span span = spans->items[i];
		size_t to = i;

		if (span.begin < spans->items[i - 1].begin)
			return i;
		while (to && i - to < ALIAS_MAX &&
		       by_address(&spans->items[to - 1], &span, spans->text) > 0) {
			spans->items[to] = spans->items[to - 1];
			to--;
		}
		spans->items[to] = span;
		if (i - to == ALIAS_MAX)
			return 0; /* it is not worth it */
	}
	return spans->count;
}

/* One pass of a radix sort: to *to, in the order of the digit at this bit. */
static void sort_by_digit(const struct span *from, struct span *to, size_t count, u64 least,
			  unsigned int shift)
{
	size_t at[DIGITS] = {0}, sum = 0;

	for (size_t i = 0; i < count; i++)
		at[(from[i].begin - least) >> shift & (DIGITS - 1)]++;
	for (size_t digit = 0; digit < DIGITS; digit++) {
		size_t here = at[digit];

		at[digit] = sum;
		sum += here;
	}
	for (size_t i = 0; i < count; i++)
		to[at[(from[i].begin - least) >> shift & (DIGITS - 1)]++] = from[i];
}

/* Those of one address, of which there are few, in their own order. */
static void sort_aliases(struct span *items, size_t count, char *text)
{
	for (size_t i = 0, end; i < count; i = end) {
		for (end = i + 1; end < count && items[end].begin == items[i].begin;)
			end++;
		if (end - i > 1)
			qsort_r(items + i, end - i, sizeof(*items), by_address, text);
	}
}

/*
 * By address: the symbols of a large program are a hundred thousand, and comparing them took a
 * third of what a short recording cost. Without memory for it, slowly.
 */
static void sort(struct span *items, size_t count, char *text)
{
	struct span *other = count < RADIX_LEAST ? NULL : reallocarray(NULL, count, sizeof(*items));
	struct span *from = items, *to = other;
	u64 least = ~0ULL, most = 0;

	if (!other) {
		qsort_r(items, count, sizeof(*items), by_address, text);
		return;
	}
	for (size_t i = 0; i < count; i++) {
		least = items[i].begin < least ? items[i].begin : least;
		most = items[i].begin > most ? items[i].begin : most;
	}
	for (unsigned int shift = 0; shift < 64 && (most - least) >> shift; shift += DIGIT_BITS) {
		struct span *done = from;

		sort_by_digit(from, to, count, least, shift);
		from = to;
		to = done;
	}
	if (from != items)
		memcpy(items, from, count * sizeof(*items));
	free(other);
	sort_aliases(items, count, text);
}

void spans_sort(struct spans *spans)
{
	size_t sorted = sort_front(spans), low = 0, high = sorted;
	struct span *rest;

	if (sorted == spans->count)
		return;
	rest = spans->items + sorted;
	sort(rest, spans->count - sorted, spans->text);
	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (by_address(&spans->items[middle], rest, spans->text) <= 0)
			low = middle + 1;
		else
			high = middle;
	}
	if (low < sorted) /* what is in front of the rest's first is where it belongs */
		sort(spans->items + low, spans->count - low, spans->text);
}

void spans_keep_best(struct spans *spans)
{
	size_t kept = 0;

	spans_sort(spans);
	for (size_t i = 0; i < spans->count; i++)
		if (!kept || spans->items[i].begin != spans->items[kept - 1].begin)
			spans->items[kept++] = spans->items[i];
	spans->count = kept;
}

u32 spans_rank(bool is_sized, u32 binding, const char *name, size_t length)
{
	size_t underscores = 0;

	while (underscores < length && name[underscores] == '_')
		underscores++;
	if (underscores && underscores < length && strchr("ZR", name[underscores]))
		underscores = 0; /* mangled: every such name has them */
	if (underscores > 15)
		underscores = 15;
	if (length > 0xffff)
		length = 0xffff;
	return (u32)is_sized << 31 | (u32)(15 - underscores) << 20 | (binding & 3) << 16 |
	       (u32)(0xffff - length);
}

void spans_trim(struct spans *spans)
{
	struct span *items = NULL;
	char *text = NULL;

	if (spans->count)
		items = reallocarray(spans->items, spans->count, sizeof(*items));
	if (items) {
		spans->items = items;
		spans->capacity = spans->count;
	}
	if (spans->text_size)
		text = realloc(spans->text, spans->text_size);
	if (text) {
		spans->text = text;
		spans->text_capacity = spans->text_size;
	}
}

static u64 end_of(const struct span *span)
{
	return span->begin + span->size;
}

/* Ends the open ones; says whether all are disjoint now. */
static bool close_open(struct spans *spans)
{
	bool is_disjoint = true;

	for (size_t i = 0; i < spans->count; i++) {
		struct span *span = &spans->items[i];

		if (i + 1 < spans->count && spans->items[i + 1].begin < end_of(span)) {
			if (span->is_open)
				span->size = (u32)(spans->items[i + 1].begin - span->begin);
			else
				is_disjoint = false;
		}
		span->is_open = false;
	}
	return is_disjoint;
}

/* A heap of those that have begun, the highest order on top. */
struct heap {
	const struct span *items;
	u32 *places;
	size_t count;
};

static void heap_push(struct heap *heap, u32 place)
{
	size_t at = heap->count++;

	for (; at > 0; at = (at - 1) / 2) {
		u32 parent = heap->places[(at - 1) / 2];

		if (heap->items[parent].order >= heap->items[place].order)
			break;
		heap->places[at] = parent;
	}
	heap->places[at] = place;
}

static void heap_pop(struct heap *heap)
{
	u32 place = heap->places[--heap->count];
	size_t at = 0;

	for (size_t child; (child = 2 * at + 1) < heap->count; at = child) {
		if (child + 1 < heap->count && heap->items[heap->places[child + 1]].order >
						       heap->items[heap->places[child]].order)
			child++;
		if (heap->items[heap->places[child]].order <= heap->items[place].order)
			break;
		heap->places[at] = heap->places[child];
	}
	heap->places[at] = place;
}

/* Each step either takes an item in or puts one out, and writes one piece at most. */
static size_t sweep(const struct spans *spans, struct heap *heap, struct span *pieces)
{
	size_t taken = 0, count = 0;
	u64 at = 0;

	while (taken < spans->count || heap->count) {
		const struct span *top;
		u64 end;

		if (!heap->count)
			at = spans->items[taken].begin;
		while (taken < spans->count && spans->items[taken].begin <= at)
			heap_push(heap, (u32)taken++);
		top = &spans->items[heap->places[0]];
		if (end_of(top) <= at) {
			heap_pop(heap);
			continue;
		}
		end = end_of(top);
		if (taken < spans->count && spans->items[taken].begin < end)
			end = spans->items[taken].begin;
		if (count && pieces[count - 1].name == top->name &&
		    end_of(&pieces[count - 1]) == at) {
			pieces[count - 1].size += (u32)(end - at);
		} else {
			pieces[count] = *top;
			pieces[count].begin = at;
			pieces[count++].size = (u32)(end - at);
		}
		at = end;
	}
	return count;
}

int spans_settle(struct spans *spans)
{
	_cleanup_free_ u32 *places = NULL;
	struct heap heap = {.items = spans->items};
	struct span *pieces;

	if (close_open(spans))
		return 0;
	places = malloc(spans->count * sizeof(*places));
	pieces = reallocarray(NULL, spans->count, 2 * sizeof(*pieces));
	if (!places || !pieces) {
		free(pieces);
		return -ENOMEM;
	}
	heap.places = places;
	spans->count = sweep(spans, &heap, pieces);
	free(spans->items);
	spans->items = pieces;
	spans->capacity = spans->count;
	return 0;
}

const struct span *spans_find(const struct spans *spans, u64 address)
{
	size_t low = 0, high = spans->count;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (spans->items[middle].begin <= address)
			low = middle + 1;
		else
			high = middle;
	}
	if (!low || address - spans->items[low - 1].begin >= spans->items[low - 1].size)
		return NULL;
	return &spans->items[low - 1];
}
