// SPDX-License-Identifier: Apache-2.0
#include "measure.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/random.h>

#include "../../abi/config.h"
#include "../../abi/unwind.h"
#include "../base/cleanup.h"
#include "../base/clock.h"
#include "../base/log.h"
#include "../base/text.h"
#include "../capture/governor.h"
#include "../model/signal.h"
#include "cmd.h"

/*
 * Not in step with what happens a hundred or fifty times a second. At the most of them, with some
 * 10 us a sample, a tenth of the CPU is spent on samples: what is above measures itself.
 */
#define FREQ_DEFAULT	 "49"
#define FREQ_MAX	 10000
#define MIN_BLOCK_NS_MAX (1000 * NS_PER_S)
#define STACK_ONE_IN_MAX 1000000
#define PAIR_LIMIT_MAX	 (3600 * NS_PER_S)
#define ALLOC_KERNEL	 (64 << 10)
#define ALLOC_SIZE_MAX	 (1ULL << 40)
#define DURATION_MAX_S	 (366 * 86400ULL)
#define WARMUP_MAX_S	 3600

static u32 choose_seed(void)
{
	u32 seed;

	if (getrandom(&seed, sizeof(seed), GRND_NONBLOCK) != sizeof(seed))
		seed = (u32)clock_now_ns();
	return seed ? seed : 1;
}

/* What an option is if it is not given, as somebody would type it. */
static const struct {
	int option;
	const char *value;
} defaults[] = {
	{MEASURE_FREQ, FREQ_DEFAULT},
	{MEASURE_MIN_BLOCK, "1ms"},
	{MEASURE_UNWIND_ROWS, UNWIND_ROWS_DEFAULT_TEXT},
	{MEASURE_SLOW, "10ms"},
	{MEASURE_SERVER_MODEL, "auto"},
	{MEASURE_PAIR_LIMIT, "5s"},
	{MEASURE_ALLOC_EVERY, "512K"},
};

void measure_defaults(struct engine_options *options)
{
	options->stacks = (struct stack_options){.seed = choose_seed()};
	options->signals = (struct signal_options){0};
	options->alloc = (struct alloc_options){0};
	for (size_t i = 0; i < ARRAY_SIZE(defaults); i++)
		measure_take(options, defaults[i].option, defaults[i].value);
}

const char *measure_default(const struct engine_options *options, int option)
{
	for (size_t i = 0; i < ARRAY_SIZE(defaults); i++)
		if (defaults[i].option == option)
			return defaults[i].value;
	/* Whether there is a limit depends on what is measured. */
	return option == MEASURE_OVERHEAD ? options->max_overhead : NULL;
}

static int take_freq(struct engine_options *options, const char *value)
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

static int take_min_block(struct engine_options *options, const char *value)
{
	if (text_parse_duration(value, 1, MIN_BLOCK_NS_MAX, &options->stacks.min_block_ns)) {
		log_error("--min-block takes a time of up to 1000s, " TEXT_TIME_FORMS ", not '%s'",
			  value);
		return -EINVAL;
	}
	return 0;
}

static int take_seed(struct engine_options *options, const char *value)
{
	u64 seed;

	if (text_parse_u64(value, 1, U32_LIMIT, &seed)) {
		log_error("--seed is a number from 1 to %llu, not '%s'", U32_LIMIT, value);
		return -EINVAL;
	}
	options->stacks.seed = (u32)seed;
	return 0;
}

static int take_unwind_rows(struct engine_options *options, const char *value)
{
	u64 rows;

	if (text_parse_size(value, UNWIND_ROWS_LEAST, UNWIND_ROWS_MOST, &rows)) {
		log_error("--unwind-rows is a number of rows from 16K to 64M, as in 4M, not '%s'",
			  value);
		return -EINVAL;
	}
	options->stacks.unwind_rows = (u32)rows;
	return 0;
}

static int take_stack_option(struct engine_options *options, int option, const char *value)
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
	case MEASURE_UNWIND_ROWS:
		return take_unwind_rows(options, value);
	default:
		return -ENOENT;
	}
}

/* --- signals --- */

static const struct signal_view *offered_view(int id)
{
	const struct signal *signal = signal_rows[id].signal;

	return signal && signal->view && !signal->view->is_not_offered ? signal->view : NULL;
}

#define LIST_INDENT  24
#define LIST_COLUMNS 80

static void print_wrapped(const char *text)
{
	size_t room = LIST_COLUMNS - LIST_INDENT;

	while (strlen(text) > room) {
		size_t length = room;

		while (length && text[length] != ' ')
			length--;
		printf("%.*s\n%*s", (int)length, text, LIST_INDENT, "");
		text += length + 1;
	}
	puts(text);
}

/* Who asks for help gets it instead of a measurement. */
static void list_signals(void)
{
	puts("signals, their cost, and what they measure:");
	for (int id = 1; id < SIGNAL_LIMIT; id++)
		if (offered_view(id)) {
			printf("  %-10s %-10s ", signal_rows[id].name,
			       cost_names[offered_view(id)->cost]);
			print_wrapped(signal_rows[id].signal->about);
		}
	puts("'dwell record -a -d 10 -s LIST' measures them, 'dwell report FILE --signal NAME' "
	     "shows\none in detail; docs/NAME.md explains it and its cost.");
}

static int take_signals(struct engine_options *options, const char *value)
{
	if (!strcmp(value, "help")) {
		list_signals();
		exit(EXIT_OK);
	}
	for (const char *at = value; at; at = strchr(at, ',') ? strchr(at, ',') + 1 : NULL) {
		size_t length = strcspn(at, ",");
		int id = signal_find(at, length);

		if (!id || !offered_view(id)) {
			log_error("there is no signal '%.*s': dwell record -s help lists them",
				  (int)length, at);
			return -EINVAL;
		}
		options->signals.chosen |= 1ULL << id;
		options->alloc.is_chosen |= id == SIG_ALLOC;
	}
	return 0;
}

static int take_time(const char *option, const char *value, u64 most_ns, u64 *ret_ns)
{
	if (!strcmp(value, "0")) {
		*ret_ns = 0;
		return 0;
	}
	if (!text_parse_duration(value, 1, most_ns, ret_ns))
		return 0;
	log_error("%s takes 0, or a time of up to %llus, " TEXT_TIME_FORMS ", not '%s'", option,
		  most_ns / NS_PER_S, value);
	return -EINVAL;
}

static int take_stacks(struct engine_options *options, const char *value)
{
	if (strncmp(value, "1/", 2) ||
	    text_parse_u64(value + 2, 1, STACK_ONE_IN_MAX, &options->signals.stack_one_in)) {
		log_error("--stacks takes a ratio, as in --stacks 1/100, up to 1/%d, not '%s'",
			  STACK_ONE_IN_MAX, value);
		return -EINVAL;
	}
	return 0;
}

static int take_size(const char *option, const char *value, u64 *ret_bytes)
{
	if (!text_parse_size(value, 1, ALLOC_SIZE_MAX, ret_bytes))
		return 0;
	log_error("%s is a number of bytes, as in 4096, 64K or 1M, not '%s'", option, value);
	return -EINVAL;
}

static int take_alloc_option(struct engine_options *options, int option, const char *value)
{
	switch (option) {
	case MEASURE_ALLOC_EVERY:
		return take_size("--alloc-every", value, &options->alloc.interval);
	case MEASURE_KERNEL:
		options->alloc.kernel_bytes = ALLOC_KERNEL;
		return value ? take_size("--kernel", value, &options->alloc.kernel_bytes) : 0;
	case MEASURE_LIVE:
		options->alloc.live = true;
		return 0;
	case MEASURE_FORCE:
		options->alloc.force = true;
		return 0;
	default:
		return take_stack_option(options, option, value);
	}
}

static int take_server_model(struct engine_options *options, const char *value)
{
	for (u64 model = 0; model < SERVER_MODEL_COUNT; model++) {
		if (strcmp(value, server_model_names[model]) != 0)
			continue;
		options->signals.server_model = model;
		return 0;
	}
	log_error("--server-model is auto, thread or loop, not '%s'", value);
	return -EINVAL;
}

static int take_signal_option(struct engine_options *options, int option, const char *value)
{
	switch (option) {
	case MEASURE_SIGNALS:
		return take_signals(options, value);
	case MEASURE_SLOW:
		return take_time("--slow", value, 1000 * NS_PER_S, &options->signals.slow_ns);
	case MEASURE_PAIR_LIMIT:
		return take_time("--pair-limit", value, PAIR_LIMIT_MAX,
				 &options->signals.pair_limit_ns);
	case MEASURE_SERVER_MODEL:
		return take_server_model(options, value);
	case MEASURE_STACKS:
		return take_stacks(options, value);
	default:
		return take_alloc_option(options, option, value);
	}
}

static int take_tier(struct engine_options *options, const char *value)
{
	if (strcasecmp(value, "A") && strcasecmp(value, "B")) {
		log_error("--tier is A (scheduler only) or B (system calls too), not '%s'", value);
		return -EINVAL;
	}
	options->tier = strcasecmp(value, "A") ? TIER_B : TIER_A;
	return 0;
}

static int take_label(struct engine_options *options, const char *value)
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

int measure_duration(struct engine_options *options, const char *value)
{
	if (!text_parse_seconds(value, NS_PER_MS, DURATION_MAX_S * NS_PER_S, &options->duration_ns))
		return 0;
	log_error("-d takes a time from 1ms to %llus: seconds, or " TEXT_TIME_FORMS ", not '%s'",
		  DURATION_MAX_S, value);
	return -EINVAL;
}

static int take_warmup(struct engine_options *options, const char *value)
{
	if (!text_parse_seconds(value, NS_PER_S, WARMUP_MAX_S * NS_PER_S, &options->warmup_ns))
		return 0;
	log_error("--warmup takes a time from 1s to %ds: seconds, or " TEXT_TIME_FORMS ", not '%s'",
		  WARMUP_MAX_S, value);
	return -EINVAL;
}

int measure_limit(struct engine_options *options, const char *value)
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

int measure_take(struct engine_options *options, int option, const char *value)
{
	switch (option) {
	case MEASURE_OUTPUT:
		options->output = value;
		return 0;
	case MEASURE_TIER:
		return take_tier(options, value);
	case MEASURE_WARMUP:
		return take_warmup(options, value);
	case MEASURE_OVERHEAD:
		return measure_limit(options, value);
	case MEASURE_LABEL:
		return take_label(options, value);
	case MEASURE_NOTE:
		options->note = value;
		return 0;
	default:
		return take_signal_option(options, option, value);
	}
}
