// SPDX-License-Identifier: Apache-2.0
#include "trial.h"

#include <errno.h>

#include "trial.skel.h"

static int load(struct bpflog *log)
{
	struct trial_bpf *trial;

	bpflog_begin(log);
	trial = trial_bpf__open_and_load();
	bpflog_end();
	trial_bpf__destroy(trial);
	/* What else refuses it is reported of what is needed. */
	return -(log->shortage ? log->shortage : log->trial_shortage);
}

int trial_run(struct bpflog *log)
{
	static int result = 1; /* not known */

	if (result > 0)
		result = load(log);
	return result;
}
