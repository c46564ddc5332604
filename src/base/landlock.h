/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Landlock by its system calls, as libraries for it are rare: the files, ports and sockets that a
 * process may reach from here on. Owns nothing. Called by the sandbox and the doctor.
 */
#ifndef DWELL_BASE_LANDLOCK_H
#define DWELL_BASE_LANDLOCK_H

/* The version of Landlock's interface in this kernel; 0: there is none, or it is turned off. */
int landlock_version(void);

/*
 * No path, no TCP port and no abstract socket, as far as this kernel knows of them: 0 or -errno.
 * What is open stays open. It needs no_new_privs.
 */
int landlock_deny_all(void);

#endif
