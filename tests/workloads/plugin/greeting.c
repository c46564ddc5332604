// SPDX-License-Identifier: Apache-2.0
/*
 * What the plugin workload loads again and again. Its work is microseconds.
 */
#include <stddef.h>
#include <stdio.h>

void greet(int number, char *ret_text, size_t size);

void greet(int number, char *ret_text, size_t size)
{
	snprintf(ret_text, size, "hello, number %d", number);
}
