/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The report for programs: docs/report.schema.json. Owns nothing. Called by report.c.
 */
#ifndef DWELL_REPORT_JSON_H
#define DWELL_REPORT_JSON_H

#include <jansson.h>

#include "digest.h"
#include "finding.h"

/* Written process by process, so that its size is not bounded by memory: 0 or -errno. */
int report_print_json(const struct digest *digest, FILE *out);

/* The parts of it; NULL: no memory. */
json_t *json_quality(const struct digest *digest);
json_t *json_process(const struct digest *digest, const struct process *process);
json_t *json_cpu(const struct cpu_row *cpu);
json_t *json_stacks_quality(const struct digest *digest);
json_t *json_exec(const struct digest *digest, const struct exec *exec);
json_t *json_finding(const struct finding *finding);

/* Where a value stands: a comma comes before each but the first. */
struct json_writer {
	FILE *out;
	bool is_first;
	int err;
};

/* Takes the value, NULL for no memory; key NULL: in an array. */
/* jansson leaves out what it has no memory for, and does not report it: from here on that is noted.
 */
void json_watch_memory(void);
void json_lacks_memory(void);
bool json_has_lacked_memory(void);

void json_write(struct json_writer *writer, const char *key, json_t *value, size_t flags);
void json_begin(struct json_writer *writer, const char *key, char bracket);
void json_end(struct json_writer *writer, char bracket);

/* filter, group_by and groups[]. */
void json_write_groups(struct json_writer *writer, const struct digest *digest);

/* findings[] and chains[]. */
void json_write_findings(struct json_writer *writer, const struct digest *digest);

/* signals, slow[], lists, remarks and shares[]. */
void json_write_signals(struct json_writer *writer, const struct digest *digest);

/* requests; nothing of a session without their tables. */
void json_write_requests(struct json_writer *writer, const struct digest *digest);

/* An id of stacks and frames: 16 hexadecimal digits. */
json_t *json_id(u64 id);

/* stacks[], what was left out of it, and the frames that are in it. */
void json_write_stacks(struct json_writer *writer, const struct digest *digest);

static inline json_t *json_text_or_null(const char *text)
{
	return text && *text ? json_string(text) : json_null();
}

static inline json_t *json_number(u64 value)
{
	return json_integer((json_int_t)value);
}

#endif
