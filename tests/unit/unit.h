/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cmocka with the headers that it wants before itself.
 */
#ifndef DWELL_TESTS_UNIT_H
#define DWELL_TESTS_UNIT_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#endif
