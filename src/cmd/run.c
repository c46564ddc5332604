// SPDX-License-Identifier: Apache-2.0
#include <errno.h>
#include <fcntl.h>
#include <getopt.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "../base/cleanup.h"
#include "../base/clock.h"
#include "../base/log.h"
#include "../capture/capture.h"
#include "../doctor/doctor.h"
#include "../model/signal.h"
#include "../report/ledger.h"
#include "../worker/worker.h"
#include "cmd.h"

static const char usage[] =
	"Usage: dwell run [--json] [-v] [-q] -- COMMAND [ARGS]\n"
	"\n"
	"Runs a command and tells where its wall time went, and its children's: every\n"
	"nanosecond of every thread is in exactly one state, and what could not be\n"
	"attributed is printed. The report goes to stderr, the command's own output and\n"
	"exit status pass through untouched.\n"
	"\n"
	"  --json         the report as JSON, one object per thread\n"
	"  -v, --verbose  also what libbpf and the kernel say\n"
	"  -q, --quiet    no report\n"
	"  -h, --help     this text\n"
	"\n"
	"Exit status: the command's; 127 if it cannot be run, 77 if dwell cannot run here.\n"
	"Overhead: some 150 ns per context switch of the command; none per system call.\n"
	"\n"
	"Examples:\n"
	"  sudo dwell run -- sleep 1\n"
	"  sudo dwell run --json -- ./server 2>report.json\n";

#define LAST_SWITCH_NS                                                                             \
	(20 * NS_PER_MS) /* a dead process is reaped a little before its last switch */
#define EXIT_CANNOT_EXEC 127

struct run {
	struct queue *queue;
	struct worker *worker;
	struct capture *capture;
	pid_t child;
	int go_fd;		/* closing or writing it lets the command start */
	struct filter_key tree; /* the command and whom it makes */
};

struct options {
	bool json, help;
	char **command;
};

static int parse(int argc, char **argv, struct options *options)
{
	static const struct option longs[] = {
		{"json", no_argument, NULL, 'j'},
		{"verbose", no_argument, NULL, 'v'},
		{"quiet", no_argument, NULL, 'q'},
		{"help", no_argument, NULL, 'h'},
		{0},
	};
	int option;

	/* "+": the command's own options are not ours. */
	while ((option = getopt_long(argc, argv, "+hvq", longs, NULL)) != -1) {
		switch (option) {
		case 'j':
			options->json = true;
			break;
		case 'h':
			options->help = true;
			break;
		default:
			if (!cmd_common_option(option))
				return -EINVAL;
		}
	}
	options->command = argv + optind;
	if (!options->help && optind >= argc) {
		log_error("run needs a command: dwell run -- sleep 1");
		return -EINVAL;
	}
	return 0;
}

/* In the child: waits until it is followed, then becomes the command. */
static void become_command(int wait_fd, char **command)
{
	char go;

	/* What main() ignores, the command must not. */
	signal(SIGPIPE, SIG_DFL);
	if (read(wait_fd, &go, 1) != 1)
		_exit(EXIT_FAILED); /* dwell gave up */
	execvp(command[0], command);
	log_error("cannot run '%s': %s", command[0], strerror(errno));
	_exit(EXIT_CANNOT_EXEC);
}

static int start_command(struct run *run, char **command)
{
	int fds[2];

	if (pipe2(fds, O_CLOEXEC))
		return -errno;
	run->child = fork();
	if (run->child == 0) {
		close(fds[1]);
		become_command(fds[0], command);
	}
	close(fds[0]);
	run->go_fd = fds[1];
	run->tree = (struct filter_key){FILTER_BY_TREE, {(u64)run->child}};
	return run->child < 0 ? -errno : 0;
}

static size_t probe_named(const char *program)
{
	for (size_t i = 0; i < signal_ledger.probe_count; i++)
		if (!strcmp(signal_ledger.probes[i].program, program))
			return i;
	abort(); /* a name in this file is wrong */
}

/* Attaches the ledger and gives the child its account: 0 or -errno, told. */
static int follow(struct run *run)
{
	static struct probe probes[64];
	size_t split_count = getenv("SPLIT") ? signal_calls.probe_count : 0;
	struct capture_config config = {
		.probes = probes,
		.probe_count = signal_ledger.probe_count + split_count,
		.split = split_count != 0,
		.filters = &run->tree,
		.filter_count = 1,
		.ring_bytes = RING_BYTES_DEFAULT,
		.worker_pid = worker_pid(run->worker),
		.queue = run->queue,
		.verdict_dir = "/run/dwell",
	};
	struct cause cause;
	int err;

	memcpy(probes, signal_ledger.probes, sizeof(*probes) * signal_ledger.probe_count);
	memcpy(probes + signal_ledger.probe_count, signal_calls.probes,
	       sizeof(*probes) * split_count);
	capture_live_defaults(&config.live);
	config.live.scope = SCOPE_LISTED;
	err = capture_open(&config, &run->capture);
	if (err)
		return err;
	err = capture_load(run->capture);
	if (!err)
		err = capture_attach(run->capture);
	/* Each of its hooks is needed: a ledger with a hole would not close. */
	for (size_t i = 0; i < config.probe_count; i++) {
		const struct failure *failure = capture_failure(run->capture, i);

		if (!failure->err || config.probes[i].is_optional)
			continue;
		doctor_explain(failure, &cause);
		log_error("cannot follow the command: %s: %s → %s", config.probes[i].program,
			  cause.text, cause.remedy);
		return -failure->err;
	}
	return err ? err : capture_run_iter(run->capture, probe_named("ledger_seed"));
}

/* Ctrl-C is for the command; it decides what becomes of us. */
static int wait_for_command(struct run *run)
{
	int status;

	signal(SIGINT, SIG_IGN);
	signal(SIGQUIT, SIG_IGN);
	if (write(run->go_fd, "", 1) != 1)
		return EXIT_FAILED;
	while (waitpid(run->child, &status, 0) < 0)
		if (errno != EINTR)
			return EXIT_FAILED;
	run->child = 0;
	return WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
}

static void report(struct run *run, bool json)
{
	const struct timespec pause = {.tv_nsec = LAST_SWITCH_NS};
	_cleanup_free_ struct ledger_book *book = calloc(1, sizeof(*book));
	struct health health = {0};
	int err;

	nanosleep(&pause, NULL);
	err = capture_run_iter(run->capture, probe_named("ledger_rows"));
	capture_detach(run->capture);
	if (!book || worker_signal_state(run->worker, SIG_LEDGER, book, sizeof(*book)) < 0) {
		log_error("the result is lost: the worker process is gone; was it killed?");
		return;
	}
	if (err)
		log_error("threads that still run are missing: reading them failed: %s",
			  strerror(-err));
	capture_health(run->capture, &health);
	if (json)
		ledger_print_json(book, &health, stderr);
	else
		ledger_print(book, &health, stderr);
}

static void clean_up(struct run *run)
{
	capture_close(run->capture);
	worker_stop(run->worker);
	queue_destroy(run->queue);
	if (run->go_fd >= 0)
		close(run->go_fd);
	if (run->child > 0) {
		kill(run->child, SIGKILL); /* it never became the command */
		waitpid(run->child, NULL, 0);
	}
}

int cmd_run(int argc, char **argv)
{
	struct options options = {0};
	struct run run = {.go_fd = -1};
	int status = EXIT_UNSUPPORTED;
	int err;

	if (parse(argc, argv, &options)) {
		fputs("Try 'dwell run --help'.\n", stderr);
		return EXIT_USAGE;
	}
	if (options.help) {
		fputs(usage, stdout);
		return EXIT_OK;
	}
	err = queue_create(QUEUE_BYTES_DEFAULT, &run.queue);
	if (!err)
		err = worker_start(run.queue, NULL, 0, &run.worker);
	if (!err)
		err = start_command(&run, options.command);
	if (err) {
		log_error("cannot start: %s; see ulimit -u and the free memory", strerror(-err));
		status = EXIT_FAILED;
	} else if (!follow(&run)) {
		status = wait_for_command(&run);
		if (log_level() != LOG_QUIET)
			report(&run, options.json);
	}
	clean_up(&run);
	return status;
}
