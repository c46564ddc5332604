/* SPDX-License-Identifier: Apache-2.0 */
/*
 * C++ and Rust names as people write them, by libiberty. Runs in the unprivileged process: the
 * input is hostile.
 */
#ifndef DWELL_SYMBOLIZE_DEMANGLE_H
#define DWELL_SYMBOLIZE_DEMANGLE_H

#include <stddef.h>

#define DEMANGLED_MAX 1024

/* Always a text: the name itself where there is nothing to demangle, cut where it is too long. */
void demangle(const char *name, char *ret_text, size_t size);

#endif
