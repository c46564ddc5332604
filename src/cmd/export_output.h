/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The file that `dwell export` writes: made as whoever asks, complete or not there. Owns the
 * temporary name. Called by the export command.
 */
#ifndef DWELL_CMD_EXPORT_OUTPUT_H
#define DWELL_CMD_EXPORT_OUTPUT_H

/*
 * Makes it stdout, which is what the process without privileges has that reads the session. 0 or
 * -errno, told. *ret_temporary is the caller's to free; NULL: it is no regular file.
 */
int export_output_open(const char *path, char **ret_temporary);

/* Gives the file its name if the status is EXIT_OK, else removes it: the status to end with. */
int export_output_close(const char *temporary, const char *path, int status);

#endif
