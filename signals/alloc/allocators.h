/* SPDX-License-Identifier: Apache-2.0 */
#ifndef DWELL_ALLOCATORS_H
#define DWELL_ALLOCATORS_H

#include "../../src/model/signal.h"

extern const struct deferred_kind alloc_deferred;

#endif
