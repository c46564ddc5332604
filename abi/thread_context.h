/* SPDX-License-Identifier: Apache-2.0 OR GPL-2.0-only */
/*
 * The trace context that an instrumented process publishes for each of its threads, for readers
 * outside of it (OpenTelemetry's OTEP 4947): a variable of the thread, otel_thread_ctx_v1, points
 * to it. Here is how the kernel side finds that variable, as the ELF file has it that defines it.
 */
#ifndef DWELL_ABI_THREAD_CONTEXT_H
#define DWELL_ABI_THREAD_CONTEXT_H

#include "types.h"

#define THREAD_CONTEXT_SYMBOL "otel_thread_ctx_v1"
#define THREAD_CONTEXTS_MAX   1024 /* processes that publish */

enum thread_context_kind {
	THREAD_CONTEXT_NONE,
	THREAD_CONTEXT_STATIC,	   /* offset is from the thread pointer */
	THREAD_CONTEXT_SLOT,	   /* that offset is in the word at slot */
	THREAD_CONTEXT_DESCRIPTOR, /* at slot is a TLS descriptor */
	THREAD_CONTEXT_MODULE,	   /* the word at slot numbers a module, offset is in its block */
	THREAD_CONTEXT_KINDS
};

struct thread_context {
	u64 slot; /* an address of the process; in a file, one of its own */
	s64 offset;
	u32 kind;     /* enum thread_context_kind */
	u32 is_glibc; /* blocks of modules are where glibc has them */
};

/* What the variable points to; attributes follow, which are not read. */
struct thread_context_record {
	u64 trace[2]; /* bytes in network order */
	u64 span;
	u8 is_valid; /* 1: it may be read */
	u8 unused;
	u16 attributes_size;
	u32 padding; /* not read */
};

#define THREAD_CONTEXT_BYTES 28 /* that are read */

#endif
