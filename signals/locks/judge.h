/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the numbers of locks say, in sentences. Owns nothing. Called by the report.
 */
#ifndef DWELL_LOCKS_JUDGE_H
#define DWELL_LOCKS_JUDGE_H

#include "../../src/model/signal.h"

void locks_judge(const struct series_set *set, struct remarks *remarks);

#endif
