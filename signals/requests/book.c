// SPDX-License-Identifier: Apache-2.0
/*
 * Requests by endpoint: counted all, kept whole the slowest and some of the others.
 */
#include "requests.h"

#include <stdlib.h>
#include <string.h>

#include "../../src/base/cleanup.h"

_Static_assert(TRACE_BYTES == sizeof(((struct request_trace *)0)->id), "both are of one form");

void request_book_open(struct request_book *book, struct stack_ids *stack_ids)
{
	book->stack_ids = stack_ids;
	hash_init(&book->endpoints, sizeof(struct endpoint), ENDPOINT_KEY_BYTES, ENDPOINTS_MAX);
	hash_init(&book->servers, sizeof(struct server), SERVER_KEY_BYTES, SERVERS_MAX);
	hash_init(&book->peers, sizeof(struct server), SERVER_KEY_BYTES, SERVERS_MAX);
	link_book_open(&book->links);
	h2_book_open(&book->h2);
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
	hash_free(&book->peers);
	link_book_free(&book->links);
	h2_book_free(&book->h2);
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
	} else if (record->flags & REQUEST_IS_CALL) {
		key.object = record->connection; /* a Unix socket's, whose peer is not known */
	} else {
		key.tgid = record->hdr.tgid;
		key.start_ns = record->hdr.start_ns;
	}
	server = hash_add(record->flags & REQUEST_IS_CALL ? &book->peers : &book->servers, &key);
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

/* What the server speaks: on the wire, or in TLS. */
static u32 known_protocol(const struct server *server, const struct rec_requests *record)
{
	if (!server)
		return PROTOCOL_UNKNOWN;
	return record->flags & REQUEST_IS_TLS ? server->inner : server->protocol;
}

static void begin_key(const struct rec_requests *record, const struct server *server,
		      const char *name, u32 kind, struct endpoint *key)
{
	memset(key, 0, sizeof(*key));
	key->tgid = record->hdr.tgid;
	key->start_ns = record->hdr.start_ns;
	key->object = record->object;
	key->port = record->port;
	key->protocol = (u8)known_protocol(server, record);
	key->is_tls = (record->flags & REQUEST_IS_TLS) != 0;
	key->kind = (u8)kind;
	memcpy(key->name, name, strnlen(name, sizeof(key->name) - 1));
}

/* The bytes of one that is not measured are those of an earlier request. */
static bool is_farewell(const struct server *server, const struct rec_requests *record)
{
	const struct protocol *protocol = protocol_by_id(known_protocol(server, record));

	return protocol && protocol->farewell_bytes == record->received && record->received &&
	       !(record->flags & (REQUEST_HAS_TURN | REQUEST_IS_ANSWERED));
}

/* Its server had nothing to say to the set-up's last message: what came after it is answered. */
static bool is_set_up_and_asked(const struct rec_requests *record, const struct request_text *text)
{
	return text->set_up_bytes && record->received > text->set_up_bytes &&
	       (record->flags & REQUEST_HAS_TURN) && (record->flags & REQUEST_IS_ANSWERED);
}

/* Its protocol is known: so it is for those that are no streams, too. */
static void name_stream(const struct request_book *book, struct server *server,
			const struct rec_requests *record, struct request_text *ret_text)
{
	h2_book_name(&book->h2, record, book->window, ret_text);
	if (!server)
		return;
	server->protocol = PROTOCOL_HTTP2;
	memcpy(server->last, ret_text->endpoint, sizeof(server->last));
}

/* From the first bytes of what was sent. One that is not known is of the protocol of those before.
 */
static void name_request(struct server *server, const struct rec_requests *record,
			 struct request_text *ret_text)
{
	u32 known = known_protocol(server, record), found;

	found = protocol_of_request(record->request, record->request_length, known, ret_text);
	if (found && server)
		*(record->flags & REQUEST_IS_TLS ? &server->inner : &server->protocol) = found;
	if (!found) {
		*ret_text = (struct request_text){.kind = REQUEST_ASKS};
		strcpy(ret_text->endpoint, record->request_length ? "(unnamed)" : "(not seen)");
	}
	if (is_farewell(server, record)) {
		*ret_text = (struct request_text){.kind = REQUEST_TELLS};
		strcpy(ret_text->endpoint,
		       protocol_by_id(known_protocol(server, record))->farewell);
	}
	if (is_set_up_and_asked(record, ret_text)) {
		*ret_text = (struct request_text){.kind = REQUEST_ASKS};
		strcpy(ret_text->endpoint, "(tls, unnamed)");
	}
	if (record->flags & REQUEST_IS_BARE && ret_text->kind == REQUEST_ASKS) {
		*ret_text = (struct request_text){.kind = REQUEST_TELLS};
		strcpy(ret_text->endpoint, "(tls, no data)");
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

/* Nothing is said where the answer is of no form that is known. */
static void name_answer(const struct request_book *book, const struct endpoint *endpoint,
			const struct rec_requests *record, struct answer_text *ret)
{
	const struct protocol *protocol = protocol_by_id(endpoint->protocol);

	*ret = (struct answer_text){.is_error = false};
	if (record->flags & REQUEST_IS_STREAM)
		h2_book_answer(&book->h2, record, ret);
	else if (protocol && !protocol->answer(record->answer, record->answer_length, ret))
		*ret = (struct answer_text){.is_error = false};
}

static void add_answer(struct request_book *book, struct endpoint *endpoint,
		       const struct rec_requests *record, u64 weight, struct request *request)
{
	u64 ns = request->queue_ns + request->window_ns;
	struct answer_text answer;

	name_answer(book, endpoint, record, &answer);
	memcpy(request->status, answer.status, sizeof(request->status));
	endpoint->errors += answer.is_error ? weight : 0;
	endpoint->latency_ns += ns * weight;
	endpoint->queue_ns += request->queue_ns * weight;
	if (!endpoint->latency)
		return;
	hist_add_bucket(endpoint->latency, hist_place(ns), weight);
	if (ns > endpoint->latency->max)
		endpoint->latency->max = ns;
}

/* From the kernel's key to the session's id, 0 if the stack was lost. */
static void name_stack(const struct request_book *book, struct request_wait *wait)
{
	u64 stack;

	if (!wait->stack)
		return;
	if (!book->stack_ids || !stack_ids_find(book->stack_ids, wait->stack, &stack))
		stack = 0;
	wait->stack = stack;
}

/* The turn of the record, and those that it stands for, which are answered. */
static void add_turn(struct request_book *book, struct endpoint *endpoint,
		     const struct rec_requests *record, const struct request_text *text, u64 weight)
{
	struct request request;

	request_read(record, &request);
	request.weight = weight;
	if (!links_has_trace(&request.trace))
		memcpy(request.trace.id, text->trace, sizeof(request.trace.id));
	endpoint->requests += weight;
	endpoint->outcomes[request.outcome]++;
	endpoint->outcomes[REQUEST_ANSWERED] += weight - 1;
	endpoint->models[request.model] += weight;
	if (request.outcome != REQUEST_ANSWERED || !(record->flags & REQUEST_HAS_TURN))
		return;
	add_answer(book, endpoint, record, weight, &request);
	name_stack(book, &request.wait);
	if (request.parent)
		link_book_add_answer(&book->links, &request, endpoint->id, book->window);
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
	       record->answer_length <= sizeof(record->answer) &&
	       record->trailer_length <= ANSWER_TRAILER_MAX && record->end < REQUEST_END_COUNT;
}

/* The client's side: it is no request of ours, and its bytes are its server's to account for. */
static void add_call(struct request_book *book, const struct rec_requests *record)
{
	struct server alone = {0}, *server = server_of(book, record);
	struct answer_text answer = {.is_error = false};
	const struct protocol *protocol;
	struct request_text text;

	if (!server)
		server = &alone; /* what was sent says what it is, or nothing does */
	name_request(server, record, &text);
	protocol = protocol_by_id(known_protocol(server, record));
	if (protocol)
		protocol->answer(record->answer, record->answer_length, &answer);
	link_book_add_call(&book->links, record, book->window, known_protocol(server, record),
			   text.endpoint, answer.status);
}

/* What is to be known of a connection of HTTP/2 beside its streams. */
static void note_h2(struct request_book *book, const struct rec_requests *record)
{
	if (record->flags & REQUEST_IS_LOST) {
		book->h2.lost++;
		book->h2.lost_streams += record->stream;
	}
	if (!(record->flags & REQUEST_IS_STREAM) && record->end != REQUEST_END_NEXT &&
	    record->end != REQUEST_END_RECORDING)
		h2_book_close(&book->h2, record, book->window);
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
	link_book_add_trace(&book->links, record, book->window);
	if (record->flags & REQUEST_IS_TRACE)
		return;
	if (record->flags & REQUEST_IS_WITNESS) {
		link_book_add_witness(&book->links, record);
		return;
	}
	if (record->flags & REQUEST_IS_CALL) {
		if (record->forward.connection || record->backward.connection ||
		    links_has_trace(&record->trace))
			add_call(book, record);
		else
			links_count_unlinked(&book->links, record, book->window);
		return;
	}
	if (record->flags & REQUEST_IS_BLOCK) {
		h2_book_add(&book->h2, record, book->window);
		return;
	}
	server = server_of(book, record);
	if (weight && (record->flags & REQUEST_IS_STREAM))
		name_stream(book, server, record, &text);
	else if (weight)
		name_request(server, record, &text);
	note_h2(book, record);
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
		add_turn(book, endpoint, record, &text, weight);
	if ((record->flags & (REQUEST_HAS_TURN | REQUEST_IS_TLS)) == REQUEST_HAS_TURN &&
	    text.length && record->received > text.length)
		endpoint->several += weight;
}
