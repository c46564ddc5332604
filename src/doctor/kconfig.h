/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The kernel's build configuration, asked by name. The file is opened by the privileged
 * process and parsed by the worker. Owns nothing. Called by the doctor.
 */
#ifndef DWELL_DOCTOR_KCONFIG_H
#define DWELL_DOCTOR_KCONFIG_H

#include <stddef.h>
#include <sys/types.h>

#define KCONFIG_UNKNOWN	 '?'
#define KCONFIG_NAME_MAX 64

/*
 * The worker's job: request is names without CONFIG_, each ended by NUL; reply is one character
 * a name: 'y', 'm' or 'n'. -EBADMSG for a file that is no kernel configuration.
 */
ssize_t kconfig_job(int fd, const void *request, size_t request_size, void *reply,
		    size_t reply_size);

/* Opens the running kernel's configuration where there is one: fd or -ENOENT. */
int kconfig_open(const char *release);

#endif
