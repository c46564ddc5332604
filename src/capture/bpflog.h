/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What libbpf says while it works, kept for the one who asked instead of printed.
 * Owns the text. Called by capture around each load and attach.
 */
#ifndef DWELL_CAPTURE_BPFLOG_H
#define DWELL_CAPTURE_BPFLOG_H

#include <stddef.h>

#define BPFLOG_NAME_MAX 64

struct bpflog {
	char *text;
	size_t length;
	size_t room;
	char program[BPFLOG_NAME_MAX]; /* last program that a warning named */
	char map[BPFLOG_NAME_MAX];     /* last map that a warning named */
	int shortage;		       /* errno of the first message that names one; 0: none */
	int trial_shortage; /* errno of a trial that failed without a message, likewise */
	int last_errno;	    /* as the last message found it */
};

/* From here on this thread's libbpf messages go into log, until bpflog_end(). */
void bpflog_begin(struct bpflog *log);
void bpflog_end(void);

/* The text so far, which the caller then owns (or NULL); the log is empty afterwards. */
char *bpflog_take(struct bpflog *log);
void bpflog_free(struct bpflog *log);

#endif
