// SPDX-License-Identifier: Apache-2.0
/* What was asked of the symbolizer, and what it answered. */
#include <stdlib.h>
#include <string.h>

#include "../base/clock.h"
#include "../base/text.h"
#include "internal.h"

/*
 * Questions wait for others. A program that begins maps its libraries in its first milliseconds:
 * whoever reads its symbols then cannot tell the kernel side where they are, and stacks are cut.
 */
#define GATHER_NS (250 * NS_PER_MS)

#define USED_MAX  4096		   /* answers that were used, before they are forgotten ... */
#define TIDY_NS	  (10 * NS_PER_S)  /* ... or after so long */
#define UNUSED_NS (120 * NS_PER_S) /* an answer that nobody came for is forgotten, too */

struct asked_key {
	u32 kind;
	u32 module; /* our number of it */
	u64 address;
};

struct asked {
	struct asked_key key;
	void *answer; /* struct fact_names or fact_variable; NULL: none yet, or none at all */
	u64 size;     /* of the answer */
	u64 answered_ns;
	u32 is_answered;
	u32 is_used;
};

/* --- questions --- */

static void end_wait(struct mirror *mirror, struct asked *asked)
{
	asked->is_answered = true;
	asked->answered_ns = clock_now_ns();
	mirror->waiting--;
}

/* NULL: there is no room, and it will have no name. */
static struct asked *ask(struct symbolize *symbolize, enum question_kind kind,
			 const struct place *place)
{
	const struct asked_key key = {kind, place->module, place->address};
	struct mirror *mirror = symbolize->mirror;
	size_t before = mirror->questions.count;
	struct asked *asked = hash_add(&mirror->questions, &key);
	const struct module *module;

	if (!asked) {
		mirror->lost++;
		return NULL;
	}
	if (mirror->questions.count == before)
		return asked;
	if (mirror->unsent == before)
		mirror->send_ns = clock_now_ns() + GATHER_NS;
	mirror->waiting++;
	module = modules_get(&symbolize->modules, place->module);
	if (!module || module->their_id == MIRROR_ORPHAN) {
		end_wait(mirror, asked);
		mirror->lost++;
	}
	return asked;
}

static bool is_wanted(const void *item, const void *now_ns)
{
	const struct asked *asked = item;

	return !asked->is_used &&
	       (!asked->is_answered || asked->answered_ns + UNUSED_NS > *(const u64 *)now_ns);
}

/* Not one by one: what was given out last is still read. */
void mirror_forget_used(struct mirror *mirror)
{
	u64 now_ns = clock_now_ns();

	if (mirror->unsent < mirror->questions.count ||
	    (mirror->used < USED_MAX && now_ns < mirror->tidy_ns))
		return;
	mirror->tidy_ns = now_ns + TIDY_NS;
	for (size_t i = 0; i < mirror->questions.count; i++) {
		struct asked *asked = hash_item(&mirror->questions, i);

		if (is_wanted(asked, &now_ns))
			continue;
		free(asked->answer);
		mirror->answer_bytes -= asked->size;
	}
	hash_retain(&mirror->questions, is_wanted, &now_ns);
	mirror->unsent = mirror->questions.count;
	mirror->used = 0;
}

static void use(struct mirror *mirror, struct asked *asked)
{
	mirror->used += !asked->is_used;
	asked->is_used = true;
}

size_t mirror_name(struct symbolize *symbolize, const struct place *place,
		   struct frame_name ret_names[FRAME_NAMES_MAX])
{
	struct asked *asked = ask(symbolize, QUESTION_FUNCTION, place);
	const struct fact_names *fact = asked ? asked->answer : NULL;
	const char *text;

	ret_names[0] = (struct frame_name){.source = NAME_LOST};
	if (asked && !asked->is_answered)
		return 0;
	if (asked)
		use(symbolize->mirror, asked);
	if (!fact)
		return 1;
	text = fact->texts;
	for (u32 i = 0; i < fact->count; i++) {
		const struct fact_name *name = &fact->names[i];

		ret_names[i] = (struct frame_name){
			.name = name->name_size ? text : NULL,
			.file = name->file_size ? text + name->name_size : NULL,
			.line = name->line,
			.is_line_refused = name->is_line_refused,
			.source = (enum name_source)name->source,
		};
		text += name->name_size + name->file_size;
	}
	return fact->count;
}

void mirror_expect(struct symbolize *symbolize, const struct place *place)
{
	ask(symbolize, QUESTION_FUNCTION, place);
}

enum name_answer mirror_name_data(struct symbolize *symbolize, const struct place *place,
				  char *ret_name, size_t size)
{
	struct asked *asked = ask(symbolize, QUESTION_VARIABLE, place);
	const struct fact_variable *fact = asked ? asked->answer : NULL;

	if (asked && !asked->is_answered)
		return NAME_PENDING;
	if (asked)
		use(symbolize->mirror, asked);
	if (!fact || !fact->name[0])
		return NAME_ABSENT;
	text_copy(ret_name, size, fact->name);
	return NAME_FOUND;
}

/* --- answers --- */

static void keep_answer(struct symbolize *symbolize, enum question_kind kind, u64 address,
			const struct fact_head *head, size_t size)
{
	struct mirror *mirror = symbolize->mirror;
	const struct module *module = number_map_find(&mirror->theirs, head->number);
	const struct asked_key key = {kind, module ? module->id : 0, address};
	struct asked *asked = module ? hash_find(&mirror->questions, &key) : NULL;

	if (!asked || asked->is_answered)
		return; /* not asked for */
	end_wait(mirror, asked);
	if (mirror->answer_bytes + size <= MIRROR_BYTES_MAX)
		asked->answer = malloc(size);
	if (!asked->answer) {
		mirror->lost++;
		return;
	}
	memcpy(asked->answer, head, size);
	asked->size = size;
	mirror->answer_bytes += size;
}

static bool are_texts_sound(const struct fact_names *fact)
{
	size_t at = 0;

	for (u32 i = 0; i < fact->count; i++) {
		const size_t sizes[] = {fact->names[i].name_size, fact->names[i].file_size};

		for (int k = 0; k < 2; at += sizes[k++])
			if (sizes[k] && (at + sizes[k] > fact->texts_size ||
					 fact->texts[at + sizes[k] - 1] != '\0'))
				return false;
	}
	return true;
}

bool mirror_take_names(struct symbolize *symbolize, const struct fact_names *fact, size_t size)
{
	const size_t head = offsetof(struct fact_names, texts);

	if (size < head || size - head != fact->texts_size || !fact->count ||
	    fact->count > FRAME_NAMES_MAX || !are_texts_sound(fact))
		return false;
	keep_answer(symbolize, QUESTION_FUNCTION, fact->address, &fact->head, size);
	return true;
}

bool mirror_take_variable(struct symbolize *symbolize, const struct fact_variable *fact,
			  size_t size)
{
	if (size != sizeof(*fact) || !memchr(fact->name, '\0', sizeof(fact->name)))
		return false;
	keep_answer(symbolize, QUESTION_VARIABLE, fact->address, &fact->head, size);
	return true;
}

/* What is asked of it, module 0: of all, has no answer any more. */
void mirror_end_questions(struct mirror *mirror, u32 module)
{
	for (size_t i = 0; mirror->waiting && i < mirror->questions.count; i++) {
		struct asked *asked = hash_item(&mirror->questions, i);

		if (asked->is_answered || (module && asked->key.module != module))
			continue;
		end_wait(mirror, asked);
		mirror->lost++;
	}
}

size_t mirror_fill_questions(struct symbolize *symbolize, struct question *questions,
			     size_t *ret_next)
{
	const struct mirror *mirror = symbolize->mirror;
	size_t count = 0, i = mirror->unsent;

	for (; i < mirror->questions.count && count < QUESTIONS_MAX; i++) {
		const struct asked *asked = hash_item(&mirror->questions, i);
		const struct module *module = modules_get(&symbolize->modules, asked->key.module);

		if (asked->is_answered || !module || module->their_id == MIRROR_ORPHAN)
			continue;
		questions[count++] =
			(struct question){asked->key.kind, module->their_id, asked->key.address};
	}
	*ret_next = i;
	return count;
}

size_t symbolize_names_pending(const struct symbolize *symbolize)
{
	return symbolize->mirror ? symbolize->mirror->waiting : 0;
}

u64 symbolize_names_lost(const struct symbolize *symbolize)
{
	return symbolize->mirror ? symbolize->mirror->lost : 0;
}

void mirror_names_init(struct mirror *mirror)
{
	hash_init(&mirror->questions, sizeof(struct asked), sizeof(struct asked_key),
		  MIRROR_QUESTIONS_MAX);
}

void mirror_names_free(struct mirror *mirror)
{
	for (size_t i = 0; i < mirror->questions.count; i++)
		free(((struct asked *)hash_item(&mirror->questions, i))->answer);
	hash_free(&mirror->questions);
}
