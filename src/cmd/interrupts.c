// SPDX-License-Identifier: Apache-2.0
#include "interrupts.h"

#include <errno.h>
#include <poll.h>
#include <sys/signalfd.h>
#include <time.h>
#include <unistd.h>

#include "../base/clock.h"

int interrupts_hold(struct interrupts *interrupts)
{
	sigset_t held;

	sigemptyset(&held);
	sigaddset(&held, SIGINT);
	sigaddset(&held, SIGTERM);
	sigaddset(&held, SIGCHLD);
	sigprocmask(SIG_BLOCK, &held, &interrupts->mask_before);
	interrupts->fd = signalfd(-1, &held, SFD_CLOEXEC | SFD_NONBLOCK);
	return interrupts->fd < 0 ? -errno : 0;
}

void interrupts_release(struct interrupts *interrupts)
{
	if (interrupts->fd < 0)
		return;
	close(interrupts->fd);
	interrupts->fd = -1;
	sigprocmask(SIG_SETMASK, &interrupts->mask_before, NULL);
}

/* Ctrl-C reached the command too, so that one decides. */
static void take(struct interrupts *interrupts, bool has_command)
{
	struct signalfd_siginfo info;

	while (read(interrupts->fd, &info, sizeof(info)) == sizeof(info)) {
		bool is_from_terminal = info.ssi_code == SI_KERNEL;

		if (info.ssi_signo == SIGCHLD)
			continue; /* whoever waits for a child asks by its pid */
		if (is_from_terminal && has_command && !interrupts->is_told_end)
			interrupts->is_told_end = true;
		else
			interrupts->ended_by = (int)info.ssi_signo;
	}
}

void interrupts_sleep(struct interrupts *interrupts, u64 deadline_ns, bool has_command)
{
	struct pollfd ready = {.fd = interrupts->fd, .events = POLLIN};
	u64 now = clock_now_ns();
	u64 left = deadline_ns > now ? deadline_ns - now : 0;
	struct timespec limit = {.tv_sec = (time_t)(left / NS_PER_S),
				 .tv_nsec = (long)(left % NS_PER_S)};

	if (ppoll(&ready, 1, &limit, NULL) > 0)
		take(interrupts, has_command);
}
