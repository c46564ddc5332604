// SPDX-License-Identifier: Apache-2.0
#include "trace.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "../base/cleanup.h"
#include "../base/clock.h"
#include "../base/log.h"
#include "../base/text.h"
#include "../model/signal.h"
#include "../report/report.h"
#include "../store/reader.h"
#include "apart.h"
#include "cmd.h"
#include "measure.h"
#include "target.h"

static const char usage[] =
	"Usage: dwell trace PROBE... [options] [-a | -p PID | -- COMMAND [ARG...]]\n"
	"\n"
	"Measures any function, tracepoint or USDT probe: how long its calls take, or how\n"
	"often it is reached; of all processes, of those chosen, or of a command.\n"
	"\n"
	"  -u BIN:SYMBOL        a function of a program or library: path, name in PATH, or\n"
	"                       library's name; * and ? fit many; BIN:0xOFFSET counts\n"
	"  -k FUNCTION          a function of the kernel\n"
	"  -t CATEGORY:EVENT    a tracepoint\n"
	"  -U [BIN:]PROV:PROBE  a USDT probe; without BIN, of the process of -p\n"
	"  --from P --to P      between two probes, each with its kind: u:BIN:SYM,\n"
	"                       ur:BIN:SYM (its return), k:, kr:, t:, U:\n"
	"  --pool enqueue=P,start=P,end=P   a pool's tasks: queueing, execution, and why\n"
	"  --key tid|argN|ret   what ties the probes of --from, --to or --pool together\n"
	"  --by arg1..arg6|ret|comm|stack   tells calls apart by this, too\n"
	"  --count              only counts: no return probes\n"
	"  --no-classes         does not tell calls apart by what they returned\n"
	"  --slow TIME          prints calls so long one by one, as they happen\n"
	"  --limit N            places that a pattern may have (default 64)\n"
	"  --max-overhead PCT   of the host's CPU time, that probes may cost (default: 5 %\n"
	"                       of one core); above, it samples, or ends\n"
	"  --force              also what is dangerous, or too dear\n"
	"  -n, --dry-run        shows places and prices, and measures nothing\n"
	"  -a, --all            every process of the host (default)\n"
	"  -p, --pid LIST       processes, by number; also --tid, --comm, --exe, --uid,\n"
	"                       --cgroup, --container as in dwell record\n"
	"  -d, --duration TIME  ends after so long (default: at Ctrl-C)\n"
	"  -o, --output FILE    keeps the session; 'dwell report FILE' shows it\n"
	"  --pair-limit TIME    a start waits so long for its end (default 5s)\n"
	"  --json               the report as JSON\n"
	"  -v, --verbose        also what libbpf and the kernel say\n"
	"  -q, --quiet          nothing but errors and results\n"
	"  -h, --help           this text\n";

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

static int take_duration(struct trace *trace, const char *text)
{
	u64 seconds;

	if (!text_parse_u64(text, 1, 1000000, &seconds)) {
		trace->follow.duration_ns = seconds * NS_PER_S;
		return 0;
	}
	if (!text_parse_duration(text, NS_PER_MS, 1000000 * NS_PER_S, &trace->follow.duration_ns))
		return 0;
	log_error("-d is a time, in seconds or with its unit, as in 10 or 500ms, not '%s'", text);
	return -EINVAL;
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

static int take_option(struct trace *trace, int option, const char *value)
{
	int err = take_flag(trace, option);

	if (err == -ENOENT)
		err = take_probe_option(trace, option, value);
	if (err != -ENOENT)
		return err;
	switch (option) {
	case OPTION_LIMIT:
		return take_limit(trace, value);
	case 'd':
		return take_duration(trace, value);
	case OPTION_SLOW:
		trace->is_streaming = true;
		return measure_take(&trace->follow, MEASURE_SLOW, value);
	case OPTION_TID:
		return select_take(&trace->follow.selection, SELECT_TID, value);
	}
	err = measure_take(&trace->follow, option, value);
	return err == -ENOENT ? select_take(&trace->follow.selection, option, value) : err;
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
	for (size_t i = 0; i < trace->word_count; i++) {
		const struct trace_word *word = &trace->words[i];

		if (!word->role || trace->key == FUNC_KEY_TID)
			continue;
		if (trace->key == FUNC_KEY_RETURN && !word->at_return && word->role == FUNC_FROM) {
			log_error(
				"--key ret: what is returned is known at a return: --from ur:%s:%s",
				word->file, word->name);
			return -EINVAL;
		}
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
	return check_keys(trace);
}

static int check_choice(struct trace *trace)
{
	struct selection *selection = &trace->follow.selection;

	if (trace->follow.command) {
		if (!selection->all && !selection->count)
			return 0;
		log_error(
			"a command is followed with its children, and nothing else: leave out -a, "
			"-p and the like, or the command");
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
	measure_defaults(&trace->follow);
	trace->limit = TRACE_LIMIT;
	trace->follow.tier = TIER_A;
	trace->follow.signals.slow_ns = 0;
	trace->follow.stacks.freq = 0;
	trace->follow.stacks.no_blocks = true;
}

static int parse(int argc, char **argv, struct trace *trace)
{
	static const struct option longs[] = {
		{"from", required_argument, NULL, OPTION_FROM},
		{"to", required_argument, NULL, OPTION_TO},
		{"pool", required_argument, NULL, OPTION_POOL},
		{"key", required_argument, NULL, OPTION_KEY},
		{"by", required_argument, NULL, OPTION_BY},
		{"count", no_argument, NULL, OPTION_COUNT},
		{"no-classes", no_argument, NULL, OPTION_NO_CLASSES},
		{"slow", required_argument, NULL, OPTION_SLOW},
		{"limit", required_argument, NULL, OPTION_LIMIT},
		{"max-overhead", required_argument, NULL, MEASURE_OVERHEAD},
		{"force", no_argument, NULL, OPTION_FORCE},
		{"dry-run", no_argument, NULL, 'n'},
		{"tid", required_argument, NULL, OPTION_TID},
		{"duration", required_argument, NULL, 'd'},
		{"output", required_argument, NULL, MEASURE_OUTPUT},
		{"pair-limit", required_argument, NULL, MEASURE_PAIR_LIMIT},
		{"label", required_argument, NULL, MEASURE_LABEL},
		{"note", required_argument, NULL, MEASURE_NOTE},
		{"json", no_argument, NULL, OPTION_JSON},
		{"verbose", no_argument, NULL, 'v'},
		{"quiet", no_argument, NULL, 'q'},
		{"help", no_argument, NULL, 'h'},
		SELECT_LONGS,
		{0},
	};
	int option;

	set_defaults(trace);
	while ((option = getopt_long(argc, argv, "+hvqnd:o:u:k:t:U:p:a", longs, NULL)) != -1)
		if (take_option(trace, option, optarg))
			return -EINVAL;
	if (trace->help)
		return 0;
	if (optind < argc)
		trace->follow.command = argv + optind;
	return check_words(trace) ? -EINVAL : check_choice(trace);
}

/* --- before it begins --- */

/* Both ends of a span, and all of a pool, are one thing, and have one label. */
static void share_labels(struct trace *trace)
{
	const struct trace_place *from = NULL, *to = NULL;
	char label[2 * LABEL_BYTES + 8];

	for (u32 i = 0; i < trace->place_count; i++) {
		if (trace->places[i].spec.role == FUNC_FROM)
			from = from ? from : &trace->places[i];
		if (trace->places[i].spec.role == FUNC_TO)
			to = to ? to : &trace->places[i];
	}
	if (from && to)
		snprintf(label, sizeof(label), "%s → %s", from->label, to->label);
	else
		snprintf(label, sizeof(label), "pool");
	for (u32 i = 0; i < trace->place_count; i++) {
		struct trace_place *place = &trace->places[i];

		if (place->spec.role < FUNC_FROM)
			continue;
		place->spec.label = FUNC_PLACES_MAX + 1;
		text_copy(place->label, sizeof(place->label), label);
	}
}

static int check_kernel(const struct trace *trace)
{
	if (!capture_has_task_storage()) {
		log_error(
			"this kernel has no task storage for BPF, which came with 5.12: open calls "
			"of threads cannot be kept");
		return -EOPNOTSUPP;
	}
	if (trace->place_count <= 1 || capture_has_cookies())
		return 0;
	log_error("this kernel cannot tell places apart (cookies came with 5.15): trace one at a "
		  "time");
	return -EOPNOTSUPP;
}

/* With a worker of its own, for what must be known before the measurement begins. */
static int prepare(struct trace *trace)
{
	struct worker *worker = NULL;
	struct queue *queue = NULL;
	int err = queue_create(QUEUE_BYTES_MIN, &queue);

	if (!err)
		err = worker_start(queue, NULL, 0, &worker);
	if (err)
		log_error("cannot start: %s; see ulimit -u and the free memory", strerror(-err));
	if (!err)
		err = trace_find(trace, worker);
	if (!err)
		err = check_kernel(trace);
	if (!err) {
		trace_tell_prices(trace);
		share_labels(trace);
		trace_make_probes(trace);
	}
	if (!err && !trace->dry_run)
		err = trace_check_rate(trace, worker, queue);
	worker_stop(worker);
	queue_destroy(queue);
	return err;
}

/* --- while it runs --- */

static int on_loaded(void *context, struct capture *capture)
{
	struct trace *trace = context;
	int err = 0;

	for (u32 i = 0; i < trace->place_count && !err; i++)
		err = capture_write_entry(capture, "func_specs", i, &trace->places[i].spec);
	if (err)
		log_error("cannot tell the kernel side what to trace: %s", strerror(-err));
	return err;
}

static void send_label(struct capture *capture, u32 signal, const struct trace_place *place)
{
	struct rec_label label = {
		.hdr = {.type = SIG_LABEL,
			.version = SIG_VERSION_LABEL,
			.size = sizeof(label),
			.ts_ns = clock_now_ns(),
			.seq = 1},
		.id = place->spec.label,
		.signal = signal,
	};

	text_copy(label.name, sizeof(label.name), place->label);
	capture_send(capture, &label.hdr);
}

static void on_begin(void *context, struct capture *capture)
{
	struct trace *trace = context;

	trace->told_ns = clock_now_ns();
	for (u32 i = 0; i < trace->place_count; i++) {
		send_label(capture, SIG_FUNC, &trace->places[i]);
		if (trace->by == FUNC_BY_STACK)
			send_label(capture, SIG_FUNCSTACK, &trace->places[i]);
	}
}

static void on_window(void *context, struct capture *capture, struct live_config *live,
		      const struct session_files *files)
{
	struct trace *trace = context;

	if (live)
		trace_hold_budget(trace, capture, live);
	if (trace->is_streaming)
		trace_stream(trace, files);
}

/* --- afterwards --- */

/* A command's own output is on stdout: then the report is beside it, on stderr. */
struct reading {
	struct report_options report;
	bool has_command;
	int db_fd, wal_fd;
};

static int print_session(const void *context)
{
	const struct reading *reading = context;
	struct session *session;
	int err = session_open_fds(reading->db_fd, reading->wal_fd, "the session", &session);

	if (err)
		return EXIT_FAILED;
	err = report_print(session_db(session), &reading->report,
			   reading->has_command ? stderr : stdout);
	session_close(session);
	return err ? EXIT_FAILED : EXIT_OK;
}

static int print_report(const struct trace *trace, const struct follow_result *result)
{
	struct reading reading = {
		.report = {.json = trace->json,
			   .signals = trace->follow.signals.chosen,
			   .session = trace->follow.output},
		.has_command = trace->follow.command != NULL,
	};
	_cleanup_close_ int db_fd = -1, wal_fd = -1;
	int err = files_reopen(&result->files, result->files_end, &db_fd, &wal_fd);

	reading.db_fd = db_fd;
	reading.wal_fd = wal_fd;
	if (err)
		log_error("cannot read the session again: %s; is /proc mounted?", strerror(-err));
	return err ? EXIT_FAILED : apart_run(print_session, &reading, db_fd, wal_fd);
}

static int measure(struct trace *trace)
{
	struct follow_result result;
	int shown = EXIT_OK;

	trace->follow.signals.chosen = 1ULL << SIG_FUNC;
	if (trace->by == FUNC_BY_STACK)
		trace->follow.signals.chosen |= 1ULL << SIG_FUNCSTACK;
	trace->follow.extra = (struct follow_extra){
		.probes = trace->probes,
		.probe_count = trace->probe_count,
		.one_in = trace->one_in,
		.context = trace,
		.on_loaded = on_loaded,
		.on_begin = on_begin,
		.on_window = on_window,
	};
	follow_run(&trace->follow, &result);
	if (result.is_reportable)
		shown = print_report(trace, &result);
	files_close(&result.files, result.files_end);
	return result.status ? result.status : shown;
}

static int run(struct trace *trace)
{
	int err;

	if (trace->follow.command && target_find(trace->follow.command[0]))
		return EXIT_CANNOT_EXEC;
	err = prepare(trace);
	if (err == -EOPNOTSUPP)
		return EXIT_UNSUPPORTED;
	if (err)
		return EXIT_FAILED;
	return trace->dry_run ? EXIT_OK : measure(trace);
}

int cmd_trace(int argc, char **argv)
{
	struct trace *trace = calloc(1, sizeof(*trace));
	int status;

	if (!trace) {
		log_error("out of memory");
		return EXIT_FAILED;
	}
	if (parse(argc, argv, trace)) {
		fputs("Try 'dwell trace --help'.\n", stderr);
		status = EXIT_USAGE;
	} else if (trace->help) {
		fputs(usage, stdout);
		status = EXIT_OK;
	} else {
		status = run(trace);
	}
	for (size_t i = 0; i < trace->file_count; i++)
		close(trace->files[i]);
	free(trace);
	return status;
}
