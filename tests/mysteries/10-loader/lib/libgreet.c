// SPDX-License-Identifier: Apache-2.0
/* What plugins.c loads. */
int greet(int value);
int greet(int value)
{
	return value + 1;
}
