/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What workloads share: clocks, and the lines by which they tell the truth. oracle.c owns it and
 * has main(); the other files of this folder have the workloads, which workloads.def lists.
 *
 * A line on stdout is "key value". A key that is a state's name has nanoseconds, of all threads
 * together; lines of the same key are to be added. Other keys are explained where they are printed.
 */
#ifndef ORACLE_H
#define ORACLE_H

#include <stdbool.h>
#include <stddef.h>

#define US 1000LL
#define MS 1000000LL

long long now(void);	      /* CLOCK_MONOTONIC, as dwell's clock */
long long thread_cpu(void);   /* for how long the calling thread has run */
long thread_blocks(void);     /* how often it has blocked */
long long thread_delay(void); /* for how long it has waited for a CPU, if the kernel counts that */
void sleep_ms(int ms);

void truth(const char *key, long long value);
/* The workload cannot be had here: says why, and ends. */
void skip(const char *why) __attribute__((noreturn));
/* Ends with a failure and the reason, errno, unless it worked. */
void must(bool worked, const char *what);

/* A nameless file of so many bytes in the working directory. */
int scratch_file(size_t size);
/* The path of this program, or of a file beside it. */
void beside_program(const char *name, char *ret_path, size_t size);

#define WORKLOAD(function, name, about) void do_##function(void);
#include "workloads.def"
#undef WORKLOAD

#endif
