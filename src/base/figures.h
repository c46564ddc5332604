/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Numbers as people read them: three digits and a unit, or commas between thousands. Owns nothing.
 * For sentences and tables alike, so that both have the same.
 */
#ifndef DWELL_BASE_FIGURES_H
#define DWELL_BASE_FIGURES_H

#include "../../abi/types.h"

#define FIGURE_BYTES 32

#define FIGURE_TIME(ns)	      figure_time(ns, (char[FIGURE_BYTES]){0})
#define FIGURE_NUMBER(number) figure_number(number, (char[FIGURE_BYTES]){0})

/* "1.50 ms", "24.7 us", "960 ns" */
const char *figure_time(u64 ns, char buf[FIGURE_BYTES]);

/* "15,304" */
const char *figure_number(u64 number, char buf[FIGURE_BYTES]);

/* "7.83 KiB", "12.4 M" */
void figure_three_digits(double value, const char *unit, char buf[FIGURE_BYTES]);

#endif
