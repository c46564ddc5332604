// SPDX-License-Identifier: Apache-2.0
#include "syscall.h"

#include <stdio.h>

#include "../../abi/records.h"
#include "../base/cleanup.h"

static const struct {
	u32 number; /* with CALL_COMPAT */
	const char *name;
} rows[] = {
#define SYSCALL(number, name)	     {number, name},
#define SYSCALL_COMPAT(number, name) {CALL_COMPAT | (number), name},
#include "syscalls.inc" /* generated from <asm/unistd.h> and <asm/unistd_32.h> */
#undef SYSCALL
#undef SYSCALL_COMPAT
};

const char *syscall_name_into(u32 call, char *buf, size_t size)
{
	u32 number = (call & ~(u32)CALL_COMPAT) - 1;

	if (!call)
		return "";
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++)
		if (rows[i].number == (number | (call & CALL_COMPAT)))
			return rows[i].name;
	snprintf(buf, size, "%ssyscall %u", call & CALL_COMPAT ? "32-bit " : "", number);
	return buf;
}
