// SPDX-License-Identifier: Apache-2.0
#include "screen.h"

#include <errno.h>
#include <fcntl.h>
#include <langinfo.h>
#include <locale.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#include "../base/cleanup.h"
#include "../base/clock.h"
#include "../base/exit_status.h"
#include "../base/log.h"
#include "../base/text.h"
#include "../store/vfs.h"
#include "../worker/privileges.h"
#include "terminal.h"
#include "view.h"

#define BATCH_WIDTH  120
#define BATCH_HEIGHT 100
#define PRESSURES    3

struct screen {
	const struct screen_setup *setup;
	struct model model;
	struct live live;
	struct view view;
	struct grid grid;
	u64 shown; /* windows, with --batch */
	bool is_over;
	int status;
	int pressure_fds[PRESSURES]; /* -1: this kernel has none */
	u64 pressure_us[PRESSURES];
	u64 pressure_ns; /* when these were read; 0: never */
	u64 cpu_ns;	 /* of this process, up to the last window */
};

static volatile sig_atomic_t is_told_to_end;

static void on_end(int number)
{
	(void)number;
	is_told_to_end = 1;
}

/* --- what is not in the session --- */

static void open_pressure(struct screen *screen)
{
	static const char *const paths[PRESSURES] = {"/proc/pressure/cpu", "/proc/pressure/io",
						     "/proc/pressure/memory"};

	for (int i = 0; i < PRESSURES; i++)
		screen->pressure_fds[i] = open(paths[i], O_RDONLY | O_CLOEXEC);
}

/* "some avg10=0.00 avg60=0.00 avg300=0.00 total=12345": microseconds. */
static bool read_total(int fd, u64 *ret_us)
{
	char text[256];
	ssize_t length = fd < 0 ? -1 : pread(fd, text, sizeof(text) - 1, 0);
	const char *total;

	if (length <= 0)
		return false;
	text[length] = '\0';
	total = strstr(text, "total=");
	if (!total)
		return false;
	*ret_us = strtoull(total + strlen("total="), NULL, 10);
	return true;
}

static void read_pressure(struct screen *screen)
{
	u64 now_ns = clock_now_ns();

	for (int i = 0; i < PRESSURES; i++) {
		double *percent = &screen->model.host.pressure[i];
		u64 us;

		*percent = -1;
		if (!read_total(screen->pressure_fds[i], &us))
			continue;
		if (screen->pressure_ns && us >= screen->pressure_us[i])
			*percent = 100e3 * (double)(us - screen->pressure_us[i]) /
				   (double)(now_ns - screen->pressure_ns);
		if (*percent > 100)
			*percent = 100;
		screen->pressure_us[i] = us;
	}
	screen->pressure_ns = now_ns;
}

static void read_own_cost(struct screen *screen)
{
	struct timespec time;
	u64 now_ns;

	if (clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time))
		return;
	now_ns = (u64)time.tv_sec * NS_PER_S + (u64)time.tv_nsec;
	screen->view.screen_ns = now_ns - screen->cpu_ns;
	screen->cpu_ns = now_ns;
}

/* --- showing --- */

static void show(struct screen *screen)
{
	int width, height;

	terminal_size(&width, &height);
	if (width != screen->grid.width || height != screen->grid.height)
		if (grid_init(&screen->grid, width, height)) {
			log_error("cannot show anything: not enough memory");
			screen->is_over = true;
			screen->status = EXIT_FAILED;
			return;
		}
	view_draw(&screen->view, &screen->model, &screen->live, &screen->grid);
	terminal_show(&screen->grid);
}

/* The head, and the lines that there are. */
static void print_window(struct screen *screen)
{
	int lines;

	view_draw(&screen->view, &screen->model, &screen->live, &screen->grid);
	lines = VIEW_HEAD_LINES + (int)screen->view.rows.count;
	if (screen->shown++)
		putchar('\n');
	grid_write(&screen->grid, lines < BATCH_HEIGHT - 1 ? lines : BATCH_HEIGHT - 1, stdout);
	if (lines > BATCH_HEIGHT - 1)
		printf("%d more lines are not shown\n", lines - BATCH_HEIGHT + 1);
	screen->is_over = screen->shown == screen->setup->refreshes;
	if (!fflush(stdout) && !ferror(stdout))
		return;
	screen->is_over = true;
	if (errno == EPIPE)
		return; /* a reader that has left is no error */
	log_error("cannot write to stdout: %s", strerror(errno));
	screen->status = EXIT_FAILED;
}

/* --- what comes --- */

/* A window's message, without waiting: true if there was one, with descriptors for the caller. */
static bool receive_window(struct screen *screen, int ret_fds[2])
{
	union {
		struct cmsghdr header;
		char space[CMSG_SPACE(2 * sizeof(int))];
	} control;
	char body;
	struct iovec part = {&body, sizeof(body)};
	struct msghdr message = {.msg_iov = &part,
				 .msg_iovlen = 1,
				 .msg_control = &control,
				 .msg_controllen = sizeof(control)};
	ssize_t got = recvmsg(screen->setup->windows_fd, &message, MSG_DONTWAIT | MSG_CMSG_CLOEXEC);
	const struct cmsghdr *header = got > 0 ? CMSG_FIRSTHDR(&message) : NULL;

	if (got != sizeof(body) || !header || header->cmsg_type != SCM_RIGHTS ||
	    header->cmsg_len != CMSG_LEN(2 * sizeof(int)))
		return false;
	memcpy(ret_fds, CMSG_DATA(header), 2 * sizeof(int));
	return true;
}

/* The newest of those that came: a screen that was late does not show what is old. */
static void take_windows(struct screen *screen)
{
	int fds[2], newest[2] = {-1, -1};

	while (receive_window(screen, fds)) {
		if (newest[0] >= 0) {
			close(newest[0]);
			close(newest[1]);
		}
		memcpy(newest, fds, sizeof(fds));
	}
	if (newest[0] < 0)
		return;
	if (screen->view.is_paused) {
		close(newest[0]);
		close(newest[1]);
		return;
	}
	if (live_read(&screen->live, newest[0], newest[1], &screen->model))
		view_say(&screen->view, true, "the last window could not be read");
	read_pressure(screen);
	read_own_cost(screen);
	view_age_status(&screen->view);
	if (screen->setup->refreshes)
		print_window(screen);
	else
		show(screen);
}

static void take_message(struct screen *screen)
{
	struct screen_message message;
	ssize_t got = recv(screen->setup->control_fd, &message, sizeof(message), MSG_DONTWAIT);

	if (got == 0 || (got < 0 && errno != EAGAIN && errno != EINTR)) {
		screen->is_over = true; /* who measures has ended */
		return;
	}
	if (got != sizeof(message))
		return;
	message.text[sizeof(message.text) - 1] = '\0';
	view_say(&screen->view, message.kind == 'e', message.text);
	if (!screen->setup->refreshes)
		show(screen);
}

static void take_keys(struct screen *screen)
{
	static const char letters[] = {[VIEW_QUIT] = 'q', [VIEW_SAVE] = 's', [VIEW_PAGE] = 'h'};
	bool is_changed = false;
	int key;

	while (!screen->is_over && (key = terminal_key()) >= 0) {
		enum view_action action;

		is_changed = true;
		if (!key)
			continue;
		action = view_press(&screen->view, &screen->model, &screen->live, key);
		if (action == VIEW_STAY)
			continue;
		screen->is_over = action == VIEW_QUIT;
		if (send(screen->setup->control_fd, &letters[action], 1,
			 MSG_DONTWAIT | MSG_NOSIGNAL) < 0)
			view_say(&screen->view, true, "dwell is still busy with the last request");
	}
	if (is_changed && !screen->is_over)
		show(screen);
}

static void loop(struct screen *screen)
{
	struct pollfd ready[] = {
		{.fd = screen->setup->control_fd, .events = POLLIN},
		{.fd = screen->setup->windows_fd, .events = POLLIN},
		{.fd = screen->setup->refreshes ? -1 : STDIN_FILENO, .events = POLLIN},
	};

	while (!screen->is_over && !is_told_to_end) {
		int count = poll(ready, ARRAY_SIZE(ready), -1);

		if (count < 0 && errno != EINTR)
			break;
		if (count > 0 && ready[1].revents)
			take_windows(screen);
		if (count > 0 && ready[1].revents & (POLLHUP | POLLERR))
			ready[1].fd = -1;
		if (count > 0 && ready[0].revents)
			take_message(screen);
		if (count > 0 && ready[2].revents & (POLLHUP | POLLERR | POLLNVAL))
			screen->is_over = true; /* the terminal is gone */
		/* A new size comes as a signal, at any time, and then as a key. */
		if (!screen->setup->refreshes && !screen->is_over)
			take_keys(screen);
	}
}

/* --- the way in --- */

static void handle_signals(void)
{
	const struct sigaction end = {.sa_handler = on_end};
	sigset_t none;

	sigaction(SIGTERM, &end, NULL);
	sigaction(SIGHUP, &end, NULL);
	signal(SIGINT, SIG_IGN); /* top.c decides */
	signal(SIGQUIT, SIG_IGN);
	signal(SIGTSTP, SIG_IGN);
	sigemptyset(&none);
	sigprocmask(SIG_SETMASK, &none, NULL);
}

static int confine(const struct screen_setup *setup)
{
	int err;

	tzset(); /* reads a file, as SQLite does */
	vfs_prepare();
	err = sandbox_enter(SANDBOX_SCREEN, setup->notes);
	if (err)
		log_error("cannot show anything: entering the sandbox failed: %s", strerror(-err));
	return err;
}

static int prepare(struct screen *screen)
{
	const struct screen_setup *setup = screen->setup;
	int err;

	setlocale(LC_CTYPE, "");
	screen->grid.is_ascii = strcmp(nl_langinfo(CODESET), "UTF-8") != 0;
	view_init(&screen->view);
	gethostname(screen->view.host, sizeof(screen->view.host) - 1);
	screen->view.tier = setup->tier;
	screen->view.options.by = setup->by_process ? BY_PROCESS : BY_SERVICE;
	text_copy(screen->view.options.filter, sizeof(screen->view.options.filter),
		  setup->filter ? setup->filter : "");
	open_pressure(screen);
	live_init(&screen->live);
	err = model_init(&screen->model);
	if (!err)
		err = grid_init(&screen->grid, BATCH_WIDTH, BATCH_HEIGHT);
	if (!err)
		err = privileges_drop();
	if (err)
		log_error("cannot show anything: %s", strerror(-err));
	return err;
}

int screen_run(const struct screen_setup *setup)
{
	struct screen screen = {.setup = setup};
	int err;

	handle_signals();
	err = prepare(&screen);
	if (!err && !setup->refreshes)
		err = terminal_open();
	if (err)
		return EXIT_FAILED;
	err = confine(setup);
	read_pressure(&screen);
	if (!err && !setup->refreshes)
		show(&screen);
	if (!err)
		loop(&screen);
	if (!setup->refreshes)
		terminal_close();
	live_close(&screen.live);
	view_close(&screen.view);
	model_free(&screen.model);
	grid_free(&screen.grid);
	return err ? EXIT_FAILED : screen.status;
}
