/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the path of a cgroup says about who runs in it: container, systemd unit, Kubernetes pod.
 * Pure: text in, text out; anybody may have chosen the names. Called by the process signal, and by
 * who looks for a container.
 */
#ifndef DWELL_BASE_CGROUP_NAME_H
#define DWELL_BASE_CGROUP_NAME_H

#include <stdbool.h>
#include <stddef.h>

#define CONTAINER_ID_SHORT 12 /* as docker ps shows it */

/* Empty text: not one. Of nested ones the innermost. */
struct cgroup_name {
	char container[72]; /* its id, or under LXC its name */
	char unit[128];	    /* nginx.service, session-3.scope */
	char pod[40];	    /* the pod's uid, with dashes */
};

void cgroup_name_parse(const char *path, struct cgroup_name *ret_name);

/*
 * Whom to bill: pod/container, container, unit or, where there is none of these, the executable's
 * own name. May be empty.
 */
void cgroup_name_service(const struct cgroup_name *name, const char *exe, char *ret_service,
			 size_t size);

#endif
