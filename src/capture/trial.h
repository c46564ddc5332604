/* SPDX-License-Identifier: Apache-2.0 */
/*
 * libbpf tries what the kernel can do, keeps the answers while the process lives, and takes a
 * feature for absent if its trial fails, whatever the reason. What it then loads in another way is
 * refused for reasons that explain nothing, or takes a minute. So a small object comes first, and
 * a trial that fails for lack of memory or descriptors is reported as what it is. Owns nothing.
 * Called by capture before it loads.
 */
#ifndef DWELL_CAPTURE_TRIAL_H
#define DWELL_CAPTURE_TRIAL_H

#include "bpflog.h"

/* 0, or -errno of a shortage. Asks once in a process, as libbpf does. */
int trial_run(struct bpflog *log);

#endif
