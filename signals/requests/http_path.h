/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The path of a URL as a template: "/users/42/orders?page=2" is "/users/:id/orders". A segment that
 * can be a value is ":id"; queries and parameters are left out. Called by the parser of HTTP.
 */
#ifndef DWELL_REQUESTS_HTTP_PATH_H
#define DWELL_REQUESTS_HTTP_PATH_H

#include <stdbool.h>

#include "bytes.h"
#include "printable.h"

/* path begins with '/'. !is_whole: more of it was sent than is here; the template ends in "...". */
void http_path_add(struct printable *line, struct bytes path, bool is_whole);

#endif
