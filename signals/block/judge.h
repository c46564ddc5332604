/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What requests' times say of a disk: does it queue, or is it slow? Owns nothing. Called by reports
 * through the signal's view.
 */
#ifndef DWELL_SIGNAL_BLOCK_JUDGE_H
#define DWELL_SIGNAL_BLOCK_JUDGE_H

#include "../../src/model/signal.h"

void block_judge(const struct series_set *set, struct remarks *remarks);

#endif
