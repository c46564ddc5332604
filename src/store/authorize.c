// SPDX-License-Identifier: Apache-2.0
#include "authorize.h"

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "../base/cleanup.h"
#include "../base/utf8.h"

#define TABLES_MAX 256 /* of a file; a session has some 50 */
#define NAME_BYTES 64

struct names {
	size_t count;
	char of[TABLES_MAX][NAME_BYTES];
};

struct authorizer {
	sqlite3 *db;
	struct names ordinary, odd; /* the file's tables; its views and virtual tables */
	char refusal[256];
};

/* Functions that compute from their arguments; the next one that somebody needs goes here. */
static const char *const functions[] = {
	"->",
	"->>",
	"abs",
	"acos",
	"asin",
	"atan",
	"atan2",
	"avg",
	"ceil",
	"ceiling",
	"char",
	"coalesce",
	"cos",
	"count",
	"cume_dist",
	"date",
	"datetime",
	"degrees",
	"dense_rank",
	"exp",
	"first_value",
	"floor",
	"format",
	"glob",
	"group_concat",
	"hex",
	"ifnull",
	"iif",
	"instr",
	"json",
	"json_array",
	"json_array_length",
	"json_each",
	"json_extract",
	"json_group_array",
	"json_group_object",
	"json_object",
	"json_quote",
	"json_type",
	"json_valid",
	"julianday",
	"lag",
	"last_value",
	"lead",
	"length",
	"like",
	"likelihood",
	"likely",
	"ln",
	"log",
	"log10",
	"log2",
	"lower",
	"ltrim",
	"max",
	"min",
	"mod",
	"nth_value",
	"ntile",
	"nullif",
	"percent_rank",
	"pi",
	"pow",
	"power",
	"printf",
	"quote",
	"radians",
	"rank",
	"replace",
	"round",
	"row_number",
	"rtrim",
	"sign",
	"sin",
	"sqrt",
	"strftime",
	"string_agg",
	"substr",
	"substring",
	"sum",
	"tan",
	"time",
	"total",
	"trim",
	"trunc",
	"typeof",
	"unicode",
	"unixepoch",
	"unlikely",
	"upper",
};

/* Tables that are in no file. */
static const char *const computed[] = {"json_each",	"json_tree",	      "sqlite_schema",
				       "sqlite_master", "sqlite_temp_schema", "sqlite_temp_master"};

/* These tell, and change nothing, whatever their argument is. */
static const char *const pragmas[] = {"table_info", "table_xinfo", "index_list", "index_info"};

static bool is_one_of(const char *const *list, size_t count, const char *name)
{
	for (size_t i = 0; name && i < count; i++)
		if (!strcasecmp(list[i], name))
			return true;
	return false;
}

static bool is_in(const struct names *names, const char *name)
{
	for (size_t i = 0; i < names->count; i++)
		if (!strcasecmp(names->of[i], name))
			return true;
	return false;
}

/* Names of SQLite's own modules: pages of the file, settings of the connection. */
static bool is_module(const char *name)
{
	return !strncasecmp(name, "pragma_", 7) || !strncasecmp(name, "sqlite_", 7) ||
	       !strcasecmp(name, "dbstat");
}

/*
 * What is temporary is our own. A virtual table of the file could be any module of SQLite's. Where
 * no column is read, as by count(*), SQLite does not say where the table is, and the name may be
 * one that the query itself gives (WITH).
 */
static bool may_read(const struct authorizer *authorizer, const char *table, const char *database)
{
	if (is_one_of(computed, ARRAY_SIZE(computed), table))
		return true;
	if (!database)
		return !is_in(&authorizer->odd, table) && !is_module(table);
	return !strcmp(database, "temp") || is_in(&authorizer->ordinary, table);
}

static int refuse(struct authorizer *authorizer, const char *what, const char *name)
{
	char shown[NAME_BYTES * 2];

	utf8_escape(shown, sizeof(shown), name ? name : "");
	snprintf(authorizer->refusal, sizeof(authorizer->refusal), "%s%s%s", what,
		 *shown ? " " : "", shown);
	return SQLITE_DENY;
}

static int authorize(void *context, int action, const char *first, const char *second,
		     const char *database, const char *view)
{
	struct authorizer *authorizer = context;

	(void)view;
	switch (action) {
	case SQLITE_SELECT:
	case SQLITE_RECURSIVE:
		return SQLITE_OK;
	case SQLITE_READ:
		return may_read(authorizer, first, database)
			       ? SQLITE_OK
			       : refuse(authorizer, "it reads", first);
	case SQLITE_FUNCTION:
		return is_one_of(functions, ARRAY_SIZE(functions), second)
			       ? SQLITE_OK
			       : refuse(authorizer, "it calls the function", second);
	case SQLITE_PRAGMA:
		return is_one_of(pragmas, ARRAY_SIZE(pragmas), first)
			       ? SQLITE_OK
			       : refuse(authorizer, "it has PRAGMA", first);
	case SQLITE_ATTACH:
		return refuse(authorizer, "it has ATTACH", NULL);
	default:
		return refuse(authorizer, "it is no SELECT", NULL);
	}
}

static bool is_temporary(sqlite3 *db, const char *name, int *code)
{
	sqlite3_stmt *row = NULL;
	int step = SQLITE_DONE;

	*code = sqlite3_prepare_v2(db, "SELECT 1 FROM temp.sqlite_schema WHERE name = ?", -1, &row,
				   NULL);
	if (!*code)
		*code = sqlite3_bind_text(row, 1, name, -1, SQLITE_STATIC);
	if (!*code)
		step = sqlite3_step(row);
	if (step != SQLITE_ROW && step != SQLITE_DONE)
		*code = step;
	sqlite3_finalize(row);
	return step == SQLITE_ROW;
}

static int list_tables(struct authorizer *authorizer)
{
	sqlite3_stmt *row = NULL;
	int code = sqlite3_prepare_v2(authorizer->db,
				      "SELECT name, type = 'table' AND rootpage > 0 "
				      "FROM main.sqlite_schema WHERE type IN ('table', 'view')",
				      -1, &row, NULL);

	while (!code && (code = sqlite3_step(row)) == SQLITE_ROW) {
		struct names *names =
			sqlite3_column_int(row, 1) ? &authorizer->ordinary : &authorizer->odd;
		const char *name = (const char *)sqlite3_column_text(row, 0);

		code = SQLITE_OK;
		/* A temporary view of the same name stands before a view of the file's. */
		if (!name)
			code = SQLITE_NOMEM;
		else if (names == &authorizer->odd && is_temporary(authorizer->db, name, &code))
			continue;
		if (code)
			break;
		if (names->count == TABLES_MAX || strlen(name) >= NAME_BYTES)
			code = SQLITE_TOOBIG; /* this is no session */
		else
			strcpy(names->of[names->count++], name);
	}
	sqlite3_finalize(row);
	return code == SQLITE_DONE ? SQLITE_OK : code;
}

int authorize_begin(sqlite3 *db, struct authorizer **ret_authorizer)
{
	struct authorizer *authorizer = calloc(1, sizeof(*authorizer));
	int code;

	if (!authorizer)
		return SQLITE_NOMEM;
	authorizer->db = db;
	/* Once, as SQLite declares its columns by a statement that is not allowed from here on. */
	code = sqlite3_exec(db, "SELECT 1 FROM json_each('[]'), json_tree('[]')", NULL, NULL, NULL);
	if (!code)
		code = list_tables(authorizer);
	if (!code)
		code = sqlite3_set_authorizer(db, authorize, authorizer);
	if (code) {
		free(authorizer);
		return code;
	}
	*ret_authorizer = authorizer;
	return SQLITE_OK;
}

void authorize_end(struct authorizer *authorizer)
{
	if (!authorizer)
		return;
	sqlite3_set_authorizer(authorizer->db, NULL, NULL);
	free(authorizer);
}

const char *authorize_refusal(const struct authorizer *authorizer)
{
	return authorizer->refusal;
}
