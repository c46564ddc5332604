// SPDX-License-Identifier: Apache-2.0
#include "hpack.h"

#include "../../abi/records.h"
#include "hpack_huffman.h"

#define STATIC_COUNT  61
#define INTEGER_MAX   (1U << 24)
#define INTEGER_SHIFT 21 /* of the last byte that an integer may have */

#define FIELD_INDEXED  0x80
#define FIELD_INSERTED 0x40
#define LIMIT_UPDATE   0x20

static const struct {
	const char *name, *value;
} static_table[STATIC_COUNT + 1] = {
	{"", ""},
	{":authority", ""},
	{":method", "GET"},
	{":method", "POST"},
	{":path", "/"},
	{":path", "/index.html"},
	{":scheme", "http"},
	{":scheme", "https"},
	{":status", "200"},
	{":status", "204"},
	{":status", "206"},
	{":status", "304"},
	{":status", "400"},
	{":status", "404"},
	{":status", "500"},
	{"accept-charset", ""},
	{"accept-encoding", "gzip, deflate"},
	{"accept-language", ""},
	{"accept-ranges", ""},
	{"accept", ""},
	{"access-control-allow-origin", ""},
	{"age", ""},
	{"allow", ""},
	{"authorization", ""},
	{"cache-control", ""},
	{"content-disposition", ""},
	{"content-encoding", ""},
	{"content-language", ""},
	{"content-length", ""},
	{"content-location", ""},
	{"content-range", ""},
	{"content-type", ""},
	{"cookie", ""},
	{"date", ""},
	{"etag", ""},
	{"expect", ""},
	{"expires", ""},
	{"from", ""},
	{"host", ""},
	{"if-match", ""},
	{"if-modified-since", ""},
	{"if-none-match", ""},
	{"if-range", ""},
	{"if-unmodified-since", ""},
	{"last-modified", ""},
	{"link", ""},
	{"location", ""},
	{"max-forwards", ""},
	{"proxy-authenticate", ""},
	{"proxy-authorization", ""},
	{"range", ""},
	{"referer", ""},
	{"refresh", ""},
	{"retry-after", ""},
	{"server", ""},
	{"set-cookie", ""},
	{"strict-transport-security", ""},
	{"transfer-encoding", ""},
	{"user-agent", ""},
	{"vary", ""},
	{"via", ""},
	{"www-authenticate", ""},
};

static const char *const names[HPACK_NAMES] = {
	[HPACK_OTHER] = "",
	[HPACK_METHOD] = ":method",
	[HPACK_PATH] = ":path",
	[HPACK_STATUS] = ":status",
	[HPACK_CONTENT_TYPE] = "content-type",
	[HPACK_GRPC_STATUS] = "grpc-status",
};

/* A block that is read: to put its fields into a table, or to know them. */
struct reader {
	struct bytes rest;
	bool is_cut;
	const struct hpack_table *table; /* NULL: none is known */
	struct hpack_table *to;		 /* the same, if the block is added to it */
	u32 inserted;			 /* the number of the last entry, at this point of it */
	struct hpack_fields *fields;	 /* or NULL */
};

struct name {
	u32 id; /* enum hpack_name */
	u32 length;
};

/* --- pieces --- */

/* Behind a prefix of so many bits. */
static bool take_integer(struct bytes *rest, u32 bits, u32 *ret)
{
	u32 most = (1U << bits) - 1, value, shift = 0;
	u8 byte = 0x80;

	if (!rest->length)
		return false;
	value = rest->at[0] & most;
	*rest = bytes_from(*rest, 1);
	*ret = value;
	if (value < most)
		return true;
	while (byte & 0x80) {
		if (!rest->length || shift > INTEGER_SHIFT)
			return false;
		byte = rest->at[0];
		*rest = bytes_from(*rest, 1);
		value += (u32)(byte & 0x7f) << shift;
		shift += 7;
	}
	*ret = value;
	return value <= INTEGER_MAX;
}

static bool copy_string(struct bytes string, u8 *to, size_t *ret_length)
{
	struct bytes first = bytes_first(string, HPACK_TEXT_MAX);

	if (first.length)
		memcpy(to, first.at, first.length);
	*ret_length = string.length;
	return true;
}

/* A string, and its length, of which text has as much as fits. The last one may be cut. */
static bool take_string(struct reader *reader, struct hpack_text *text, u32 *ret_length)
{
	bool is_coded, is_cut, is_read;
	struct bytes string;
	size_t length;
	u32 count;

	*text = (struct hpack_text){.is_there = true};
	if (!reader->rest.length)
		return false;
	is_coded = reader->rest.at[0] & 0x80;
	if (!take_integer(&reader->rest, 7, &count))
		return false;
	is_cut = count > reader->rest.length;
	if (is_cut && !reader->is_cut)
		return false;
	string = bytes_first(reader->rest, count);
	reader->rest = bytes_from(reader->rest, count);
	is_read = is_coded ? hpack_huffman(string, is_cut, text->bytes, HPACK_TEXT_MAX, &length)
			   : copy_string(string, text->bytes, &length);
	if (!is_read)
		return false;
	text->is_cut = is_cut || length > HPACK_TEXT_MAX;
	text->length = (u8)(length < HPACK_TEXT_MAX ? length : HPACK_TEXT_MAX);
	*ret_length = (u32)length;
	return true;
}

static u32 name_of(const u8 *bytes, size_t length)
{
	for (u32 i = HPACK_OTHER + 1; i < HPACK_NAMES; i++)
		if (strlen(names[i]) == length && !memcmp(names[i], bytes, length))
			return i;
	return HPACK_OTHER;
}

/* --- the table --- */

/* By an index beyond the static table; NULL: there is none, or it is not known. */
static const struct hpack_entry *entry_of(const struct reader *reader, u32 index)
{
	const struct hpack_table *table = reader->table;
	u32 back = index - STATIC_COUNT - 1, number;

	if (!table || back >= reader->inserted)
		return NULL;
	number = reader->inserted - back;
	if (number > table->inserted || table->inserted - number >= HPACK_ENTRIES)
		return NULL;
	if (reader->to && number <= table->evicted)
		return NULL;
	return &table->entries[number % HPACK_ENTRIES];
}

static void evict(struct hpack_table *table, u32 most)
{
	while (table->size > most && table->evicted < table->inserted)
		table->size -= table->entries[++table->evicted % HPACK_ENTRIES].size;
}

/* One that is larger than the table leaves it empty: it has a number, and no place. */
static void insert(struct hpack_table *table, const struct name *name,
		   const struct hpack_text *value, u32 value_length)
{
	u32 size = name->length + value_length + HPACK_ENTRY_BYTES;
	struct hpack_entry *entry;

	evict(table, size < table->limit ? table->limit - size : 0);
	entry = &table->entries[++table->inserted % HPACK_ENTRIES];
	*entry = (struct hpack_entry){
		.name = (u8)name->id, .name_length = name->length, .size = size};
	if (name->id != HPACK_OTHER)
		entry->value = *value;
	table->size += size;
	evict(table, table->limit);
}

static bool update_limit(struct reader *reader)
{
	u32 limit;

	if (!take_integer(&reader->rest, 5, &limit))
		return false;
	if (!reader->to)
		return true;
	if (limit > HPACK_LIMIT_MAX)
		return false;
	reader->to->limit = limit;
	evict(reader->to, limit);
	return true;
}

/* --- fields --- */

/* The first one of its name counts. */
static void note(struct reader *reader, u32 name, const struct hpack_text *value)
{
	if (reader->fields && name != HPACK_OTHER && !reader->fields->of[name].is_there)
		reader->fields->of[name] = *value;
}

static void note_static(struct reader *reader, u32 index)
{
	const char *name = static_table[index].name, *value = static_table[index].value;
	struct hpack_text text = {.is_there = true, .length = (u8)strlen(value)};

	memcpy(text.bytes, value, text.length);
	note(reader, name_of((const u8 *)name, strlen(name)), &text);
}

/* What is not known is left out, unless the table is to be kept. */
static bool read_indexed(struct reader *reader)
{
	const struct hpack_entry *entry;
	u32 index;

	if (!take_integer(&reader->rest, 7, &index) || !index)
		return false;
	if (index <= STATIC_COUNT) {
		note_static(reader, index);
		return true;
	}
	entry = entry_of(reader, index);
	if (entry)
		note(reader, entry->name, &entry->value);
	return entry || !reader->to;
}

static bool read_name(struct reader *reader, u32 bits, struct name *ret)
{
	const struct hpack_entry *entry;
	struct hpack_text text;
	u32 index;

	*ret = (struct name){.id = HPACK_OTHER};
	if (!take_integer(&reader->rest, bits, &index))
		return false;
	if (!index) {
		if (!take_string(reader, &text, &ret->length))
			return false;
		if (!text.is_cut)
			ret->id = name_of(text.bytes, text.length);
		return true;
	}
	if (index <= STATIC_COUNT) {
		const char *name = static_table[index].name;

		ret->length = (u32)strlen(name);
		ret->id = name_of((const u8 *)name, ret->length);
		return true;
	}
	entry = entry_of(reader, index);
	if (entry)
		*ret = (struct name){entry->name, entry->name_length};
	return entry || !reader->to;
}

static bool read_literal(struct reader *reader, bool is_inserted)
{
	struct hpack_text value;
	struct name name;
	u32 length;

	if (!read_name(reader, is_inserted ? 6 : 4, &name) || !take_string(reader, &value, &length))
		return false;
	note(reader, name.id, &value);
	if (!is_inserted)
		return true;
	if (reader->to)
		insert(reader->to, &name, &value, length);
	reader->inserted++;
	return true;
}

static bool read_field(struct reader *reader)
{
	u8 first = reader->rest.at[0];

	if (first & FIELD_INDEXED)
		return read_indexed(reader);
	if (first & FIELD_INSERTED)
		return read_literal(reader, true);
	if (first & LIMIT_UPDATE)
		return update_limit(reader);
	return read_literal(reader, false);
}

/* False: it is malformed, or ends in the middle of a field, or what a table needs is not known. */
static bool read_block(struct reader *reader)
{
	while (reader->rest.length)
		if (!read_field(reader))
			return false;
	return true;
}

/* --- a connection's blocks --- */

void hpack_open(struct hpack_table *table)
{
	memset(table, 0, sizeof(*table));
	table->limit = HPACK_LIMIT;
}

void hpack_add(struct hpack_table *table, u32 block, struct bytes bytes)
{
	struct reader reader = {
		.rest = bytes, .table = table, .to = table, .inserted = table->inserted};

	if (table->is_lost)
		return;
	if (block != table->blocks + 1 || !read_block(&reader)) {
		table->is_lost = true;
		return;
	}
	table->blocks = block;
	table->inserted_after[block % HPACK_BLOCKS] = table->inserted;
}

/* As REQUEST_PLAIN_BLOCK_MAX says. */
static bool is_plain(struct bytes bytes)
{
	if (bytes.length > REQUEST_PLAIN_BLOCK_MAX)
		return false;
	for (size_t i = 0; i < bytes.length; i++)
		if (bytes.at[i] <= 0x80 || bytes.at[i] == 0xff)
			return false;
	return true;
}

/* Is it known what the table was when this block began? Then up to which entry. */
static bool is_known(const struct hpack_table *table, u32 block, struct bytes bytes, bool is_cut,
		     u32 *ret)
{
	bool is_plain_one = is_plain(bytes);

	if (!table || block == REQUEST_BLOCK_NOT_KNOWN || block > table->blocks)
		return false;
	if (is_plain_one && is_cut)
		return false; /* what follows is not known */
	if (!is_plain_one && !block--)
		return false; /* it has a number */
	if (table->blocks - block >= HPACK_BLOCKS)
		return false;
	*ret = block ? table->inserted_after[block % HPACK_BLOCKS] : 0;
	return true;
}

void hpack_read(const struct hpack_table *table, u32 block, struct bytes bytes, bool is_cut,
		struct hpack_fields *ret)
{
	struct reader reader = {.rest = bytes, .is_cut = is_cut, .fields = ret};

	memset(ret, 0, sizeof(*ret));
	if (is_known(table, block, bytes, is_cut, &reader.inserted))
		reader.table = table;
	read_block(&reader);
}
