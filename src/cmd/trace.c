// SPDX-License-Identifier: Apache-2.0
#include "trace.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "../base/clock.h"
#include "../base/log.h"
#include "../base/text.h"
#include "cmd.h"
#include "given.h"
#include "print_session.h"
#include "../engine/target_command.h"

static const char usage[] =
	"Usage: dwell trace PROBE... [options] [-a | -p PID | -- COMMAND [ARG...]]\n"
	"\n"
	"Measure any function, tracepoint or USDT probe: how long its calls take, or how\n"
	"often it is reached; in all processes, in some, or in a command.\n"
	"\n"
	"  -u BIN:SYMBOL        measure a function of a program or library, by path or\n"
	"                       name; * and ? match many; BIN:0xOFFSET: an instruction\n"
	"  -k FUNCTION          measure a function of the kernel\n"
	"  -t CATEGORY:EVENT    count a tracepoint\n"
	"  -U [BIN:]PROV:PROBE  count a USDT probe; without BIN, of the process of -p\n"
	"  --from PROBE         measure from this probe, written with its kind:\n"
	"                       u:BIN:SYM, ur:BIN:SYM (its return), k:FUNC, kr:FUNC,\n"
	"                       t:CAT:EVENT, U:BIN:...\n"
	"  --to PROBE           measure to this probe\n"
	"  --pool enqueue=P,start=P,end=P\n"
	"                       measure the tasks of a pool: queueing, execution, and why\n"
	"                       they wait\n"
	"  --key tid|argN|ret   match the probes of --from, --to or --pool by this\n"
	"  --by WHAT            group calls by arg1 to arg6, ret, comm or stack\n"
	"  --count              count only: no return probes\n"
	"  --no-classes         do not group calls by what they returned\n"
	"  --slow TIME          print each call that takes at least TIME, as it happens\n"
	"  --limit N            let a pattern match up to N functions (default 64)\n"
	"  --max-overhead PCT   limit the cost of probes to PCT of the host's CPU time\n"
	"                       (default: 5 % of one core): above it, sample, or stop\n"
	"  --force              measure also what is dangerous or too expensive\n"
	"  -n, --dry-run        print functions and costs, and measure nothing\n"
	"  -a, --all            measure every process of the host (default)\n"
	"  -p, --pid LIST       measure these processes; --tid, --comm, --exe, --uid,\n"
	"                       --cgroup and --container select as in dwell record\n"
	"  -d, --duration TIME  stop after TIME: seconds, or 500ms, 1.5s, 90s, 2m, 1h\n"
	"                       (default: at Ctrl-C)\n"
	"  -o, --output FILE    keep the session, for 'dwell report FILE'\n"
	"  --pair-limit TIME    drop an unmatched start after TIME (default 5s; 0: never)\n"
	"  --unwind-rows N      set the capacity of the unwind tables (default 2M)\n"
	"  --label NAME=VALUE   store a parameter of the workload in the session\n"
	"  --note TEXT          store a sentence in the session\n"
	"  --json               print the report as JSON\n"
	"  -v, --verbose        print messages of libbpf and the kernel too\n"
	"  -q, --quiet          print errors and results only\n"
	"  -h, --help           print this text\n"
	"\n"
	"Examples:\n"
	"  sudo dwell trace -u libpq.so.5:PQexec --slow 5ms\n"
	"  sudo dwell trace -k tcp_sendmsg --by comm -d 10\n"
	"  sudo dwell trace -t 'sched:sched_process_*' -d 10\n";

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
	log_error("this kernel cannot distinguish probes (it needs BPF cookies, Linux 5.15): trace "
		  "one at a time");
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
		trace_choose_fentry(trace);
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
		log_error("cannot configure the probes: %s", strerror(-err));
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

	text_copy((char *)label.name, sizeof(label.name), place->label);
	capture_send(capture, &label.hdr);
}

static void on_begin(void *context, struct capture *capture)
{
	struct trace *trace = context;

	trace_tell_hook(trace, capture);
	trace_begin_budget(trace, capture);
	for (u32 i = 0; i < trace->place_count; i++) {
		send_label(capture, SIG_FUNC, &trace->places[i]);
		if (trace->by == FUNC_BY_STACK)
			send_label(capture, SIG_FUNCSTACK, &trace->places[i]);
	}
}

static void on_look(void *context, struct capture *capture, struct live_config *live)
{
	trace_hold_budget(context, capture, live);
}

static void on_window(void *context, struct capture *capture, struct live_config *live,
		      const struct session_files *files)
{
	struct trace *trace = context;

	if (live)
		trace_hold_budget(trace, capture, live);
	if (trace->is_streaming)
		trace_stream(trace, files, !live);
}

/* --- afterwards --- */

/* A command's own output is on stdout: then the report is beside it, on stderr. */
static int print_report(const struct trace *trace, const struct engine_result *result)
{
	struct report_options report = {
		.json = trace->json,
		.signals = trace->engine.signals.chosen,
		.session = trace->engine.output,
	};

	return print_result(&report, result, trace->engine.command ? stderr : stdout);
}

static int measure(struct trace *trace)
{
	struct engine_result result;
	int shown = EXIT_OK;

	trace->engine.signals.chosen = 1ULL << SIG_FUNC;
	if (trace->by == FUNC_BY_STACK)
		trace->engine.signals.chosen |= 1ULL << SIG_FUNCSTACK;
	trace->engine.extra = (struct engine_extra){
		.probes = trace->probes,
		.probe_count = trace->probe_count,
		.one_in = trace->one_in,
		.context = trace,
		.on_loaded = on_loaded,
		.on_begin = on_begin,
		.look_ns = TRACE_LOOK_NS,
		.on_look = on_look,
		.on_window = on_window,
	};
	engine_run(&trace->engine, &result);
	if (trace->printer.pid) /* there was no last window */
		reader_process_wait(&trace->printer);
	if (result.is_reportable)
		shown = print_report(trace, &result);
	files_close(&result.files, result.files_end);
	return result.status ? result.status : shown;
}

static int run(struct trace *trace)
{
	int err;

	if (trace->engine.command && target_find(trace->engine.command[0]))
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
	int err, status;

	if (!trace) {
		log_error("out of memory");
		return EXIT_FAILED;
	}
	err = trace_parse(argc, argv, trace);
	if (err) {
		status = given_status(err, "trace");
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
