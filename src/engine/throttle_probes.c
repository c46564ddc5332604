// SPDX-License-Identifier: Apache-2.0
/* Parts of a measurement that are switched off and on again: their probes, and what they cover. */
#include <string.h>

#include "../base/clock.h"
#include "../model/signal.h"
#include "throttle.h"

void throttle_note(struct throttle *throttle, const char *part, bool is_on)
{
	coverage_switch(&throttle->coverage, part, is_on, clock_now_ns());
}

bool throttle_is_of(const struct signal *signal, const struct probe *probe)
{
	if (probe->owner && signal == signal_rows[probe->owner].signal)
		return true;
	for (size_t i = 0; i < signal->probe_count; i++)
		if (!strcmp(probe->program, signal->probes[i].program))
			return true;
	return false;
}

bool throttle_has_role(enum signal_role role, const struct probe *probe)
{
	for (int id = signal_with_role(role, 1); id; id = signal_with_role(role, id + 1))
		if (throttle_is_of(signal_rows[id].signal, probe))
			return true;
	return false;
}

static bool is_chosen(const struct probe_choice *choice, const struct probe *probe)
{
	bool is_of = choice->signal ? throttle_is_of(choice->signal, probe)
				    : throttle_has_role(choice->role, probe);

	return probe->kind != PROBE_ITER && is_of && (!choice->has || choice->has(probe));
}

/* The last first, as capture_detach() does. */
void throttle_detach_chosen(struct throttle *throttle, const struct probe_choice *choice)
{
	for (size_t i = throttle->probe_count; i-- > 0;)
		if (is_chosen(choice, &throttle->probes[i]))
			capture_detach_probe(throttle->capture, i);
}

/* Until all are back, nothing begins whose end would not be seen. */
int throttle_attach_chosen(struct throttle *throttle, const struct probe_choice *choice)
{
	int err = 0;

	throttle->live->is_partial = 1;
	capture_set_live(throttle->capture, throttle->live);
	for (size_t i = 0; i < throttle->probe_count && !err; i++)
		if (is_chosen(choice, &throttle->probes[i]))
			err = capture_attach_again(throttle->capture, i);
	if (err)
		throttle_detach_chosen(throttle, choice);
	throttle->live->is_partial = 0;
	capture_set_live(throttle->capture, throttle->live);
	return err;
}

void throttle_detach(struct throttle *throttle, const struct signal *signal)
{
	throttle_detach_chosen(throttle, &(struct probe_choice){.signal = signal});
}

int throttle_attach(struct throttle *throttle, const struct signal *signal)
{
	return throttle_attach_chosen(throttle, &(struct probe_choice){.signal = signal});
}
