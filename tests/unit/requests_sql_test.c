// SPDX-License-Identifier: Apache-2.0
#include "requests_protocol.h"

#include "../../signals/requests/sql_name.h"
#include "../../src/base/cleanup.h"

#define CUT 256 /* bytes of a request that are seen */

struct statement {
	const char *sql, *name;
};

/* The same in both dialects. */
static const struct statement both[] = {
	{"select * from accounts where name = 'swordfish'", "SELECT accounts"},
	{"SELECT a, b FROM public.accounts;", "SELECT public.accounts"},
	{"SELECT EXTRACT(EPOCH FROM swordfish) FROM t", "SELECT t"},
	{"SELECT (SELECT swordfish FROM inside LIMIT 1) FROM outside", "SELECT outside"},
	{"SELECT * FROM (SELECT id FROM inner_t WHERE x = 'swordfish') q", "SELECT inner_t"},
	{"SELECT a IS DISTINCT FROM b FROM t", "SELECT t"},
	{"(SELECT 1 FROM a) UNION (SELECT 2 FROM b)", "SELECT a"},
	{"SELECT pg_sleep(0.03)", "SELECT pg_sleep()"},
	{"SELECT set_config('swordfish', 'swordfish', false)", "SELECT set_config()"},
	{"SELECT generate.series(1, 2)", "SELECT generate.series()"},
	{"SELECT 1", "SELECT"},
	{"SELECT 'swordfish'", "SELECT"},
	{"SELECT ' FROM swordfish '", "SELECT"},
	{"SELECT 'it''s FROM swordfish' FROM t", "SELECT t"},
	{"SELECT 'a\\\\' FROM t", "SELECT t"},
	{"SELECT 'a\\' FROM t", "SELECT ..."},
	{"SELECT 'a\\' FROM swordfish ' FROM t", "SELECT ..."},
	{"SELECT 1 /* FROM swordfish */ FROM t", "SELECT t"},
	{"/* swordfish */ -- swordfish\n SELECT 1 FROM t", "SELECT t"},
	{"SELECT f(')', '(') FROM t", "SELECT t"},
	{"SELECT 1; DELETE FROM t", "SELECT"},
	{"SELECT x'12' FROM orders_20240131_07", "SELECT orders_:n_07"},
	{"SELECT 1 FROM a_table_with_a_name_that_is_longer_than_anyone_would_type t",
	 "SELECT a_table_with_a_name_that_is_longer_than_anyon..."},
	{"insert into t (swordfish) values ('swordfish')", "INSERT t"},
	{"INSERT INTO s.t SELECT * FROM u", "INSERT s.t"},
	{"REPLACE INTO t VALUES (1)", "REPLACE t"},
	{"UPDATE accounts SET secret = 'swordfish'", "UPDATE accounts"},
	{"DELETE FROM accounts WHERE name = 'swordfish'", "DELETE accounts"},
	{"TRUNCATE TABLE t", "TRUNCATE t"},
	{"CREATE TABLE IF NOT EXISTS t (id int)", "CREATE t"},
	{"CREATE USER bob PASSWORD 'swordfish'", "CREATE"},
	{"DROP TABLE t", "DROP t"},
	{"WITH a AS (SELECT 'swordfish' FROM x) SELECT * FROM b", "SELECT b"},
	{"WITH a AS (SELECT 1) INSERT INTO t SELECT * FROM a", "INSERT t"},
	{"CALL do_it('swordfish')", "CALL do_it()"},
	{"BEGIN", "BEGIN"},
	{"commit;", "COMMIT"},
	{"SET PASSWORD = 'swordfish'", "SET"},
	{"EXPLAIN SELECT 1 FROM t", "EXPLAIN"},
	{"swordfish", "(unknown statement)"},
	{"'swordfish' SELECT", "(unknown statement)"},
	{"", "(unknown statement)"},
	{"SELECT 1 FROM t\xc3\xa9swordfish", "SELECT"},
	{"SELECT 1 FROM 'swordfish'", "SELECT"},
	{"SELECT 1 FROM 1swordfish", "SELECT"},
	{"UPDATE 'swordfish' SET", "UPDATE"},
};

static const struct statement postgresql[] = {
	{"UPDATE ONLY accounts SET x = $1", "UPDATE accounts"},
	{"SELECT \"a\" FROM \"public\".\"T1\"", "SELECT public.T1"},
	{"SELECT 1 FROM \"sword fish\"", "SELECT"},
	{"SELECT $$ FROM swordfish $$ FROM t", "SELECT t"},
	{"SELECT $a$ $b$ FROM swordfish $a$ FROM t", "SELECT t"},
	{"SELECT $a$ FROM swordfish", "SELECT ..."},
	{"SELECT E'it\\'s FROM swordfish' FROM t", "SELECT ..."},
	{"SELECT 1 /* /* */ FROM swordfish */ FROM t", "SELECT t"},
	{"SELECT 1 --FROM swordfish\nFROM t", "SELECT t"},
	{"SELECT a #> '{x}' FROM t WHERE b = $1", "SELECT t"},
	{"COPY t (a, b) FROM STDIN", "COPY t"},
	{"COPY (SELECT 'swordfish') TO STDOUT", "COPY"},
	{"LOCK TABLE t IN SHARE MODE", "LOCK t"},
	{"MERGE INTO t USING u ON true", "MERGE t"},
	{"CREATE TEMP TABLE t AS SELECT 'swordfish'", "CREATE t"},
	{"SELECT * FROM unnest($1::int[])", "SELECT unnest()"},
	{"SELECT * FROM LATERAL (SELECT 1 FROM x) y", "SELECT x"},
	{"SELECT * FROM (VALUES ('swordfish')) v", "SELECT"},
};

static const struct statement mysql[] = {
	{"SELECT `a` FROM `db`.`t`", "SELECT db.t"},
	{"SELECT 1 FROM `sword fish`", "SELECT"},
	{"SELECT \" FROM swordfish \" FROM t", "SELECT t"},
	{"SELECT TRIM(BOTH FROM \"swordfish\")", "SELECT TRIM()"},
	{"SELECT 1 FROM \"swordfish\"", "SELECT"},
	{"SELECT 'it\\'s FROM swordfish' FROM t", "SELECT ..."},
	{"SELECT 1 # FROM swordfish don't\nFROM t", "SELECT t"},
	{"SELECT 5--3 FROM t", "SELECT t"},
	{"SELECT /*! SQL_NO_CACHE */ * FROM t", "SELECT t"},
	{"/*!40101 SET NAMES utf8 */", "SET"},
	{"SELECT /*!99999 don't */ ' FROM swordfish ' FROM t", "SELECT ..."},
	{"INSERT IGNORE INTO t SET a = \"swordfish\"", "INSERT t"},
	{"UPDATE LOW_PRIORITY t SET a = 1", "UPDATE t"},
	{"USE swordfish", "USE"},
	{"SELECT @@session.x", "SELECT"},
};

static void put_be32(u8 *at, u32 value)
{
	for (size_t i = 0; i < 4; i++)
		at[i] = (u8)(value >> (24 - 8 * i));
}

/* A message of PostgreSQL: its length, all in all. */
static size_t message(u8 *to, u8 type, const void *body, size_t size)
{
	to[0] = type;
	put_be32(to + 1, (u32)size + 4);
	memcpy(to + 5, body, size);
	return size + 5;
}

/* A packet of MySQL, with a command */
static size_t packet(u8 *to, u8 sequence, u8 command, const void *body, size_t size)
{
	to[0] = (u8)(size + 1);
	to[1] = (u8)((size + 1) >> 8);
	to[2] = 0;
	to[3] = sequence;
	to[4] = command;
	memcpy(to + 5, body, size);
	return size + 5;
}

static void expect(const void *bytes, size_t size, u32 known, u32 id, enum request_kind kind,
		   const char *endpoint, u64 length)
{
	struct request_text text;
	u32 found = protocol_of_request(bytes, size, known, &text);

	if (found != id || strcmp(text.endpoint, endpoint) || text.kind != kind ||
	    text.length != length)
		fail_msg("protocol %u, kind %u, '%s', %llu bytes; expected '%s', %llu", found,
			 text.kind, text.endpoint, (unsigned long long)text.length, endpoint,
			 (unsigned long long)length);
	assert_prefixes_harmless(bytes, size);
}

static void check_statements(const struct statement *statements, size_t count, bool is_postgresql)
{
	u32 id = is_postgresql ? PROTOCOL_POSTGRESQL : PROTOCOL_MYSQL;
	u8 buf[2 * CUT];

	for (size_t i = 0; i < count; i++) {
		size_t length = strlen(statements[i].sql);
		size_t size = is_postgresql ? message(buf, 'Q', statements[i].sql, length + 1)
					    : packet(buf, 0, 3, statements[i].sql, length);

		expect(buf, size, id, id, REQUEST_ASKS, statements[i].name, size);
		if (statements[i].name[0] != '(') /* a stranger's has to be SQL */
			expect(buf, size, 0, id, REQUEST_ASKS, statements[i].name, size);
	}
}

static void statement_is_verb_and_table(void **state)
{
	(void)state;
	check_statements(both, ARRAY_SIZE(both), true);
	check_statements(both, ARRAY_SIZE(both), false);
	check_statements(postgresql, ARRAY_SIZE(postgresql), true);
	check_statements(mysql, ARRAY_SIZE(mysql), false);
}

/* What stands between the delimiters of a literal, as its dialect allows it. */
struct literal {
	const char *open, *close;
	const char *pieces[6];
};

#define HIDDEN " FROM swordfish "

static const struct literal literals[][6] = {
	[SQL_POSTGRESQL] = {{"'", "'", {"''", "\\", "\"", "--", "/*", "$$"}},
			    {"E'", "'", {"''", "\\'", "\\\\", "\"", "*/", "$a$"}},
			    {"$$", "$$", {"'", "\\", "\"", "--", "/*", "$ $"}},
			    {"$a$", "$a$", {"'", "\\", "\"", "$$", "/*", "$b$"}},
			    {"/*", "*/", {"'", "\\", "\"", "/* */", "$$", "--"}},
			    {"--", "\n", {"'", "\\", "\"", "/*", "$$", ";"}}},
	[SQL_MYSQL] = {{"'", "'", {"''", "\\'", "\\\\", "\"", "# ", "/*"}},
		       {"\"", "\"", {"\"\"", "\\\"", "\\\\", "'", "-- ", "*/"}},
		       {"x'", "'", {"''", "\\'", "`", "\"", "/*!", "$$"}},
		       {"/*", "*/", {"'", "\\", "\"", "`", "/*", "# "}},
		       {"#", "\n", {"'", "\\", "\"", "`", "/*", "-- "}},
		       {"-- ", "\n", {"'", "\\", "\"", "`", "/*", ";"}}},
};

static const char *const outside[] = {"FROM", "SELECT", "t", ",", "(", ")", "1", "-", "INTO", "*"};

static u32 next_random(u32 *seed)
{
	*seed = *seed * 1103515245 + 12345;
	return *seed >> 16;
}

static void add_literal(char *sql, enum sql_dialect dialect, u32 *seed)
{
	const struct literal *literal =
		&literals[dialect][next_random(seed) % ARRAY_SIZE(literals[dialect])];

	strcat(sql, literal->open);
	for (u32 i = next_random(seed) % 4; i; i--) {
		strcat(sql, literal->pieces[next_random(seed) % ARRAY_SIZE(literal->pieces)]);
		strcat(sql, HIDDEN);
	}
	strcat(sql, literal->close);
}

/* Statements of valid tokens in any order, cut anywhere: the secret is in literals and comments. */
static void literal_never_becomes_a_name(void **state)
{
	u32 seed = 1;

	(void)state;
	for (u32 round = 0; round < 50000; round++) {
		enum sql_dialect dialect = round % 2 ? SQL_MYSQL : SQL_POSTGRESQL;
		char sql[1024] = "SELECT ", name[ENDPOINT_BYTES];
		size_t length;

		for (u32 i = next_random(&seed) % 10; i; i--) {
			if (next_random(&seed) % 2)
				add_literal(sql, dialect, &seed);
			else
				strcat(sql, outside[next_random(&seed) % ARRAY_SIZE(outside)]);
			strcat(sql, " ");
		}
		length = strlen(sql);
		sql_name((struct bytes){(u8 *)sql, length}, true, dialect, name, sizeof(name));
		assert_harmless(name, sizeof(name));
		length = next_random(&seed) % (length + 1);
		sql_name((struct bytes){(u8 *)sql, length}, false, dialect, name, sizeof(name));
		assert_harmless(name, sizeof(name));
	}
}

/* One that is longer than what is seen is cut anywhere: "accounts" never becomes "acc". */
static void cut_statement_has_no_half_name(void **state)
{
	static const char sql[] = "SELECT name FROM accounts WHERE name = 'swordfish'";
	char name[ENDPOINT_BYTES];

	(void)state;
	for (size_t i = 0; i < sizeof(sql); i++) {
		struct bytes text = {(const u8 *)sql, i};

		sql_name(text, false, SQL_POSTGRESQL, name, sizeof(name));
		assert_string_equal(name, i <= strlen("SELECT") ? "(unknown statement)"
					  : i <= strlen("SELECT name FROM accounts")
						  ? "SELECT ..."
						  : "SELECT accounts");
	}
}

static void postgresql_connects(void **state)
{
	static const char startup[] = "\0\0\0\x18\0\3\0\0user\0swordfish\0\0";
	static const char tls[] = "\0\0\0\x8\x4\xd2\x16\x2f", gss[] = "\0\0\0\x8\x4\xd2\x16\x30";
	static const char cancel[] = "\0\0\0\x10\x4\xd2\x16\x2e"
				     "fish"
				     "fish";
	static const char other[] = "\0\0\0\x10\0\2\0\0swordfis";
	u8 buf[CUT];
	size_t size = message(buf, 'p', "swordfish", 10);

	(void)state;
	expect(startup, 24, 0, PROTOCOL_POSTGRESQL, REQUEST_SETS_UP, "(connect)", 24);
	expect(tls, 8, 0, PROTOCOL_POSTGRESQL, REQUEST_SETS_UP, "(connect)", 8);
	expect(gss, 8, 0, PROTOCOL_POSTGRESQL, REQUEST_SETS_UP, "(connect)", 8);
	expect(cancel, 16, 0, PROTOCOL_POSTGRESQL, REQUEST_SETS_UP, "(connect)", 16);
	expect(other, 16, 0, PROTOCOL_UNKNOWN, REQUEST_ASKS, "", 0);
	expect(buf, size, PROTOCOL_POSTGRESQL, PROTOCOL_POSTGRESQL, REQUEST_SETS_UP, "(connect)",
	       size);
	expect(buf, size, 0, PROTOCOL_UNKNOWN, REQUEST_ASKS, "", 0);
}

#define PARSE(text) "\0" text "\0\0\1\0\0\0\x17"

static void postgresql_extended_is_one_request(void **state)
{
	static const char begin[] = PARSE("BEGIN"), select[] = PARSE("SELECT $1 FROM t");
	static const char bind[] = "\0\0\0\0\0\1\0\0\0\x9swordfish\0\0";
	const u32 id = PROTOCOL_POSTGRESQL;
	u8 buf[CUT];
	size_t size = message(buf, 'P', select, sizeof(select) - 1), parse = size, at;

	(void)state;
	expect(buf, size, 0, id, REQUEST_ASKS, "SELECT t", 0);
	size += message(buf + size, 'B', bind, sizeof(bind) - 1);
	size += message(buf + size, 'E', "\0\0\0\0", 5);
	size += message(buf + size, 'S', "", 0);
	expect(buf, size, 0, id, REQUEST_ASKS, "SELECT t", size);
	expect(buf + parse, size - parse, id, id, REQUEST_ASKS, "EXECUTE (prepared)", size - parse);
	expect(buf + parse, size - parse, 0, id, REQUEST_ASKS, "EXECUTE (prepared)", size - parse);
	expect(buf + parse, size - parse - 1, 0, 0, REQUEST_ASKS, "", 0);
	expect(buf + parse, size - parse - 1, id, id, REQUEST_ASKS, "EXECUTE (prepared)", 0);
	/* a second request behind the first Sync */
	at = size + message(buf + size, 'S', "", 0);
	expect(buf, at, id, id, REQUEST_ASKS, "SELECT t", size);
	expect(buf + size, at - size, id, id, REQUEST_ASKS, "(sync)", 5);
	expect(buf + size, at - size, 0, 0, REQUEST_ASKS, "", 0);
	/* drivers put BEGIN before the first statement */
	size = message(buf, 'P', begin, sizeof(begin) - 1);
	expect(buf, size, id, id, REQUEST_ASKS, "BEGIN", 0);
	size += message(buf + size, 'P', select, sizeof(select) - 1);
	expect(buf, size, id, id, REQUEST_ASKS, "SELECT t", 0);
}

static void postgresql_has_other_messages(void **state)
{
	const u32 id = PROTOCOL_POSTGRESQL;
	u8 buf[CUT];
	size_t size = message(buf, 'X', "", 0);

	(void)state;
	expect(buf, size, id, id, REQUEST_TELLS, "(terminate)", 5);
	size = message(buf, 'd', "swordfish", 9);
	expect(buf, size, id, id, REQUEST_ASKS, "COPY (data)", 0);
	size = message(buf, 'F', "swordfish", 9);
	expect(buf, size, id, id, REQUEST_ASKS, "(function call)", size);
	size = message(buf, 'D', "Sswordfish", 11);
	expect(buf, size, id, id, REQUEST_ASKS, "(describe)", 0);
	/* strangers whose first byte is 'Q': no text, a NUL too early or none, a length too large
	 */
	expect("Q\0\0\0\xaswordf", 11, 0, 0, REQUEST_ASKS, "", 0);
	expect("Q\0\0\0\xaSET\0sh", 11, 0, 0, REQUEST_ASKS, "", 0);
	expect("Q\0\0\1\xaswordf", 11, 0, 0, REQUEST_ASKS, "", 0);
	expect("Q\x7f\0\0\xaSET a;", 11, 0, 0, REQUEST_ASKS, "", 0);
	expect("Q\0\0\0\4", 5, id, 0, REQUEST_ASKS, "", 0);
	expect("Quit\r\nSELECT", 12, id, 0, REQUEST_ASKS, "", 0);
}

static void mysql_has_commands(void **state)
{
	static const char attributes[] = "\0\1SELECT 1 FROM t";
	static const char login[] = "\xa2\x3a\0" /* flags, the largest packet, a charset */
				    "\0\0\0\1\x21"
				    "\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0"
				    "\x1d\0\0\0swordfish\0";
	const u32 id = PROTOCOL_MYSQL;
	u8 buf[CUT];
	size_t size = packet(buf, 0, 3, attributes, sizeof(attributes) - 1);

	(void)state;
	expect(buf, size, 0, id, REQUEST_ASKS, "SELECT t", size);
	size = packet(buf, 0, 0x16, "SELECT ? FROM t", 15);
	expect(buf, size, 0, id, REQUEST_ASKS, "SELECT t", size);
	expect(buf, size - 1, 0, id, REQUEST_ASKS, "SELECT ...", size);
	buf[size] = 0; /* more than one packet: of a stranger, no */
	expect(buf, size + 1, 0, 0, REQUEST_ASKS, "", 0);
	size = packet(buf, 0, 0x17, "swordfish", 9);
	expect(buf, size, id, id, REQUEST_ASKS, "EXECUTE (prepared)", size);
	expect(buf, size, 0, 0, REQUEST_ASKS, "", 0);
	size = packet(buf, 1, 0x85, "swordfish", 9);
	expect(buf, size, id, id, REQUEST_SETS_UP, "(connect)", size);
	expect(buf, size, 0, 0, REQUEST_ASKS, "", 0);
	size = packet(buf, 1, 0x85, login, sizeof(login) - 1); /* the first message of a server */
	expect(buf, size, 0, id, REQUEST_SETS_UP, "(connect)", size);
	expect(buf, 4 + 9 + 18, 0, 0, REQUEST_ASKS, "", 0);
	buf[4 + 9 + 18] = 1; /* the last one of its zeros */
	expect(buf, size, 0, 0, REQUEST_ASKS, "", 0);
	size = packet(buf, 3, 0x85, login, sizeof(login) - 1);
	expect(buf, size, 0, 0, REQUEST_ASKS, "", 0);
	size = packet(buf, 2, 's', "wordfish", 8); /* LOAD DATA LOCAL */
	expect(buf, size, id, 0, REQUEST_ASKS, "", 0);
	expect("\1\0\0\0\1", 5, id, id, REQUEST_TELLS, "(quit)", 5);
	expect("\1\0\0\0\xe", 5, id, id, REQUEST_ASKS, "(ping)", 5);
	expect("\1\0\0\0\x1f", 5, id, id, REQUEST_ASKS, "(command)", 5);
	expect("\1\0\0\0\x20", 5, id, 0, REQUEST_ASKS, "", 0);
	expect("\5\0\0\0\x19\1\0\0\0", 9, id, id, REQUEST_TELLS, "(close)", 9);
	expect("\xa\0\0\0\2swordfish", 14, id, id, REQUEST_ASKS, "(use)", 14);
}

/* 'Q' is 81, the length of a packet; 3 and 22 are commands, and lengths of a message. */
static void protocols_of_sql_are_distinguished(void **state)
{
	char sql[80];
	u8 buf[CUT];
	size_t size;

	(void)state;
	memset(sql, ' ', sizeof(sql));
	memcpy(sql, "SELECT 1 FROM t", 15);
	size = packet(buf, 0, 3, sql, sizeof(sql));
	assert_int_equal(buf[0], 'Q');
	expect(buf, size, 0, PROTOCOL_MYSQL, REQUEST_ASKS, "SELECT t", size);
	size = packet(buf, 0, 0x16, sql, sizeof(sql));
	expect(buf, size, 0, PROTOCOL_MYSQL, REQUEST_ASKS, "SELECT t", size);
	size = message(buf, 'Q', "SELECT 1 FROM t  ", 18);
	assert_int_equal(buf[4], 0x16);
	expect(buf, size, 0, PROTOCOL_POSTGRESQL, REQUEST_ASKS, "SELECT t", size);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(statement_is_verb_and_table),
		cmocka_unit_test(literal_never_becomes_a_name),
		cmocka_unit_test(cut_statement_has_no_half_name),
		cmocka_unit_test(postgresql_connects),
		cmocka_unit_test(postgresql_extended_is_one_request),
		cmocka_unit_test(postgresql_has_other_messages),
		cmocka_unit_test(mysql_has_commands),
		cmocka_unit_test(protocols_of_sql_are_distinguished),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
