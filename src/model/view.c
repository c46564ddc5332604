// SPDX-License-Identifier: Apache-2.0
#include "view.h"

#include <stdarg.h>
#include <stdio.h>

const char *const cost_names[] = {
	[COST_FREE] = "free",
	[COST_CHEAP] = "cheap",
	[COST_PER_EVENT] = "per event",
	[COST_DANGEROUS] = "dangerous",
};

void remark(struct remarks *remarks, const char *format, ...)
{
	va_list args;

	if (remarks->count == REMARKS_MAX)
		return;
	va_start(args, format);
	vsnprintf(remarks->text[remarks->count++], REMARK_BYTES, format, args);
	va_end(args);
}
