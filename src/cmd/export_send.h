/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Sends an export to an OTLP receiver by HTTP. The process that reads the session may open no
 * socket: it writes the body into memory, and another one without privileges sends it. Ours, for
 * http:// alone: a receiver is a collector on this host or next to it, which speaks TLS to the
 * world; libcurl would bring TLS, name services and some twenty more libraries into a program that
 * runs as root. Owns nothing that lasts. Called by the export command.
 */
#ifndef DWELL_CMD_EXPORT_SEND_H
#define DWELL_CMD_EXPORT_SEND_H

#include "export_session.h"

#define EXPORT_BODY_MAX (64u << 20) /* gzipped: receivers take less */

/* Where to: http://HOST[:PORT][/PREFIX], 4318 unless it says so. */
struct export_target {
	char host[256], port[8], prefix[256];
};

/* 0, or -EINVAL, told. */
int export_target_parse(const char *url, struct export_target *ret_target);

/* An exit status, told. */
int export_send(struct export_request *request, const struct export_target *target);

#endif
