// SPDX-License-Identifier: Apache-2.0
/*
 * Series, as the kernel side counts them, read out. Their memory is mapped, so that a look at those
 * of which nothing is new costs no call. What was told is kept, and differences go to the worker.
 *
 * Places are few, and a capture may last for months: when they run short, those of which nothing
 * has come for a while are taken back. A program that found such a place a moment ago may still
 * write there: so it rests before it is given away, and what came meanwhile is told. So may the end
 * of a pair whose start found it: it rests until such a start has expired or, where none expires,
 * as long as one is there.
 */
#include <bpf/bpf.h>
#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "../base/cleanup.h"
#include "../base/clock.h"
#include "internal.h"

#define IDLE_LOOKS	60 /* so many calls without news before a place can be taken back ... */
#define DEAD_LOOKS	2  /* ... or so many, if its process has ended */
#define REST_LOOKS	3  /* so many more until it is given away */
#define SHORT_PERCENT	40 /* places run short when more are used; processes have 50 % */
#define NEVER_AGAIN	(~0U)
#define PAIRS_BATCH_MAX 1024

/* What was told of a place, and how long nothing is new. */
struct told {
	u64 sum, sums[SERIES_SUMS];
	u64 orphan_starts, orphan_ends, expired;
	u32 idle;	 /* calls since the last news */
	u32 resting;	 /* calls until it is free; 0: it is in use */
	u64 until_ns;	 /* while it rests: not before this */
	bool is_awaited; /* by the end of a pair that never expires */
	u32 buckets[HIST_BUCKETS];
};

struct series {
	struct series_slot *slots;
	struct series_stripe *stripes;
	struct series_share *shares;
	struct pairs_gone *gone; /* by signal; NULL: nobody asks */
	size_t slots_bytes, stripes_bytes, shares_bytes, gone_bytes;
	int index_fd, free_fd, pairs_fd; /* -1: there is none */
	u32 stripe_count;
	u64 now_ns, limit_ns; /* of the look at pairs that is under way */
	struct series_share told_shares[SIGNAL_LIMIT];
	struct told told[SERIES_MAX];
	struct rec_series row;
};

/* More CPUs share one: to have many is dear in memory, and few is no hindrance. */
u32 series_stripes_here(void)
{
	u32 cpus = (u32)libbpf_num_possible_cpus(), stripes = 1;

	while (stripes < SERIES_STRIPES_MAX && stripes < cpus)
		stripes *= 2;
	return stripes;
}

/* --- begin and end --- */

static void *map_memory(const struct capture *capture, const char *name, size_t bytes,
			size_t *ret_bytes)
{
	size_t page = (size_t)sysconf(_SC_PAGESIZE);
	void *memory;

	*ret_bytes = (bytes + page - 1) / page * page;
	memory = mmap(NULL, *ret_bytes, PROT_READ | PROT_WRITE, MAP_SHARED,
		      capture_map_fd(capture, name), 0);
	return memory == MAP_FAILED ? NULL : memory;
}

static int fill_places(struct capture *capture, const struct series *series)
{
	for (u32 i = 0; i < SERIES_MAX; i++)
		if (bpf_map_update_elem(series->free_fd, NULL, &i, BPF_ANY))
			return -errno;
	for (u32 id = 0; id < SIGNAL_LIMIT; id++)
		series->shares[id].limit = capture->config.series_limits[id];
	return 0;
}

int series_open(struct capture *capture)
{
	struct series *series;

	if (capture_map_fd(capture, "series_slots") < 0)
		return 0;
	series = calloc(1, sizeof(*series));
	if (!series)
		return -ENOMEM;
	capture->series = series;
	series->stripe_count = series_stripes_here();
	series->index_fd = capture_map_fd(capture, "series_index");
	series->free_fd = capture_map_fd(capture, "series_free");
	series->pairs_fd = capture_map_fd(capture, "pairs");
	series->slots = map_memory(capture, "series_slots", SERIES_MAX * sizeof(struct series_slot),
				   &series->slots_bytes);
	series->stripes =
		map_memory(capture, "series_stripes",
			   (size_t)SERIES_MAX * series->stripe_count * sizeof(struct series_stripe),
			   &series->stripes_bytes);
	series->shares =
		map_memory(capture, "series_shares", SIGNAL_LIMIT * sizeof(struct series_share),
			   &series->shares_bytes);
	if (capture_map_fd(capture, "pairs_gone") >= 0)
		series->gone =
			map_memory(capture, "pairs_gone", SIGNAL_LIMIT * sizeof(struct pairs_gone),
				   &series->gone_bytes);
	if (!series->slots || !series->stripes || !series->shares)
		return -ENOMEM;
	return fill_places(capture, series);
}

void series_close(struct capture *capture)
{
	struct series *series = capture->series;

	if (!series)
		return;
	if (series->slots)
		munmap(series->slots, series->slots_bytes);
	if (series->stripes)
		munmap(series->stripes, series->stripes_bytes);
	if (series->shares)
		munmap(series->shares, series->shares_bytes);
	if (series->gone)
		munmap(series->gone, series->gone_bytes);
	free(series);
	capture->series = NULL;
}

/* --- what is new --- */

#define READ(place) __atomic_load_n(&(place), __ATOMIC_RELAXED)

static struct series_stripe *stripe_at(const struct series *series, u32 slot, u32 i)
{
	return &series->stripes[(size_t)slot * series->stripe_count + i];
}

/* The sum over all copies of a place. */
#define SUM(series, slot, field)                                                                   \
	({                                                                                         \
		u64 sum_ = 0;                                                                      \
                                                                                                   \
		for (u32 i_ = 0; i_ < (series)->stripe_count; i_++)                                \
			sum_ += READ(stripe_at(series, slot, i_)->field);                          \
		sum_;                                                                              \
	})

/* What a growing number has got since it was told. */
static u64 grown(u64 now, u64 *told)
{
	u64 by = now - *told;

	*told = now;
	return by;
}

static bool has_news(const struct series *series, u32 slot)
{
	const struct told *told = &series->told[slot];

	return SUM(series, slot, sum) != told->sum || SUM(series, slot, sums[0]) != told->sums[0] ||
	       SUM(series, slot, sums[1]) != told->sums[1] ||
	       (u32)SUM(series, slot, buckets[0]) != told->buckets[0] ||
	       SUM(series, slot, orphan_starts) != told->orphan_starts ||
	       SUM(series, slot, orphan_ends) != told->orphan_ends ||
	       SUM(series, slot, expired) != told->expired;
}

static u64 take_max(const struct series *series, u32 slot)
{
	u64 max = 0;

	for (u32 i = 0; i < series->stripe_count; i++) {
		u64 *place = &stripe_at(series, slot, i)->max;
		u64 one = READ(*place) ? __atomic_exchange_n(place, 0, __ATOMIC_RELAXED) : 0;

		max = one > max ? one : max;
	}
	return max;
}

static void begin_row(struct rec_series *row, const struct series_key *key)
{
	*row = (struct rec_series){
		.hdr = {.type = SIG_SERIES,
			.version = SIG_VERSION_SERIES,
			.ts_ns = clock_now_ns(),
			.seq = 1,
			.tgid = key->tgid,
			.start_ns = key->start_ns},
		.key = *key,
	};
}

static void send_row(struct capture *capture, struct rec_series *row)
{
	row->hdr.size = (u16)(offsetof(struct rec_series, buckets) +
			      row->bucket_count * sizeof(row->buckets[0]));
	rows_send(capture, &row->hdr);
}

/* Sums come first: of a value that is added meanwhile, its bucket is told now, the sum then. */
static void send_slot(struct capture *capture, u32 slot)
{
	struct series *series = capture->series;
	struct told *told = &series->told[slot];
	struct rec_series *row = &series->row;
	struct series_key key = series->slots[slot].key;

	begin_row(row, &key);
	row->sum = grown(SUM(series, slot, sum), &told->sum);
	row->max = take_max(series, slot);
	for (u32 i = 0; i < SERIES_SUMS; i++)
		row->sums[i] = grown(SUM(series, slot, sums[i]), &told->sums[i]);
	row->orphan_starts = grown(SUM(series, slot, orphan_starts), &told->orphan_starts);
	row->orphan_ends = grown(SUM(series, slot, orphan_ends), &told->orphan_ends);
	row->expired = grown(SUM(series, slot, expired), &told->expired);
	for (u32 place = 0; place < HIST_BUCKETS; place++) {
		u32 now = (u32)SUM(series, slot, buckets[place]);
		u32 by = now - told->buckets[place];

		if (!by)
			continue;
		told->buckets[place] = now;
		if (row->bucket_count == SERIES_RECORD_BUCKETS) {
			send_row(capture, row);
			begin_row(row, &key);
		}
		row->buckets[row->bucket_count++] = (struct series_bucket){place, by};
		row->count += by;
	}
	send_row(capture, row);
}

static void send_shares(struct capture *capture)
{
	struct series *series = capture->series;

	for (u32 id = 0; id < SIGNAL_LIMIT; id++) {
		struct series_share *told = &series->told_shares[id];
		struct rec_share row = {
			.hdr = {.type = SIG_SHARE,
				.version = SIG_VERSION_SHARE,
				.size = sizeof(row),
				.ts_ns = clock_now_ns(),
				.seq = 1},
			.signal = id,
			.share = series->shares[id],
		};

		if (!memcmp(told, &row.share, sizeof(*told)))
			continue;
		*told = row.share;
		rows_send(capture, &row.hdr);
	}
}

/* --- starts without an end --- */

static void expire(struct series *series, const struct pair_key *key, const struct pair *pair)
{
	struct pair now;

	/* Its end may have come, and another start. */
	if (bpf_map_lookup_elem(series->pairs_fd, key, &now) || now.begin_ns != pair->begin_ns ||
	    bpf_map_delete_elem(series->pairs_fd, key))
		return;
	if (pair->slot < SERIES_MAX)
		__atomic_fetch_add(&stripe_at(series, pair->slot, 0)->expired, 1, __ATOMIC_RELAXED);
	if (series->gone && key->signal < SIGNAL_LIMIT && key->kind < PAIR_KINDS_MAX)
		__atomic_fetch_add(&series->gone[key->signal].expired[key->kind], 1,
				   __ATOMIC_RELAXED);
}

/* Calls what for each start that waits: true if these were all. */
static bool each_pair(struct series *series,
		      void (*what)(struct series *series, const struct pair_key *key,
				   const struct pair *pair))
{
	_cleanup_free_ struct pair_key *keys = calloc(PAIRS_BATCH_MAX, sizeof(*keys));
	_cleanup_free_ struct pair *found = calloc(PAIRS_BATCH_MAX, sizeof(*found));
	u32 at = 0, count, *from = NULL;

	/* The kernel hands out whole chains of its hash: so many at most, and then it is over. */
	for (u32 batch = 0; keys && found && batch <= PAIRS_MAX / PAIRS_BATCH_MAX; batch++) {
		int end;

		count = PAIRS_BATCH_MAX;
		end = bpf_map_lookup_batch(series->pairs_fd, from, &at, keys, found, &count, NULL);
		if (end && errno != ENOENT)
			return false;
		for (u32 i = 0; i < count; i++)
			what(series, &keys[i], &found[i]);
		if (end)
			return true;
		from = &at;
	}
	return false;
}

static void expire_if_old(struct series *series, const struct pair_key *key,
			  const struct pair *pair)
{
	if (series->now_ns > pair->begin_ns && series->now_ns - pair->begin_ns > series->limit_ns)
		expire(series, key, pair);
}

static void note_place(struct series *series, const struct pair_key *key, const struct pair *pair)
{
	(void)key;
	if (pair->slot < SERIES_MAX)
		series->told[pair->slot].is_awaited = true;
}

/* Starts expire; where they do not, their places are not given away. */
static void look_at_pairs(struct capture *capture)
{
	struct series *series = capture->series;
	bool is_known;

	series->now_ns = clock_now_ns();
	series->limit_ns = capture->config.pair_limit_ns;
	if (series->limit_ns) {
		each_pair(series, expire_if_old);
		return;
	}
	for (u32 slot = 0; slot < SERIES_MAX; slot++)
		series->told[slot].is_awaited = false;
	is_known = each_pair(series, note_place);
	for (u32 slot = 0; slot < SERIES_MAX && !is_known; slot++)
		series->told[slot].is_awaited = true;
}

/* --- places that are taken back --- */

/* Those that it leads to come first: a new leader must not find one that is on its way out. */
static void release(struct series *series, u32 slot, u64 pair_limit_ns)
{
	const struct series_slot *place = &series->slots[slot];
	u32 signal = series->slots[slot].key.signal;

	for (u32 i = 0; !place->is_led && i < SERIES_BESIDE; i++)
		if (place->beside[i] && place->beside[i] <= SERIES_MAX)
			release(series, place->beside[i] - 1, pair_limit_ns);
	if (bpf_map_delete_elem(series->index_fd, &series->slots[slot].key))
		return;
	series->told[slot].resting = REST_LOOKS;
	series->told[slot].until_ns = clock_now_ns() + pair_limit_ns;
	__atomic_store_n(&series->slots[slot].is_ready, SERIES_RESTING, __ATOMIC_RELEASE);
	if (signal < SIGNAL_LIMIT && READ(series->shares[signal].used))
		__atomic_fetch_sub(&series->shares[signal].used, 1, __ATOMIC_RELAXED);
}

static void give_away(struct series *series, u32 slot)
{
	struct told *told = &series->told[slot];

	memset(stripe_at(series, slot, 0), 0, series->stripe_count * sizeof(struct series_stripe));
	memset(told, 0, sizeof(*told));
	__atomic_store_n(&series->slots[slot].is_ready, SERIES_FREE, __ATOMIC_RELEASE);
	if (bpf_map_update_elem(series->free_fd, NULL, &slot, BPF_ANY))
		told->resting = NEVER_AGAIN; /* it was free already, which cannot be */
}

static bool is_short(const struct series *series, u32 signal)
{
	u64 limit, used;

	if (signal >= SIGNAL_LIMIT)
		return false;
	limit = series->shares[signal].limit;
	used = READ(series->shares[signal].used);
	return used * 100 > limit * SHORT_PERCENT;
}

/* Its number may be another's by now: then it waits as the others do. */
static bool is_dead(const struct series_key *key)
{
	return key->tgid && kill((pid_t)key->tgid, 0) && errno == ESRCH;
}

static bool can_be_released(const struct series *series, u32 slot)
{
	const struct series_key *key = &series->slots[slot].key;
	u32 idle = series->told[slot].idle;

	if (series->slots[slot].is_led || key->object == SERIES_OTHER || idle <= DEAD_LOOKS ||
	    series->told[slot].is_awaited || !is_short(series, key->signal))
		return false;
	return idle > IDLE_LOOKS || is_dead(key);
}

/* A place where nothing is new. */
static void grow_old(struct series *series, u32 slot, u64 pair_limit_ns)
{
	struct told *told = &series->told[slot];

	if (told->resting == NEVER_AGAIN)
		return;
	if (told->resting) {
		if (told->resting > 1)
			told->resting--;
		else if (clock_now_ns() >= told->until_ns && !told->is_awaited)
			give_away(series, slot);
		return;
	}
	told->idle++;
	if (can_be_released(series, slot))
		release(series, slot, pair_limit_ns);
}

int capture_send_series(struct capture *capture)
{
	struct series *series = capture->series;
	u64 patience_ns = SEND_WAIT_NS;

	if (!series || !capture->reader)
		return -ENOENT;
	if (series->pairs_fd >= 0)
		look_at_pairs(capture);
	for (u32 slot = 0; slot < SERIES_MAX; slot++) {
		/* Its key was written before it. */
		if (__atomic_load_n(&series->slots[slot].is_ready, __ATOMIC_ACQUIRE) == SERIES_FREE)
			continue;
		if (!has_news(series, slot)) {
			grow_old(series, slot, capture->config.pair_limit_ns);
			continue;
		}
		if (!rows_wait(capture, &patience_ns))
			return -EAGAIN;
		series->told[slot].idle = 0;
		send_slot(capture, slot);
	}
	send_shares(capture);
	reader_wake(capture->reader);
	return 0;
}
