/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A file that a command writes because its path was named (-o, --html): made as whoever asks,
 * complete or not there. Owns nothing: the temporary name is the caller's. Called by the export
 * command and by what writes the page.
 */
#ifndef DWELL_CMD_OUTPUT_FILE_H
#define DWELL_CMD_OUTPUT_FILE_H

/*
 * Makes it stdout, which is what the process without privileges has that reads the session. 0 or
 * -errno, told. *ret_temporary is the caller's to free; NULL: it is no regular file.
 */
int output_file_open(const char *path, char **ret_temporary);

/* Gives the file its name if the status is EXIT_OK, else removes it: the status to end with. */
int output_file_close(const char *temporary, const char *path, int status);

#endif
