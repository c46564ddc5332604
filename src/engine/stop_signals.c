// SPDX-License-Identifier: Apache-2.0
#include "stop_signals.h"

#include <errno.h>
#include <poll.h>
#include <sys/signalfd.h>
#include <time.h>
#include <unistd.h>

#include "../base/clock.h"

/* nohup means it; and one that is held is not ignored any more. */
static void hold_unless_ignored(sigset_t *held, int number)
{
	struct sigaction now;

	if (!sigaction(number, NULL, &now) && now.sa_handler != SIG_IGN)
		sigaddset(held, number);
}

int stop_signals_hold(struct stop_signals *stop_signals)
{
	const struct sigaction standard = {.sa_handler = SIG_DFL};
	sigset_t held;

	/* Who ignores it has no children to wait for: they vanish. */
	sigaction(SIGCHLD, &standard, &stop_signals->inherited.child);
	sigemptyset(&held);
	sigaddset(&held, SIGINT);
	sigaddset(&held, SIGTERM);
	sigaddset(&held, SIGCHLD);
	hold_unless_ignored(&held, SIGHUP);
	hold_unless_ignored(&held, SIGQUIT);
	sigprocmask(SIG_BLOCK, &held, &stop_signals->inherited.mask);
	stop_signals->fd = signalfd(-1, &held, SFD_CLOEXEC | SFD_NONBLOCK);
	return stop_signals->fd < 0 ? -errno : 0;
}

void stop_signals_release(struct stop_signals *stop_signals)
{
	if (stop_signals->fd < 0)
		return;
	close(stop_signals->fd);
	stop_signals->fd = -1;
	sigprocmask(SIG_SETMASK, &stop_signals->inherited.mask, NULL);
}

/* Ctrl-C reached the command too, so that one decides. */
static void take(struct stop_signals *stop_signals, bool has_command)
{
	struct signalfd_siginfo info;

	while (read(stop_signals->fd, &info, sizeof(info)) == sizeof(info)) {
		/* One that hangs up is no terminal any more. */
		bool is_from_terminal = info.ssi_code == SI_KERNEL && info.ssi_signo != SIGHUP;

		if (info.ssi_signo == SIGCHLD)
			continue; /* whoever waits for a child asks by its pid */
		if (is_from_terminal && has_command && !stop_signals->is_told_end)
			stop_signals->is_told_end = true;
		else
			stop_signals->ended_by = (int)info.ssi_signo;
	}
}

void stop_signals_sleep(struct stop_signals *stop_signals, u64 deadline_ns, bool has_command,
			int also_fd)
{
	struct pollfd ready[] = {
		{.fd = stop_signals->fd, .events = POLLIN},
		{.fd = also_fd, .events = POLLIN},
	};
	u64 now = clock_now_ns();
	u64 left = deadline_ns > now ? deadline_ns - now : 0;
	struct timespec limit = {.tv_sec = (time_t)(left / NS_PER_S),
				 .tv_nsec = (long)(left % NS_PER_S)};

	if (ppoll(ready, 2, &limit, NULL) > 0 && ready[0].revents)
		take(stop_signals, has_command);
}
