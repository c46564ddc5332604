/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The programs of sample.bpf.c, and how they are attached.
 */
#ifndef DWELL_SAMPLE_PROBES_H
#define DWELL_SAMPLE_PROBES_H

#include "../../src/model/signal.h"

#define SAMPLE_PROBE_COUNT 10

extern const struct probe sample_probes[SAMPLE_PROBE_COUNT];

#endif
