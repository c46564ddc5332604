/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Header blocks of HTTP/2 (RFC 7541), as far as names and statuses need them: of fields that are
 * not among enum hpack_name only sizes are kept. The table that blocks of a connection build up is
 * kept where all of them are known from its start; else what refers to it is not known. Bytes are
 * an enemy's. Nothing here is written to a session.
 */
#ifndef DWELL_REQUESTS_HPACK_H
#define DWELL_REQUESTS_HPACK_H

#include <stdbool.h>

#include "bytes.h"

#define HPACK_TEXT_MAX	  120  /* of a value; more is cut */
#define HPACK_ENTRIES	  256  /* of a table: those that it has, and some that it had */
#define HPACK_BLOCKS	  1024 /* so many blocks back it is known what the table was */
#define HPACK_LIMIT_MAX	  (HPACK_ENTRIES / 2 * HPACK_ENTRY_BYTES)
#define HPACK_LIMIT	  4096 /* bytes of a table, until a block says otherwise */
#define HPACK_ENTRY_BYTES 32   /* that an entry counts beside its name and value */

enum hpack_name {
	HPACK_OTHER,
	HPACK_METHOD,
	HPACK_PATH,
	HPACK_STATUS,
	HPACK_CONTENT_TYPE,
	HPACK_GRPC_STATUS,
	HPACK_NAMES
};

struct hpack_text {
	u8 bytes[HPACK_TEXT_MAX];
	u8 length;
	bool is_there, is_cut;
};

/* The fields of a block that are known. */
struct hpack_fields {
	struct hpack_text of[HPACK_NAMES]; /* HPACK_OTHER is never there */
};

struct hpack_entry {
	struct hpack_text value; /* of HPACK_OTHER it is empty */
	u8 name;		 /* enum hpack_name */
	u32 name_length;
	u32 size;
};

/* One direction of a connection. Entries are numbered from 1, in the order in which they came. */
struct hpack_table {
	u32 inserted, evicted; /* numbers of the last ones */
	u32 size, limit;
	u32 blocks; /* so many were added */
	bool is_lost;
	u32 inserted_after[HPACK_BLOCKS];
	struct hpack_entry entries[HPACK_ENTRIES];
};

/* table: zeroed, but for limit. */
void hpack_open(struct hpack_table *table);

/* The next block of those that may change the table; if it is not that, the table is lost. */
void hpack_add(struct hpack_table *table, u32 block, struct bytes bytes);

/*
 * Reads a block. table: NULL if none is known. block: as struct rec_requests has it. is_cut: there
 * is more of it than these bytes.
 */
void hpack_read(const struct hpack_table *table, u32 block, struct bytes bytes, bool is_cut,
		struct hpack_fields *ret);

#endif
