// SPDX-License-Identifier: Apache-2.0
/*
 * A process in its sandbox: what it can still do, what is refused, and what is reported of it.
 */
#include "unit.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/ptrace.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "../../src/base/sandbox.h"
#include "../../src/base/socket.h"
#include "../../src/base/spawner.h"

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define IS_SANITIZED 1 /* its runtime opens files: there Landlock alone keeps it from them */
#else
#define IS_SANITIZED 0
#endif

static void read_report(struct sandbox_notes *notes, char *ret_report, size_t size)
{
	FILE *file = tmpfile();
	int before = dup(STDERR_FILENO);

	dup2(fileno(file), STDERR_FILENO);
	sandbox_report(notes, "process of the test");
	sandbox_report(notes, "process of the test"); /* once */
	dup2(before, STDERR_FILENO);
	close(before);
	rewind(file);
	ret_report[fread(ret_report, 1, size - 1, file)] = '\0';
	fclose(file);
}

/* Runs it in the sandbox; what is reported of it is in ret_report. Its status. */
static int run_in(enum sandbox_rules rules, int (*run)(void), char *ret_report, size_t size)
{
	struct sandbox_notes *notes;
	int status;
	pid_t pid;

	assert_int_equal(sandbox_notes_make(&notes), 0);
	pid = fork();
	if (pid == 0)
		_exit(sandbox_enter(rules, notes) ? 99 : run());
	assert_int_equal(waitpid(pid, &status, 0), pid);
	read_report(notes, ret_report, size);
	sandbox_notes_free(notes);
	return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

static int count_lines(const char *text)
{
	int lines = 0;

	for (; *text; text++)
		lines += *text == '\n';
	return lines;
}

/* Bit n: the call did not fail as it should. */
#define REFUSED(n, call) ((call) == -1 && errno == EPERM ? 0 : 1 << (n))

static int try_all(void)
{
	char *const argv[] = {"/bin/true", NULL};

	return REFUSED(0, socket(AF_INET, SOCK_STREAM, 0)) | REFUSED(1, execv(argv[0], argv)) |
	       REFUSED(2, ptrace(PTRACE_TRACEME, 0, NULL, NULL)) | REFUSED(3, kill(1, 0)) |
	       REFUSED(4, ioctl(STDERR_FILENO, TIOCSTI, "x")) |
	       REFUSED(5, (long)mmap(NULL, 4096, PROT_READ | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS,
				     -1, 0)) |
	       REFUSED(6, socket(AF_UNIX, SOCK_STREAM, 0));
}

static int open_file(void)
{
	return open("/etc/passwd", O_RDONLY) < 0 ? 0 : 1;
}

static int work(void)
{
	char *memory = malloc(1 << 20), byte = 'x';
	int fds[2] = {STDIN_FILENO, STDERR_FILENO};
	struct rlimit limit;

	if (!memory || getrlimit(RLIMIT_FSIZE, &limit) || setrlimit(RLIMIT_FSIZE, &limit))
		return 1;
	free(memory);
	return fcntl(fds[1], F_GETFL) < 0 || lseek(fds[0], 0, SEEK_CUR) == -2 || byte != 'x';
}

static int die(void)
{
	abort();
}

static void parser_is_refused_and_reported_by_name(void **state)
{
	static const char *const names[] = {"socket", "execve", "ptrace", "kill", "ioctl", "mmap"};
	char report[8192];

	(void)state;
	if (!sandbox_has_filters())
		skip();
	assert_int_equal(run_in(SANDBOX_PARSER, try_all, report, sizeof(report)), 0);
	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		char text[64];

		snprintf(text, sizeof(text), "tried the system call %s,", names[i]);
		assert_non_null(strstr(report, text));
	}
	assert_int_equal(count_lines(report),
			 6); /* each name once, though socket was tried twice */
}

static void parser_opens_no_file(void **state)
{
	char report[4096];

	(void)state;
	if (!sandbox_has_filters() || (IS_SANITIZED && !sandbox_landlock_version()))
		skip();
	assert_int_equal(run_in(SANDBOX_PARSER, open_file, report, sizeof(report)), 0);
	if (!IS_SANITIZED)
		assert_non_null(strstr(report, "process of the test tried the system call open"));
}

static void parser_works_on_what_it_has(void **state)
{
	char report[4096];

	(void)state;
	assert_int_equal(run_in(SANDBOX_PARSER, work, report, sizeof(report)), 0);
	assert_string_equal(report, "");
}

static void parser_can_abort(void **state)
{
	char report[4096];

	(void)state;
	assert_int_equal(run_in(SANDBOX_PARSER, die, report, sizeof(report)), 128 + SIGABRT);
}

static int be_privileged(void)
{
	char *const argv[] = {"/bin/true", NULL};
	int fd = open("/etc/passwd", O_RDONLY), refused;

	refused = REFUSED(0, execv(argv[0], argv)) |
		  REFUSED(1, syscall(SYS_init_module, "", 0ul, "")) |
		  REFUSED(2, mount("none", "/nonexistent", "tmpfs", 0, NULL)) |
		  (IS_SANITIZED ? 0 : REFUSED(3, ptrace(PTRACE_TRACEME, 0, NULL, NULL)));
	return fd < 0 || close(fd) || fork() < 0 ? 99 : refused;
}

static void privileged_process_starts_no_program_but_opens_files(void **state)
{
	char report[8192];

	(void)state;
	if (!sandbox_has_filters())
		skip();
	assert_int_equal(run_in(SANDBOX_PRIVILEGED, be_privileged, report, sizeof(report)), 0);
	assert_non_null(strstr(report, "system call execve,"));
	assert_non_null(strstr(report, "system call init_module,"));
	assert_non_null(strstr(report, "system call mount,"));
	if (!IS_SANITIZED)
		assert_non_null(strstr(report, "system call ptrace,"));
}

/* --- helpers of a spawner --- */

static void be_helper(int sock, void *context)
{
	int result = sandbox_enter(SANDBOX_OPENER, context);

	if (!result)
		result = REFUSED(0, socket(AF_INET, SOCK_STREAM, 0));
	socket_send(sock, &result, sizeof(result), -1);
}

static void helper_of_a_spawner_is_refused_and_noted(void **state)
{
	struct spawner_role role = {.run = be_helper};
	struct sandbox_notes *notes;
	struct spawner *spawner;
	struct helper helper;
	char report[4096];
	int result = -1;

	(void)state;
	if (!sandbox_has_filters())
		skip();
	assert_int_equal(sandbox_notes_make(&notes), 0);
	role.context = notes;
	assert_int_equal(spawner_start(&role, 1, -1, &spawner), 0);
	assert_int_equal(spawner_spawn(spawner, 0, &helper), 0);
	assert_int_equal(socket_receive(helper.sock, &result, sizeof(result), NULL, 5000),
			 sizeof(result));
	assert_int_equal(result, 0);
	helper_kill(&helper);
	spawner_stop(spawner);
	read_report(notes, report, sizeof(report));
	sandbox_notes_free(notes);
	assert_non_null(strstr(report, "system call socket,"));
	assert_int_equal(count_lines(report), 1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(parser_is_refused_and_reported_by_name),
		cmocka_unit_test(parser_opens_no_file),
		cmocka_unit_test(parser_works_on_what_it_has),
		cmocka_unit_test(parser_can_abort),
		cmocka_unit_test(privileged_process_starts_no_program_but_opens_files),
		cmocka_unit_test(helper_of_a_spawner_is_refused_and_noted),
	};

	return cmocka_run_group_tests_name("sandbox", tests, NULL, NULL);
}
