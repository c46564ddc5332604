// SPDX-License-Identifier: Apache-2.0
#include "wait_table.h"

#include <asm/unistd.h>

const struct map_entry ledger_waits[WAIT_TABLE_MAX] = {
#define WAIT(name, kind) {__NR_##name, WAIT_##kind},
#include "waits.def"
#undef WAIT
};
