/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The record decoder: bytes in, a checked header or a refusal out. Assumes an enemy.
 * Owns nothing. Called by the worker for each record, and by the fuzzer.
 */
#ifndef DWELL_MODEL_RECORD_H
#define DWELL_MODEL_RECORD_H

#include <stddef.h>

#include "../../abi/records.h"

enum record_verdict { RECORD_OK, RECORD_MALFORMED, RECORD_UNKNOWN, RECORD_VERDICTS };

/* data is 8-byte aligned. *ret_hdr is set only for RECORD_OK; the whole record is then valid. */
enum record_verdict record_check(const void *data, size_t size, const struct rec_hdr **ret_hdr);

/* Orders records of one stream by (cpu, ts_ns, seq): for qsort. */
int record_compare(const void *a, const void *b);

#endif
