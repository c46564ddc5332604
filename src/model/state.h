/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The ledger's states by name; all from abi/states.def.
 */
#ifndef DWELL_MODEL_STATE_H
#define DWELL_MODEL_STATE_H

#include "../../abi/records.h"

extern const char *const state_names[STATE_COUNT];
extern const char *const state_meanings[STATE_COUNT];

#endif
