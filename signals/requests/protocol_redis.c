// SPDX-License-Identifier: Apache-2.0
/*
 * Redis (RESP2 and RESP3). The endpoint is the command, and its subcommand where it has any.
 */
#include "../../src/base/cleanup.h"
#include "bytes.h"
#include "printable.h"
#include "protocol.h"

#define COMMAND_MAX   20 /* GEORADIUSBYMEMBER_RO */
#define ARGUMENTS_MAX (1 << 20)
#define BULK_MAX      (1ULL << 32)
#define ERROR_MAX     16
#define UNKNOWN	      "(unknown command)"

/* Their second argument is the name of a subcommand. */
static const char *const containers[] = {
	"ACL",	    "CLIENT",	"CLUSTER", "COMMAND", "CONFIG", "DEBUG",
	"FUNCTION", "LATENCY",	"MEMORY",  "MODULE",  "OBJECT", "PUBSUB",
	"SCRIPT",   "SENTINEL", "SLOWLOG", "XGROUP",  "XINFO",
};

/* What stands there and is not one of these can be a typing error, or a key. */
static const char *const subcommands[] = {
	"ADDSLOTS",	 "BUMPEPOCH",
	"CACHING",	 "CAT",
	"CHANNELS",	 "CONSUMERS",
	"COUNT",	 "COUNTKEYSINSLOT",
	"CREATE",	 "CREATECONSUMER",
	"DELCONSUMER",	 "DELETE",
	"DELSLOTS",	 "DELUSER",
	"DESTROY",	 "DOCS",
	"DOCTOR",	 "DRYRUN",
	"DUMP",		 "ENCODING",
	"EXISTS",	 "FAILOVER",
	"FLUSH",	 "FORGET",
	"FREQ",		 "GENPASS",
	"GET",		 "GETKEYS",
	"GETKEYSINSLOT", "GETNAME",
	"GETREDIR",	 "GETUSER",
	"GRAPH",	 "GROUPS",
	"HELP",		 "HISTOGRAM",
	"HISTORY",	 "ID",
	"IDLETIME",	 "INFO",
	"KEYSLOT",	 "KILL",
	"LATEST",	 "LEN",
	"LINKS",	 "LIST",
	"LOAD",		 "LOADEX",
	"LOG",		 "MASTERS",
	"MEET",		 "MYID",
	"MYSHARDID",	 "NO-EVICT",
	"NO-TOUCH",	 "NODES",
	"NUMPAT",	 "NUMSUB",
	"PAUSE",	 "PURGE",
	"REFCOUNT",	 "REPLICAS",
	"REPLICATE",	 "REPLY",
	"RESET",	 "RESETSTAT",
	"RESTORE",	 "REWRITE",
	"SAVE",		 "SENTINELS",
	"SET",		 "SETID",
	"SETINFO",	 "SETNAME",
	"SETSLOT",	 "SETUSER",
	"SHARDCHANNELS", "SHARDNUMSUB",
	"SHARDS",	 "SLEEP",
	"SLOTS",	 "STATS",
	"STREAM",	 "TRACKING",
	"TRACKINGINFO",	 "UNBLOCK",
	"UNLOAD",	 "UNPAUSE",
	"USAGE",	 "USERS",
	"WHOAMI",
};

/* Of those that people and probes send as a line; any other line can be the rest of a value. */
static const char *const inline_commands[] = {
	"AUTH",	  "CLIENT", "CLUSTER", "COMMAND", "CONFIG",  "DBSIZE", "DEL",	  "ECHO",
	"EXISTS", "GET",    "HELLO",   "INCR",	  "INFO",    "KEYS",   "MONITOR", "PING",
	"QUIT",	  "ROLE",   "SELECT",  "SET",	  "SLOWLOG", "TIME",
};

/* "$3\r\n" */
static bool take_count(struct bytes *rest, u8 mark, u64 most, u64 *ret)
{
	struct bytes after = bytes_from(*rest, 1);

	if (!rest->length || rest->at[0] != mark || !bytes_take_number(&after, most, ret) ||
	    !bytes_begin(after, "\r\n"))
		return false;
	*rest = bytes_from(after, 2);
	return true;
}

/* "$3\r\nGET\r\n", of which all that is here fits; *ret: as much of it as is here. */
static bool take_bulk(struct bytes *rest, u64 *ret_length, struct bytes *ret)
{
	if (!take_count(rest, '$', BULK_MAX, ret_length))
		return false;
	*ret = bytes_first(*rest, (size_t)*ret_length);
	*rest = bytes_from(*rest, (size_t)*ret_length);
	if (!bytes_match(*rest, "\r\n"))
		return false;
	*rest = bytes_from(*rest, 2);
	return true;
}

static bool is_word(struct bytes bytes)
{
	if (!bytes.length || bytes.length > COMMAND_MAX || !byte_is_letter(bytes.at[0]))
		return false;
	for (size_t i = 0; i < bytes.length; i++) /* "FT.SEARCH", "SORT_RO", "RESTORE-ASKING" */
		if (!byte_is_letter(bytes.at[i]) && bytes.at[i] != '.' && bytes.at[i] != '-' &&
		    bytes.at[i] != '_')
			return false;
	return true;
}

static void set_command(struct bytes command, struct bytes subcommand, struct request_text *ret)
{
	struct printable line;

	printable_begin(&line, ret->endpoint, sizeof(ret->endpoint));
	printable_add_upper(&line, command);
	if (bytes_are(command, "AUTH") || bytes_are(command, "HELLO"))
		ret->kind = REQUEST_SETS_UP;
	if (!bytes_are_any(command, containers, ARRAY_SIZE(containers)) ||
	    !bytes_are_any(subcommand, subcommands, ARRAY_SIZE(subcommands)))
		return;
	printable_add_text(&line, " ");
	printable_add_upper(&line, subcommand);
}

/* Of the whole array; 0: the length of one of its strings is not here. */
static u64 array_length(struct bytes all, struct bytes rest, u64 count)
{
	for (; count; count--) {
		u64 length;

		if (!take_count(&rest, '$', BULK_MAX, &length))
			return 0;
		length += 2;
		if (count == 1)
			return (u64)(rest.at - all.at) + length;
		if (length > rest.length)
			return 0;
		rest = bytes_from(rest, (size_t)length);
	}
	return 0;
}

/* "*2\r\n$3\r\nGET\r\n$1\r\nk\r\n" */
static bool array_request(struct bytes all, bool is_known, struct request_text *ret)
{
	struct bytes rest = all, command, subcommand = {0}, arguments;
	u64 count, length;

	printable_set(ret->endpoint, sizeof(ret->endpoint), UNKNOWN);
	if (!take_count(&rest, '*', ARGUMENTS_MAX, &count) || !count)
		return is_known;
	arguments = rest;
	if (!take_bulk(&rest, &length, &command))
		return is_known;
	ret->length = array_length(all, arguments, count);
	/* half a command can be another one */
	if (command.length < length)
		return is_known || (length <= COMMAND_MAX && (!command.length || is_word(command)));
	if (!is_word(command))
		return is_known;
	if (count > 1 && (!take_bulk(&rest, &length, &subcommand) || subcommand.length < length))
		subcommand.length = 0;
	set_command(command, subcommand, ret);
	return true;
}

static struct bytes take_word(struct bytes *rest)
{
	struct bytes word = bytes_first(*rest, bytes_find(*rest, ' '));

	*rest = bytes_from(*rest, word.length + 1);
	return word;
}

/* "PING\r\n" */
static bool inline_request(struct bytes all, struct request_text *ret)
{
	struct bytes line = bytes_first(all, bytes_find(all, '\n')), command;

	if (line.length == all.length)
		return false;
	ret->length = line.length + 1;
	if (line.length && line.at[line.length - 1] == '\r')
		line.length--;
	command = take_word(&line);
	if (!bytes_are_any(command, inline_commands, ARRAY_SIZE(inline_commands)))
		return false;
	set_command(command, take_word(&line), ret);
	return true;
}

static bool request(const u8 *bytes, size_t length, bool is_known, struct request_text *ret)
{
	struct bytes all = {bytes, length};

	if (!length)
		return false;
	if (bytes[0] == '*')
		return array_request(all, is_known, ret);
	return is_known && inline_request(all, ret);
}

/* "-WRONGTYPE Operation against ...": the code alone; what follows can have arguments in it. */
static void set_error(struct bytes rest, struct answer_text *ret)
{
	struct printable line;
	size_t length = 0;

	ret->is_error = true;
	printable_begin(&line, ret->status, sizeof(ret->status));
	while (length < rest.length && byte_is_upper(rest.at[length]))
		length++;
	if (length && length <= ERROR_MAX && length < rest.length &&
	    (rest.at[length] == ' ' || rest.at[length] == '\r'))
		printable_add(&line, bytes_first(rest, length));
	else
		printable_add_text(&line, "ERR");
}

static bool answer(const u8 *bytes, size_t length, struct answer_text *ret)
{
	struct bytes rest = bytes_from((struct bytes){bytes, length}, 1);
	u64 count;

	if (!length)
		return false;
	ret->is_error = false;
	printable_set(ret->status, sizeof(ret->status), "OK");
	switch (bytes[0]) {
	case '-':
		set_error(rest, ret);
		return true;
	case '!': /* "!21\r\nSYNTAX invalid syntax\r\n" */
		rest = (struct bytes){bytes, length};
		if (!take_count(&rest, '!', BULK_MAX, &count))
			rest.length = 0;
		set_error(rest, ret);
		return true;
	case ':':
	case '$':
	case '*':
	case '%':
	case '~':
	case '>':
	case '=':
		return !rest.length || byte_is_digit(rest.at[0]) || rest.at[0] == '-' ||
		       rest.at[0] == '+' || rest.at[0] == '?';
	case '+':
	case '_':
	case '#':
	case ',':
	case '(':
		return true;
	default:
		return false;
	}
}

const struct protocol protocol_redis = {
	.name = "redis",
	.request = request,
	.answer = answer,
};
