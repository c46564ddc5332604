/* SPDX-License-Identifier: Apache-2.0 */
#ifndef DWELL_REQUESTS_TLS_LIBRARIES_H
#define DWELL_REQUESTS_TLS_LIBRARIES_H

#include "../../src/model/signal.h"

extern const struct deferred_kind request_tls_deferred;

#endif
