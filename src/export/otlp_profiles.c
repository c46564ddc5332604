// SPDX-License-Identifier: Apache-2.0
/*
 * The stacks of a session as OTLP profiles (v1development): a resource per service, with a profile
 * of time on a CPU and one of time off it, as a profile has one type of value. Samples of the same
 * stack, thread and state are one. Services go out one by one, the dictionary that they share last.
 * In memory are the sums of samples and the dictionary: about as much as the profile itself, whose
 * bounds src/model/profile.h has.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "../base/cleanup.h"
#include "export.h"
#include "otlp_dictionary.h"

#define ATTRIBUTES   4 /* of a sample: process, thread and its name, state */
#define SERVICES_MAX 20000

struct service {
	u32 name; /* the key: text */
	u32 unused;
	u64 weight_ns;
	u32 rank;
};

struct sum {
	u32 service, kind; /* index of the service, later its rank; 0 on a CPU, 1 off it */
	s32 stack;
	s32 attributes[ATTRIBUTES];
	u32 unused;
	/* the key ends here */
	u64 weight_ns, count;
};
#define SUM_KEY __builtin_offsetof(struct sum, weight_ns)

struct profiles {
	const struct export_source *source;
	struct otlp_dictionary dictionary;
	struct strings names; /* of services */
	struct hash services, sums;
	struct wire wire;
};

static struct service *service_of(struct profiles *profiles, const struct profile_sample *sample)
{
	const struct timeline *timeline = profiles->source->timeline;
	const struct timeline_process *process =
		timeline_process(timeline, sample->pid, sample->process_start_ns);
	u32 name =
		strings_add(&profiles->names, process ? timeline_service(timeline, process) : "");

	return name == STRINGS_NONE ? NULL : hash_add(&profiles->services, &name);
}

static int add_sample(struct profiles *profiles, const struct profile_sample *sample)
{
	const struct profile *profile = profiles->source->profile;
	struct otlp_dictionary *dictionary = &profiles->dictionary;
	const struct profile_thread *thread =
		hash_find(&profile->threads, &(u64[]){sample->tid, sample->thread_start_ns});
	struct service *service = service_of(profiles, sample);
	struct sum key, *sum;

	if (!service)
		return -ENOMEM;
	memset(&key, 0, sizeof(key));
	key.service = (u32)(service - (struct service *)profiles->services.items);
	key.kind = sample->kind != SAMPLE_CPU;
	key.stack = otlp_stack(dictionary, sample->stack, sample->stop);
	key.attributes[0] = otlp_attribute_number(dictionary, "process.pid", (s64)sample->pid);
	key.attributes[1] = otlp_attribute_number(dictionary, "thread.id", (s64)sample->tid);
	key.attributes[2] = otlp_attribute_text(dictionary, "thread.name",
						thread ? profile_text(profile, thread->comm) : "");
	key.attributes[3] =
		otlp_attribute_text(dictionary, "dwell.state", profile->state_names[sample->state]);
	sum = hash_add(&profiles->sums, &key);
	if (!sum)
		return -ENOMEM;
	sum->weight_ns += sample->weight_ns;
	sum->count += sample->count;
	service->weight_ns += sample->weight_ns;
	return dictionary->err;
}

/* Viewers show the first profile first: it is the service with most time. */
static int rank_services(struct profiles *profiles)
{
	struct service *services = (struct service *)profiles->services.items;
	_cleanup_free_ struct service **ranked =
		calloc(profiles->services.count + 1, sizeof(*ranked));
	size_t count = profiles->services.count;

	if (!ranked)
		return -ENOMEM;
	for (size_t i = 0; i < count; i++) {
		size_t at = i;

		for (; at && ranked[at - 1]->weight_ns < services[i].weight_ns; at--)
			ranked[at] = ranked[at - 1];
		ranked[at] = &services[i];
	}
	for (size_t i = 0; i < count; i++)
		ranked[i]->rank = (u32)i;
	return 0;
}

/* No two are equal: qsort() that finds no memory would have them in another order. */
static int by_rank(const void *a, const void *b, void *context)
{
	const struct sum *one = a, *other = b;
	const struct service *services = context;
	u32 first = services[one->service].rank, second = services[other->service].rank;

	if (first != second)
		return first < second ? -1 : 1;
	if (one->kind != other->kind)
		return one->kind < other->kind ? -1 : 1;
	if (one->stack != other->stack)
		return one->stack < other->stack ? -1 : 1;
	return memcmp(one->attributes, other->attributes, sizeof(one->attributes));
}

static void set_type(struct profiles *profiles, Otlp__ValueType *type, const char *name)
{
	otlp__value_type__init(type);
	WIRE_SET(type, type_strindex, otlp_string(&profiles->dictionary, name));
	WIRE_SET(type, unit_strindex, otlp_string(&profiles->dictionary, "nanoseconds"));
}

static Otlp__Sample *sample_of(struct otlp_pool *pool, struct sum *sum)
{
	Otlp__Sample *sample = otlp_alloc(pool, sizeof(*sample));
	int64_t *value = otlp_alloc(pool, sizeof(*value));

	if (!sample || !value)
		return NULL;
	otlp__sample__init(sample);
	*value = (s64)sum->weight_ns;
	WIRE_SET(sample, stack_index, sum->stack);
	sample->attribute_indices = sum->attributes;
	sample->n_attribute_indices = ATTRIBUTES;
	sample->values = value;
	sample->n_values = 1;
	return sample;
}

/* Sums of one service and kind, which follow each other. */
static Otlp__Profile *profile_of(struct profiles *profiles, struct otlp_pool *pool,
				 struct sum *sums, size_t count)
{
	const struct timeline *timeline = profiles->source->timeline;
	Otlp__Profile *profile = otlp_alloc(pool, sizeof(*profile));
	Otlp__ValueType *type = otlp_alloc(pool, sizeof(*type));
	Otlp__Sample **samples = otlp_alloc(pool, count * sizeof(*samples));
	u64 weight_ns = 0, samples_taken = 0;

	if (!profile || !type || !samples)
		return NULL;
	otlp__profile__init(profile);
	set_type(profiles, type, sums->kind ? "off_cpu" : "cpu");
	profile->sample_type = type;
	profile->samples = samples;
	for (size_t i = 0; i < count && !pool->has_failed; i++) {
		samples[profile->n_samples++] = sample_of(pool, &sums[i]);
		weight_ns += sums[i].weight_ns;
		samples_taken += sums[i].count;
	}
	WIRE_SET(profile, time_unix_nano, timeline_real_ns(timeline, timeline->begin_ns));
	WIRE_SET(profile, duration_nano, timeline->end_ns - timeline->begin_ns);
	if (!sums->kind && samples_taken) {
		profile->period_type = type;
		WIRE_SET(profile, period, (s64)(weight_ns / samples_taken));
	}
	return profile;
}

/* A service, whose sums begin here: how many they are; 0: no memory. */
static size_t put_service(struct profiles *profiles, size_t first)
{
	const struct hash *sums = &profiles->sums;
	struct sum *begin = hash_item(sums, first);
	const struct service *service = hash_item(&profiles->services, begin->service);
	struct otlp_pool pool = {0};
	Otlp__ExportProfilesServiceRequest part = OTLP__EXPORT_PROFILES_SERVICE_REQUEST__INIT;
	Otlp__ResourceProfiles resource = OTLP__RESOURCE_PROFILES__INIT;
	Otlp__ScopeProfiles scope = OTLP__SCOPE_PROFILES__INIT;
	Otlp__Profile *made[2];
	size_t count = 0;

	while (first + count < sums->count && begin[count].service == begin->service) {
		size_t same = 0;

		while (first + count + same < sums->count &&
		       begin[count + same].service == begin->service &&
		       begin[count + same].kind == begin[count].kind)
			same++;
		made[scope.n_profiles++] = profile_of(profiles, &pool, &begin[count], same);
		count += same;
	}
	scope.profiles = made;
	scope.scope = otlp_scope(&pool, profiles->source->timeline);
	resource.resource = otlp_resource(&pool, profiles->source->timeline,
					  strings_get(&profiles->names, service->name));
	resource.scope_profiles = (Otlp__ScopeProfiles *[]){&scope};
	resource.n_scope_profiles = 1;
	part.resource_profiles = (Otlp__ResourceProfiles *[]){&resource};
	part.n_resource_profiles = 1;
	if (!pool.has_failed)
		wire_put(&profiles->wire, &part.base);
	else
		count = 0;
	otlp_free(&pool);
	return count;
}

static int put_all(struct profiles *profiles)
{
	size_t put = 0;

	for (size_t i = 0; i < profiles->sums.count; i += put) {
		put = put_service(profiles, i);
		if (!put)
			return -ENOMEM;
	}
	return otlp_dictionary_put(&profiles->dictionary, &profiles->wire);
}

int export_otlp_profiles(const struct export_source *source, const struct export_options *options,
			 FILE *out)
{
	const struct profile *profile = source->profile;
	struct profiles profiles = {.source = source};
	int err = otlp_dictionary_init(&profiles.dictionary, profile);

	strings_init(&profiles.names, TIMELINE_TEXT_MAX);
	hash_init(&profiles.services, sizeof(struct service), sizeof(u32), SERVICES_MAX);
	hash_init(&profiles.sums, sizeof(struct sum), SUM_KEY, PROFILE_SAMPLES_MAX);
	for (size_t i = 0; !err && i < profile->samples.count; i++)
		err = add_sample(&profiles, hash_item(&profile->samples, i));
	if (!err)
		err = rank_services(&profiles);
	if (!err && profiles.sums.count)
		qsort_r(profiles.sums.items, profiles.sums.count, sizeof(struct sum), by_rank,
			profiles.services.items);
	if (!err)
		err = wire_begin(&profiles.wire, out, options->is_gzip);
	if (!err) {
		err = put_all(&profiles);
		wire_end(&profiles.wire);
	}
	strings_free(&profiles.names);
	hash_free(&profiles.services);
	hash_free(&profiles.sums);
	otlp_dictionary_free(&profiles.dictionary);
	return err;
}
