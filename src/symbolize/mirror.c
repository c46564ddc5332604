// SPDX-License-Identifier: Apache-2.0
#include "mirror.h"

#include <errno.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "../base/clock.h"
#include "../base/socket.h"
#include "internal.h"

/* --- modules and mappings --- */

static bool take_module(struct symbolize *symbolize, const struct fact_module *fact, size_t size)
{
	struct mirror *mirror = symbolize->mirror;
	struct module *module;

	if (size != sizeof(*fact) || !memchr(fact->path, '\0', sizeof(fact->path)) ||
	    !memchr(fact->build_id, '\0', sizeof(fact->build_id)) ||
	    fact->head.number == MIRROR_ORPHAN ||
	    number_map_find(&mirror->theirs, fact->head.number) ||
	    (fact->module_kind != MODULE_FILE && fact->module_kind != MODULE_VDSO &&
	     fact->module_kind != MODULE_JIT))
		return false;
	module = modules_add_told(&symbolize->modules, (enum module_kind)fact->module_kind,
				  fact->path, fact->build_id, fact->identity);
	if (!module)
		return true; /* counted as refused */
	module->their_id = fact->head.number;
	if (number_map_set(&mirror->theirs, module->their_id, module))
		modules_remove(&symbolize->modules, module);
	return true;
}

static void lose_module(struct symbolize *symbolize, u32 number)
{
	struct module *module = number_map_remove(&symbolize->mirror->theirs, number);

	if (!module)
		return;
	mirror_end_questions(symbolize->mirror, module->id);
	modules_remove(&symbolize->modules, module);
}

static bool take_mappings(struct symbolize *symbolize, const struct fact_mappings *fact,
			  size_t size)
{
	const size_t head = offsetof(struct fact_mappings, mappings);
	struct mapped part[FACT_MAPPINGS_PART];

	if (size < head || fact->count > FACT_MAPPINGS_PART ||
	    size - head != fact->count * sizeof(fact->mappings[0]) ||
	    fact->total > SCAN_MAPPINGS_MAX || fact->first > fact->total ||
	    fact->count > fact->total - fact->first)
		return false;
	for (u32 i = 0; i < fact->count; i++) {
		const struct fact_mapping *from = &fact->mappings[i];
		const struct module *module =
			number_map_find(&symbolize->mirror->theirs, from->module);

		part[i] = (struct mapped){from->begin, from->end, from->bias,
					  module ? module->id : 0, 0};
	}
	return !processes_put(&symbolize->processes, fact->head.number, fact->total, fact->first,
			      part, fact->count);
}

bool mirror_take(struct symbolize *symbolize, const void *message, size_t size)
{
	const union fact *fact = message;

	if (size < sizeof(fact->head))
		return false;
	switch (fact->head.kind) {
	case FACT_MODULE:
		return take_module(symbolize, &fact->module, size);
	case FACT_MODULE_GONE:
		lose_module(symbolize, fact->head.number);
		return true;
	case FACT_MAPPINGS:
		return take_mappings(symbolize, &fact->mappings, size);
	case FACT_MAPPINGS_GONE:
		processes_remove(&symbolize->processes, fact->head.number);
		return true;
	case FACT_NAMES:
		return mirror_take_names(symbolize, &fact->names, size);
	case FACT_VARIABLE:
		return mirror_take_variable(symbolize, &fact->variable, size);
	default:
		return false;
	}
}

/* --- the symbolizer comes and goes --- */

/* Nobody answers any more: what was asked has no name. */
static void detach(struct symbolize *symbolize)
{
	struct mirror *mirror = symbolize->mirror;

	if (mirror->sock >= 0)
		close(mirror->sock);
	mirror->sock = -1;
	mirror_end_questions(mirror, 0);
	mirror->unsent = mirror->questions.count;
}

/* Frames that were not written yet may still name them: they stay until the next one comes. */
static void orphan_modules(struct symbolize *symbolize)
{
	struct mirror *mirror = symbolize->mirror;
	const struct number_map *all = &symbolize->modules.all;

	for (u32 i = all->count; i > 0; i--) {
		struct module *module = all->items[i - 1].thing;

		if (module->kind == MODULE_KERNEL || module->kind == MODULE_KERNEL_OTHER)
			continue;
		if (module->their_id == MIRROR_ORPHAN)
			modules_remove(&symbolize->modules, module);
		else
			module->their_id = MIRROR_ORPHAN;
	}
	number_map_free(&mirror->theirs);
	processes_clear(&symbolize->processes);
}

int mirror_attach(struct symbolize *symbolize, int sock)
{
	struct mirror *mirror = symbolize->mirror;

	if (!mirror) {
		mirror = symbolize->mirror = calloc(1, sizeof(*mirror));
		if (!mirror) {
			close(sock);
			return -ENOMEM;
		}
		mirror->sock = -1;
		mirror_names_init(mirror);
	}
	detach(symbolize);
	orphan_modules(symbolize);
	if (number_map_init(&mirror->theirs, MODULES_MAX)) {
		close(sock);
		return -ENOMEM;
	}
	mirror->sock = sock;
	return 0;
}

void mirror_free(struct symbolize *symbolize)
{
	struct mirror *mirror = symbolize->mirror;

	if (!mirror)
		return;
	mirror_names_free(mirror);
	number_map_free(&mirror->theirs);
	if (mirror->sock >= 0)
		close(mirror->sock);
	free(mirror);
	symbolize->mirror = NULL;
}

/* --- the socket --- */

int symbolize_mirror(struct symbolize *symbolize, int sock)
{
	return mirror_attach(symbolize, sock);
}

void symbolize_number_above(struct symbolize *symbolize, u32 number)
{
	if (symbolize->modules.last_id < number)
		symbolize->modules.last_id = number;
}

int symbolize_facts_fd(const struct symbolize *symbolize)
{
	return symbolize->mirror ? symbolize->mirror->sock : -1;
}

void symbolize_take_facts(struct symbolize *symbolize)
{
	struct mirror *mirror = symbolize->mirror;
	_Alignas(8) char message[sizeof(union fact)];

	while (mirror && mirror->sock >= 0) {
		ssize_t got = socket_receive(mirror->sock, message, sizeof(message), NULL, 0);

		if (got == -ETIMEDOUT)
			return;
		if (got <= 0 || !mirror_take(symbolize, message, (size_t)got)) {
			detach(symbolize); /* dead, or mad: another one will come */
			return;
		}
	}
}

void symbolize_send_questions(struct symbolize *symbolize)
{
	struct mirror *mirror = symbolize->mirror;
	struct question questions[QUESTIONS_MAX];

	while (mirror && mirror->sock >= 0 && mirror->unsent < mirror->questions.count) {
		size_t next, count = mirror_fill_questions(symbolize, questions, &next);
		int err = count ? socket_send_now(mirror->sock, questions,
						  count * sizeof(questions[0]))
				: 0;

		if (err == -EAGAIN)
			return; /* it is busy: the next time */
		if (err) {
			detach(symbolize);
			return;
		}
		mirror->unsent = next;
	}
	if (mirror)
		mirror_forget_used(mirror);
}

void symbolize_send_due_questions(struct symbolize *symbolize)
{
	const struct mirror *mirror = symbolize->mirror;

	if (mirror && mirror->unsent < mirror->questions.count && clock_now_ns() >= mirror->send_ns)
		symbolize_send_questions(symbolize);
}

void symbolize_wait_for_names(struct symbolize *symbolize, u64 until_ns)
{
	while (symbolize_names_pending(symbolize)) {
		struct pollfd ready = {.fd = symbolize_facts_fd(symbolize), .events = POLLIN};
		u64 now_ns = clock_now_ns();

		if (ready.fd < 0 || now_ns >= until_ns)
			return;
		symbolize_send_questions(symbolize);
		if (poll(&ready, 1, (int)((until_ns - now_ns) / NS_PER_MS) + 1) < 0 &&
		    errno != EINTR)
			return;
		symbolize_take_facts(symbolize);
	}
}
