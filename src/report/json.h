/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The report for programs: docs/report.schema.json. Owns nothing. Called by report.c.
 */
#ifndef DWELL_REPORT_JSON_H
#define DWELL_REPORT_JSON_H

#include <jansson.h>

#include "digest.h"

/* Written process by process, so that its size is not bounded by memory: 0 or -errno. */
int report_print_json(const struct digest *digest, FILE *out);

/* The parts of it; NULL: no memory. */
json_t *json_quality(const struct digest *digest);
json_t *json_process(const struct digest *digest, const struct process *process);
json_t *json_cpu(const struct cpu_row *cpu);
json_t *json_exec(const struct digest *digest, const struct exec *exec);

static inline json_t *json_number(u64 value)
{
	return json_integer((json_int_t)value);
}

#endif
