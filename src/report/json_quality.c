// SPDX-License-Identifier: Apache-2.0
#include "json.h"
#include "quality.h"
#include "unwind_capacity.h"

static json_t *losses_to_json(const struct digest *digest)
{
	json_t *lost = json_object();

	for (int i = 0; i < LOSS_COUNT; i++)
		json_object_set_new(lost, loss_names[i], json_integer(0));
	for (size_t i = 0; i < digest->losses.count; i++) {
		const struct loss_row *loss = hash_item(&digest->losses, i);

		json_object_set_new(lost, loss->cause, json_number(loss->count));
	}
	return lost;
}

/* Counts of hooks are not by window: nor is the time that they are divided by. */
static u64 session_ns(const struct digest *digest)
{
	u64 ended_ns = digest_meta_number(digest, "ended_ns");

	if (ended_ns > digest->start_ns)
		return ended_ns - digest->start_ns;
	return digest->end_ns > digest->start_ns ? digest->end_ns - digest->start_ns : 0;
}

/* By window, or measured for a part of the time, and taken to be the same in the rest. */
static u64 whole_session(const struct digest *digest, const struct hook *hook)
{
	u64 measured_ns = hook->measured_ns, wall_ns = session_ns(digest);

	if (hook->is_scaled)
		return hook->scaled_ns;
	if (!measured_ns || measured_ns >= wall_ns)
		return hook->bpf_ns;
	return (u64)((double)hook->bpf_ns * (double)wall_ns / (double)measured_ns);
}

static json_t *known(bool is_known, u64 number)
{
	return is_known ? json_number(number) : json_null();
}

static json_t *meta_or_null(const struct digest *digest, const char *key)
{
	return known(*digest_meta(digest, key), digest_meta_number(digest, key));
}

static json_t *overhead_to_json(const struct digest *digest)
{
	const struct overhead *overhead = &digest->overhead;
	const char *unknown = digest_meta(digest, "cost_unknown");
	json_t *by_hook = json_object();

	for (size_t i = 0; i < digest->hook_count; i++)
		json_object_set_new(by_hook, digest->hooks[i].name,
				    known(digest->hooks[i].is_counted,
					  whole_session(digest, &digest->hooks[i])));
	return json_pack(
		"{s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o}", "bpf_ns", by_hook,
		"bpf_total_ns", known(!*unknown, overhead->bpf_ns), "bpf_unknown",
		json_text_or_null(unknown), "bpf_windows", json_number(overhead->bpf_windows),
		"start_cpu_ns", meta_or_null(digest, "start_cpu_ns"), "user_cpu_ns",
		json_number(overhead->user_cpu_ns), "rss_bytes", json_number(overhead->rss_bytes),
		"map_bytes", json_number(overhead->map_bytes), "thread_bytes",
		meta_or_null(digest, "thread_bytes"), "ring_fill_max",
		json_number(overhead->ring_fill_max));
}

static json_t *hooks_to_json(const struct digest *digest)
{
	json_t *hooks = json_array();

	for (size_t i = 0; i < digest->hook_count; i++) {
		const struct hook *hook = &digest->hooks[i];
		u64 wall_ns = hook->measured_ns ? hook->measured_ns : session_ns(digest);
		double rate = wall_ns ? (double)hook->events * 1e9 / (double)wall_ns : 0;

		json_array_append_new(
			hooks,
			json_pack("{s:s, s:o, s:b, s:o, s:o, s:o, s:o, s:o, s:o, s:b}", "hook",
				  hook->name, "fallback_of", json_text_or_null(hook->fallback_of),
				  "attached", hook->is_attached, "failure",
				  json_text_or_null(hook->failure), "events",
				  known(hook->is_counted, hook->events), "bpf_ns",
				  known(hook->is_counted, hook->bpf_ns), "measured_ns",
				  json_number(hook->measured_ns), "rate",
				  hook->is_counted ? json_real(rate) : json_null(), "misses",
				  json_number(hook->misses), "is_rare", hook->is_rare));
	}
	return hooks;
}

static json_t *checks_to_json(const struct quality *quality)
{
	json_t *checks = json_array();

	for (size_t i = 0; i < quality->check_count; i++) {
		const struct check *check = &quality->checks[i];

		json_array_append_new(checks,
				      json_pack("{s:s, s:o, s:o, s:I, s:o, s:s, s:b}", "name",
						check->name, "ours", json_number(check->ours),
						"kernels", json_number(check->kernels),
						"difference", (json_int_t)check_difference(check),
						"tolerance", json_number(check->tolerance), "unit",
						check->unit, "within", check_is_within(check)));
	}
	return checks;
}

static json_t *steps_to_json(const struct digest *digest)
{
	json_t *steps = json_array();

	for (size_t i = 0; i < digest->step_count; i++) {
		const struct step *step = &digest->steps[i];
		u64 at_ns = step->ts_ns > digest->start_ns ? step->ts_ns - digest->start_ns : 0;

		json_array_append_new(steps,
				      json_pack("{s:o, s:s, s:s}", "at_ns", json_number(at_ns),
						"what", step->what, "why", step->why));
	}
	return steps;
}

static json_t *unwind_to_json(const struct digest *digest)
{
	struct unwind_capacity capacity;

	unwind_capacity_find(digest, &capacity);
	return json_pack(
		"{s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o}", "rows_capacity",
		json_number(capacity.rows), "rows_most", json_number(capacity.most), "pages_asked",
		json_number(capacity.asked), "pages_again", json_number(capacity.again),
		"pages_refused", json_number(capacity.refused), "pages_evicted",
		json_number(capacity.evicted), "files_or_processes_refused",
		json_number(capacity.files_or_processes), "files_unreachable",
		json_number(capacity.unreachable), "opener_hangs", json_number(capacity.hangs),
		"symbolizer_replaced", json_number(capacity.replaced), "incomplete",
		json_number(capacity.incomplete));
}

json_t *json_quality(const struct digest *digest)
{
	struct quality quality;

	quality_find(digest, &quality);
	return json_pack(
		"{s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:b, s:o, s:o, s:o, s:o, s:o, s:o}",
		"closure_error_ns", json_number(quality.closure_error_ns), "unattributed_ns",
		json_number(quality.unattributed_ns), "wall_ns", json_number(quality.wall_ns),
		"threads", json_number(quality.threads), "lost", losses_to_json(digest),
		"missed_switches", json_number(quality.missed), "miscounted_switches",
		json_number(quality.miscounted), "unnamed_waits", json_number(quality.unnamed),
		"writer_was_killed", digest->is_killed, "overhead", overhead_to_json(digest),
		"hooks", hooks_to_json(digest), "checks", checks_to_json(&quality), "steps",
		steps_to_json(digest), "stacks", json_stacks_quality(digest), "unwind",
		unwind_to_json(digest));
}
