// SPDX-License-Identifier: Apache-2.0
#include "measure.h"

#include <errno.h>
#include <string.h>
#include <strings.h>
#include <sys/random.h>

#include "../../abi/config.h"
#include "../base/clock.h"
#include "../base/log.h"
#include "../base/text.h"
#include "../capture/governor.h"

/*
 * Not in step with what happens a hundred or fifty times a second. At the most of them, with some
 * 10 us a sample, a tenth of the CPU is spent on samples: what is above measures itself.
 */
#define FREQ_DEFAULT	 49
#define FREQ_MAX	 10000
#define MIN_BLOCK_NS	 NS_PER_MS
#define MIN_BLOCK_NS_MAX (1000 * NS_PER_S)

static u32 choose_seed(void)
{
	u32 seed;

	if (getrandom(&seed, sizeof(seed), GRND_NONBLOCK) != sizeof(seed))
		seed = (u32)clock_now_ns();
	return seed ? seed : 1;
}

void measure_defaults(struct follow_options *options)
{
	options->stacks = (struct stack_options){
		.freq = FREQ_DEFAULT,
		.min_block_ns = MIN_BLOCK_NS,
		.seed = choose_seed(),
	};
}

static int take_freq(struct follow_options *options, const char *value)
{
	u64 freq;

	if (text_parse_u64(value, 0, FREQ_MAX, &freq)) {
		log_error("-F is a number of samples a second, from 0 to %d, not '%s'", FREQ_MAX,
			  value);
		return -EINVAL;
	}
	options->stacks.freq = (u32)freq;
	return 0;
}

static int take_min_block(struct follow_options *options, const char *value)
{
	if (text_parse_duration(value, 1, MIN_BLOCK_NS_MAX, &options->stacks.min_block_ns)) {
		log_error("--min-block is a time of up to 1000s, with its unit, as in 100us, 1ms "
			  "or 2s, not '%s'",
			  value);
		return -EINVAL;
	}
	return 0;
}

static int take_seed(struct follow_options *options, const char *value)
{
	u64 seed;

	if (text_parse_u64(value, 1, U32_LIMIT, &seed)) {
		log_error("--seed is a number from 1 to %llu, not '%s'", U32_LIMIT, value);
		return -EINVAL;
	}
	options->stacks.seed = (u32)seed;
	return 0;
}

static int take_stack_option(struct follow_options *options, int option, const char *value)
{
	switch (option) {
	case MEASURE_FREQ:
		return take_freq(options, value);
	case MEASURE_MIN_BLOCK:
		return take_min_block(options, value);
	case MEASURE_NO_STACKS:
		options->stacks.is_off = true;
		return 0;
	case MEASURE_LINES:
		options->stacks.lines = true;
		return 0;
	case MEASURE_INLINE:
		options->stacks.inlines = true;
		return 0;
	case MEASURE_SEED:
		return take_seed(options, value);
	default:
		return -ENOENT;
	}
}

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
		return take_stack_option(options, option, value);
	}
}
