// SPDX-License-Identifier: Apache-2.0
#include "top.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <termios.h>
#include <time.h>
#include <unistd.h>

#include "../base/cleanup.h"
#include "../base/clock.h"
#include "../base/exit_status.h"
#include "../base/log.h"
#include "../base/person.h"
#include "../base/scratch.h"
#include "../base/text.h"
#include "measuring.h"
#include "messages.h"
#include "save.h"
#include "screen.h"

#define END_WAIT_NS   (3 * NS_PER_S)
#define SAVE_NS	      (60 * NS_PER_S)
#define SAVE_LIMIT_NS (10 * NS_PER_S) /* for the file that is written to end */
#define SAVE_POLL_MS  50
#define LINES_AT_ONCE 100 /* of messages: keys and signals are looked at in between */

/* A terminal whose program has crashed: the other screen, hidden cursor, colours, keypad. */
#define TERMINAL_RESET "\033[0m\033[?1049l\033[?25h\033[?1l\033>"

struct top {
	struct top_options *options;
	struct scratch scratch;
	bool has_scratch;
	char recording[PATH_MAX];
	struct measuring_shared *shared;
	struct sandbox_notes *notes; /* of the screen */
	struct termios terminal;     /* as it was */
	bool has_terminal;
	sigset_t inherited;
	int signal_fd;
	int windows[2]; /* from who measures to the screen: it is theirs */
	int control[2]; /* ours, the screen's */
	struct messages messages;
	pid_t measuring, screen; /* 0: it has ended */
	int measuring_status;
	int screen_status;
	bool is_over;
	char saving;	 /* 's' or 'h'; 0: nothing */
	u64 saving_from; /* number of the file that is to end */
	u64 saving_until_ns;
};

/* --- saving --- */

static void tell(const struct top *top, char kind, const char *text)
{
	struct screen_message message = {.kind = kind};

	text_copy(message.text, sizeof(message.text), text);
	send(top->control[0], &message, sizeof(message), MSG_DONTWAIT | MSG_NOSIGNAL);
}

static void begin_saving(struct top *top, char kind)
{
	u64 number = atomic_load(&top->shared->number);

	if (top->saving || !number) {
		tell(top, 'e',
		     number ? "the last minute is being saved already"
			    : "nothing can be saved yet: no window has ended");
		return;
	}
	top->saving = kind;
	top->saving_from = number;
	top->saving_until_ns = clock_now_ns() + SAVE_LIMIT_NS;
	atomic_store(&top->shared->wants_next, true);
	tell(top, 'i', "saving the last minute ...");
}

/* The fewest files, up to this one, that have a minute: the first one's number. */
static u64 first_to_save(const struct top *top, u64 last, u64 *ret_ns)
{
	u64 end_ns = atomic_load(&top->shared->begins[(last + 1) % MEASURING_BEGINS]);
	u64 first = last, begin_ns = end_ns;

	for (;; first--) {
		begin_ns = atomic_load(&top->shared->begins[first % MEASURING_BEGINS]);
		if (end_ns - begin_ns >= SAVE_NS || first == 1 ||
		    last - first + 2 >= MEASURING_KEEP)
			break;
	}
	*ret_ns = end_ns - begin_ns;
	return first;
}

static void save(struct top *top, u64 last)
{
	char path[64], page[64], text[SCREEN_TEXT_BYTES];
	u64 length_ns, first = first_to_save(top, last, &length_ns);
	int err = save_session(top->recording, first, last, path, sizeof(path));

	if (err) {
		snprintf(text, sizeof(text), "cannot save: %s", strerror(-err));
		tell(top, 'e', text);
		return;
	}
	messages_add(&top->messages, "saved %.0f s: 'dwell report %s' shows it",
		     (double)length_ns / 1e9, path);
	snprintf(text, sizeof(text), "saved %.0f s: %s", (double)length_ns / 1e9, path);
	if (top->saving == 'h') {
		err = save_page(path, page, sizeof(page));
		snprintf(text, sizeof(text),
			 !err ? "page: %s, session: %s"
			 : err == -EOPNOTSUPP
				 ? "%s is not there: this build has no page; session: %s"
				 : "%s could not be written; session: %s",
			 page, path);
		if (!err)
			messages_add(&top->messages, "%s is the page of it", page);
	}
	tell(top, err ? 'e' : 'i', text);
}

static void go_on_saving(struct top *top)
{
	u64 number = atomic_load(&top->shared->number);

	if (!top->saving)
		return;
	if (number > top->saving_from)
		save(top, number - 1);
	else if (clock_now_ns() < top->saving_until_ns)
		return;
	else
		tell(top, 'e', "cannot save: the file that is written did not end");
	top->saving = 0;
}

/* --- starting --- */

static int make_shared(struct top *top)
{
	top->shared = mmap(NULL, sizeof(*top->shared), PROT_READ | PROT_WRITE,
			   MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	return top->shared == MAP_FAILED ? -errno : 0;
}

/* Sessions are made with the rights of who called sudo, so the folder is theirs. */
static int make_folder(struct top *top)
{
	struct person person;
	int err;

	person_find(&person);
	err = person_begin(&person);
	if (err)
		return err;
	err = scratch_make(&top->scratch);
	person_end(&person);
	if (err)
		return err;
	top->has_scratch = true;
	snprintf(top->recording, sizeof(top->recording), "%s/top.dwell", top->scratch.path);
	top->options->engine.output = top->recording;
	return 0;
}

static int hold_signals(struct top *top)
{
	sigset_t held;

	signal(SIGCHLD, SIG_DFL); /* who ignores it cannot wait */
	sigemptyset(&held);
	sigaddset(&held, SIGINT);
	sigaddset(&held, SIGTERM);
	sigaddset(&held, SIGHUP);
	sigaddset(&held, SIGQUIT);
	sigaddset(&held, SIGCHLD);
	sigprocmask(SIG_BLOCK, &held, &top->inherited);
	top->signal_fd = signalfd(-1, &held, SFD_CLOEXEC | SFD_NONBLOCK);
	return top->signal_fd < 0 ? -errno : 0;
}

static int prepare(struct top *top)
{
	bool is_batch = top->options->refreshes;
	int err = make_folder(top);

	if (!err)
		err = make_shared(top);
	if (!err)
		err = sandbox_notes_make(&top->notes);
	if (!err && (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, top->windows) ||
		     socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, top->control)))
		err = -errno;
	if (!err && !is_batch)
		err = messages_open(&top->messages);
	if (!err)
		err = hold_signals(top);
	top->has_terminal = !is_batch && !tcgetattr(STDIN_FILENO, &top->terminal);
	if (err)
		log_error("cannot start: %s", strerror(-err));
	return err;
}

/* In both children: what is not theirs. */
static void leave_ours(struct top *top)
{
	close(top->signal_fd);
	close(top->scratch.remover.sock);
	close(top->control[0]);
	messages_leave(&top->messages);
}

static void run_screen(struct top *top)
{
	const struct screen_setup setup = {
		.windows_fd = top->windows[1],
		.control_fd = top->control[1],
		.refreshes = top->options->refreshes,
		.tier = top->options->engine.tier == TIER_B ? 'B' : 'A',
		.by_process = top->options->by_process,
		.filter = top->options->filter,
		.notes = top->notes,
	};

	leave_ours(top);
	close(top->windows[0]);
	child_set_name("dwell-screen");
	_exit(screen_run(&setup));
}

static void run_measuring(struct top *top, pid_t parent)
{
	struct measuring measuring = {&top->options->engine, top->shared, top->windows[0], parent};

	leave_ours(top);
	close(top->windows[1]);
	close(top->control[1]);
	sigprocmask(SIG_SETMASK, &top->inherited, NULL);
	_exit(measuring_run(&measuring));
}

static int start(struct top *top)
{
	pid_t self = getpid();

	fflush(NULL);
	top->screen = fork();
	if (top->screen == 0)
		run_screen(top);
	top->measuring = top->screen > 0 ? fork() : -1;
	if (top->measuring == 0)
		run_measuring(top, self);
	if (top->measuring > 0) {
		close(top->windows[0]);
		close(top->windows[1]);
		close(top->control[1]);
		return 0;
	}
	log_error("cannot start: %s; see ulimit -u and the free memory", strerror(errno));
	if (top->screen > 0)
		kill(top->screen, SIGTERM);
	top->screen = top->screen > 0 ? top->screen : 0;
	top->measuring = 0;
	return -EAGAIN;
}

/* --- running --- */

static void restore_terminal(const struct top *top)
{
	if (!top->has_terminal)
		return;
	if (write(STDOUT_FILENO, TERMINAL_RESET, strlen(TERMINAL_RESET)) < 0)
		return; /* it is gone */
	tcsetattr(STDIN_FILENO, TCSADRAIN, &top->terminal);
}

/* True if it has ended, once. */
static bool has_ended(pid_t *child, int *ret_status)
{
	int status;

	if (!*child || waitpid(*child, &status, WNOHANG) != *child)
		return false;
	*child = 0;
	*ret_status = WIFEXITED(status) ? WEXITSTATUS(status) : EXIT_FAILED;
	return true;
}

static void reap(struct top *top)
{
	if (has_ended(&top->screen, &top->screen_status)) {
		top->is_over = true;
		if (top->screen_status != EXIT_OK)
			restore_terminal(top);
	}
	if (has_ended(&top->measuring, &top->measuring_status))
		top->is_over = true;
}

static void take_signals(struct top *top)
{
	struct signalfd_siginfo info;

	while (read(top->signal_fd, &info, sizeof(info)) == sizeof(info))
		if (info.ssi_signo != SIGCHLD)
			top->is_over = true;
	reap(top);
}

static void take_request(struct top *top)
{
	char kind;
	ssize_t got = recv(top->control[0], &kind, sizeof(kind), MSG_DONTWAIT);

	if (got == 0 || (got == 1 && kind == 'q'))
		top->is_over = true;
	else if (got == 1 && (kind == 's' || kind == 'h'))
		begin_saving(top, kind);
}

static void loop(struct top *top)
{
	while (!top->is_over) {
		struct pollfd ready[] = {
			{.fd = top->signal_fd, .events = POLLIN},
			{.fd = top->control[0], .events = POLLIN},
			{.fd = messages_fd(&top->messages), .events = POLLIN},
		};
		char line[SCREEN_TEXT_BYTES];

		if (poll(ready, ARRAY_SIZE(ready), top->saving ? SAVE_POLL_MS : -1) < 0 &&
		    errno != EINTR)
			break;
		if (ready[0].revents)
			take_signals(top);
		if (ready[1].revents)
			take_request(top);
		for (int i = 0; i < LINES_AT_ONCE && ready[2].revents &&
				messages_read(&top->messages, line, sizeof(line));
		     i++)
			tell(top, 'i', line);
		go_on_saving(top);
	}
}

/* --- ending --- */

static void wait_until(struct top *top, pid_t *child, u64 deadline_ns)
{
	const struct timespec pause = {.tv_nsec = 5 * NS_PER_MS};

	while (*child) {
		reap(top);
		if (*child && clock_now_ns() >= deadline_ns)
			kill(*child, SIGKILL);
		nanosleep(&pause, NULL);
	}
}

static void end(struct top *top)
{
	/* The screen first: whoever has pressed a key waits for it. */
	shutdown(top->control[0], SHUT_RDWR);
	if (top->measuring)
		kill(top->measuring, SIGTERM);
	wait_until(top, &top->screen, clock_now_ns() + END_WAIT_NS);
	if (top->screen_status == EXIT_OK && top->has_terminal)
		tcsetattr(STDIN_FILENO, TCSADRAIN, &top->terminal);
	wait_until(top, &top->measuring, clock_now_ns() + END_WAIT_NS);
}

int top_run(struct top_options *options)
{
	struct top top = {
		.options = options,
		.signal_fd = -1,
		.messages = {.fd = -1, .stderr_fd = -1},
	};
	bool is_ended_by_itself = false;
	int err = prepare(&top);

	if (!err)
		err = start(&top);
	if (!err) {
		loop(&top);
		/* Who measures ends by itself only if it cannot go on, or its time is over. */
		is_ended_by_itself = !top.measuring;
	}
	if (!err || top.screen)
		end(&top);
	if (top.has_scratch)
		scratch_remove(&top.scratch);
	messages_end(&top.messages);
	sandbox_report(top.notes, "process that shows");
	sandbox_notes_free(top.notes);
	if (err)
		return EXIT_FAILED;
	return is_ended_by_itself ? top.measuring_status : top.screen_status;
}
