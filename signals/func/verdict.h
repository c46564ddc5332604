/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a pool's numbers say: its own file, as it is tested by itself. Owns nothing.
 */
#ifndef DWELL_FUNC_VERDICT_H
#define DWELL_FUNC_VERDICT_H

#include "../../src/model/signal.h"

void func_judge(const struct series_set *set, struct remarks *remarks);

#endif
