/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Where an ELF file keeps the variable in which its process publishes the trace context of a
 * thread: abi/thread_context.h. The file is hostile, everything is bounded. Runs in the
 * unprivileged process.
 */
#ifndef DWELL_SYMBOLIZE_THREAD_CONTEXT_H
#define DWELL_SYMBOLIZE_THREAD_CONTEXT_H

#include "../../abi/thread_context.h"
#include "elf_file.h"

/*
 * 0: it has one, and its slot is an address of the file's own; -ENOENT: it has none; -ENOTSUP: it
 * has one that is reached in no way that is known here.
 */
int thread_context_find(const struct elf_file *file, struct thread_context *ret_context);

#endif
