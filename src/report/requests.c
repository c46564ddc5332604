// SPDX-License-Identifier: Apache-2.0
/* What things of requests are called. */
#include "requests.h"

#include <stdio.h>

#include "../model/profile.h"

const char *const request_part_names[BUDGET_COUNT] = {
#define PART(NAME, name, ...) [REQUEST_PART_##NAME] = #name,
	REQUEST_PARTS(PART)
#undef PART
		[BUDGET_QUEUE] = "queue",
};

const char *const request_part_meanings[BUDGET_COUNT] = {
#define PART(NAME, name, meaning) [REQUEST_PART_##NAME] = (meaning),
	REQUEST_PARTS(PART)
#undef PART
		[BUDGET_QUEUE] = "its data waited to be received",
};

const char *const request_outcome_names[REQUEST_OUTCOME_COUNT + 1] = {
#define OUTCOME(NAME, name, ...) [REQUEST_##NAME] = #name,
	REQUEST_OUTCOMES(OUTCOME)
#undef OUTCOME
		[REQUEST_OUTCOME_COUNT] = "unknown",
};

const char *const request_grade_names[REQUEST_GRADE_COUNT + 1] = {
#define GRADE(NAME, name, ...) [REQUEST_GRADE_##NAME] = #name,
	REQUEST_GRADES(GRADE)
#undef GRADE
		[REQUEST_GRADE_COUNT] = "unknown",
};

const char *const request_grade_meanings[REQUEST_GRADE_COUNT + 1] = {
#define GRADE(NAME, name, meaning) [REQUEST_GRADE_##NAME] = (meaning),
	REQUEST_GRADES(GRADE)
#undef GRADE
		[REQUEST_GRADE_COUNT] = "not known",
};

const char *const request_model_names[REQUEST_MODEL_COUNT + 1] = {
#define MODEL(NAME, name, ...) [REQUEST_MODEL_##NAME] = #name,
	REQUEST_MODELS(MODEL)
#undef MODEL
		[REQUEST_MODEL_COUNT] = "unknown",
};

const char *const request_bytes_names[REQUEST_BYTES_COUNT] = {
#define BYTES(NAME, name, ...) [REQUEST_BYTES_##NAME] = #name,
	REQUEST_BYTES(BYTES)
#undef BYTES
};

const char *const request_kind_names[ENDPOINT_KINDS] = {
	[ENDPOINT_REQUEST] = "request",
	[ENDPOINT_SETUP] = "setup",
	[ENDPOINT_MESSAGE] = "message",
};

u64 request_links_sum(const struct request_links *links)
{
	u64 linked = profile_add(links->confirmed, links->backward);
	u64 others = profile_add(links->conflict, links->forward);

	return profile_add(profile_add(linked, others),
			   profile_add(links->unlinked, links->published));
}

u64 request_bytes_in(const struct request_counts *counts)
{
	return profile_add(counts->received_bytes, counts->sent_bytes);
}

u64 request_bytes_outside(const struct request_counts *counts)
{
	u64 bytes = 0;

	for (int i = 0; i < REQUEST_BYTES_COUNT; i++)
		bytes = profile_add(bytes, counts->outside_bytes[i]);
	return bytes;
}

static const char *name_or_protocol(const char *name, const char *protocol)
{
	return *name ? name : *protocol ? protocol : "(not recognised)";
}

const char *request_name(const struct request_endpoint *endpoint)
{
	return name_or_protocol(endpoint->name, endpoint->protocol);
}

const char *request_target_name(const struct request_target *target)
{
	return name_or_protocol(target->name, target->protocol);
}

void request_service_text(const struct request_service *service, char *buf, size_t size)
{
	const char *comm = *service->comm ? service->comm : "(unknown process)";

	if (service->port)
		snprintf(buf, size, "%s :%u", comm, service->port);
	else
		snprintf(buf, size, "%s (Unix socket)", comm);
}
