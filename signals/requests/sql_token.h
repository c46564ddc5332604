/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The tokens of an SQL statement of which only the first bytes may be here. What can be read in two
 * ways ends the statement: no literal may ever become a name. Called by sql_name.c.
 */
#ifndef DWELL_REQUESTS_SQL_TOKEN_H
#define DWELL_REQUESTS_SQL_TOKEN_H

#include "bytes.h"
#include "sql_name.h"

enum sql_token_type {
	SQL_END,    /* of the statement, or of what can be read of it */
	SQL_WORD,   /* a keyword or an identifier */
	SQL_QUOTED, /* an identifier in quotes; text is without them */
	SQL_VALUE,  /* a literal, a number, a parameter, an identifier with other characters */
	SQL_SIGN,   /* one character: sign */
};

struct sql_token {
	enum sql_token_type type;
	struct bytes text; /* of SQL_WORD and SQL_QUOTED: letters, digits, '_' and '$' only */
	u8 sign;
};

/* A copy of it is a mark to which one can return. */
struct sql_reader {
	struct bytes rest;
	enum sql_dialect dialect;
	bool is_whole; /* rest is all that was sent */
	bool is_cut;   /* SQL_END came before the statement's own end */
};

struct sql_token sql_token_next(struct sql_reader *reader);

/* The same without taking it. */
struct sql_token sql_token_peek(const struct sql_reader *reader);

/* keyword: in upper case */
bool sql_token_is(struct sql_token token, const char *keyword);
bool sql_token_is_sign(struct sql_token token, u8 sign);

#endif
