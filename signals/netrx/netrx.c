// SPDX-License-Identifier: Apache-2.0
#include <string.h>

#include "../../src/base/cleanup.h"
#include "../../src/model/signal.h"
#include "kinds.h"

#define BUSY_PERCENT 20 /* of a CPU in soft interrupts: worth a sentence */

static const char *const vector_names[] = {
#define VECTOR(name) name,
	NETRX_VECTORS(VECTOR)
#undef VECTOR
};

_Static_assert(ARRAY_SIZE(vector_names) == NETRX_VECTOR_COUNT, "a name for each vector");

static const struct series_kind kinds[] = {
#define KIND(NAME, name, unit, about) {name, unit, about},
	NETRX_KINDS(KIND)
#undef KIND
};

static const char *vector_name(const struct series_row *row)
{
	return row->key.detail < NETRX_VECTOR_COUNT ? vector_names[row->key.detail] : "?";
}

static void judge(const struct series_set *set, struct remarks *remarks)
{
	for (size_t i = 0; i < set->count; i++) {
		const struct series_row *row = set->rows[i];
		unsigned long long cpu = row->key.more;
		double share =
			set->span_ns ? 100.0 * (double)row->hist.sum / (double)set->span_ns : 0;

		if (row->key.object == SERIES_OTHER || !row->hist.count)
			continue;
		if (row->key.kind == NETRX_KIND_SOFTIRQ && share >= BUSY_PERCENT)
			remark(remarks, "CPU %llu spent %.0f %% of the session in %s softirqs", cpu,
			       share, vector_name(row));
	}
}

#define MAPS                                                                                       \
	{                                                                                          \
		PROBE_SERIES, "netrx_cpus"                                                         \
	}
#define PACKET_MAPS                                                                                \
	{                                                                                          \
		PROBE_SERIES, "netrx_cpus", "object_ids"                                           \
	}

/* They end in the opposite order: so that none is seen to begin unasked, netrx_raise is the last.
 */
static const struct probe probes[] = {
	{.program = "netrx_raise", .maps = MAPS},
	{.program = "netrx_exit", .maps = MAPS},
	{.program = "netrx_entry", .maps = MAPS},
	{.program = "netrx_packet", .is_rare = true, .maps = PACKET_MAPS},
	{.program = "netrx_ready", .is_rare = true, .is_optional = true, .maps = PACKET_MAPS},
	{.program = "netrx_segment",
	 .fallback_of = "netrx_ready",
	 .is_rare = true,
	 .is_optional = true,
	 .maps = PACKET_MAPS},
};

static const struct signal_view view = {
	.kinds = kinds,
	.kind_count = ARRAY_SIZE(kinds),
	.detail = {.name = "vector",
		   .kind = FIELD_NAME,
		   .names = vector_names,
		   .name_count = ARRAY_SIZE(vector_names)},
	.object = {.name = "device", .kind = FIELD_OBJECT},
	.more = {.name = "cpu", .kind = FIELD_CPU},
	.share = 512,
	.cost = COST_CHEAP,
	.price = "about 0.3 us per soft interrupt, 0.2 us per packet",
	.judge = judge,
};

const struct signal signal_netrx = {
	.about = "soft interrupts, and packets from device to socket, on the whole host",
	.probes = probes,
	.probe_count = ARRAY_SIZE(probes),
	.view = &view,
};
