// SPDX-License-Identifier: Apache-2.0
#include "publish.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

#include "../base/socket.h"
#include "../base/text.h"
#include "internal.h"

/* Whoever listened is gone when it cannot be sent: another one will come, and is told all. */
static void stop(struct publisher *publisher)
{
	if (publisher->sock >= 0)
		close(publisher->sock);
	*publisher = (struct publisher){.sock = -1};
}

static void tell(struct symbolize *symbolize, const void *fact, size_t size)
{
	struct publisher *publisher = &symbolize->publisher;

	if (publisher->sock >= 0 && socket_send(publisher->sock, fact, size, -1))
		stop(publisher);
}

static void tell_gone(struct symbolize *symbolize, enum fact_kind kind, u32 number)
{
	const struct fact_head head = {kind, number};

	tell(symbolize, &head, sizeof(head));
}

/* --- what there is --- */

static void publish_module(struct symbolize *symbolize, u32 id)
{
	struct module *module = modules_get(&symbolize->modules, id);
	struct fact_module fact = {.head = {FACT_MODULE, id}};

	if (!module || module->is_published)
		return;
	module->is_published = true;
	fact.identity = module->identity;
	fact.module_kind = module->kind;
	text_copy(fact.build_id, sizeof(fact.build_id), module->build_id);
	text_copy(fact.path, sizeof(fact.path), module->path);
	tell(symbolize, &fact, sizeof(fact));
}

static void publish_part(struct symbolize *symbolize, const struct mapset *set, u32 first)
{
	struct fact_mappings fact = {
		.head = {FACT_MAPPINGS, set->range.generation},
		.total = set->count,
		.first = first,
	};

	for (u32 i = first; i < set->count && fact.count < FACT_MAPPINGS_PART; i++) {
		const struct mapped *from = &set->mappings[i];

		fact.mappings[fact.count++] = (struct fact_mapping){
			.begin = from->begin,
			.end = from->end,
			.bias = from->bias,
			.module = from->module,
		};
	}
	tell(symbolize, &fact,
	     offsetof(struct fact_mappings, mappings) + fact.count * sizeof(fact.mappings[0]));
}

void publish_mappings(struct symbolize *symbolize, struct mapset *set)
{
	if (symbolize->publisher.sock < 0 || set->is_published)
		return;
	set->is_published = true;
	for (u32 i = 0; i < set->count; i++)
		publish_module(symbolize, set->mappings[i].module);
	publish_part(symbolize, set, 0); /* also of one that has nothing mapped */
	for (u32 first = FACT_MAPPINGS_PART; first < set->count; first += FACT_MAPPINGS_PART)
		publish_part(symbolize, set, first);
}

static void on_forget(void *context, const struct mapset *set)
{
	if (set->is_published)
		tell_gone(context, FACT_MAPPINGS_GONE, set->range.generation);
}

static void on_remove(void *context, const struct module *module)
{
	if (module->is_published)
		tell_gone(context, FACT_MODULE_GONE, module->id);
}

void symbolize_publish(struct symbolize *symbolize, int sock)
{
	const struct number_map *sets = &symbolize->processes.by_generation;
	const struct number_map *modules = &symbolize->modules.all;

	stop(&symbolize->publisher);
	symbolize->publisher.sock = sock;
	symbolize->processes.on_forget = on_forget;
	symbolize->modules.on_remove = on_remove;
	symbolize->processes.context = symbolize->modules.context = symbolize;
	for (u32 i = 0; i < modules->count; i++)
		((struct module *)modules->items[i].thing)->is_published = false;
	for (u32 i = 0; i < sets->count; i++) {
		struct mapset *set = sets->items[i].thing;

		set->is_published = false;
		publish_mappings(symbolize, set);
	}
}

/* --- questions --- */

int symbolize_questions_fd(const struct symbolize *symbolize)
{
	return symbolize->publisher.sock;
}

/* A text behind the others; nothing of it if there is none. */
static u16 add_text(struct fact_names *fact, const char *text)
{
	size_t length = text ? strnlen(text, FACT_TEXT_BYTES - 1) : 0;

	if (!text)
		return 0;
	memcpy(fact->texts + fact->texts_size, text, length);
	fact->texts[fact->texts_size + length] = '\0';
	fact->texts_size += (u32)length + 1;
	return (u16)(length + 1);
}

static void answer_function(struct symbolize *symbolize, const struct question *question)
{
	const struct place place = {question->module, question->address};
	struct frame_name names[FRAME_NAMES_MAX];
	/* Its texts are not cleared: they are large, and what is not written is not sent. */
	struct fact_names fact;

	fact.head = (struct fact_head){FACT_NAMES, question->module};
	fact.address = question->address;
	fact.count = (u32)symbolize->resolver.name(&symbolize->resolver, &place, names);
	fact.texts_size = 0;
	for (u32 i = 0; i < fact.count; i++) {
		fact.names[i] = (struct fact_name){names[i].source, names[i].line, 0, 0,
						   names[i].is_line_refused};
		fact.names[i].name_size = add_text(&fact, names[i].name);
		fact.names[i].file_size = add_text(&fact, names[i].file);
	}
	memset(&fact.names[fact.count], 0, (FRAME_NAMES_MAX - fact.count) * sizeof(fact.names[0]));
	tell(symbolize, &fact, offsetof(struct fact_names, texts) + fact.texts_size);
}

static void answer_variable(struct symbolize *symbolize, const struct question *question)
{
	const struct place place = {question->module, question->address};
	struct fact_variable fact = {.head = {FACT_VARIABLE, question->module},
				     .address = question->address};

	if (symbolize->resolver.name_data(&symbolize->resolver, &place, fact.name,
					  sizeof(fact.name)) != NAME_FOUND)
		fact.name[0] = '\0';
	tell(symbolize, &fact, sizeof(fact));
}

void symbolize_take_questions(struct symbolize *symbolize)
{
	struct publisher *publisher = &symbolize->publisher;
	ssize_t got;

	if (publisher->sock < 0 || publisher->at < publisher->count)
		return;
	got = socket_receive(publisher->sock, publisher->questions, sizeof(publisher->questions),
			     NULL, 0);
	if (got == -ETIMEDOUT)
		return;
	if (got <= 0 || (size_t)got % sizeof(publisher->questions[0])) {
		stop(publisher);
		return;
	}
	publisher->at = 0;
	publisher->count = (u32)((size_t)got / sizeof(publisher->questions[0]));
}

bool symbolize_answer_one(struct symbolize *symbolize)
{
	struct publisher *publisher = &symbolize->publisher;
	const struct question *question;

	if (publisher->at >= publisher->count)
		return false;
	question = &publisher->questions[publisher->at++];
	if (question->kind == QUESTION_FUNCTION)
		answer_function(symbolize, question);
	else if (question->kind == QUESTION_VARIABLE)
		answer_variable(symbolize, question);
	return true;
}
