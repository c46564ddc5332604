/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Settings of the host that change what a measurement finds: a small list, declared in one table.
 * In a session's meta as `setting.NAME`, so that two sessions can be compared (--like, diff). Owns
 * nothing. Called by metadata.c.
 */
#ifndef DWELL_ENGINE_HOST_SETTINGS_H
#define DWELL_ENGINE_HOST_SETTINGS_H

/* Each that this kernel has. */
void host_settings_add(void (*add)(void *context, const char *key, const char *value),
		       void *context);

#endif
