// SPDX-License-Identifier: Apache-2.0
/* Processes that died are replaced while the measurement goes on. */
#include <stdio.h>
#include <time.h>
#include <unistd.h>

#include "../base/clock.h"
#include "../base/log.h"
#include "../worker/unwinding.h"
#include "engine_state.h"

/* One that dies more often does so by what it is given: another one would, too. */
#define REPLACED_MAX 5
#define REPLACED_NS  (60 * NS_PER_S)

#define NAMES_NS (30 * NS_PER_S) /* that the last names may take */
#define LOOK_NS	 (5 * NS_PER_MS)

static bool may_replace(struct replacing *replacing)
{
	u64 now_ns = clock_now_ns();

	if (now_ns - replacing->since_ns >= REPLACED_NS)
		*replacing = (struct replacing){.since_ns = now_ns};
	return replacing->count < REPLACED_MAX;
}

static unsigned long long left_s(const struct replacing *replacing)
{
	u64 passed_ns = clock_now_ns() - replacing->since_ns;

	return passed_ns < REPLACED_NS ? (REPLACED_NS - passed_ns) / NS_PER_S + 1 : 0;
}

static void tell(const struct engine *engine, const char *sentence)
{
	if (engine->options->show_progress)
		fputs("\r\033[K", stderr);
	log_info("%s", sentence);
}

/* There is none until its next minute begins. */
static void pause_symbolizer(struct engine *engine)
{
	struct replacing *replacing = &engine->replacing_symbolizer;
	char sentence[160];

	if (replacing->is_given_up)
		return;
	replacing->is_given_up = true;
	snprintf(sentence, sizeof(sentence),
		 "new processes have no stacks for %llu s: the symbolizer process was replaced %d "
		 "times within a minute, and has ended again; dmesg may say why",
		 left_s(replacing), REPLACED_MAX);
	tell(engine, sentence);
}

/* One that was ended in a read that hangs: its file system is left alone. */
static bool leave_stalled_alone(struct helpers *helpers)
{
	struct worker_stall stall = worker_take_stall(helpers->symbolizer);

	if (stall.pid_fd < 0)
		return false;
	opener_reader_hung(helpers->opener, stall.dev, stall.pid_fd);
	close(stall.pid_fd);
	return true;
}

/* It knows nothing: processes are looked at again, and names that were asked for are lost. */
static void replace_symbolizer(struct engine *engine)
{
	struct helpers *helpers = &engine->helpers;
	struct replacing *replacing = &engine->replacing_symbolizer;
	bool was_stalled = leave_stalled_alone(helpers);
	int err;

	if (!may_replace(replacing)) {
		pause_symbolizer(engine);
		return;
	}
	replacing->count++;
	err = worker_replace(helpers->symbolizer);
	if (!err)
		err = worker_unwinding_connect(helpers->symbolizer, helpers->ingest);
	if (!err && engine->mappings)
		err = mappings_begin_again(engine->mappings);
	if (err)
		return; /* the next time */
	metadata_symbolizer_replaced(&engine->metadata);
	tell(engine,
	     was_stalled ? "a file system did not answer within 2 s: the symbolizer process "
			   "was replaced, and files there are not read until it answers"
			 : "the symbolizer process ended and was replaced; stacks are incomplete "
			   "for a moment, and some functions are not symbolized");
}

/* --- ingest --- */

static void give_up_ingest(struct engine *engine)
{
	engine->replacing_ingest.is_given_up = true;
	log_error("the session ends at window %llu: the ingest process ended too often; a line "
		  "above or dmesg may say why",
		  (unsigned long long)engine->result->windows);
	engine->is_broken = true;
}

/*
 * It knows nothing: it goes on with the session's files as they are, the symbolizer tells it what
 * is mapped, and what was told to the one before is told to it again. Records wait until then. If
 * the symbolizer has ended, too, the one that replaces it does its part.
 */
static int begin_again(struct engine *engine)
{
	struct helpers *helpers = &engine->helpers;
	int err = worker_replace(helpers->ingest);

	if (!err)
		err = engine_resume_session(engine);
	if (err)
		return err;
	if (engine->mappings)
		engine_give_kallsyms(engine, false);
	if (!worker_has_ended(helpers->symbolizer))
		worker_unwinding_connect(helpers->symbolizer, helpers->ingest);
	capture_forget_told(engine->capture);
	probes_tell_again(&engine->plan.probes, engine->capture);
	return worker_session_continue(helpers->ingest);
}

static void replace_ingest(struct engine *engine)
{
	struct replacing *replacing = &engine->replacing_ingest;

	if (!may_replace(replacing)) {
		give_up_ingest(engine);
		return;
	}
	replacing->count++;
	rotation_drop_next(&engine->result->rotation);
	if (begin_again(engine))
		return; /* the next time */
	engine->is_ingest_new = true;
	metadata_ingest_replaced(&engine->metadata);
	engine_prepare_file(engine);
	tell(engine, "the ingest process ended and was replaced; the window that was open is in "
		     "the session, but its time is not attributed");
}

void engine_replace_helpers(struct engine *engine)
{
	if (engine->is_ended || engine->is_broken)
		return;
	if (worker_has_ended(engine->helpers.ingest))
		replace_ingest(engine);
	worker_end_stalled(engine->helpers.symbolizer);
	if (worker_has_ended(engine->helpers.symbolizer))
		replace_symbolizer(engine);
}

void engine_wait_for_names(struct engine *engine)
{
	const struct timespec pause = {.tv_nsec = LOOK_NS};
	u64 begin_ns = clock_now_ns();
	bool is_told = false;
	u32 pending = 0;

	while (!worker_has_ended(engine->helpers.symbolizer) &&
	       !worker_unwinding_pending(engine->helpers.ingest, &pending) && pending &&
	       clock_now_ns() - begin_ns < NAMES_NS) {
		if (!is_told && clock_now_ns() - begin_ns >= NS_PER_S) {
			log_info("looking up the names of %u functions; at most %llu s", pending,
				 NAMES_NS / NS_PER_S);
			is_told = true;
		}
		if (worker_end_stalled(engine->helpers.symbolizer))
			log_info("a file system did not answer within 2 s: %u functions are not "
				 "symbolized",
				 pending);
		nanosleep(&pause, NULL);
	}
}
