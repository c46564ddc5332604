/* SPDX-License-Identifier: Apache-2.0 OR GPL-2.0-only */
/* The record of a request. Included by records.h, in its place among the others. */
#ifndef DWELL_ABI_REQUEST_RECORD_H
#define DWELL_ABI_REQUEST_RECORD_H

#define REQUEST_BYTES_MAX 192 /* of a request, to name it */
#define ANSWER_BYTES_MAX  64  /* of its answer */
#define ANSWER_TRAILER_AT 32  /* in that, where the last block of a stream's answer begins */

#define ANSWER_TRAILER_MAX (ANSWER_BYTES_MAX - ANSWER_TRAILER_AT)

/* What ended a turn, or asked for its record. */
enum request_end {
	REQUEST_END_NEXT,   /* the next request came */
	REQUEST_END_CLOSED, /* the connection was closed ... */
	REQUEST_END_RESET,  /* ... by a reset */
	REQUEST_END_TIMEOUT,
	REQUEST_END_RECORDING, /* the recording ends: the turn may go on */
	REQUEST_END_COUNT
};

enum request_flags {
	REQUEST_HAS_TURN = 1,	    /* else it only counts, and says where bytes went */
	REQUEST_IS_ANSWERED = 2,    /* end_ns is known */
	REQUEST_IS_LOOP = 4,	    /* its thread has had several open at once */
	REQUEST_IS_HANDED_OVER = 8, /* another thread answered it ... */
	REQUEST_IS_FOLLOWED = 16,   /* ... whose work on it is in ns[] */
	REQUEST_IS_CALL = 32,	    /* the client's side: a call that a process made */
	REQUEST_IS_WITNESS = 64,    /* of a call that has had its record: backward, nothing else */
	/* Of a call: its thread had read of several requests by then, or was woken by another one.
	 */
	REQUEST_FORWARD_IS_DOUBTFUL = 128,
	REQUEST_BACKWARD_IS_DOUBTFUL = 256,
	REQUEST_IS_FURTHER = 512, /* of a call: its thread had sent another one since it read */
	REQUEST_IS_TLS = 2048,	  /* request[] and answer[] are what was in TLS records */
	REQUEST_IS_BARE = 4096,	  /* TLS, and there was no data in it: a handshake, an alert */
	REQUEST_IS_STREAM = 8192, /* a stream of HTTP/2: request[] and answer[] are header blocks */
	REQUEST_IS_LOST = 16384,  /* of streams: frames were lost track of; turns count again */
	REQUEST_IS_BLOCK = 32768, /* no request, but a header block that may change the table by
			     which those behind it on its connection are read */
	REQUEST_IS_TRACE = 65536  /* no request, but the trace of one that may have no record */
};

/*
 * HTTP/2 numbers the header blocks of a connection that may change its table, each way for itself.
 * A block that is no longer than this, and has only bytes of 0x81 to 0xfe, does not: it is one byte
 * for each field, all of which are in the table.
 */
#define REQUEST_PLAIN_BLOCK_MAX 64
#define REQUEST_BLOCK_NOT_KNOWN (~0U) /* not all blocks before it are known */

/* A turn of a connection. Connection 0: none. */
struct request_ref {
	u64 connection;
	u64 turn;
};

/* What an application says of whom its thread works for, in network order. All 0: nothing. */
struct request_trace {
	u64 id[2];
	u64 span;
};

/*
 * Of calls and requests with a trace, those are recorded whose trace's hash has none of the bits of
 * a mask, which has more of them where there are many: of each trace either all or none.
 */
#define REQUEST_TRACE_HASH(trace) ((trace)->id[1] * 0x9e3779b97f4a7c15ULL >> 32)
#define REQUEST_TRACE_MASK_MAX	  0xffff

/* A wait of the request's thread, and where in the code that was. */
struct request_wait {
	u64 ns;	   /* 0: there is none */
	u64 stack; /* a key of the kernel's */
	u32 state; /* enum ledger_state */
	u32 stop;  /* where the stack ended: enum stack_stop */
};

/* Bytes of a connection, one way, since its record before. */
struct request_bytes_moved {
	u64 kernel;   /* by the kernel's own counter */
	u64 in_turns; /* what was received or sent in turns, this one and those without a record */
	u64 no_turn;
	u64 before; /* before the connection was first seen */
	u64 unread; /* of received ones: in the kernel still, when the connection was closed */
};

/*
 * A turn on a server's socket that has ended: hdr is of the process that serves, hdr.ts_ns of when
 * it was known to be over. The bytes are what its user sent: they name it, and are not kept.
 *
 * Or a call, REQUEST_IS_CALL: a turn of a client's socket, of a process that serves requests
 * itself. It begins with its first send; ready_ns is its first receive then, end_ns its last one,
 * received what the client received, and ns[], in and out are empty.
 *
 * Or a stream of HTTP/2, REQUEST_IS_STREAM: from its header block to the end of its answer; its
 * turn is its number on the connection, and bytes of in and out are the connection's.
 * REQUEST_IS_BLOCK beside it: a block alone, in request[]; with REQUEST_IS_ANSWERED one of an
 * answer.
 *
 * Or REQUEST_IS_TRACE: connection, turn, begin_ns and trace of a request that is being answered.
 */
struct rec_requests {
	struct rec_hdr hdr;
	u64 connection; /* its identity */
	u64 turn;	/* the number of the turn on it */
	u64 wire;	/* names what was asked at both ends of its connection; 0: not known */
	u64 object;	/* of the listener; of a call, the peer */
	u64 weight;	/* for so many turns of the connection it stands: the others are answered */
	u64 ready_ns;	/* when its first data came; 0: not known */
	u64 begin_ns;	/* its first receive */
	u64 end_ns;	/* its last send; 0: none */
	u64 poll_ns;	/* of its thread's time, blocked in polls, and not in ns[] */
	u64 ns[STATE_LIMIT]; /* what its thread did for it, by state */
	u64 received;	     /* bytes of this turn */
	u64 sent;
	struct request_bytes_moved in, out;
	/* Of a call: whose it is by who read last before it was sent, and by who answered first
	 * after its answer was read; and the call whose answer was read right before it was sent.
	 */
	struct request_ref forward, backward, previous;
	u32 flags; /* enum request_flags */
	u32 end;   /* enum request_end */
	u16 port;  /* of the server, host order; 0: none, a Unix socket */
	u16 client_port;
	u16 request_length;
	u16 answer_length;
	u32 stream; /* its id, of HTTP/2; of REQUEST_IS_LOST so many were open */
	u32 block;  /* of a stream: the number of its block, if that is none of the plain ones, or
		       of the last one before; 0: there was none */
	u32 answer_block;   /* likewise, of its answer */
	u32 trailer_block;  /* likewise */
	u16 trailer_length; /* of the block that ends its answer, at ANSWER_TRAILER_AT */
	u16 trace_mask;	    /* see REQUEST_TRACE_HASH: by now */
	u16 unused[2];
	struct request_wait wait;   /* the longest one that is in ns[], of those with a stack */
	struct request_trace trace; /* published by the thread that sent a call, or an answer */
	u8 request[REQUEST_BYTES_MAX];
	u8 answer[ANSWER_BYTES_MAX];
};

#endif
