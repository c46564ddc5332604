// SPDX-License-Identifier: Apache-2.0
/* Values one after the other, so that no report has to be in memory as a whole. */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>

#include "json.h"

static bool has_lacked_memory;

void json_lacks_memory(void)
{
	has_lacked_memory = true;
}

bool json_has_lacked_memory(void)
{
	return has_lacked_memory;
}

static void *allocate(size_t size)
{
	void *memory = malloc(size);

	if (!memory)
		json_lacks_memory();
	return memory;
}

void json_watch_memory(void)
{
	has_lacked_memory = false;
	json_set_alloc_funcs(allocate, free);
}

void json_write(struct json_writer *writer, const char *key, json_t *value, size_t flags)
{
	if (!value)
		writer->err = -ENOMEM;
	if (!value || writer->err)
		return;
	fputs(writer->is_first ? "\n" : ",\n", writer->out);
	if (key)
		fprintf(writer->out, "\"%s\": ", key);
	/* In ASCII: what is in a name must not move a cursor, nor turn a line round. */
	if (json_dumpf(value, writer->out, JSON_ENCODE_ANY | JSON_ENSURE_ASCII | flags))
		writer->err = ferror(writer->out) ? 0 : -EIO; /* seen again when it is flushed */
	writer->is_first = false;
	json_decref(value);
}

void json_begin(struct json_writer *writer, const char *key, char bracket)
{
	fprintf(writer->out, "%s\"%s\": %c", writer->is_first ? "\n" : ",\n", key, bracket);
	writer->is_first = true;
}

void json_end(struct json_writer *writer, char bracket)
{
	fprintf(writer->out, "\n%c", bracket);
	writer->is_first = false;
}

json_t *json_id(u64 id)
{
	char text[20];

	snprintf(text, sizeof(text), "%016" PRIx64, (uint64_t)id);
	return json_string(text);
}
