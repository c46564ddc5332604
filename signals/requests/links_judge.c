// SPDX-License-Identifier: Apache-2.0
/*
 * Calls are judged by two witnesses: who had read last before a call was sent, and who was answered
 * first after its answer was read. A process whose witnesses often disagree is not believed at all.
 * Where the application says itself whose a call is, it is that, and the witnesses are checked.
 */
#include "links.h"

#include <string.h>

static struct caller *caller_of(struct link_book *book, const struct call *call)
{
	struct caller key;

	memset(&key, 0, sizeof(key));
	key.start_ns = call->start_ns;
	key.tgid = call->tgid;
	return hash_add(&book->callers, &key);
}

void links_count_unlinked(struct link_book *book, const struct rec_requests *record, u64 window)
{
	struct caller key, *caller;

	memset(&key, 0, sizeof(key));
	key.start_ns = record->hdr.start_ns;
	key.tgid = record->hdr.tgid;
	caller = hash_add(&book->callers, &key);
	if (!caller) {
		book->lost++;
		return;
	}
	caller->last_window = window;
	caller->window[LINK_NONE] += record->weight;
}

static u32 kind_of(const struct call *call)
{
	if (call->forward && call->backward)
		return call->forward == call->backward ? LINK_CONFIRMED : LINK_CONFLICT;
	if (call->backward)
		return LINK_BACKWARD;
	return call->forward ? LINK_FORWARD : LINK_NONE;
}

static u32 doubt_of(const struct call *call)
{
	if (call->is_further)
		return LINK_FURTHER;
	if ((call->forward && call->is_doubtful_forward) ||
	    (call->backward && call->is_doubtful_backward))
		return LINK_DOUBTFUL;
	return LINK_SURE;
}

/*
 * The call's answer was read, and right then another call was sent, which is confirmed to be of the
 * same request: so this one is, too, as far as that can be trusted.
 */
static bool confirm_previous(struct link_book *book, const struct call *call)
{
	struct call *previous = call->previous ? hash_find(&book->calls, &call->previous) : NULL;

	if (!previous || previous->is_judged || previous->backward ||
	    previous->forward != call->forward)
		return false;
	previous->backward = previous->forward;
	previous->is_doubtful_backward = call->is_doubtful_backward;
	return true;
}

static void follow_chains(struct link_book *book)
{
	bool goes_on = true;

	for (u32 pass = 0; goes_on && pass < CALL_DEPTH; pass++) {
		goes_on = false;
		for (size_t i = 0; i < book->calls.count; i++) {
			const struct call *call = hash_item(&book->calls, i);

			if (kind_of(call) == LINK_CONFIRMED)
				goes_on |= confirm_previous(book, call);
		}
	}
}

#define AGREE_LEAST	    50	/* so many times as often as they disagree */
#define FORWARD_AGREE_LEAST 200 /* likewise, where there is one witness only ... */
#define FORWARD_LEAST	    20	/* ... and so often, at least */

/* Of all that is known of this process: how often they agree, and how often they do not. */
struct record {
	u64 agree, disagree;
};

static bool is_good(struct record record, u64 least, u64 times)
{
	return record.agree >= least && record.agree >= record.disagree * times;
}

static void add_record(struct record *record, const struct caller *caller, u32 doubt)
{
	record->agree += caller->ever[doubt][LINK_CONFIRMED];
	record->disagree += caller->ever[doubt][LINK_CONFLICT];
}

/* An event loop's are of one kind: what works by a plan of its own does so always. */
static struct record record_of_loop(const struct caller *caller)
{
	struct record record = {0, 0};

	for (u32 doubt = 0; doubt < LINK_DOUBTS; doubt++)
		add_record(&record, caller, doubt);
	return record;
}

/*
 * An event loop may send a call for no request, by a timer say, right after it has read one: in a
 * server of many requests, one in a thousand such calls looks like any other. So its calls need
 * both, and so do those of its process that are judged once a loop was seen there.
 */
static bool is_believed_forward(const struct caller *caller, const struct call *call)
{
	struct record record = {0, 0};

	add_record(&record, caller, doubt_of(call));
	return !caller->is_loop && is_good(record, FORWARD_LEAST, FORWARD_AGREE_LEAST);
}

/* Whether the witnesses of this process are believed, by all that is known of it. */
static bool is_believed(const struct caller *caller, const struct call *call)
{
	struct record sure = {0, 0}, doubtful = {0, 0};

	if (call->is_loop) {
		sure = doubtful = record_of_loop(caller);
	} else {
		add_record(&sure, caller, LINK_SURE);
		add_record(&doubtful, caller, LINK_DOUBTFUL);
	}
	if (!is_good(sure, 0, AGREE_LEAST))
		return false;
	if (!call->backward)
		return is_believed_forward(caller, call);
	if (call->is_doubtful_backward)
		return call->owner == call->backward &&
		       is_good(doubtful, FORWARD_LEAST, AGREE_LEAST);
	return !call->is_loop || sure.agree;
}

/* If they disagree, the one that is not in doubt; else the answer. */
static u64 owner_of(const struct call *call)
{
	if (!call->backward ||
	    (call->forward && call->is_doubtful_backward && !call->is_doubtful_forward))
		return call->forward;
	return call->backward;
}

static void grade(struct call *call, const struct caller *caller)
{
	u32 kind = kind_of(call);

	call->owner = owner_of(call);
	call->grade = kind == LINK_CONFIRMED ? REQUEST_GRADE_CONFIRMED
		      : kind == LINK_FORWARD ? REQUEST_GRADE_FORWARD
					     : REQUEST_GRADE_BACKWARD;
	call->is_refused = call->owner && (!caller || !is_believed(caller, call));
}

/* Of those that the application has told, too, they have to have been right. */
static bool is_well_checked(const struct caller *caller)
{
	const struct record record = {caller->checked - caller->wrong, caller->wrong};

	return is_good(record, 0, AGREE_LEAST);
}

static void check_witnesses(struct caller *caller, const struct call *call, u64 owner)
{
	bool is_wrong = call->owner != owner;

	if (!call->owner || call->is_refused)
		return;
	caller->checked++;
	caller->wrong += is_wrong;
	caller->window[LINK_CHECKED]++;
	caller->window[LINK_WRONG] += is_wrong;
}

/* After the witnesses: what the application says overrules them. */
static void hear_application(struct link_book *book, struct call *call, struct caller *caller)
{
	u64 owner;

	switch (links_published(book, call, &owner)) {
	case PUBLISHED_ONE:
		check_witnesses(caller, call, owner);
		caller->window[kind_of(call)]--; /* by which it was counted */
		caller->window[LINK_PUBLISHED]++;
		call->owner = owner;
		call->grade = REQUEST_GRADE_PUBLISHED;
		call->is_refused = 0;
		break;
	case PUBLISHED_OTHERS:
		call->is_refused = call->owner != 0;
		break;
	default:
		call->is_refused |= call->owner && !is_well_checked(caller);
	}
}

/*
 * The call after it may confirm it, and comes some windows later, if the connection is idle. Of
 * which trace its request is, is known when that is answered.
 */
static bool is_due(struct link_book *book, const struct call *call, u64 window, bool is_last)
{
	u64 owner;

	if (call->is_judged || (!is_last && call->window + CALL_WINDOWS_JUDGED > window))
		return false;
	return is_last || call->window + CALL_WINDOWS_TRACED <= window ||
	       book->calls.count > WAITING_CALLS_MAX / 4 || !links_has_trace(&call->trace) ||
	       links_published(book, call, &owner) != PUBLISHED_NOTHING;
}

/* First all are counted, so that the first ones are judged by the others, too. */
void links_judge(struct link_book *book, u64 window, bool is_last)
{
	struct caller *caller;

	follow_chains(book);
	for (size_t i = 0; i < book->calls.count; i++) {
		struct call *call = hash_item(&book->calls, i);

		if (!is_due(book, call, window, is_last))
			continue;
		caller = caller_of(book, call);
		if (!caller) {
			book->lost++;
			continue;
		}
		caller->last_window = window;
		caller->is_loop |= call->is_loop;
		caller->ever[doubt_of(call)][kind_of(call)]++;
		caller->window[kind_of(call)]++;
	}
	for (size_t i = 0; i < book->calls.count; i++) {
		struct call *call = hash_item(&book->calls, i);

		if (!is_due(book, call, window, is_last))
			continue;
		caller = caller_of(book, call);
		call->is_judged = 1;
		grade(call, caller);
		if (caller)
			hear_application(book, call, caller);
		if (caller && call->is_refused)
			caller->window[LINK_REFUSED]++;
	}
}
