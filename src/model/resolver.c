// SPDX-License-Identifier: Apache-2.0
#include "resolver.h"

static void place(struct resolver *resolver, u32 generation, u64 address, struct place *ret_place)
{
	(void)resolver;
	(void)generation;
	*ret_place = (struct place){.address = address};
}

static void describe(struct resolver *resolver, u32 module, struct module_info *ret_info)
{
	(void)resolver;
	(void)module;
	*ret_info = (struct module_info){.path = "[unknown]", .build_id = ""};
}

static size_t name(struct resolver *resolver, const struct place *at,
		   struct frame_name ret_names[FRAME_NAMES_MAX])
{
	(void)resolver;
	(void)at;
	ret_names[0] = (struct frame_name){0};
	return 1;
}

static bool place_data(struct resolver *resolver, u32 generation, u64 address,
		       struct place *ret_place)
{
	(void)resolver;
	(void)generation;
	(void)address;
	(void)ret_place;
	return false;
}

static enum name_answer name_data(struct resolver *resolver, const struct place *at, char *ret_name,
				  size_t size)
{
	(void)resolver;
	(void)at;
	(void)ret_name;
	(void)size;
	return NAME_ABSENT;
}

static void place_caller(struct resolver *resolver, u64 address, u64 callee,
			 struct place *ret_place)
{
	(void)resolver;
	(void)callee;
	*ret_place = (struct place){.address = address - 1};
}

void resolver_none(struct resolver *ret_resolver)
{
	*ret_resolver = (struct resolver){.place = place,
					  .describe = describe,
					  .name = name,
					  .place_data = place_data,
					  .name_data = name_data,
					  .place_caller = place_caller};
}
