/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Text from outside, read with bounds: whole numbers, small files, symbol names.
 * Owns nothing. Every parameter that a person types passes through here.
 */
#ifndef DWELL_BASE_TEXT_H
#define DWELL_BASE_TEXT_H

#include <stdbool.h>
#include <stddef.h>

#include "../../abi/types.h"

#define SYMBOL_LENGTH_MAX 511 /* the kernel's KSYM_NAME_LEN is 512 */

/* The whole of text is one decimal number within [least, most]: 0, -EINVAL or -ERANGE. */
int text_parse_u64(const char *text, u64 least, u64 most, u64 *ret_value);

/* Bytes: a whole number, and K, M or G of 1,024 if there is one: as text_parse_u64(). */
int text_parse_size(const char *text, u64 least, u64 most, u64 *ret_bytes);

/* A time that a person types, in words for errors: what both functions below accept. */
#define TEXT_TIME_FORMS                                                                            \
	"a number and its unit (ns, us, ms, s, m or h), as in 500ms, 1.5s, 90s or 2m"

/* A number, which may have a decimal point, and its unit: as text_parse_u64(). */
int text_parse_duration(const char *text, u64 least_ns, u64 most_ns, u64 *ret_ns);

/* The same; a number without a unit is seconds. */
int text_parse_seconds(const char *text, u64 least_ns, u64 most_ns, u64 *ret_ns);

/* Comma-separated numbers: 0 and *ret_count, -EINVAL, -ERANGE, or -E2BIG for more than max. */
int text_parse_list(const char *text, u64 least, u64 most, u32 *values, size_t max,
		    size_t *ret_count);

/* Letters, digits and _.$@:~<>*, not empty, at most SYMBOL_LENGTH_MAX: what a symbol can be. */
bool text_is_symbol(const char *text);

/* First size-1 bytes of a file, ended by NUL, trailing white space cut: length or -errno. */
int text_read_file(const char *path, char *buf, size_t size);

/* The number in a small file such as those of /proc/sys: 0 or -errno. */
int text_read_number(const char *path, s64 *ret_value);

/* Copies, cutting if need be; always ended by NUL. */
void text_copy(char *to, size_t size, const char *from);

#endif
