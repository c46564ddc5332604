// SPDX-License-Identifier: Apache-2.0
/*
 * What a person types, checked.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "../base/cleanup.h"
#include "../base/clock.h"
#include "../base/log.h"
#include "../base/text.h"
#include "cmd.h"
#include "given.h"
#include "measure.h"
#include "trace.h"

enum trace_option {
	OPTION_FROM = 0x400,
	OPTION_TO,
	OPTION_POOL,
	OPTION_KEY,
	OPTION_BY,
	OPTION_COUNT,
	OPTION_NO_CLASSES,
	OPTION_SLOW,
	OPTION_LIMIT,
	OPTION_FORCE,
	OPTION_TID,
	OPTION_JSON,
	OPTION_TRACEPOINT,
};

/* --- options --- */

static int add_word(struct trace *trace, const struct trace_word *word)
{
	if (trace->word_count == TRACE_WORDS_MAX) {
		log_error("at most %d probes at a time", TRACE_WORDS_MAX);
		return -E2BIG;
	}
	trace->words[trace->word_count++] = *word;
	return 0;
}

static int take_word(struct trace *trace, enum trace_kind kind, const char *text)
{
	struct trace_word word;
	int err = trace_word_parse(kind, text, &word);

	return err ? err : add_word(trace, &word);
}

static int take_end(struct trace *trace, enum func_role role, const char *text)
{
	struct trace_word word;
	int err = trace_word_parse_whole(text, &word);

	word.role = (u8)role;
	return err ? err : add_word(trace, &word);
}

/* enqueue=P,start=P,end=P */
static int take_pool(struct trace *trace, const char *text)
{
	static const struct {
		const char *name;
		enum func_role role;
	} parts[] = {{"enqueue=", FUNC_ENQUEUE}, {"start=", FUNC_START}, {"end=", FUNC_END}};
	_cleanup_free_ char *copy = strdup(text);
	char *rest = copy, *part;
	u32 seen = 0;

	while (copy && (part = strsep(&rest, ","))) {
		for (size_t i = 0; i < ARRAY_SIZE(parts); i++) {
			size_t length = strlen(parts[i].name);

			if (strncmp(part, parts[i].name, length) != 0)
				continue;
			if (take_end(trace, parts[i].role, part + length))
				return -EINVAL;
			seen |= 1u << i;
		}
	}
	if (seen == 7)
		return 0;
	log_error("--pool is enqueue=PROBE,start=PROBE,end=PROBE, not '%s'", text);
	return -EINVAL;
}

/* argN: its number; 0: it is none. */
static u8 parse_arg(const char *text)
{
	u64 number;

	if (strncmp(text, "arg", 3) != 0 || text_parse_u64(text + 3, 1, FUNC_ARGS_MAX, &number))
		return 0;
	return (u8)number;
}

static int take_key(struct trace *trace, const char *text)
{
	trace->key = parse_arg(text);
	if (!strcmp(text, "ret"))
		trace->key = FUNC_KEY_RETURN;
	if (!trace->key && strcmp(text, "tid") != 0) {
		log_error("--key is tid, arg1 to arg%d, or ret, not '%s'", FUNC_ARGS_MAX, text);
		return -EINVAL;
	}
	trace->has_key = true;
	return 0;
}

static int take_by(struct trace *trace, const char *text)
{
	static const struct {
		const char *name;
		enum func_by by;
	} names[] = {{"ret", FUNC_BY_RETURN}, {"comm", FUNC_BY_COMM}, {"stack", FUNC_BY_STACK}};

	trace->by_arg = parse_arg(text);
	trace->by = trace->by_arg ? FUNC_BY_ARG : FUNC_BY_NOTHING;
	for (size_t i = 0; i < ARRAY_SIZE(names); i++)
		if (!strcmp(text, names[i].name))
			trace->by = (u8)names[i].by;
	if (trace->by)
		return 0;
	log_error("--by is arg1 to arg%d, ret, comm or stack, not '%s'", FUNC_ARGS_MAX, text);
	return -EINVAL;
}

static int take_limit(struct trace *trace, const char *text)
{
	u64 limit;

	if (text_parse_u64(text, 1, FUNC_PLACES_MAX, &limit)) {
		log_error("--limit is a number from 1 to %d, not '%s'", FUNC_PLACES_MAX, text);
		return -EINVAL;
	}
	trace->limit = (u32)limit;
	return 0;
}

static int take_probe_option(struct trace *trace, int option, const char *value)
{
	switch (option) {
	case 'u':
		return take_word(trace, TRACE_USER, value);
	case 'k':
		return take_word(trace, TRACE_KERNEL, value);
	case 't':
		return take_word(trace, TRACE_TRACEPOINT, value);
	case 'U':
		return take_word(trace, TRACE_USDT, value);
	case OPTION_FROM:
		return take_end(trace, FUNC_FROM, value);
	case OPTION_TO:
		return take_end(trace, FUNC_TO, value);
	case OPTION_POOL:
		return take_pool(trace, value);
	case OPTION_KEY:
		return take_key(trace, value);
	case OPTION_BY:
		return take_by(trace, value);
	default:
		return -ENOENT;
	}
}

static int take_flag(struct trace *trace, int option)
{
	switch (option) {
	case OPTION_COUNT:
		trace->count_only = true;
		return 0;
	case OPTION_NO_CLASSES:
		trace->no_classes = true;
		return 0;
	case OPTION_FORCE:
		trace->force = true;
		return 0;
	case OPTION_JSON:
		trace->json = true;
		return 0;
	case 'n':
		trace->dry_run = true;
		return 0;
	case 'h':
		trace->help = true;
		return 0;
	default:
		return cmd_common_option(option) ? 0 : -ENOENT;
	}
}

static int take_option(void *context, int option, const char *value)
{
	struct trace *trace = context;
	int err = take_flag(trace, option);

	if (err == -ENOENT)
		err = take_probe_option(trace, option, value);
	if (err != -ENOENT)
		return err;
	switch (option) {
	case OPTION_LIMIT:
		return take_limit(trace, value);
	case 'd':
		return measure_duration(&trace->engine, value);
	case OPTION_SLOW:
		trace->is_streaming = true;
		return measure_take(&trace->engine, MEASURE_SLOW, value);
	case OPTION_TID:
		return select_take(&trace->engine.selection, SELECT_TID, value);
	}
	err = measure_take(&trace->engine, option, value);
	return err == -ENOENT ? select_take(&trace->engine.selection, option, value) : err;
}

static size_t words_of(const struct trace *trace, enum func_role role)
{
	size_t count = 0;

	for (size_t i = 0; i < trace->word_count; i++)
		count += trace->words[i].role == role;
	return count;
}

/* What ties two ends together must be known at both. */
static int check_keys(const struct trace *trace)
{
	bool is_returned = trace->key == FUNC_KEY_RETURN;

	for (size_t i = 0; i < trace->word_count && trace->key != FUNC_KEY_TID; i++) {
		const struct trace_word *word = &trace->words[i];

		if (!word->role || word->at_return == is_returned)
			continue;
		log_error("--key %s is not known at %s, which is %s; choose the other end of it "
			  "(%s), or another key",
			  is_returned ? "ret" : "argN", word->name,
			  word->at_return ? "a return" : "no return",
			  word->at_return ? "u:, k:" : "ur:, kr:");
		return -EINVAL;
	}
	return 0;
}

/* Options that would have no effect are a misunderstanding. */
static int check_use(const struct trace *trace)
{
	size_t calls = 0, plain = words_of(trace, FUNC_NONE);

	for (size_t i = 0; i < trace->word_count; i++)
		calls += !trace->words[i].role && !trace->count_only &&
			 (trace->words[i].kind == TRACE_USER ||
			  trace->words[i].kind == TRACE_KERNEL);
	if (trace->has_key && plain == trace->word_count) {
		log_error("--key matches the probes of --from and --to, or of --pool: there are "
			  "none; --by groups calls");
		return -EINVAL;
	}
	if (trace->by && !plain) {
		log_error("--by works with -u, -k, -t and -U only, not between two probes");
		return -EINVAL;
	}
	if (trace->by == FUNC_BY_RETURN && !calls) {
		log_error("--by ret: nothing is known to return here: that needs -u or -k, without "
			  "--count");
		return -EINVAL;
	}
	if (trace->is_streaming && !calls && !words_of(trace, FUNC_FROM)) {
		log_error(
			"--slow: nothing here takes time: that needs -u or -k without --count, or "
			"--from and --to");
		return -EINVAL;
	}
	return 0;
}

static int check_words(const struct trace *trace)
{
	if (!trace->word_count) {
		log_error("nothing to trace: dwell trace -u libpq.so.5:PQexec, -k tcp_sendmsg, "
			  "-t sched:sched_switch");
		return -EINVAL;
	}
	if (words_of(trace, FUNC_FROM) != words_of(trace, FUNC_TO) ||
	    words_of(trace, FUNC_FROM) > 1) {
		log_error("--from and --to go together, one of each");
		return -EINVAL;
	}
	if (words_of(trace, FUNC_ENQUEUE) && (!trace->has_key || !trace->key)) {
		log_error("--pool needs --key argN: the argument that is the task at each of its "
			  "probes");
		return -EINVAL;
	}
	return check_keys(trace) ? -EINVAL : check_use(trace);
}

static int check_choice(struct trace *trace)
{
	struct selection *selection = &trace->engine.selection;

	if (trace->engine.command) {
		if (!selection->all && !selection->count)
			return 0;
		log_error("a command is measured with its children only: leave out -a, -p and "
			  "similar options, or the command");
		return -EINVAL;
	}
	if (!selection->count)
		selection->all = true;
	if (selection->count == 1 && selection->filters[0].kind == FILTER_BY_PID)
		trace->pid = (pid_t)selection->filters[0].value[0];
	return select_finish(selection);
}

static void set_defaults(struct trace *trace)
{
	measure_defaults(&trace->engine);
	trace->engine.again.command = "trace";
	trace->limit = TRACE_LIMIT;
	trace->engine.tier = TIER_A;
	trace->engine.signals.slow_ns = 0;
	trace->engine.stacks.freq = 0;
	trace->engine.stacks.no_blocks = true;
}

#define TRACE_LONGS                                                                                \
	{"from", required_argument, NULL, OPTION_FROM},                                            \
		{"to", required_argument, NULL, OPTION_TO},                                        \
		{"pool", required_argument, NULL, OPTION_POOL},                                    \
		{"key", required_argument, NULL, OPTION_KEY},                                      \
		{"by", required_argument, NULL, OPTION_BY},                                        \
		{"count", no_argument, NULL, OPTION_COUNT},                                        \
		{"no-classes", no_argument, NULL, OPTION_NO_CLASSES},                              \
		{"slow", required_argument, NULL, OPTION_SLOW},                                    \
		{"limit", required_argument, NULL, OPTION_LIMIT},                                  \
		{"max-overhead", required_argument, NULL, MEASURE_OVERHEAD},                       \
		{"force", no_argument, NULL, OPTION_FORCE}, {"dry-run", no_argument, NULL, 'n'},   \
		{"tid", required_argument, NULL, OPTION_TID},                                      \
		{"duration", required_argument, NULL, 'd'},                                        \
		{"output", required_argument, NULL, MEASURE_OUTPUT},                               \
		{"pair-limit", required_argument, NULL, MEASURE_PAIR_LIMIT},                       \
		{"unwind-rows", required_argument, NULL, MEASURE_UNWIND_ROWS},                     \
		{"label", required_argument, NULL, MEASURE_LABEL},                                 \
		{"note", required_argument, NULL, MEASURE_NOTE},                                   \
		{"json", no_argument, NULL, OPTION_JSON}, {"verbose", no_argument, NULL, 'v'},     \
		{"quiet", no_argument, NULL, 'q'}, {"help", no_argument, NULL, 'h'}, SELECT_LONGS

static const struct option longs[] = {TRACE_LONGS, {0}};

/* What the run id is made of. Probes have no long name, and -t is that of --tid elsewhere. */
static const struct option identified[] = {
	{.name = "u", .val = 'u'},
	{.name = "k", .val = 'k'},
	{.name = "t", .val = OPTION_TRACEPOINT},
	{.name = "U", .val = 'U'},
	TRACE_LONGS,
	{0},
};

static int identify(const struct given_command *command, struct given *given)
{
	struct given_command identity = *command;

	identity.longs = identified;
	for (size_t i = 0; i < given->count; i++)
		if (given->options[i].option == 't')
			given->options[i].option = OPTION_TRACEPOINT;
	return given_identify(given, &identity);
}

int trace_parse(int argc, char **argv, struct trace *trace)
{
	const struct given_command command = {
		.name = "trace",
		.letters = "+hvqnd:o:u:k:t:U:p:a",
		.longs = longs,
		.take = take_option,
		.options = trace,
		.engine = &trace->engine,
	};
	struct given given = {0};

	set_defaults(trace);
	if (given_parse(argc, argv, &command, &given))
		return -EINVAL;
	if (trace->help)
		return 0;
	if (check_words(trace) || check_choice(trace))
		return -EINVAL;
	return identify(&command, &given);
}
