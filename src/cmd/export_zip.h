/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Several sessions in one ZIP, with a manifest that says of which host each is, as Perfetto merges
 * them. Ours, since files in it are stored as they are: the format then is three structs and zlib's
 * CRC-32, and a library for it would be one more that a program of root's links. Owns nothing that
 * lasts. Called by the export command.
 */
#ifndef DWELL_CMD_EXPORT_ZIP_H
#define DWELL_CMD_EXPORT_ZIP_H

#include "export_session.h"

#define EXPORT_SESSIONS_MAX 64

/*
 * Stdout is a regular file, open for reading too: each session's own process writes its trace
 * there. An exit status, told.
 */
int export_zip(struct export_request *requests, size_t count);

#endif
