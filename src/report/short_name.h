/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A function's name for a line that is too short for it. Owns nothing. Called where a person reads
 * names; files and other tools get them whole.
 */
#ifndef DWELL_REPORT_SHORT_NAME_H
#define DWELL_REPORT_SHORT_NAME_H

#include <stddef.h>

/*
 * At most so many columns, escaped. What tells least goes first: template arguments, then
 * parameters, then the end. Of "module+0xaddress" the address stays.
 */
void short_name(const char *name, int columns, char *buf, size_t size);

#endif
