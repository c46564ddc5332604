/* SPDX-License-Identifier: Apache-2.0 */
/*
 * `dwell doctor FILE`: the fitness of a session, judged in the process without privileges that
 * reads sessions. Owns nothing. Called by doctor.c.
 */
#ifndef DWELL_CMD_DOCTOR_SESSION_H
#define DWELL_CMD_DOCTOR_SESSION_H

#include <stdbool.h>

/* The exit status: 0 fit, with limits or without; 1 not fit, or failed, told. */
int doctor_session(const char *path, bool json, bool color);

#endif
