// SPDX-License-Identifier: Apache-2.0
/*
 * MySQL and MariaDB, not compressed. The endpoint is the verb and the table of the statement; one
 * that was prepared earlier has no text here.
 */
#include <stdio.h>

#include "../../src/base/cleanup.h"
#include "bytes.h"
#include "printable.h"
#include "protocol.h"
#include "sql_name.h"

#define FAREWELL "(quit)"

#define HEADER	       4 /* length, little-endian; a number in the exchange */
#define AUTH_MAX       4096
#define LOGIN_ZEROS    9 /* where a log-in of protocol 4.1 has its zeros ... */
#define LOGIN_ZERO_MAX 19
#define LOGIN_41       0x02 /* ... and, in its second byte, says that it is one */
#define COM_QUERY      0x03
#define COM_PREPARE    0x16
#define ANSWER_ERROR   0xff
#define ERROR_PROGRESS 0xffff /* MariaDB: how far it is */

static const struct command {
	u8 code;
	enum request_kind kind;
	const char *endpoint;
} commands[] = {
	{0x01, REQUEST_TELLS, FAREWELL},
	{0x02, REQUEST_ASKS, "(use)"},
	{0x0e, REQUEST_ASKS, "(ping)"},
	{0x11, REQUEST_SETS_UP, "(connect)"}, /* COM_CHANGE_USER */
	{0x17, REQUEST_ASKS, "EXECUTE (prepared)"},
	{0x18, REQUEST_TELLS, "(parameter)"}, /* COM_STMT_SEND_LONG_DATA */
	{0x19, REQUEST_TELLS, "(close)"},     /* COM_STMT_CLOSE */
	{0x1c, REQUEST_ASKS, "FETCH (prepared)"},
};

#define COMMAND_LAST 0x1f /* COM_RESET_CONNECTION */

struct packet {
	u8 sequence;
	u32 length;	   /* without the header, as it says */
	struct bytes body; /* as much as is here */
	bool is_whole;	   /* all is here */
};

static bool read_packet(struct bytes bytes, struct packet *ret)
{
	if (bytes.length <= HEADER)
		return false;
	ret->length = bytes.at[0] | (u32)bytes.at[1] << 8 | (u32)bytes.at[2] << 16;
	ret->sequence = bytes.at[3];
	ret->body = bytes_first(bytes_from(bytes, HEADER), ret->length);
	ret->is_whole = ret->body.length == ret->length;
	return ret->length;
}

/* A client may send attributes with a statement: "none, in one set" is skipped. */
static struct bytes text_of(const struct packet *packet)
{
	struct bytes text = bytes_from(packet->body, 1);

	if (packet->body.at[0] == COM_QUERY && text.length >= 2 && !text.at[0] && text.at[1] == 1)
		text = bytes_from(text, 2);
	return text;
}

static void set_command(u8 code, struct request_text *ret)
{
	ret->kind = REQUEST_ASKS;
	printable_set(ret->endpoint, sizeof(ret->endpoint), "(command)");
	for (size_t i = 0; i < ARRAY_SIZE(commands); i++) {
		if (commands[i].code != code)
			continue;
		ret->kind = commands[i].kind;
		printable_set(ret->endpoint, sizeof(ret->endpoint), commands[i].endpoint);
	}
}

/*
 * The server speaks first, so a client's steps of the log-in have odd numbers; what it loads into a
 * table begins at 2.
 */
static bool is_login(const struct packet *packet)
{
	return packet->sequence % 2 && packet->sequence <= 5 && packet->length <= AUTH_MAX;
}

/* The first step of a log-in: nothing else has its zeros there. */
static bool is_first_login(const struct packet *packet)
{
	struct bytes zeros = bytes_first(bytes_from(packet->body, LOGIN_ZEROS), LOGIN_ZERO_MAX);

	if (packet->sequence != 1 || zeros.length < LOGIN_ZERO_MAX ||
	    !(packet->body.at[1] & LOGIN_41))
		return false;
	for (size_t i = 0; i < zeros.length; i++)
		if (zeros.at[i])
			return false;
	return true;
}

static bool request(const u8 *bytes, size_t length, bool is_known, struct request_text *ret)
{
	struct packet packet;
	u8 command;

	if (!read_packet((struct bytes){bytes, length}, &packet))
		return false;
	ret->length = HEADER + (u64)packet.length;
	if (packet.sequence) {
		ret->kind = REQUEST_SETS_UP;
		printable_set(ret->endpoint, sizeof(ret->endpoint), "(connect)");
		return is_login(&packet) && (is_known || is_first_login(&packet));
	}
	command = packet.body.at[0];
	if (command == COM_QUERY || command == COM_PREPARE) {
		bool is_sql = sql_name(text_of(&packet), packet.is_whole, SQL_MYSQL, ret->endpoint,
				       sizeof(ret->endpoint));

		/* a client does not send two at once */
		return is_known || (is_sql && length <= ret->length);
	}
	set_command(command, ret);
	return is_known && command <= COMMAND_LAST;
}

static bool answer(const u8 *bytes, size_t length, struct answer_text *ret)
{
	struct packet packet;
	struct printable line;
	char number[8];
	u32 code;

	if (!read_packet((struct bytes){bytes, length}, &packet))
		return false;
	ret->is_error = false;
	printable_begin(&line, ret->status, sizeof(ret->status));
	if (packet.body.at[0] != ANSWER_ERROR) {
		printable_add_text(&line, "OK");
		return true;
	}
	ret->is_error = true;
	if (packet.body.length < 3)
		return true;
	code = packet.body.at[1] | (u32)packet.body.at[2] << 8;
	if (code == ERROR_PROGRESS) {
		ret->is_error = false;
		return true;
	}
	snprintf(number, sizeof(number), "%u", code);
	printable_add_text(&line, number);
	return true;
}

const struct protocol protocol_mysql = {
	.name = "mysql",
	.request = request,
	.answer = answer,
	.farewell_bytes = 5,
	.farewell = FAREWELL,
};
