// SPDX-License-Identifier: Apache-2.0
#include "diff_processes.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include "../base/cleanup.h"
#include "../base/log.h"
#include "../diff/transfer.h"
#include "../page/page.h"
#include "../store/reader.h"
#include "cmd.h"
#include "reader_process.h"

#define BOTH_SIDES  (-1)
#define EXIT_UNTOLD 75 /* of one of them: failed, and the other one, or the parent, tells why */

/* One step over the sessions of a side, or of both: 0 or -errno, told. */
static int read_all(const struct diff_command *command, struct diff *diff, bool is_survey, int side)
{
	int err = 0;

	for (size_t i = 0; !err && i < command->count; i++) {
		const struct diff_argument *argument = &command->arguments[i];
		struct session *session;

		if (side != BOTH_SIDES && argument->side != side)
			continue;
		err = session_open_fds(command->fds[2 * i], command->fds[2 * i + 1], argument->path,
				       &session);
		if (err)
			return err;
		if (is_survey)
			err = diff_survey(diff, session_db(session), argument->side,
					  argument->name);
		else
			err = diff_read(diff, session_db(session), argument->side, argument->name,
					argument->from_ns, argument->to_ns);
		session_close(session);
	}
	return err;
}

/*
 * What one side is compared by depends on both: each process looks at all sessions first. What is
 * wrong with them, both find: who reads A tells it.
 */
static int read_side(const struct diff_command *command, struct diff *diff, int side)
{
	enum log_level level = log_level();
	int err = diff_init(diff, &command->diff);

	if (side == 1)
		log_set_level(LOG_SILENT);
	if (!err)
		err = read_all(command, diff, true, BOTH_SIDES);
	if (!err)
		err = diff_choose(diff);
	log_set_level(level);
	if (err)
		return side == 1 ? EXIT_UNTOLD : EXIT_FAILED;
	return read_all(command, diff, false, side) ? EXIT_FAILED : EXIT_OK;
}

static int pipe_of(const struct diff_command *command)
{
	return command->fds[2 * command->count];
}

static int send_other_side(const void *context)
{
	const struct diff_command *command = context;
	static struct diff diff;
	FILE *to = fdopen(pipe_of(command), "w");
	int status = to ? read_side(command, &diff, 1) : EXIT_UNTOLD;

	if (status == EXIT_OK)
		diff_send(&diff, to);
	if (to && (ferror(to) | fclose(to)) && status == EXIT_OK)
		status = EXIT_UNTOLD;
	diff_free(&diff);
	return status;
}

/* EXIT_OK, or EXIT_UNTOLD: who sent it has failed, or there is no memory. */
static int receive_other_side(const struct diff_command *command, struct diff *diff)
{
	const char *names[DIFF_RUNS_MAX];
	FILE *from = fdopen(pipe_of(command), "r");
	size_t count = 0;
	int err;

	for (size_t i = 0; i < command->count; i++)
		if (command->arguments[i].side == 1)
			names[count++] = command->arguments[i].name;
	err = from ? diff_receive(diff, from, 1, names, count) : -ENOMEM;
	if (from)
		fclose(from);
	return err ? EXIT_UNTOLD : EXIT_OK;
}

static void tell_refusal(const struct diff *diff)
{
	for (size_t i = 0; i < diff->warning_count; i++)
		if (diff->warnings[i].is_refusal)
			log_error("the comparison is not fair: %s", diff->warnings[i].text);
	log_error("record both alike, or use --force");
}

static int compare(const void *context)
{
	const struct diff_command *command = context;
	static struct diff diff;
	int status = read_side(command, &diff, 0), err;

	if (status == EXIT_OK)
		status = receive_other_side(command, &diff);
	if (status != EXIT_OK) {
		diff_free(&diff);
		return status;
	}
	err = diff_judge(&diff);
	if (err == -EPERM && diff.is_refused)
		tell_refusal(&diff);
	if (!err) {
		err = command->html	   ? html_page_open(&diff, stdout)
		      : command->diff.json ? diff_print_json(&diff, stdout)
					   : diff_print_text(&diff, stdout);
		if (err == -ENOMEM)
			log_error("not enough memory to print the comparison");
	}
	status = err ? EXIT_FAILED : diff.worse ? EXIT_OVER : EXIT_OK;
	if (!err && diff.worse)
		log_info("%zu changed line%s got worse by more than %g %%", diff.worse,
			 diff.worse == 1 ? "" : "s", 100 * diff.options.fail_over);
	diff_free(&diff);
	return status;
}

/* Starts who reads B, then runs who reads A and judges. */
static int run_processes(struct diff_command *command)
{
	size_t fd_count = 2 * command->count + 1;
	struct reader_process other;
	int ends[2], status, other_status;

	if (pipe2(ends, O_CLOEXEC)) {
		log_error("cannot make a pipe between two processes: %s; see ulimit -n",
			  strerror(errno));
		return EXIT_FAILED;
	}
	command->fds[fd_count - 1] = ends[1];
	status = reader_process_start_all(&other, send_other_side, command, command->fds, fd_count);
	close(ends[1]);
	if (status != EXIT_OK) {
		close(ends[0]);
		return status;
	}
	command->fds[fd_count - 1] = ends[0];
	status = reader_process_run_all(compare, command, command->fds, fd_count);
	close(ends[0]); /* nobody reads: who still writes ends */
	other_status = reader_process_wait(&other);
	/* Both looked at the same sessions: that only one of them failed is for want of memory. */
	if (status == EXIT_UNTOLD && other_status != EXIT_FAILED)
		log_error("not enough memory to compare: take parts of the sessions, as "
			  "FILE@10s-20s");
	return status == EXIT_UNTOLD || other_status != EXIT_OK ? EXIT_FAILED : status;
}

int diff_run_processes(struct diff_command *command)
{
	int status = EXIT_OK;

	for (size_t i = 0; i < ARRAY_SIZE(command->fds); i++)
		command->fds[i] = -1;
	for (size_t i = 0; status == EXIT_OK && i < command->count; i++)
		if (session_open_files(command->arguments[i].path, &command->fds[2 * i],
				       &command->fds[2 * i + 1]))
			status = EXIT_FAILED;
	if (status == EXIT_OK)
		status = run_processes(command);
	for (size_t i = 0; i < 2 * command->count; i++)
		if (command->fds[i] >= 0)
			close(command->fds[i]);
	return status;
}
