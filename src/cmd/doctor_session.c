// SPDX-License-Identifier: Apache-2.0
#include "doctor_session.h"

#include <errno.h>

#include "../base/cleanup.h"
#include "../base/log.h"
#include "../doctor/fitness.h"
#include "../store/reader.h"
#include "cmd.h"
#include "reader_process.h"

struct reading {
	const char *name;
	int db_fd, wal_fd;
	bool json, color;
};

static int print(const struct reading *reading, const struct fitness *fitness)
{
	struct fitness_report report;

	fitness_judge(reading->name, fitness, &report);
	if (!reading->json)
		fitness_print(&report, reading->color, log_level() == LOG_QUIET, stdout);
	else if (cmd_print_json(fitness_to_json(&report)))
		return EXIT_FAILED;
	return report.verdict == FITNESS_NOT ? EXIT_FAILED : EXIT_OK;
}

static int read_inside(const void *context)
{
	const struct reading *reading = context;
	struct fitness fitness;
	struct session *session;
	int err = session_open_fds(reading->db_fd, reading->wal_fd, reading->name, &session);

	if (err)
		return EXIT_FAILED;
	err = fitness_read(session_db(session), &fitness);
	session_close(session);
	return err ? EXIT_FAILED : print(reading, &fitness);
}

int doctor_session(const char *path, bool json, bool color)
{
	_cleanup_close_ int db_fd = -1, wal_fd = -1;
	struct reading reading = {.name = path, .json = json, .color = color};

	if (session_open_files(path, &db_fd, &wal_fd))
		return EXIT_FAILED;
	reading.db_fd = db_fd;
	reading.wal_fd = wal_fd;
	return reader_process_run(read_inside, &reading, db_fd, wal_fd, NULL);
}
