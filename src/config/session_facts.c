// SPDX-License-Identifier: Apache-2.0
#include "session_facts.h"

#include <stdio.h>
#include <string.h>
#include <sys/mman.h>

#include "../store/query.h"

#define KEY_BYTES   512
#define VALUE_BYTES 1024
#define MODULE_FILE 3 /* of modules.kind: docs/session.md */

struct session_facts *session_facts_make(void)
{
	void *shared = mmap(NULL, sizeof(struct session_facts), PROT_READ | PROT_WRITE,
			    MAP_SHARED | MAP_ANONYMOUS, -1, 0);

	return shared == MAP_FAILED ? NULL : shared;
}

void session_facts_free(struct session_facts *facts)
{
	if (facts)
		munmap(facts, sizeof(*facts));
}

static void add(struct session_facts *facts, enum fact_kind kind, const char *key,
		const char *value)
{
	size_t key_size = strlen(key) + 1, value_size = strlen(value) + 1;

	if (facts->size + 1 + key_size + value_size > sizeof(facts->bytes)) {
		facts->cut++;
		return;
	}
	facts->bytes[facts->size++] = (char)kind;
	memcpy(facts->bytes + facts->size, key, key_size);
	facts->size += (u32)key_size;
	memcpy(facts->bytes + facts->size, value, value_size);
	facts->size += (u32)value_size;
}

static int on_meta(sqlite3_stmt *row, void *context)
{
	char key[KEY_BYTES], value[VALUE_BYTES];

	query_text(row, 0, key, sizeof(key));
	query_text(row, 1, value, sizeof(value));
	add(context, FACT_META, key, value);
	return 0;
}

static int on_hook(sqlite3_stmt *row, void *context)
{
	char key[KEY_BYTES], failure[256], value[VALUE_BYTES];

	query_text(row, 0, key, sizeof(key));
	query_text(row, 2, failure, sizeof(failure));
	if (query_count(row, 1))
		snprintf(value, sizeof(value), "attached");
	else
		snprintf(value, sizeof(value), "not attached%s%s", *failure ? ": " : "", failure);
	add(context, FACT_HOOK, key, value);
	return 0;
}

static int on_module(sqlite3_stmt *row, void *context)
{
	char path[KEY_BYTES], build_id[VALUE_BYTES];

	if (query_count(row, 0) != MODULE_FILE)
		return 0;
	query_text(row, 1, path, sizeof(path));
	query_text(row, 2, build_id, sizeof(build_id));
	if (*build_id)
		add(context, FACT_BUILD, path, build_id);
	return 0;
}

int session_facts_read(sqlite3 *db, struct session_facts *facts)
{
	int err = query_table(db, "meta", "key, value", "key", on_meta, facts);

	if (!err)
		err = query_table(db, "hooks", "hook, attached, failure", "hook", on_hook, facts);
	if (!err)
		err = query_table(db, "modules", "kind, path, build_id", "path", on_module, facts);
	return err;
}

static const char *take_text(const struct session_facts *facts, size_t size, size_t *at)
{
	const char *text = facts->bytes + *at;
	size_t length = strnlen(text, size - *at);

	if (length == size - *at)
		return NULL;
	*at += length + 1;
	return text;
}

bool session_facts_next(const struct session_facts *facts, size_t *at, struct fact *ret_fact)
{
	size_t size = facts->size < sizeof(facts->bytes) ? facts->size : sizeof(facts->bytes);

	if (*at >= size)
		return false;
	ret_fact->kind = facts->bytes[(*at)++];
	ret_fact->key = take_text(facts, size, at);
	ret_fact->value = ret_fact->key ? take_text(facts, size, at) : NULL;
	return ret_fact->value;
}

const char *session_facts_meta(const struct session_facts *facts, const char *key)
{
	struct fact fact;

	for (size_t at = 0; session_facts_next(facts, &at, &fact);)
		if (fact.kind == FACT_META && !strcmp(fact.key, key))
			return fact.value;
	return "";
}
