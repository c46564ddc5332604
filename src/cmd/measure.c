// SPDX-License-Identifier: Apache-2.0
#include "measure.h"

#include <errno.h>
#include <string.h>
#include <strings.h>

#include "../base/log.h"
#include "../capture/governor.h"

static int take_tier(struct follow_options *options, const char *value)
{
	if (strcasecmp(value, "A") && strcasecmp(value, "B")) {
		log_error("--tier is A (scheduler only) or B (system calls too), not '%s'", value);
		return -EINVAL;
	}
	options->tier = strcasecmp(value, "A") ? TIER_B : TIER_A;
	return 0;
}

static int take_label(struct follow_options *options, const char *value)
{
	const char *equals = strchr(value, '=');

	if (!equals || equals == value) {
		log_error("--label is NAME=VALUE, as in --label clients=50, not '%s'", value);
		return -EINVAL;
	}
	if (options->label_count == LABELS_MAX) {
		log_error("there can be %d labels at most", LABELS_MAX);
		return -EINVAL;
	}
	options->labels[options->label_count++] = value;
	return 0;
}

int measure_limit(struct follow_options *options, const char *value)
{
	if (governor_parse(value, &options->overhead_limit)) {
		log_error("--max-overhead is a percentage above 0, as in --max-overhead 1%%, not "
			  "'%s'",
			  value);
		return -EINVAL;
	}
	options->max_overhead = value;
	return 0;
}

int measure_take(struct follow_options *options, int option, const char *value)
{
	switch (option) {
	case MEASURE_OUTPUT:
		options->output = value;
		return 0;
	case MEASURE_TIER:
		return take_tier(options, value);
	case MEASURE_OVERHEAD:
		return measure_limit(options, value);
	case MEASURE_LABEL:
		return take_label(options, value);
	case MEASURE_NOTE:
		options->note = value;
		return 0;
	default:
		return -ENOENT;
	}
}
