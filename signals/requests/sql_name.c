// SPDX-License-Identifier: Apache-2.0
#include "sql_name.h"

#include "../../src/base/cleanup.h"
#include "printable.h"
#include "sql_token.h"

#define NAME_MAX_BYTES 48
#define NAME_PARTS     3 /* database.schema.table */
#define DIGIT_RUN      3 /* the number of a partition */

/* Where the verb's table is. */
enum table_at {
	AT_NONE, /* or it has none that tells statements apart */
	AT_FROM,
	AT_INTO,
	AT_NEXT,  /* behind the verb */
	AT_TABLE, /* behind TABLE */
	AT_MAIN,  /* WITH: that of the statement behind the parentheses */
};

struct verb {
	const char *name;
	enum table_at table_at;
};

static const struct verb verbs[] = {
	{"ABORT", AT_NONE},	 {"ALTER", AT_TABLE},	 {"ANALYZE", AT_NONE},
	{"BEGIN", AT_NONE},	 {"CALL", AT_NEXT},	 {"CLOSE", AT_NONE},
	{"COMMIT", AT_NONE},	 {"COPY", AT_NEXT},	 {"CREATE", AT_TABLE},
	{"DEALLOCATE", AT_NONE}, {"DECLARE", AT_NONE},	 {"DELETE", AT_FROM},
	{"DESCRIBE", AT_NONE},	 {"DISCARD", AT_NONE},	 {"DO", AT_NONE},
	{"DROP", AT_TABLE},	 {"END", AT_NONE},	 {"EXECUTE", AT_NONE},
	{"EXPLAIN", AT_NONE},	 {"FETCH", AT_NONE},	 {"INSERT", AT_INTO},
	{"KILL", AT_NONE},	 {"LISTEN", AT_NONE},	 {"LOAD", AT_NONE},
	{"LOCK", AT_NEXT},	 {"MERGE", AT_INTO},	 {"NOTIFY", AT_NONE},
	{"PREPARE", AT_NONE},	 {"RELEASE", AT_NONE},	 {"REPLACE", AT_INTO},
	{"ROLLBACK", AT_NONE},	 {"SAVEPOINT", AT_NONE}, {"SELECT", AT_FROM},
	{"SET", AT_NONE},	 {"SHOW", AT_NONE},	 {"START", AT_NONE},
	{"TRUNCATE", AT_NEXT},	 {"UPDATE", AT_NEXT},	 {"USE", AT_NONE},
	{"VACUUM", AT_NONE},	 {"VALUES", AT_NONE},	 {"WITH", AT_MAIN},
};

/* What can stand between a keyword and its table. */
static const char *const fillers[] = {
	"ALL",	  "BINARY", "DISTINCT",	 "EXISTS",	  "FOREIGN", "GLOBAL",
	"IF",	  "IGNORE", "DELAYED",	 "HIGH_PRIORITY", "LOCAL",   "LOW_PRIORITY",
	"NOT",	  "ONLY",   "OR",	 "QUICK",	  "REPLACE", "TABLE",
	"TABLES", "TEMP",   "TEMPORARY", "UNLOGGED",
};

/* Where a name could be, these begin something else. */
static const char *const no_names[] = {"SELECT", "VALUES", "WITH", "WHERE", "SET", "FROM", "INTO"};

struct name {
	struct bytes parts[NAME_PARTS];
	size_t count;
	bool is_function; /* "(" is behind it */
};

static const struct verb *verb_of(struct sql_token token)
{
	for (size_t i = 0; i < ARRAY_SIZE(verbs); i++)
		if (sql_token_is(token, verbs[i].name))
			return &verbs[i];
	return NULL;
}

static bool is_filler(struct sql_token token)
{
	return token.type == SQL_WORD && bytes_are_any(token.text, fillers, ARRAY_SIZE(fillers));
}

static void skip_fillers(struct sql_reader *reader)
{
	while (is_filler(sql_token_peek(reader)))
		sql_token_next(reader);
}

static void skip_parentheses(struct sql_reader *reader)
{
	while (sql_token_is_sign(sql_token_peek(reader), '('))
		sql_token_next(reader);
}

/* "schema.table"; false: what is next is no name. */
static bool take_name(struct sql_reader *reader, struct name *ret)
{
	ret->count = 0;
	for (;;) {
		struct sql_token token = sql_token_next(reader), after;

		if ((token.type != SQL_WORD && token.type != SQL_QUOTED) ||
		    ret->count == NAME_PARTS)
			return false;
		if (!ret->count && token.type == SQL_WORD &&
		    bytes_are_any(token.text, no_names, ARRAY_SIZE(no_names)))
			return false;
		ret->parts[ret->count++] = token.text;
		after = sql_token_peek(reader);
		ret->is_function = sql_token_is_sign(after, '(');
		if (!sql_token_is_sign(after, '.'))
			return true;
		sql_token_next(reader);
	}
}

/* The first FROM that is in no deeper parentheses than the reader. */
static bool find_from(struct sql_reader *reader, struct name *ret)
{
	struct sql_token token = {0}, before = {0};
	size_t depth = 0;

	for (;; before = token) {
		token = sql_token_next(reader);
		if (token.type == SQL_END || (!depth && sql_token_is_sign(token, ')')))
			return false;
		if (sql_token_is_sign(token, ')'))
			depth--;
		if (sql_token_is_sign(token, '('))
			depth++;
		if (depth || !sql_token_is(token, "FROM") ||
		    sql_token_is(before, "DISTINCT")) /* a IS DISTINCT FROM b */
			continue;
		token = sql_token_peek(reader);
		if (sql_token_is(token, "ONLY") || sql_token_is(token, "LATERAL"))
			sql_token_next(reader);
		skip_parentheses(reader);
		if (!sql_token_is(sql_token_peek(reader), "SELECT")) /* else it goes on there */
			return take_name(reader, ret);
	}
}

/* The table of a SELECT; without one, the function that is called first. */
static bool find_source(struct sql_reader *reader, const struct verb *verb, struct name *ret)
{
	struct sql_reader mark = *reader;

	if (find_from(reader, ret))
		return true;
	if (reader->is_cut || strcmp(verb->name, "SELECT"))
		return false;
	skip_fillers(&mark);
	return take_name(&mark, ret) && ret->is_function;
}

/* Behind a keyword that only other words come before. */
static bool find_after(struct sql_reader *reader, const char *keyword, struct name *ret)
{
	struct sql_token token;

	do
		token = sql_token_next(reader);
	while (!sql_token_is(token, keyword) && is_filler(token));
	if (!sql_token_is(token, keyword))
		return false;
	skip_fillers(reader);
	return take_name(reader, ret);
}

static bool find_name(struct sql_reader *reader, const struct verb *verb, struct name *ret)
{
	bool is_found = false;

	switch (verb->table_at) {
	case AT_FROM:
		return find_source(reader, verb, ret);
	case AT_INTO:
		is_found = find_after(reader, "INTO", ret);
		break;
	case AT_TABLE:
		is_found = find_after(reader, "TABLE", ret);
		break;
	case AT_NEXT:
		skip_fillers(reader);
		is_found = take_name(reader, ret);
		break;
	case AT_NONE:
	case AT_MAIN:
		return false;
	}
	ret->is_function &= !strcmp(verb->name, "CALL"); /* else columns: INSERT INTO t (a) */
	return is_found;
}

/* WITH a AS (...) SELECT: the verb is behind the parentheses. */
static const struct verb *find_main(struct sql_reader *reader)
{
	size_t depth = 0;

	for (;;) {
		struct sql_token token = sql_token_next(reader);
		const struct verb *verb = depth ? NULL : verb_of(token);

		if (token.type == SQL_END)
			return NULL;
		if (sql_token_is_sign(token, '('))
			depth++;
		else if (sql_token_is_sign(token, ')') && depth)
			depth--;
		else if (verb && (verb->table_at == AT_FROM || verb->table_at == AT_INTO ||
				  !strcmp(verb->name, "UPDATE")))
			return verb;
	}
}

/* "orders_20240131" is "orders_:n" */
static void add_part(struct printable *line, struct bytes part)
{
	while (part.length) {
		size_t count = 0;

		while (count < part.length && byte_is_digit(part.at[count]))
			count++;
		if (count >= DIGIT_RUN)
			printable_add_text(line, ":n");
		else
			printable_add(line, bytes_first(part, count ? count : 1));
		part = bytes_from(part, count ? count : 1);
	}
}

static void add_name(struct printable *line, const struct name *name)
{
	char text[NAME_MAX_BYTES + 1];
	struct printable part;

	printable_begin(&part, text, sizeof(text));
	for (size_t i = 0; i < name->count; i++) {
		if (i)
			printable_add_text(&part, ".");
		add_part(&part, name->parts[i]);
	}
	printable_add_text(line, text);
	if (name->is_function)
		printable_add_text(line, "()");
}

bool sql_name(struct bytes text, bool is_whole, enum sql_dialect dialect, char *to, size_t size)
{
	struct sql_reader reader = {.rest = text, .dialect = dialect, .is_whole = is_whole};
	const struct verb *verb, *main_verb;
	struct printable line;
	struct name name = {0};

	skip_parentheses(&reader);
	verb = verb_of(sql_token_next(&reader));
	if (!verb) {
		printable_set(to, size, "(unknown statement)");
		return false;
	}
	if (verb->table_at == AT_MAIN) {
		main_verb = find_main(&reader);
		verb = main_verb ? main_verb : verb;
	}
	printable_begin(&line, to, size);
	printable_add_text(&line, verb->name);
	if (find_name(&reader, verb, &name)) {
		printable_add_text(&line, " ");
		add_name(&line, &name);
	} else if (verb->table_at != AT_NONE && reader.is_cut) {
		printable_add_text(&line, " ...");
	}
	return true;
}
