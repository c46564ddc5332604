// SPDX-License-Identifier: Apache-2.0
/*
 * Requests by endpoint: counted all, kept whole the slowest and some of the others.
 */
#include "requests.h"

#include <stdlib.h>
#include <string.h>

#include "../../src/base/cleanup.h"

void request_book_open(struct request_book *book)
{
	hash_init(&book->endpoints, sizeof(struct endpoint), ENDPOINT_KEY_BYTES, ENDPOINTS_MAX);
	hash_init(&book->servers, sizeof(struct server), SERVER_KEY_BYTES, SERVERS_MAX);
	book->kept = calloc(KEPT_MAX, sizeof(book->kept[0]));
	book->random = 88172645463325252ULL; /* any but 0 */
	book->free_place = NO_KEPT_PLACE;
}

void request_book_free(struct request_book *book)
{
	for (size_t i = 0; i < book->endpoints.count; i++)
		free(((struct endpoint *)hash_item(&book->endpoints, i))->latency);
	hash_free(&book->endpoints);
	hash_free(&book->servers);
	free(book->kept);
	book->kept = NULL;
}

/* xorshift: what is kept has to be unbiased, no more. */
static u64 random_below(struct request_book *book, u64 limit)
{
	book->random ^= book->random << 13;
	book->random ^= book->random >> 7;
	book->random ^= book->random << 17;
	return book->random % limit;
}

/* --- who it is --- */

static struct server *server_of(struct request_book *book, const struct rec_requests *record)
{
	struct server key, *server;

	memset(&key, 0, sizeof(key));
	if (record->port) {
		key.object = record->object; /* each of its processes speaks the same */
	} else {
		key.tgid = record->hdr.tgid;
		key.start_ns = record->hdr.start_ns;
	}
	server = hash_add(&book->servers, &key);
	if (server)
		server->last_window = book->window;
	else
		book->servers_lost++;
	return server;
}

/* The same wherever and whenever it is made: files of one recording share it. FNV-1a. */
static u64 id_of(const void *key)
{
	const u8 *bytes = key;
	u64 id = 0xcbf29ce484222325ULL;

	for (size_t i = 0; i < ENDPOINT_KEY_BYTES; i++)
		id = (id ^ bytes[i]) * 0x100000001b3ULL;
	return id & ~(1ULL << 63);
}

#define OTHERS (3 * PROTOCOL_COUNT) /* by protocol and kind: these always have a place */

static struct endpoint *endpoint_of(struct request_book *book, struct endpoint *key, u64 weight)
{
	struct endpoint *endpoint = hash_find(&book->endpoints, key);

	if (!endpoint && book->endpoints.count >= ENDPOINTS_MAX - OTHERS) {
		book->endpoints_folded += weight;
		*key = (struct endpoint){
			.protocol = key->protocol, .kind = key->kind, .name = "(other)"};
	}
	if (!endpoint)
		endpoint = hash_add(&book->endpoints, key);
	if (!endpoint) {
		book->no_memory++;
		return NULL;
	}
	if (!endpoint->latency)
		endpoint->latency = calloc(1, sizeof(*endpoint->latency));
	endpoint->id = id_of(endpoint);
	return endpoint;
}

static void begin_key(const struct rec_requests *record, const struct server *server,
		      const char *name, u32 kind, struct endpoint *key)
{
	memset(key, 0, sizeof(*key));
	key->tgid = record->hdr.tgid;
	key->start_ns = record->hdr.start_ns;
	key->object = record->object;
	key->port = record->port;
	key->protocol = server ? (u8)server->protocol : PROTOCOL_UNKNOWN;
	key->kind = (u8)kind;
	memcpy(key->name, name, strnlen(name, sizeof(key->name) - 1));
}

/* The bytes of one that is not measured are those of an earlier request. */
static bool is_farewell(const struct server *server, const struct rec_requests *record)
{
	const struct protocol *protocol = server ? protocol_by_id(server->protocol) : NULL;

	return protocol && protocol->farewell_bytes == record->received && record->received &&
	       !(record->flags & (REQUEST_HAS_TURN | REQUEST_IS_ANSWERED));
}

/* From the first bytes of what was sent. One that is not known is of the protocol of those before.
 */
static void name_request(struct server *server, const struct rec_requests *record,
			 struct request_text *ret_text)
{
	u32 known = server ? server->protocol : PROTOCOL_UNKNOWN, found;

	found = protocol_of_request(record->request, record->request_length, known, ret_text);
	if (found && server)
		server->protocol = found;
	if (!found) {
		*ret_text = (struct request_text){.kind = REQUEST_ASKS};
		strcpy(ret_text->endpoint, record->request_length ? "(unnamed)" : "(not seen)");
	}
	if (is_farewell(server, record)) {
		*ret_text = (struct request_text){.kind = REQUEST_TELLS};
		strcpy(ret_text->endpoint, protocol_by_id(server->protocol)->farewell);
	}
	if (server && ret_text->kind == REQUEST_ASKS)
		memcpy(server->last, ret_text->endpoint, sizeof(server->last));
}

/* --- what is kept --- */

/* The slot that falls out of the sample, which may be this one; NO_KEPT_PLACE: there was a free
 * one. */
static u32 keep_in_sample(struct request_book *book, struct endpoint *endpoint, u32 place)
{
	u64 chosen = endpoint->candidates++;
	u32 out;

	if (endpoint->sample_count < KEPT_SAMPLE) {
		endpoint->sample[endpoint->sample_count++] = place;
		return NO_KEPT_PLACE;
	}
	chosen = random_below(book, endpoint->candidates);
	if (chosen >= KEPT_SAMPLE)
		return place;
	out = endpoint->sample[chosen];
	endpoint->sample[chosen] = place;
	return out;
}

static u64 latency_at(const struct request_book *book, u32 place)
{
	return book->kept[place].queue_ns + book->kept[place].window_ns;
}

/* Among the slowest, if it is one: the slot that stays for the sample, which may be this one. */
static u32 keep_slowest(struct request_book *book, struct endpoint *endpoint, u32 place)
{
	u32 least = 0, out;

	if (endpoint->slow_count < KEPT_SLOWEST) {
		endpoint->slow[endpoint->slow_count++] = place;
		return NO_KEPT_PLACE;
	}
	for (u32 i = 1; i < KEPT_SLOWEST; i++)
		if (latency_at(book, endpoint->slow[i]) < latency_at(book, endpoint->slow[least]))
			least = i;
	if (latency_at(book, place) <= latency_at(book, endpoint->slow[least]))
		return place;
	out = endpoint->slow[least];
	endpoint->slow[least] = place;
	return out;
}

/* The slowest are kept, and of the others a sample; the slot that falls out is the next one's. */
static void keep(struct request_book *book, struct endpoint *endpoint,
		 const struct request *request)
{
	u32 place = book->free_place;

	if (place == NO_KEPT_PLACE && book->kept && book->kept_count < KEPT_MAX)
		place = book->kept_count++;
	if (place == NO_KEPT_PLACE) {
		book->not_kept++;
		return;
	}
	book->kept[place] = *request;
	place = keep_slowest(book, endpoint, place);
	if (place != NO_KEPT_PLACE)
		place = keep_in_sample(book, endpoint, place);
	book->free_place = place;
}

/* --- what is counted --- */

static u64 outside_of(const struct request_bytes_moved *moved)
{
	return moved->in_turns + moved->no_turn + moved->before + moved->unread;
}

static void add_bytes(struct endpoint *endpoint, const struct rec_requests *record)
{
	const struct request_bytes_moved *in = &record->in, *out = &record->out;

	endpoint->received += in->in_turns;
	endpoint->sent += out->in_turns;
	endpoint->outside[REQUEST_BYTES_BEFORE] += in->before + out->before;
	endpoint->outside[REQUEST_BYTES_NO_TURN] += in->no_turn + out->no_turn;
	endpoint->outside[REQUEST_BYTES_UNREAD] += in->unread + out->unread;
	endpoint->outside[REQUEST_BYTES_UNSEEN] +=
		in->kernel - outside_of(in) + out->kernel - outside_of(out);
	endpoint->kernel += in->kernel + out->kernel;
}

static void add_answer(struct endpoint *endpoint, const struct rec_requests *record, u64 weight,
		       struct request *request)
{
	const struct protocol *protocol = protocol_by_id(endpoint->protocol);
	u64 ns = request->queue_ns + request->window_ns;
	struct answer_text answer = {.is_error = false};

	if (protocol && protocol->answer(record->answer, record->answer_length, &answer)) {
		memcpy(request->status, answer.status, sizeof(request->status));
		endpoint->errors += answer.is_error ? weight : 0;
	}
	endpoint->latency_ns += ns * weight;
	endpoint->queue_ns += request->queue_ns * weight;
	if (!endpoint->latency)
		return;
	hist_add_bucket(endpoint->latency, hist_place(ns), weight);
	if (ns > endpoint->latency->max)
		endpoint->latency->max = ns;
}

/* The turn of the record, and those that it stands for, which are answered. */
static void add_turn(struct request_book *book, struct endpoint *endpoint,
		     const struct rec_requests *record, u64 weight)
{
	struct request request;

	request_read(record, &request);
	request.weight = weight;
	endpoint->requests += weight;
	endpoint->outcomes[request.outcome]++;
	endpoint->outcomes[REQUEST_ANSWERED] += weight - 1;
	endpoint->models[request.model] += weight;
	if (request.outcome != REQUEST_ANSWERED || !(record->flags & REQUEST_HAS_TURN))
		return;
	add_answer(endpoint, record, weight, &request);
	keep(book, endpoint, &request);
}

/*
 * A connection ends with a message of its own, which has a record: what that stands for beside
 * itself is what the server was asked before.
 */
static void add_others(struct request_book *book, const struct server *server,
		       const struct rec_requests *record)
{
	struct endpoint key, *endpoint;
	u64 others = record->weight - 1;
	struct request request;

	request_read(record, &request);
	begin_key(record, server, server->last, REQUEST_ASKS, &key);
	endpoint = endpoint_of(book, &key, others);
	if (!endpoint)
		return; /* counted */
	endpoint->requests += others;
	endpoint->outcomes[REQUEST_ANSWERED] += others;
	endpoint->models[request.model] += others;
	endpoint->records += !endpoint->records; /* so that its row is written */
}

/* Lengths that are no lengths would let parsers read beyond what is there. */
static bool is_sane(const struct rec_requests *record)
{
	return record->request_length <= sizeof(record->request) &&
	       record->answer_length <= sizeof(record->answer) && record->end < REQUEST_END_COUNT;
}

void request_book_add(struct request_book *book, const struct rec_requests *record)
{
	struct request_text text = {.kind = REQUEST_TELLS, .endpoint = "(no request)"};
	struct endpoint key, *endpoint;
	u64 weight = record->weight;
	struct server *server;

	if (!is_sane(record)) {
		book->no_memory++;
		return;
	}
	server = server_of(book, record);
	if (weight)
		name_request(server, record, &text);
	if (weight > 1 && text.kind != REQUEST_ASKS && server && server->last[0]) {
		add_others(book, server, record);
		weight = 1;
	}
	begin_key(record, server, text.endpoint, text.kind, &key);
	endpoint = endpoint_of(book, &key, weight);
	if (!endpoint)
		return; /* counted */
	endpoint->records++;
	add_bytes(endpoint, record);
	if (weight)
		add_turn(book, endpoint, record, weight);
	if ((record->flags & REQUEST_HAS_TURN) && text.length && record->received > text.length)
		endpoint->several += weight;
}
