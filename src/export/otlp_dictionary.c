// SPDX-License-Identifier: Apache-2.0
#include "otlp_dictionary.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "../base/cleanup.h"
#include "../base/utf8.h"
#include "../model/resolver.h"

#define ATTRIBUTES_MAX 1000000
#define TRACE_ID_BYTES 16
#define SPAN_ID_BYTES  8

struct known_attribute {
	s64 number;
	s32 key, text; /* the key of the table, with number; text 0: it is the number */
	s32 place;
	u32 unused;
};

struct known_stack {
	u64 stack, stop; /* the key */
	s32 place;
	u32 unused;
};

struct known_item {
	const void *table;
	u64 hash; /* the key ends here */
	s32 place;
	u32 unused;
};

/* Adds to a table: its place; 0: no memory. */
static s32 add(struct otlp_dictionary *dictionary, struct otlp_table *table, void *item)
{
	void **grown = table->items;

	/* Grows when the count is a power of two: no capacity to keep. */
	if (!(table->count & (table->count - 1)))
		grown = reallocarray(table->items, table->count ? table->count * 2 : 2,
				     sizeof(*grown));
	if (grown)
		table->items = grown;
	if (!grown || !item) {
		dictionary->err = -ENOMEM;
		return 0;
	}
	table->items[table->count] = item;
	return (s32)table->count++;
}

static u64 hash_of(const u8 *bytes, size_t size)
{
	u64 hash = 0xcbf29ce484222325ULL; /* FNV-1a: what it finds is compared */

	for (size_t i = 0; i < size; i++)
		hash = (hash ^ bytes[i]) * 0x100000001b3ULL;
	return hash;
}

static bool says(struct otlp_dictionary *dictionary, const void *item, const u8 *bytes, size_t size)
{
	_cleanup_free_ u8 *own = NULL;

	if (protobuf_c_message_get_packed_size(item) != size)
		return false;
	own = malloc(size);
	if (!own) {
		dictionary->err = -ENOMEM;
		return false;
	}
	protobuf_c_message_pack(item, own);
	return !memcmp(own, bytes, size);
}

/*
 * The same, but each content once: two files of one name, two functions of one name in different
 * files, and all that is made of them, are one here. What says nothing is place 0.
 */
static s32 add_once(struct otlp_dictionary *dictionary, struct otlp_table *table, void *item)
{
	size_t size = item ? protobuf_c_message_get_packed_size(item) : 0;
	_cleanup_free_ u8 *bytes = size ? malloc(size) : NULL;
	struct known_item *known, key = {.table = table};
	s32 place;

	if (item && !size)
		return 0;
	if (!bytes) {
		dictionary->err = -ENOMEM;
		return 0;
	}
	protobuf_c_message_pack(item, bytes);
	key.hash = hash_of(bytes, size);
	known = hash_add(&dictionary->known_items, &key);
	if (known && known->place && says(dictionary, table->items[known->place], bytes, size))
		return known->place;
	place = add(dictionary, table, item);
	if (known)
		known->place = place;
	else
		dictionary->err = -ENOMEM;
	return place;
}

#define NEW(dictionary, Type, init)                                                                \
	({                                                                                         \
		Type *made = otlp_alloc(&(dictionary)->pool, sizeof(Type));                        \
		if (made)                                                                          \
			init(made);                                                                \
		made;                                                                              \
	})

int otlp_dictionary_init(struct otlp_dictionary *dictionary, const struct profile *profile)
{
	*dictionary = (struct otlp_dictionary){.profile = profile};
	strings_init(&dictionary->strings, PROFILE_TEXT_MAX);
	strings_init(&dictionary->values, PROFILE_TEXT_MAX);
	hash_init(&dictionary->known_attributes, sizeof(struct known_attribute),
		  sizeof(s64) + 2 * sizeof(s32), ATTRIBUTES_MAX);
	hash_init(&dictionary->known_stacks, sizeof(struct known_stack), 2 * sizeof(u64),
		  PROFILE_STACKS_MAX);
	hash_init(&dictionary->known_items, sizeof(struct known_item), 2 * sizeof(u64),
		  PROFILE_STACKS_MAX + 2 * PROFILE_FRAMES_MAX + PROFILE_INLINES_MAX);
	dictionary->modules = calloc(profile->modules.count + 1, sizeof(u32));
	dictionary->frames = calloc(profile->frames.count + 1, sizeof(u32));
	dictionary->marks = calloc(profile->functions.count + 1, sizeof(u32));
	dictionary->function_places = calloc(profile->functions.count + 1, sizeof(u32));
	if (!dictionary->modules || !dictionary->frames || !dictionary->marks ||
	    !dictionary->function_places || strings_add(&dictionary->strings, ""))
		dictionary->err = -ENOMEM;
	/* Place 0 of each. */
	add(dictionary, &dictionary->mappings, NEW(dictionary, Otlp__Mapping, otlp__mapping__init));
	add(dictionary, &dictionary->locations,
	    NEW(dictionary, Otlp__Location, otlp__location__init));
	add(dictionary, &dictionary->functions,
	    NEW(dictionary, Otlp__Function, otlp__function__init));
	add(dictionary, &dictionary->attributes,
	    NEW(dictionary, Otlp__KeyValueAndUnit, otlp__key_value_and_unit__init));
	add(dictionary, &dictionary->stacks, NEW(dictionary, Otlp__Stack, otlp__stack__init));
	return dictionary->err;
}

void otlp_dictionary_free(struct otlp_dictionary *dictionary)
{
	otlp_free(&dictionary->pool);
	strings_free(&dictionary->strings);
	strings_free(&dictionary->values);
	hash_free(&dictionary->known_attributes);
	hash_free(&dictionary->known_stacks);
	hash_free(&dictionary->known_items);
	free(dictionary->modules);
	free(dictionary->frames);
	free(dictionary->marks);
	free(dictionary->function_places);
	free(dictionary->mappings.items);
	free(dictionary->locations.items);
	free(dictionary->functions.items);
	free(dictionary->attributes.items);
	free(dictionary->stacks.items);
}

s32 otlp_string(struct otlp_dictionary *dictionary, const char *text)
{
	char escaped[4 * PROFILE_NAME_BYTES];
	u32 number;

	utf8_escape(escaped, sizeof(escaped), text);
	number = strings_add(&dictionary->strings, escaped);
	if (number == STRINGS_NONE)
		dictionary->err = -ENOMEM;
	return number == STRINGS_NONE ? 0 : (s32)number;
}

static s32 attribute(struct otlp_dictionary *dictionary, const char *key, const char *text,
		     s64 number)
{
	struct known_attribute wanted = {.number = number, .key = otlp_string(dictionary, key)};
	u32 text_number = text ? strings_add(&dictionary->values, text) : 0;
	struct known_attribute *known;
	Otlp__KeyValueAndUnit *item;
	Otlp__AnyValue *value;

	wanted.text = text ? 1 + (s32)text_number : 0;
	known = text_number == STRINGS_NONE ? NULL
					    : hash_add(&dictionary->known_attributes, &wanted);
	if (!known) {
		dictionary->err = -ENOMEM;
		return 0;
	}
	if (known->place)
		return known->place;
	item = NEW(dictionary, Otlp__KeyValueAndUnit, otlp__key_value_and_unit__init);
	value = NEW(dictionary, Otlp__AnyValue, otlp__any_value__init);
	if (!item || !value) {
		dictionary->err = -ENOMEM;
		return 0;
	}
	if (text)
		value->string_value = otlp_text(&dictionary->pool, text);
	else
		WIRE_SET(value, int_value, number);
	WIRE_SET(item, key_strindex, wanted.key);
	item->value = value;
	known->place = add(dictionary, &dictionary->attributes, item);
	return known->place;
}

s32 otlp_attribute_text(struct otlp_dictionary *dictionary, const char *key, const char *text)
{
	return attribute(dictionary, key, text, 0);
}

s32 otlp_attribute_number(struct otlp_dictionary *dictionary, const char *key, s64 number)
{
	return attribute(dictionary, key, NULL, number);
}

/* One attribute, as a list. */
static int32_t *only(struct otlp_dictionary *dictionary, s32 place)
{
	int32_t *list = otlp_alloc(&dictionary->pool, sizeof(*list));

	if (list)
		*list = place;
	else
		dictionary->err = -ENOMEM;
	return list;
}

static s32 mapping(struct otlp_dictionary *dictionary, u32 index)
{
	const struct profile *profile = dictionary->profile;
	const struct profile_module *module;
	Otlp__Mapping *item;

	if (index == PROFILE_NONE)
		return 0;
	if (dictionary->modules[index])
		return (s32)dictionary->modules[index] - 1;
	module = hash_item(&profile->modules, index);
	item = NEW(dictionary, Otlp__Mapping, otlp__mapping__init);
	if (item) {
		WIRE_SET(item, filename_strindex,
			 otlp_string(dictionary, profile_text(profile, module->path)));
		if (module->build_id) {
			s32 build_id =
				otlp_attribute_text(dictionary, "process.executable.build_id.gnu",
						    profile_text(profile, module->build_id));

			item->attribute_indices = only(dictionary, build_id);
			item->n_attribute_indices = item->attribute_indices ? 1 : 0;
		}
	}
	dictionary->modules[index] = (u32)add_once(dictionary, &dictionary->mappings, item) + 1;
	return (s32)dictionary->modules[index] - 1;
}

static s32 function(struct otlp_dictionary *dictionary, u32 index, u32 file)
{
	const struct profile *profile = dictionary->profile;
	u32 *place = &dictionary->function_places[index];
	Otlp__Function *item;

	if (*place)
		return (s32)*place - 1;
	item = NEW(dictionary, Otlp__Function, otlp__function__init);
	if (item) {
		WIRE_SET(item, name_strindex,
			 otlp_string(dictionary, profile_function_name(profile, index)));
		if (file)
			WIRE_SET(item, filename_strindex,
				 otlp_string(dictionary, profile_text(profile, file)));
	}
	*place = (u32)add_once(dictionary, &dictionary->functions, item) + 1;
	return (s32)*place - 1;
}

/* The steps of one frame, the innermost first, are lines of one location. */
static s32 location(struct otlp_dictionary *dictionary, const struct profile_step *steps,
		    size_t count)
{
	const struct profile *profile = dictionary->profile;
	Otlp__Location *item = NEW(dictionary, Otlp__Location, otlp__location__init);
	Otlp__Line **lines = otlp_alloc(&dictionary->pool, count * sizeof(*lines));
	u32 look = profile_function(profile, steps[count - 1].function)->look;

	if (!item || !lines) {
		dictionary->err = -ENOMEM;
		return 0;
	}
	item->lines = lines;
	for (size_t i = 0; i < count; i++) {
		Otlp__Line *line = NEW(dictionary, Otlp__Line, otlp__line__init);

		if (!line) {
			dictionary->err = -ENOMEM;
			return 0;
		}
		WIRE_SET(line, function_index,
			 function(dictionary, steps[i].function, steps[i].file));
		WIRE_SET(line, line, steps[i].line);
		lines[item->n_lines++] = line;
	}
	if (steps->frame != PROFILE_NONE) {
		const struct profile_frame *frame = hash_item(&profile->frames, steps->frame);

		WIRE_SET(item, mapping_index, mapping(dictionary, frame->module));
		WIRE_SET(item, address, frame->address);
	}
	if (look == FUNCTION_KERNEL || look == FUNCTION_USER || look == FUNCTION_UNNAMED) {
		s32 type = otlp_attribute_text(dictionary, "profile.frame.type",
					       look == FUNCTION_KERNEL ? "kernel" : "native");

		item->attribute_indices = only(dictionary, type);
		item->n_attribute_indices = item->attribute_indices ? 1 : 0;
	}
	return add_once(dictionary, &dictionary->locations, item);
}

/* Of a frame or a mark, which both come again and again. */
static s32 location_of(struct otlp_dictionary *dictionary, const struct profile_step *steps,
		       size_t count)
{
	u32 *known = steps->frame == PROFILE_NONE ? &dictionary->marks[steps->function]
						  : &dictionary->frames[steps->frame];

	if (!*known)
		*known = (u32)location(dictionary, steps, count) + 1;
	return (s32)*known - 1;
}

s32 otlp_stack(struct otlp_dictionary *dictionary, u64 stack, u32 stop)
{
	const u64 key[2] = {stack, stop};
	struct known_stack *known = hash_add(&dictionary->known_stacks, key);
	struct profile_step steps[PROFILE_STEPS_MAX];
	Otlp__Stack *item;
	size_t count, first = 0;

	if (!known) {
		dictionary->err = -ENOMEM;
		return 0;
	}
	if (known->place)
		return known->place;
	count = profile_steps(dictionary->profile, stack, stop, steps);
	item = NEW(dictionary, Otlp__Stack, otlp__stack__init);
	if (item)
		item->location_indices =
			otlp_alloc(&dictionary->pool, count * sizeof(*item->location_indices));
	for (size_t i = 0; item && item->location_indices && i < count; i++) {
		/* What was inlined ends with the function that it is in. */
		if (steps[i].is_inlined && i + 1 < count && steps[i + 1].frame == steps[i].frame)
			continue;
		item->location_indices[item->n_location_indices++] =
			location_of(dictionary, &steps[first], i + 1 - first);
		first = i + 1;
	}
	known->place = add_once(dictionary, &dictionary->stacks, item);
	return known->place;
}

static char **string_places(struct otlp_dictionary *dictionary)
{
	char **places = calloc(dictionary->strings.count + 1, sizeof(*places));

	for (u32 i = 0; places && i < dictionary->strings.count; i++)
		places[i] = (char *)strings_get(&dictionary->strings, i);
	return places;
}

int otlp_dictionary_put(struct otlp_dictionary *dictionary, struct wire *wire)
{
	static u8 zeroes[TRACE_ID_BYTES];
	Otlp__ExportProfilesServiceRequest part = OTLP__EXPORT_PROFILES_SERVICE_REQUEST__INIT;
	Otlp__ProfilesDictionary tables = OTLP__PROFILES_DICTIONARY__INIT;
	Otlp__Link link = OTLP__LINK__INIT;
	char **strings = string_places(dictionary);

	if (dictionary->err || dictionary->pool.has_failed || !strings) {
		free(strings);
		return -ENOMEM;
	}
	WIRE_SET(&link, trace_id, ((ProtobufCBinaryData){TRACE_ID_BYTES, zeroes}));
	WIRE_SET(&link, span_id, ((ProtobufCBinaryData){SPAN_ID_BYTES, zeroes}));
	tables.mapping_table = (Otlp__Mapping **)dictionary->mappings.items;
	tables.n_mapping_table = dictionary->mappings.count;
	tables.location_table = (Otlp__Location **)dictionary->locations.items;
	tables.n_location_table = dictionary->locations.count;
	tables.function_table = (Otlp__Function **)dictionary->functions.items;
	tables.n_function_table = dictionary->functions.count;
	tables.link_table = (Otlp__Link *[]){&link};
	tables.n_link_table = 1;
	tables.string_table = strings;
	tables.n_string_table = dictionary->strings.count;
	tables.attribute_table = (Otlp__KeyValueAndUnit **)dictionary->attributes.items;
	tables.n_attribute_table = dictionary->attributes.count;
	tables.stack_table = (Otlp__Stack **)dictionary->stacks.items;
	tables.n_stack_table = dictionary->stacks.count;
	part.dictionary = &tables;
	wire_put(wire, &part.base);
	free(strings);
	return 0;
}
