/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The build id of the running program, from its own notes in memory. Owns nothing.
 */
#ifndef DWELL_BASE_BUILD_ID_H
#define DWELL_BASE_BUILD_ID_H

#define BUILD_ID_TEXT_BYTES 65 /* 32 bytes in hexadecimal; SHA-1 has 20 */

/* "" if the program was linked without one. */
void build_id_own(char ret_text[BUILD_ID_TEXT_BYTES]);

#endif
