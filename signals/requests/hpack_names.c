// SPDX-License-Identifier: Apache-2.0
#include "hpack_names.h"

#include "http_path.h"
#include "printable.h"

#define METHOD_MAX	16
#define STATUS_DIGITS	3
#define GRPC_DIGITS_MAX 2
#define GRPC		"application/grpc"

static struct bytes bytes_of(const struct hpack_text *text)
{
	return (struct bytes){text->bytes, text->length};
}

static bool is_method(const struct hpack_text *method)
{
	if (!method->is_there || method->is_cut || !method->length || method->length > METHOD_MAX)
		return false;
	for (size_t i = 0; i < method->length; i++)
		if (!byte_is_upper(method->bytes[i]) && method->bytes[i] != '-')
			return false;
	return true;
}

static bool is_grpc(const struct hpack_fields *fields)
{
	const struct hpack_text *type = &fields->of[HPACK_CONTENT_TYPE];

	return type->is_there && bytes_begin(bytes_of(type), GRPC);
}

static size_t identifier_length(struct bytes bytes)
{
	size_t length = 0;

	while (length < bytes.length &&
	       (byte_is_letter(bytes.at[length]) || bytes.at[length] == '_' ||
		(length && byte_is_digit(bytes.at[length]))))
		length++;
	return length;
}

/*
 * The length of "/package.Service" of "/package.Service/Method": names that a program chose, and no
 * values. 0: it is another path.
 */
static size_t service_length(struct bytes path)
{
	struct bytes rest = path;
	size_t parts = 0, length;
	u8 first;

	do { /* behind the slash, or a dot */
		rest = bytes_from(rest, 1);
		length = identifier_length(rest);
		if (!length)
			return 0;
		first = rest.at[0];
		rest = bytes_from(rest, length);
		parts++;
	} while (rest.length && rest.at[0] == '.');
	if (parts < 2 || !byte_is_upper(first) || rest.length < 2 || rest.at[0] != '/' ||
	    identifier_length(bytes_from(rest, 1)) + 1 != rest.length)
		return 0;
	return path.length - rest.length;
}

/* As an RPC is asked, whatever its content type, which is not always known. */
static size_t rpc_length(const struct hpack_fields *request)
{
	const struct hpack_text *path = &request->of[HPACK_PATH];

	if (!bytes_are(bytes_of(&request->of[HPACK_METHOD]), "POST") || path->is_cut ||
	    !path->length || path->bytes[0] != '/')
		return 0;
	return service_length(bytes_of(path));
}

bool hpack_name_request(const struct hpack_fields *request, struct request_text *ret)
{
	const struct hpack_text *path = &request->of[HPACK_PATH];
	struct bytes target = bytes_of(path);
	struct printable line;
	size_t service;

	*ret = (struct request_text){.kind = REQUEST_ASKS};
	printable_set(ret->endpoint, sizeof(ret->endpoint), "(h2, unnamed)");
	if (!is_method(&request->of[HPACK_METHOD]) || !path->is_there || !target.length ||
	    (target.at[0] != '/' && !bytes_are(target, "*")))
		return false;
	printable_begin(&line, ret->endpoint, sizeof(ret->endpoint));
	printable_add(&line, bytes_of(&request->of[HPACK_METHOD]));
	printable_add_text(&line, " ");
	service = rpc_length(request);
	printable_add(&line, bytes_first(target, service));
	target = bytes_from(target, service);
	if (target.at[0] == '*')
		printable_add(&line, target);
	else
		http_path_add(&line, target, !path->is_cut);
	return true;
}

static bool is_number(const struct hpack_text *text, size_t least, size_t most)
{
	if (!text->is_there || text->is_cut || text->length < least || text->length > most)
		return false;
	for (size_t i = 0; i < text->length; i++)
		if (!byte_is_digit(text->bytes[i]))
			return false;
	return true;
}

/* Of gRPC the HTTP status is 200 whatever happened; without its own status, nothing is known. */
static void name_grpc(const struct hpack_text *status, struct answer_text *ret)
{
	struct printable line;

	if (!is_number(status, 1, GRPC_DIGITS_MAX))
		return;
	printable_begin(&line, ret->status, sizeof(ret->status));
	printable_add_text(&line, "grpc ");
	printable_add(&line, bytes_of(status));
	ret->is_error = status->length > 1 || status->bytes[0] != '0';
}

void hpack_name_answer(const struct hpack_fields *request, const struct hpack_fields *answer,
		       const struct hpack_fields *trailer, struct answer_text *ret)
{
	const struct hpack_text *status = &trailer->of[HPACK_STATUS];
	const struct hpack_text *grpc = &trailer->of[HPACK_GRPC_STATUS];
	struct printable line;

	*ret = (struct answer_text){.is_error = false};
	if (!status->is_there) /* else the block before was such as 103 */
		status = &answer->of[HPACK_STATUS];
	if (!grpc->is_there)
		grpc = &answer->of[HPACK_GRPC_STATUS];
	if (!is_number(status, STATUS_DIGITS, STATUS_DIGITS) || status->bytes[0] < '2')
		return;
	if ((is_grpc(answer) || grpc->is_there || rpc_length(request)) && status->bytes[0] == '2') {
		name_grpc(grpc, ret);
		return;
	}
	printable_begin(&line, ret->status, sizeof(ret->status));
	printable_add(&line, bytes_of(status));
	ret->is_error = status->bytes[0] >= '4';
}
