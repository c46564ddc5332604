// SPDX-License-Identifier: Apache-2.0
/* Where in the code a request waited, in a few words. */
#include "digest.h"
#include "hot_function.h"

#define FUNCTIONS 4

/* What the kernel waits for says the part itself, but for these. */
static bool is_kernels(u32 part)
{
	return part == REQUEST_PART_DISK || part == REQUEST_PART_MEMORY ||
	       part == REQUEST_PART_OTHER;
}

static bool is_program(const struct profile *profile, u32 function)
{
	u32 look = profile_function(profile, function)->look;

	return look == FUNCTION_USER || look == FUNCTION_JIT;
}

/* How the C library waits is not what is asked. count: nothing tells anything. */
static size_t first_telling(const struct profile *profile, u32 part,
			    const struct profile_step *steps, size_t count)
{
	size_t i = 0;

	while (i < count && !hot_function_is_telling(profile, steps[i].function, false))
		i++;
	if (i < count)
		return i;
	for (i = 0; i < count; i++)
		if (is_program(profile, steps[i].function) ||
		    (is_kernels(part) && hot_function_is_telling(profile, steps[i].function, true)))
			return i;
	return count;
}

void request_wait_text(const struct digest *digest, u32 part, u64 stack, char *buf, size_t size)
{
	const struct profile *profile = &digest->profile;
	struct profile_step steps[PROFILE_STEPS_MAX];
	size_t count = stack ? profile_steps(profile, stack, STOP_END, steps) : 0;
	size_t first = first_telling(profile, part, steps, count);
	size_t shown = count - first < FUNCTIONS ? count - first : FUNCTIONS;

	series_steps_text(profile, steps + first, shown, buf, size);
}
