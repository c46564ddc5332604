/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Strings of HPACK that are in its Huffman code. Called by hpack.c.
 */
#ifndef DWELL_REQUESTS_HPACK_HUFFMAN_H
#define DWELL_REQUESTS_HPACK_HUFFMAN_H

#include <stdbool.h>

#include "bytes.h"

/*
 * Decodes what fits into max bytes. ret_length: of the whole string, which may be more. False: no
 * string is coded so. is_cut: its end is missing, and so it may end in the middle of a symbol.
 */
bool hpack_huffman(struct bytes from, bool is_cut, u8 *to, size_t max, size_t *ret_length);

#endif
