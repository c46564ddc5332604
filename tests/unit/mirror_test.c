// SPDX-License-Identifier: Apache-2.0
/*
 * What one process tells another about modules and mappings, and names that are asked for: they
 * come later, nobody waits, and what is told is not believed.
 */
#include "unit.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#include "../../src/base/clock.h"
#include "../../src/base/socket.h"
#include "../../src/symbolize/internal.h"

#define GENERATION 7
#define THEIR_ID   40 /* of the module, in the other process */

static struct symbolize *mirror;
static struct resolver *resolver;
static int peer; /* the symbolizer's end */

static int set_up(void **state)
{
	int pair[2];

	(void)state;
	if (symbolize_create(&mirror) || socketpair(AF_UNIX, SOCK_SEQPACKET, 0, pair) ||
	    symbolize_mirror(mirror, pair[0]))
		return -1;
	resolver = symbolize_resolver(mirror);
	peer = pair[1];
	return 0;
}

static int tear_down(void **state)
{
	(void)state;
	symbolize_free(mirror);
	close(peer);
	return 0;
}

static void tell(const void *fact, size_t size)
{
	assert_int_equal(socket_send(peer, fact, size, -1), 0);
}

static void tell_module(u32 number, const char *path)
{
	struct fact_module fact = {.head = {FACT_MODULE, number}, .module_kind = MODULE_FILE};

	strcpy(fact.path, path);
	strcpy(fact.build_id, "00ff");
	fact.identity = number * 1000ULL;
	tell(&fact, sizeof(fact));
}

static struct fact_mappings mappings_of(u32 module)
{
	return (struct fact_mappings){
		.head = {FACT_MAPPINGS, GENERATION},
		.total = 2,
		.count = 2,
		.mappings = {{0x1000, 0x2000, 0x1000, module, 0}, {0x4000, 0x5000, 0, module, 0}},
	};
}

static size_t size_of(const struct fact_mappings *fact)
{
	return offsetof(struct fact_mappings, mappings) + fact->count * sizeof(fact->mappings[0]);
}

static void tell_mappings(u32 module)
{
	struct fact_mappings fact = mappings_of(module);

	tell(&fact, size_of(&fact));
}

static void tell_name(u32 module, u64 address, const char *name, const char *file)
{
	struct fact_names fact = {.head = {FACT_NAMES, module}, .address = address, .count = 1};

	fact.names[0] = (struct fact_name){.source = NAME_SYMTAB, .line = 12};
	fact.names[0].name_size = (u16)(strlen(name) + 1);
	fact.names[0].file_size = (u16)(strlen(file) + 1);
	strcpy(fact.texts, name);
	strcpy(fact.texts + strlen(name) + 1, file);
	fact.texts_size = (u32)(strlen(name) + strlen(file) + 2);
	tell(&fact, offsetof(struct fact_names, texts) + fact.texts_size);
}

static struct place place_of(u64 address)
{
	struct place place;

	resolver->place(resolver, GENERATION, address, &place);
	return place;
}

static void told_mappings_place_addresses(void **state)
{
	struct module_info info;
	struct place place;

	(void)state;
	tell_module(THEIR_ID, "/bin/program");
	tell_mappings(THEIR_ID);
	/* nobody has read the socket yet: a record's generation is reason enough */
	place = place_of(0x1010);
	assert_int_equal(place.address, 0x10);
	resolver->describe(resolver, place.module, &info);
	assert_int_equal(info.kind, MODULE_FILE);
	assert_string_equal(info.path, "/bin/program");
	assert_string_equal(info.build_id, "00ff");
	assert_int_equal(info.identity, THEIR_ID * 1000);
	assert_int_equal(place_of(0x4fff).address, 0x4fff);
	assert_int_equal(place_of(0x3000).module, 0); /* between two mappings */
}

/* The first question that the other side got. */
static struct question take_question(void)
{
	struct question questions[QUESTIONS_MAX];

	symbolize_send_questions(mirror);
	assert_int_equal(socket_receive(peer, questions, sizeof(questions), NULL, 1000),
			 sizeof(questions[0]));
	return questions[0];
}

static void name_comes_later(void **state)
{
	struct frame_name names[FRAME_NAMES_MAX];
	struct question question;
	struct place place;

	(void)state;
	tell_module(THEIR_ID, "/bin/program");
	tell_mappings(THEIR_ID);
	place = place_of(0x1010);
	assert_int_equal(resolver->name(resolver, &place, names), 0);
	assert_int_equal(symbolize_names_pending(mirror), 1);
	question = take_question();
	assert_int_equal(question.kind, QUESTION_FUNCTION);
	assert_int_equal(question.module, THEIR_ID);
	assert_int_equal(question.address, 0x10);
	assert_int_equal(resolver->name(resolver, &place, names), 0); /* is not asked twice */
	tell_name(THEIR_ID, 0x10, "function", "file.c");
	symbolize_wait_for_names(mirror, clock_now_ns() + NS_PER_S);
	assert_int_equal(symbolize_names_pending(mirror), 0);
	assert_int_equal(resolver->name(resolver, &place, names), 1);
	assert_string_equal(names[0].name, "function");
	assert_string_equal(names[0].file, "file.c");
	assert_int_equal(names[0].line, 12);
	assert_int_equal(names[0].source, NAME_SYMTAB);
	assert_int_equal(symbolize_names_lost(mirror), 0);
}

static void name_that_is_expected_is_asked(void **state)
{
	struct place place;

	(void)state;
	tell_module(THEIR_ID, "/bin/program");
	tell_mappings(THEIR_ID);
	place = place_of(0x1010);
	resolver->expect(resolver, &place);
	assert_int_equal(take_question().address, 0x10);
}

/* A program that begins maps its libraries next: whoever reads its symbols cannot look at them. */
static void questions_wait_for_others_but_not_for_long(void **state)
{
	const struct timespec moment = {.tv_nsec = 300 * NS_PER_MS};
	struct question questions[QUESTIONS_MAX];
	struct place place;

	(void)state;
	tell_module(THEIR_ID, "/bin/program");
	tell_mappings(THEIR_ID);
	for (u64 address = 0x1010; address < 0x1013; address++) {
		place = place_of(address);
		resolver->expect(resolver, &place);
		symbolize_send_due_questions(mirror);
	}
	assert_int_equal(socket_receive(peer, questions, sizeof(questions), NULL, 0), -ETIMEDOUT);
	nanosleep(&moment, NULL);
	symbolize_send_due_questions(mirror);
	assert_int_equal(socket_receive(peer, questions, sizeof(questions), NULL, 0),
			 3 * sizeof(questions[0]));
}

static void variable_comes_later(void **state)
{
	struct fact_variable fact = {.head = {FACT_VARIABLE, THEIR_ID}, .name = "pool+0x28"};
	struct place place;
	char name[64];

	(void)state;
	tell_module(THEIR_ID, "/bin/program");
	tell_mappings(THEIR_ID);
	assert_true(resolver->place_data(resolver, GENERATION, 0x1800, &place));
	assert_int_equal(resolver->name_data(resolver, &place, name, sizeof(name)), NAME_PENDING);
	assert_int_equal(take_question().kind, QUESTION_VARIABLE);
	fact.address = place.address;
	tell(&fact, sizeof(fact));
	symbolize_take_facts(mirror);
	assert_int_equal(resolver->name_data(resolver, &place, name, sizeof(name)), NAME_FOUND);
	assert_string_equal(name, "pool+0x28");
}

/* Neither of them waits for ever, and both know that something was lost. */
static void questions_end_with_their_module_and_with_the_symbolizer(void **state)
{
	const struct fact_head gone = {FACT_MODULE_GONE, THEIR_ID};
	struct frame_name names[FRAME_NAMES_MAX];
	struct place first, second;

	(void)state;
	tell_module(THEIR_ID, "/bin/program");
	tell_module(THEIR_ID + 1, "/bin/other");
	tell_mappings(THEIR_ID);
	first = place_of(0x1010);
	tell_mappings(THEIR_ID + 1);
	symbolize_take_facts(mirror);
	second = place_of(0x1010);
	assert_int_not_equal(first.module, second.module);
	resolver->name(resolver, &first, names);
	resolver->name(resolver, &second, names);
	tell(&gone, sizeof(gone));
	symbolize_take_facts(mirror);
	assert_int_equal(symbolize_names_pending(mirror), 1);
	assert_int_equal(resolver->name(resolver, &first, names), 1);
	assert_null(names[0].name);
	assert_int_equal(names[0].source, NAME_LOST);
	close(peer);
	peer = -1;
	symbolize_take_facts(mirror);
	assert_int_equal(symbolize_facts_fd(mirror), -1);
	assert_int_equal(symbolize_names_pending(mirror), 0);
	assert_int_equal(symbolize_names_lost(mirror), 2);
}

/* Modules of the first one keep their paths for frames that were not written yet. */
static void another_symbolizer_begins_anew(void **state)
{
	struct module_info info;
	struct place before, after;
	int pair[2];

	(void)state;
	tell_module(THEIR_ID, "/bin/program");
	tell_mappings(THEIR_ID);
	before = place_of(0x1010);
	close(peer);
	assert_int_equal(socketpair(AF_UNIX, SOCK_SEQPACKET, 0, pair), 0);
	assert_int_equal(symbolize_mirror(mirror, pair[0]), 0);
	peer = pair[1];
	assert_int_equal(place_of(0x1010).module, 0); /* its mappings are not known any more */
	resolver->describe(resolver, before.module, &info);
	assert_string_equal(info.path, "/bin/program");
	tell_module(THEIR_ID, "/bin/program");
	tell_mappings(THEIR_ID);
	symbolize_take_facts(mirror);
	after = place_of(0x1010);
	assert_int_not_equal(after.module, before.module); /* numbers are not used twice */
}

static void hostile_facts_are_refused(void **state)
{
	struct fact_mappings mappings = mappings_of(THEIR_ID);
	struct fact_module module = {.head = {FACT_MODULE, 1}, .module_kind = MODULE_KERNEL};
	struct fact_names names = {.head = {FACT_NAMES, THEIR_ID}, .count = FRAME_NAMES_MAX + 1};
	struct fact_variable variable = {.head = {FACT_VARIABLE, THEIR_ID}};
	u32 kind = 99;

	(void)state;
	assert_false(mirror_take(mirror, &kind, sizeof(kind)));
	assert_false(mirror_take(mirror, &(struct fact_head){99, 0}, sizeof(struct fact_head)));
	assert_false(mirror_take(mirror, &module, sizeof(module))); /* the kernel is not theirs */
	module.module_kind = MODULE_FILE;
	assert_false(mirror_take(mirror, &module, sizeof(module) - 1));
	memset(module.path, 'x', sizeof(module.path));
	assert_false(mirror_take(mirror, &module, sizeof(module)));
	assert_false(mirror_take(mirror, &mappings, size_of(&mappings) - 1));
	mappings.first = 1; /* more than there are in all */
	assert_false(mirror_take(mirror, &mappings, size_of(&mappings)));
	mappings.total = ~0u;
	assert_false(mirror_take(mirror, &mappings, size_of(&mappings)));
	assert_false(mirror_take(mirror, &names, offsetof(struct fact_names, texts)));
	names.count = 1;
	names.names[0].name_size = 8; /* there is no text */
	assert_false(mirror_take(mirror, &names, offsetof(struct fact_names, texts)));
	names.texts_size = 8;
	memset(names.texts, 'x', 8); /* that does not end */
	assert_false(mirror_take(mirror, &names, offsetof(struct fact_names, texts) + 8));
	memset(variable.name, 'x', sizeof(variable.name));
	assert_false(mirror_take(mirror, &variable, sizeof(variable)));
}

/* Nobody has asked for it, or its module is not known. */
static void answer_without_a_question_is_ignored(void **state)
{
	(void)state;
	tell_name(THEIR_ID, 0x10, "function", "file.c");
	tell_module(THEIR_ID, "/bin/program");
	tell_name(THEIR_ID, 0x10, "function", "file.c");
	symbolize_take_facts(mirror);
	assert_true(symbolize_facts_fd(mirror) >= 0);
	assert_int_equal(symbolize_names_pending(mirror), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(told_mappings_place_addresses, set_up, tear_down),
		cmocka_unit_test_setup_teardown(name_comes_later, set_up, tear_down),
		cmocka_unit_test_setup_teardown(name_that_is_expected_is_asked, set_up, tear_down),
		cmocka_unit_test_setup_teardown(questions_wait_for_others_but_not_for_long, set_up,
						tear_down),
		cmocka_unit_test_setup_teardown(variable_comes_later, set_up, tear_down),
		cmocka_unit_test_setup_teardown(
			questions_end_with_their_module_and_with_the_symbolizer, set_up, tear_down),
		cmocka_unit_test_setup_teardown(another_symbolizer_begins_anew, set_up, tear_down),
		cmocka_unit_test_setup_teardown(hostile_facts_are_refused, set_up, tear_down),
		cmocka_unit_test_setup_teardown(answer_without_a_question_is_ignored, set_up,
						tear_down),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
