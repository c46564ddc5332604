// SPDX-License-Identifier: Apache-2.0
#include "state.h"

const char *const state_names[STATE_COUNT] = {
#define STATE(NAME, name, meaning) [STATE_##NAME] = name,
#include "../../abi/states.def"
#undef STATE
};

const char *const state_meanings[STATE_COUNT] = {
#define STATE(NAME, name, meaning) [STATE_##NAME] = meaning,
#include "../../abi/states.def"
#undef STATE
};
