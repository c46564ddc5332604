// SPDX-License-Identifier: Apache-2.0
#include "h2_book.h"

#include <stdlib.h>

#include "hpack_names.h"

#define IDLE_WINDOWS   600 /* a connection without new blocks is forgotten after these */
#define CLOSED_WINDOWS 2   /* one that has closed: its last streams are told a window later */

/* Opens with its key. */
struct connection {
	u64 id;
	/* the key ends here */
	u64 last_window;
	u64 closed_window;		      /* 0: it is open */
	struct hpack_table *asked, *answered; /* NULL: there was no such block yet */
};
#define CONNECTION_KEY_BYTES offsetof(struct connection, last_window)

void h2_book_open(struct h2_book *book)
{
	*book = (struct h2_book){.lost = 0};
	hash_init(&book->connections, sizeof(struct connection), CONNECTION_KEY_BYTES,
		  H2_CONNECTIONS_MAX);
}

static void forget(struct connection *connection)
{
	free(connection->asked);
	free(connection->answered);
	connection->asked = connection->answered = NULL;
}

void h2_book_free(struct h2_book *book)
{
	for (size_t i = 0; i < book->connections.count; i++)
		forget(hash_item(&book->connections, i));
	hash_free(&book->connections);
}

/* Only from its first block on: what was before that changes the table, too. */
static struct connection *connection_of(struct h2_book *book, const struct rec_requests *record)
{
	struct connection *connection = hash_find(&book->connections, &record->connection);

	if (connection || record->block != 1)
		return connection;
	connection = hash_add(&book->connections, &record->connection);
	book->not_kept += !connection;
	return connection;
}

void h2_book_add(struct h2_book *book, const struct rec_requests *record, u64 window)
{
	struct connection *connection = connection_of(book, record);
	struct hpack_table **table;

	if (!connection)
		return;
	connection->last_window = window;
	table = record->flags & REQUEST_IS_ANSWERED ? &connection->answered : &connection->asked;
	if (!*table) {
		if (record->block != 1)
			return;
		*table = malloc(sizeof(**table));
		if (!*table)
			return; /* the next block is not the first one */
		hpack_open(*table);
	}
	hpack_add(*table, record->block, (struct bytes){record->request, record->request_length});
}

static void read_request(const struct connection *connection, const struct rec_requests *record,
			 struct hpack_fields *ret)
{
	struct bytes block = {record->request, record->request_length};

	hpack_read(connection ? connection->asked : NULL, record->block, block,
		   block.length == REQUEST_BYTES_MAX, ret);
}

/* A connection can live long on blocks that leave its tables as they are. */
void h2_book_name(const struct h2_book *book, const struct rec_requests *record, u64 window,
		  struct request_text *ret)
{
	struct connection *connection = hash_find(&book->connections, &record->connection);
	struct hpack_fields request;

	if (connection)
		connection->last_window = window;
	read_request(connection, record, &request);
	hpack_name_request(&request, ret);
}

void h2_book_answer(const struct h2_book *book, const struct rec_requests *record,
		    struct answer_text *ret)
{
	const struct connection *connection = hash_find(&book->connections, &record->connection);
	const struct hpack_table *table = connection ? connection->answered : NULL;
	struct bytes block = {record->answer, record->answer_length};
	struct bytes last = {record->answer + ANSWER_TRAILER_AT, record->trailer_length};
	struct hpack_fields request, answer, trailer;

	read_request(connection, record, &request);
	hpack_read(table, record->answer_block, block,
		   block.length == (last.length ? ANSWER_TRAILER_AT : ANSWER_BYTES_MAX), &answer);
	hpack_read(table, record->trailer_block, last, last.length == ANSWER_TRAILER_MAX, &trailer);
	hpack_name_answer(&request, &answer, &trailer, ret);
}

void h2_book_close(struct h2_book *book, const struct rec_requests *record, u64 window)
{
	struct connection *connection = hash_find(&book->connections, &record->connection);

	if (connection)
		connection->closed_window = window + 1;
}

static bool is_recent(const void *item, const void *context)
{
	struct connection connection = *(const struct connection *)item;
	u64 window = *(const u64 *)context;

	if (connection.last_window + IDLE_WINDOWS > window &&
	    (!connection.closed_window || connection.closed_window + CLOSED_WINDOWS > window))
		return true;
	forget(&connection);
	return false;
}

void h2_book_sweep(struct h2_book *book, u64 window)
{
	hash_retain(&book->connections, is_recent, &window);
}
