// SPDX-License-Identifier: Apache-2.0
/*
 * Linked into a dwell for tests only (build/tests/dwell-forbidden): each process, once it is in its
 * sandbox, tries what a hostile file might make it do. DWELL_TEST_FORBIDDEN lists what, with the
 * kind of process first: "parser:open,socket,exec,ptrace", or "privileged:exec,module,mount".
 */
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/ptrace.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "../../src/base/sandbox.h"

void sandbox_test_hook(enum sandbox_rules rules);

static const char *const kinds[] = {
	[SANDBOX_PARSER] = "parser:",
	[SANDBOX_FETCHER] = "fetcher:",
	[SANDBOX_OPENER] = "opener:",
	[SANDBOX_PRIVILEGED] = "privileged:",
};

static long try_open(void)
{
	return open("/etc/passwd", O_RDONLY);
}

static long try_socket(void)
{
	return socket(AF_INET, SOCK_STREAM, 0);
}

static long try_exec(void)
{
	char *const argv[] = {"/bin/true", NULL};

	return execv(argv[0], argv);
}

static long try_ptrace(void)
{
	return ptrace(PTRACE_TRACEME, 0, NULL, NULL);
}

static long try_module(void)
{
	return syscall(SYS_init_module, "", 0ul, "");
}

static long try_mount(void)
{
	return mount("none", "/nonexistent", "tmpfs", 0, NULL);
}

void sandbox_test_hook(enum sandbox_rules rules)
{
	static const struct {
		const char *name;
		long (*attempt)(void);
	} attempts[] = {
		{"open", try_open},	{"socket", try_socket}, {"exec", try_exec},
		{"ptrace", try_ptrace}, {"module", try_module}, {"mount", try_mount},
	};
	const char *asked = getenv("DWELL_TEST_FORBIDDEN");

	if (!asked || strncmp(asked, kinds[rules], strlen(kinds[rules])) != 0)
		return;
	asked += strlen(kinds[rules]);
	for (size_t i = 0; i < sizeof(attempts) / sizeof(attempts[0]); i++)
		if (strstr(asked, attempts[i].name) && attempts[i].attempt() >= 0)
			abort(); /* it worked: this process must not go on as if nothing was */
}
