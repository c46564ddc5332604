// SPDX-License-Identifier: Apache-2.0
/* The same for 32-bit system calls: a file of its own, since their numbers have the same names. */
#include "wait_table.h"

#if defined(__x86_64__)
#include <asm/unistd_32.h>

const struct map_entry ledger_waits_compat[WAIT_TABLE_MAX] = {
#define WAIT(name, kind) {WAITS_COMPAT + __NR_##name, WAIT_##kind},
#include "waits.def"
#undef WAIT
};
#else
const struct map_entry ledger_waits_compat[WAIT_TABLE_MAX] = {0};
#endif
