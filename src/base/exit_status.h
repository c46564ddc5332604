/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the process ends with: the same for every command.
 */
#ifndef DWELL_BASE_EXIT_STATUS_H
#define DWELL_BASE_EXIT_STATUS_H

enum exit_status {
	EXIT_OK = 0,
	EXIT_FAILED = 1,
	EXIT_OVER = 3, /* a limit that was asked for was crossed: --fail-over */
	EXIT_USAGE = 64,
	EXIT_UNSUPPORTED = 77, /* not possible on this host */
};

#endif
