/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Which request made which call. Calls and requests come in any order, some windows apart: calls
 * wait here for the request that made them to be kept, and requests for the call that they answer
 * to be kept with its request. Owns all that waits. Filled by book.c and written with its tables.
 */
#ifndef DWELL_REQUESTS_LINKS_H
#define DWELL_REQUESTS_LINKS_H

#include "../../abi/records.h"
#include "../../src/base/hash.h"
#include "../../src/model/signal.h"
#include "kinds.h"
#include "protocol.h"

struct request;

#define WAITING_CALLS_MAX   65536 /* that wait at a time; so many requests, too */
#define REQUEST_CALLERS_MAX 1000  /* processes that make calls */
#define KEPT_IDS_MAX	    65536
#define WAITING_TRACES_MAX  32768 /* of requests that calls may be of */
#define CALL_WINDOWS	    16	  /* so long calls and requests wait for each other ... */
#define CALL_WINDOWS_BUSY   6	  /* ... so long if they take a quarter of the places ... */
#define CALL_WINDOWS_JUDGED 2	  /* so long a call waits for those that say whose it is */
#define CALL_WINDOWS_TRACED 5	  /* ... for a request of its trace, which may be long ... */
#define CALL_WINDOWS_FULL   CALL_WINDOWS_JUDGED /* ... and until judged if they take a half */
#define CALLS_OF_REQUEST    64			/* more are counted */
#define CALL_DEPTH	    6 /* a call's request, its call's request, ...: so many in one window */

/* A call, until it is written or nobody wants it. Opens with its key. */
struct call {
	u64 turn_id; /* of its turn */
	/* the key ends here */
	u64 id; /* of what was asked, at both ends */
	u64 forward, backward,
		previous; /* ids of the requests that it is of, by witness; of a call */
	u64 owner;
	u64 window; /* in which it came */
	u64 start_ns, object;
	struct request_trace trace; /* published when it was sent */
	u64 begin_ns, first_ns, end_ns;
	u64 sent, received;
	u32 tgid, tid;
	u16 port, client_port;
	u8 grade;   /* enum request_grade, once it is judged */
	u8 outcome; /* enum request_outcome */
	u8 protocol;
	u8 is_loop; /* an event loop made it */
	u8 is_doubtful_forward, is_doubtful_backward, is_further;
	u8 is_judged, is_refused, is_done;
	char name[ENDPOINT_BYTES];
	char status[STATUS_BYTES];
};
#define CALL_KEY_BYTES offsetof(struct call, id)

/* How the calls of a process could be linked, ever, and in the window. Opens with its key. */
enum link_kind {
	LINK_CONFIRMED,
	LINK_BACKWARD,
	LINK_CONFLICT,
	LINK_FORWARD,
	LINK_REFUSED,
	LINK_NONE,
	LINK_PUBLISHED, /* the application says so, whatever the witnesses say */
	LINK_CHECKED,	/* of these, the witnesses would have linked so many ... */
	LINK_WRONG,	/* ... and so many to another request */
	LINK_KINDS
};

/* How far the witnesses of a call are to be trusted: those of each doubt have a record of their
 * own. */
enum link_doubt {
	LINK_SURE,
	LINK_FURTHER,  /* not the first that was sent after something was read */
	LINK_DOUBTFUL, /* the thread had read of several requests, or was woken by another one */
	LINK_DOUBTS
};

struct caller {
	u64 start_ns, tgid;
	/* the key ends here */
	u64 last_window;
	u64 ever[LINK_DOUBTS][LINK_KINDS];
	u64 window[LINK_KINDS];
	u64 checked, wrong; /* ever, as in enum link_kind */
	u64 is_loop;	    /* an event loop of it has made calls */
};
#define CALLER_KEY_BYTES offsetof(struct caller, last_window)

struct link_book {
	struct hash calls;   /* struct call */
	struct hash answers; /* struct answer: requests that answer a call */
	struct hash callers; /* struct caller */
	struct hash kept;    /* struct kept_id: requests that have a row */
	struct hash asked;   /* struct kept_id: calls that have one */
	struct hash traces;  /* struct trace: requests whose trace is known */
	u32 trace_mask;	     /* see REQUEST_TRACE_HASH: the largest one of late ... */
	u64 mask_window;     /* ... and when it came */
	/* What found no place, ever. */
	u64 lost;
};

void link_book_open(struct link_book *book);
void link_book_free(struct link_book *book);

/* A call's record, and what its bytes say. */
void link_book_add_call(struct link_book *book, const struct rec_requests *record, u64 window,
			u32 protocol, const char *name, const char *status);

/* Calls that no witness says anything of. */
void links_count_unlinked(struct link_book *book, const struct rec_requests *record, u64 window);

/* Who was answered after the answer of a call was read: that came when the call was over. */
void link_book_add_witness(struct link_book *book, const struct rec_requests *record);

/* A request's record, for its trace, or any other, for how many traces have one. */
void link_book_add_trace(struct link_book *book, const struct rec_requests *record, u64 window);

/* A request that answers a call: it has a row if its caller has. */
void link_book_add_answer(struct link_book *book, const struct request *request, u64 endpoint_id,
			  u64 window);

/* This request has a row. */
void link_book_keep(struct link_book *book, u64 request_id, u64 window);

/* Whose they are, of those that came CALL_WINDOWS_JUDGED ago; of all, if it is the last. */
void links_judge(struct link_book *book, u64 window, bool is_last);

/* What the application says of a call whose owner is what the witnesses say. */
enum link_published {
	PUBLISHED_NOTHING,
	PUBLISHED_ONE,	   /* it is of this one */
	PUBLISHED_SEVERAL, /* it may be of several, of which one is what the witnesses say */
	PUBLISHED_OTHERS,  /* likewise, and it is none of them */
};
enum link_published links_published(struct link_book *book, const struct call *call,
				    u64 *ret_owner);
bool links_has_trace(const struct request_trace *trace);
void links_open_traces(struct link_book *book);
void links_forget_traces(struct link_book *book, u64 window);

/* What can be told by now; all that there is, if there are no more windows. */
typedef void request_write_fn(u64 endpoint_id, const struct request *request, u64 weight,
			      u64 window, struct sink *sink);
void link_book_write(struct link_book *book, u64 window, bool is_last, request_write_fn *write,
		     struct sink *sink);

#endif
