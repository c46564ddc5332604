/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The one place where dwell's version stands.
 */
#ifndef DWELL_BASE_VERSION_H
#define DWELL_BASE_VERSION_H

#define DWELL_VERSION "0.2.0"

#endif
