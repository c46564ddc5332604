// SPDX-License-Identifier: Apache-2.0
/*
 * Ten thousand processes, one after the other, of twenty names. Each opens and reads three files;
 * the fourth is its own, so that there are as many objects as processes.
 */
#include <fcntl.h>
#include <stdio.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "oracle.h"

#define COMMANDS  20
#define PROCESSES 10000
#define SHARED	  3

static void use_file(const char *name, int flags)
{
	char byte;
	int fd = open(name, flags | O_CLOEXEC, 0600);

	must(fd >= 0, name);
	must(read(fd, &byte, 1) >= 0, "read");
	close(fd);
}

static void be_command(int number)
{
	char name[32];

	snprintf(name, sizeof(name), "command-%02d", number % COMMANDS);
	prctl(PR_SET_NAME, name);
	for (int i = 0; i < SHARED; i++) {
		snprintf(name, sizeof(name), "shared-%d", i);
		use_file(name, O_RDONLY);
	}
	snprintf(name, sizeof(name), "own-%d", number);
	use_file(name, O_RDWR | O_CREAT);
	unlink(name);
	_exit(0);
}

void do_commands(void)
{
	for (int i = 0; i < SHARED; i++) {
		char name[32];

		snprintf(name, sizeof(name), "shared-%d", i);
		close(open(name, O_RDWR | O_CREAT | O_CLOEXEC, 0600));
	}
	for (int i = 0; i < PROCESSES; i++) {
		pid_t child = fork();

		must(child >= 0, "fork");
		if (!child)
			be_command(i);
		must(waitpid(child, NULL, 0) == child, "waitpid");
	}
	truth("reads", PROCESSES * (SHARED + 1));
	truth("opens", PROCESSES * (SHARED + 1));
}
