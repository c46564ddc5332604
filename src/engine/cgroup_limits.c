// SPDX-License-Identifier: Apache-2.0
#include "cgroup_limits.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "../base/cleanup.h"
#include "../base/clock.h"
#include "../base/text.h"

#define LOOK_NS	    NS_PER_MS /* a window's look takes no longer */
#define WALK_ONE_IN 200	      /* of the time since the last walk: 0.5 % of one CPU */

/* --- a cgroup's own limits, and those that it has from above --- */

/* The nearest ancestor with limits of this resource. */
static int find_ancestor(const struct cgroup_limits *limits, const char *path,
			 enum cgroup_resource resource)
{
	size_t longest = 0;
	int nearest = CGROUP_NOBODY;

	for (size_t i = 0; i < limits->count; i++) {
		const struct cgroup_limit *other = &limits->limits[i];
		size_t length = strcmp(other->path, "/") ? strlen(other->path) : 0;

		if (other->by[resource] == CGROUP_NOBODY || !strcmp(other->path, path) ||
		    strncmp(other->path, path, length) || path[length] != '/' ||
		    (nearest != CGROUP_NOBODY && length < longest))
			continue;
		nearest = (int)i;
		longest = length;
	}
	return nearest;
}

/* quota / period, without fractions. */
static bool is_tighter(const struct cgroup_limit *a, const struct cgroup_limit *b)
{
	return b->quota_us == CGROUP_NO_LIMIT ||
	       (a->quota_us != CGROUP_NO_LIMIT &&
		(double)a->quota_us * (double)b->period_us <=
			(double)b->quota_us * (double)a->period_us);
}

static u64 least(u64 a, u64 b)
{
	return a < b ? a : b;
}

/* Whose limit is it that counts? Of several on the way to the root, the tightest. */
static void inherit(const struct cgroup_limits *limits, struct cgroup_limit *own, int self,
		    enum cgroup_resource resource)
{
	int nearest = find_ancestor(limits, own->path, resource);
	const struct cgroup_limit *above =
		nearest == CGROUP_NOBODY ? NULL : &limits->limits[nearest];
	bool has_own = resource == CGROUP_CPU ? own->quota_us != CGROUP_NO_LIMIT
		       : resource == CGROUP_MEMORY
			       ? least(own->memory_high, own->memory_max) != CGROUP_NO_LIMIT
			       : own->io[0] != '\0';

	own->by[resource] = has_own ? self : CGROUP_NOBODY;
	if (!above)
		return;
	if (!has_own)
		own->by[resource] = above->by[resource];
	if (resource == CGROUP_CPU && (!has_own || !is_tighter(own, above))) {
		own->by[resource] = above->by[resource];
		own->quota_us = above->quota_us;
		own->period_us = above->period_us;
	} else if (resource == CGROUP_MEMORY) {
		if (least(above->memory_high, above->memory_max) <
		    least(own->memory_high, own->memory_max))
			own->by[resource] = above->by[resource];
		own->memory_high = least(own->memory_high, above->memory_high);
		own->memory_max = least(own->memory_max, above->memory_max);
	} else if (resource == CGROUP_IO) {
		if (has_own)
			cgroup_append(own->io, sizeof(own->io), "; ");
		cgroup_append(own->io, sizeof(own->io), above->io);
	}
}

static struct cgroup_limit *find_path(const struct cgroup_limits *limits, const char *path)
{
	for (size_t i = 0; i < limits->count; i++)
		if (!strcmp(limits->limits[i].path, path))
			return &limits->limits[i];
	return NULL;
}

/* The place of a cgroup in the table, or the next free one: which must exist. */
static int place_of(const struct cgroup_limits *limits, const char *path)
{
	const struct cgroup_limit *known = find_path(limits, path);

	return known ? (int)(known - limits->limits) : (int)limits->count;
}

/* What this mount controls; what others do is left as it is. */
static void take_over(struct cgroup_limit *to, const struct cgroup_limit *from,
		      unsigned int resources, size_t mount)
{
	for (int i = 0; i < CGROUP_RESOURCES; i++) {
		if (!(resources & 1U << i))
			continue;
		to->by[i] = from->by[i];
		to->mount[i] = (int)mount;
	}
	if (resources & 1U << CGROUP_CPU) {
		to->quota_us = from->quota_us;
		to->period_us = from->period_us;
	}
	if (resources & 1U << CGROUP_MEMORY) {
		to->memory_high = from->memory_high;
		to->memory_max = from->memory_max;
	}
	if (resources & 1U << CGROUP_IO)
		text_copy(to->io, sizeof(to->io), from->io);
}

static const struct cgroup_limit no_limit = {
	.quota_us = CGROUP_NO_LIMIT,
	.period_us = CGROUP_NO_LIMIT,
	.memory_high = CGROUP_NO_LIMIT,
	.memory_max = CGROUP_NO_LIMIT,
	.by = {CGROUP_NOBODY, CGROUP_NOBODY, CGROUP_NOBODY},
	.mount = {CGROUP_NOBODY, CGROUP_NOBODY, CGROUP_NOBODY},
};

/* Throttled before dwell came does not count; a cgroup that is younger has no such past. */
static void begin_count(const struct cgroup_limits *limits, struct cgroup_limit *limit)
{
	const struct cgroup_mount *mount = &limits->mounts[limit->mount[CGROUP_CPU]];
	char name[CGROUP_FILE_PATH_BYTES];
	struct stat st;

	cgroup_read_throttled(mount, limit);
	cgroup_name_file(mount, limit->path, "", name);
	if (!stat(name, &st) &&
	    (u64)st.st_ctim.tv_sec * NS_PER_S + (u64)st.st_ctim.tv_nsec > limits->begun_real_ns)
		return;
	limit->throttled_before = limit->throttled;
	limit->throttled_before_us = limit->throttled_us;
}

static bool has_limit(const struct cgroup_limit *limit)
{
	for (int i = 0; i < CGROUP_RESOURCES; i++)
		if (limit->by[i] != CGROUP_NOBODY)
			return true;
	return false;
}

/* A cgroup without processes matters only if others have its limit. */
static bool is_worth_a_row(const struct cgroup_limits *limits, const struct cgroup_limit *own,
			   int self)
{
	for (int i = 0; i < CGROUP_RESOURCES; i++)
		if (own->by[i] == self)
			return true;
	return has_limit(own) && cgroup_has_processes(&limits->mounts[limits->here], own->path);
}

static enum cgroup_step on_cgroup(void *context, const char *path, u64 id)
{
	struct cgroup_limits *limits = context;
	unsigned int resources = limits->resources[limits->here];
	int self = place_of(limits, path);
	struct cgroup_limit own = no_limit, *limit;
	bool had_quota;

	(void)id;
	text_copy(own.path, sizeof(own.path), path);
	cgroup_read_limits(&limits->mounts[limits->here], resources, &own);
	for (int i = 0; i < CGROUP_RESOURCES; i++)
		if (resources & 1U << i)
			inherit(limits, &own, self, (enum cgroup_resource)i);
	if ((size_t)self == limits->count && !is_worth_a_row(limits, &own, self))
		return CGROUP_WALK_ON;
	if (self == CGROUP_LIMITS_MAX) {
		limits->walk_dropped++;
		return CGROUP_WALK_ON;
	}
	limit = &limits->limits[self];
	if ((size_t)self == limits->count) {
		*limit = no_limit;
		text_copy(limit->path, sizeof(limit->path), path);
		limits->count++;
	}
	had_quota = limit->by[CGROUP_CPU] == self;
	take_over(limit, &own, resources, limits->here);
	if (limit->by[CGROUP_CPU] == self && !had_quota)
		begin_count(limits, limit);
	return CGROUP_WALK_ON;
}

/* --- processes --- */

static bool is_alive(const void *item, const void *context)
{
	(void)context;
	return !kill((pid_t)((const struct cgroup_member *)item)->pid, 0) || errno != ESRCH;
}

/* Once in a look: it takes a call for each. */
static void forget_dead(struct cgroup_limits *limits)
{
	size_t before = limits->members.count;

	if (limits->has_forgotten)
		return;
	limits->has_forgotten = true;
	hash_retain(&limits->members, is_alive, NULL);
	limits->forgotten += before - limits->members.count;
}

/* True for one that is new. */
static bool add_member(struct cgroup_limits *limits, size_t limit, u32 pid)
{
	const struct cgroup_member member = {.limit = (u32)limit, .pid = pid};

	if (hash_find(&limits->members, &member))
		return false;
	if (hash_is_full(&limits->members))
		forget_dead(limits);
	if (hash_add(&limits->members, &member))
		return true;
	limits->is_members_full = true;
	return false;
}

static void read_members(struct cgroup_limits *limits, struct cgroup_limit *limit, int mount,
			 cgroup_member_found found, void *context)
{
	char name[CGROUP_FILE_PATH_BYTES];
	_cleanup_fclose_ FILE *file = NULL;
	unsigned int pid;

	cgroup_name_file(&limits->mounts[mount], limit->path, "cgroup.procs", name);
	file = fopen(name, "re");
	while (file && fscanf(file, "%u", &pid) == 1)
		if (pid && add_member(limits, (size_t)(limit - limits->limits), pid))
			found(context, limit, pid);
}

static void look_at(struct cgroup_limits *limits, struct cgroup_limit *limit,
		    cgroup_member_found found, void *context)
{
	for (int i = 0; i < CGROUP_RESOURCES; i++) {
		bool is_again = false;

		for (int k = 0; k < i; k++)
			is_again |= limit->mount[k] == limit->mount[i];
		if (limit->by[i] != CGROUP_NOBODY && !is_again)
			read_members(limits, limit, limit->mount[i], found, context);
	}
	if (limit->by[CGROUP_CPU] == (int)(limit - limits->limits))
		cgroup_read_throttled(&limits->mounts[limit->mount[CGROUP_CPU]], limit);
}

/* --- the whole --- */

static bool has_file(const struct cgroup_mount *mount, const char *file)
{
	char name[CGROUP_FILE_PATH_BYTES];

	cgroup_name_file(mount, "/", file, name);
	return !access(name, F_OK);
}

static unsigned int find_resources(const struct cgroup_mount *mount)
{
	unsigned int resources = 0;

	if (!mount->hierarchy)
		return (1U << CGROUP_RESOURCES) - 1;
	if (has_file(mount, "cpu.shares"))
		resources |= 1U << CGROUP_CPU;
	if (has_file(mount, "memory.limit_in_bytes"))
		resources |= 1U << CGROUP_MEMORY;
	if (has_file(mount, "blkio.throttle.read_bps_device"))
		resources |= 1U << CGROUP_IO;
	return resources;
}

int cgroup_limits_open_mounts(struct cgroup_limits *limits)
{
	struct timespec now;

	for (size_t i = 0; i < limits->mount_count; i++)
		limits->resources[i] = find_resources(&limits->mounts[i]);
	limits->limits = calloc(CGROUP_LIMITS_MAX, sizeof(*limits->limits));
	hash_init(&limits->members, sizeof(struct cgroup_member), sizeof(struct cgroup_member),
		  CGROUP_MEMBERS_MAX);
	clock_gettime(CLOCK_REALTIME, &now);
	limits->begun_real_ns = (u64)now.tv_sec * NS_PER_S + (u64)now.tv_nsec;
	return limits->limits ? 0 : -ENOMEM;
}

int cgroup_limits_open(struct cgroup_limits *limits)
{
	int count = cgroup_list_mounts(limits->mounts, CGROUP_MOUNTS_MAX);

	limits->mount_count = count > 0 ? (size_t)count : 0;
	return count < 0 ? count : cgroup_limits_open_mounts(limits);
}

void cgroup_limits_close(struct cgroup_limits *limits)
{
	free(limits->limits);
	hash_free(&limits->members);
	limits->limits = NULL;
	limits->count = 0;
}

void cgroup_limits_walk(struct cgroup_limits *limits, cgroup_member_found found, void *context)
{
	u64 begun_ns = clock_now_ns();

	if (!limits->limits)
		return;
	limits->walk_dropped = 0;
	limits->has_forgotten = false;
	for (limits->here = 0; limits->here < limits->mount_count; limits->here++)
		if (limits->resources[limits->here])
			cgroup_walk(&limits->mounts[limits->here], on_cgroup, limits);
	if (limits->walk_dropped > limits->dropped)
		limits->dropped = limits->walk_dropped;
	for (size_t i = 0; i < limits->count; i++)
		look_at(limits, &limits->limits[i], found, context);
	limits->walked_ns = clock_now_ns();
	limits->walk_took_ns = limits->walked_ns - begun_ns;
}

void cgroup_limits_look(struct cgroup_limits *limits, cgroup_member_found found, void *context)
{
	u64 now_ns = clock_now_ns();

	if (now_ns - limits->walked_ns > WALK_ONE_IN * limits->walk_took_ns) {
		cgroup_limits_walk(limits, found, context);
		return;
	}
	limits->has_forgotten = false;
	for (size_t i = 0; i < limits->count && clock_now_ns() - now_ns < LOOK_NS; i++) {
		limits->next = (limits->next + 1) % limits->count;
		look_at(limits, &limits->limits[limits->next], found, context);
	}
}
