// SPDX-License-Identifier: Apache-2.0
/* A function as a person reads it. */
#include <string.h>

#include "short_name.h"
#include "text_stacks.h"

const char *function_suffix(const struct profile *profile, u32 function, bool is_inlined)
{
	u32 look = profile_function(profile, function)->look;

	if (is_inlined)
		return " (inlined)";
	return look == FUNCTION_KERNEL ? " [k]" : look == FUNCTION_JIT ? " [jit]" : "";
}

const char *function_module(const struct profile *profile, u32 function)
{
	const struct profile_function *found = profile_function(profile, function);
	const char *module = profile_module_name(profile, found->module);

	return *module == '[' || found->look == FUNCTION_UNNAMED ? "" : module;
}

void format_function(const struct profile *profile, u32 function, bool is_inlined, int columns,
		     char *buf, size_t size)
{
	const char *suffix = function_suffix(profile, function, is_inlined);

	short_name(profile_function_name(profile, function), columns - (int)strlen(suffix), buf,
		   size);
	format_add(buf, size, "%s", suffix);
}
