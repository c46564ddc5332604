// SPDX-License-Identifier: Apache-2.0
#include "kallsyms.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "../base/cleanup.h"
#include "../base/hash.h"
#include "../base/text.h"
#include "../base/utf8.h"
#include "line_feed.h"
#include "spans.h"

#define SYMBOLS_MAX   (1u << 20) /* a kernel has some 120,000 to 200,000 */
#define TEXT_MAX      (64u << 20)
#define FILE_MAX      (256u << 20)
#define CHECKED_BYTES (1u << 20)
#define FUNCTION_MAX  (64u << 10) /* bytes; the file tells no sizes, and the last has no next */
#define VARIABLES_MIN                                                                              \
	1000 /* fewer: without CONFIG_KALLSYMS_ALL, only some stray ones are there                 \
	      */
#define MODULES_MAX    4096
#define MODULE_NAME_SZ 64

/* Tags of spans: 0 is the kernel's own, else 1 + the place of the module. */
#define TAG_BOUNDARY 0xffff /* no function: it ends the one before */

struct kallsyms {
	struct spans spans;
	struct hash modules; /* their names are their keys */
	u64 text, stext;
	bool has_address;  /* one that is not 0 */
	const char *types; /* of the symbols that are kept */
};

/* "ffffffff81000000 T name\t[module]" in pieces. */
struct line {
	u64 address;
	char type;
	const char *name;
	size_t name_length;
	const char *module; /* NULL: the kernel's own */
	size_t module_length;
};

static bool parse(const char *text, size_t length, struct line *ret_line)
{
	const char *at = text, *end = text + length, *tab;
	u64 address = 0;

	for (; at < end && *at != ' '; at++) {
		u8 digit = (u8)(*at - '0');

		if (digit > 9) {
			digit = (u8)(*at - 'a' + 10);
			if (digit < 10 || digit > 15)
				return false;
		}
		if (address >> 60)
			return false;
		address = address << 4 | digit;
	}
	if (at == text || end - at < 4 || at[2] != ' ')
		return false;
	*ret_line = (struct line){.address = address, .type = at[1], .name = at + 3};
	tab = memchr(ret_line->name, '\t', (size_t)(end - ret_line->name));
	ret_line->name_length = (size_t)((tab ? tab : end) - ret_line->name);
	if (tab && end - tab > 3 && tab[1] == '[' && end[-1] == ']') {
		ret_line->module = tab + 2;
		ret_line->module_length = (size_t)(end - tab - 3);
	}
	return ret_line->name_length > 0;
}

static bool is_plain(const char *text, size_t length)
{
	for (size_t i = 0; i < length; i++)
		if ((u8)text[i] <= ' ' || (u8)text[i] >= 0x7f)
			return false;
	return true;
}

/* What is not plain is made so: it will be shown. */
static const char *clean(const char *text, size_t *length, char buffer[SYMBOL_LENGTH_MAX + 1])
{
	char raw[SYMBOL_LENGTH_MAX + 1];

	if (*length <= SYMBOL_LENGTH_MAX && is_plain(text, *length))
		return text;
	utf8_copy(raw, sizeof(raw), text, *length);
	utf8_escape(buffer, SYMBOL_LENGTH_MAX + 1, raw);
	*length = strlen(buffer);
	return buffer;
}

static int tag_of_module(struct kallsyms *kallsyms, const struct line *line, u16 *ret_tag)
{
	char key[MODULE_NAME_SZ] = "", buffer[SYMBOL_LENGTH_MAX + 1];
	size_t length = line->module_length;
	const char *name;
	void *module;

	*ret_tag = 0;
	if (!line->module)
		return 0;
	name = clean(line->module, &length, buffer);
	memcpy(key, name, length < sizeof(key) ? length : sizeof(key) - 1);
	module = hash_add(&kallsyms->modules, key);
	if (!module)
		return kallsyms->modules.count >= MODULES_MAX ? -E2BIG : -ENOMEM;
	*ret_tag = (u16)(1 + ((char *)module - kallsyms->modules.items) / MODULE_NAME_SZ);
	return 0;
}

static bool is(const struct line *line, const char *name)
{
	return line->name_length == strlen(name) && !memcmp(line->name, name, line->name_length);
}

/* What the compiler leaves free in front of a function has a name of its own: nothing runs there.
 */
static bool is_padding(const struct line *line)
{
	return line->name_length > 6 && !memcmp(line->name, "__pfx_", 6);
}

/* Those entries of x86 and arm64 from which a stack goes on in what was interrupted. */
static bool is_interrupt(const char *name)
{
	static const char *const prefixes[] = {"asm_exc_", "asm_sysvec_", "asm_common_interrupt",
					       "asm_spurious_interrupt"};

	for (size_t i = 0; i < ARRAY_SIZE(prefixes); i++)
		if (!strncmp(name, prefixes[i], strlen(prefixes[i])))
			return true;
	return !strncmp(name, "el1h_64_", 8) && !strstr(name, "_handler");
}

static int take_line(void *context, const char *text, size_t length)
{
	struct kallsyms *kallsyms = context;
	char buffer[SYMBOL_LENGTH_MAX + 1];
	struct span span = {.size = FUNCTION_MAX, .is_open = true};
	struct line line;
	const char *name = "";
	size_t name_length = 0;
	int err = 0;

	if (!parse(text, length, &line) || !line.address)
		return 0;
	kallsyms->has_address = true;
	if (!(line.address >> 63))
		return 0; /* an offset into each CPU's own data */
	if (is(&line, "_text"))
		kallsyms->text = line.address;
	else if (is(&line, "_stext"))
		kallsyms->stext = line.address;
	span.begin = line.address;
	if (strchr(kallsyms->types, line.type) && line.type && !is_padding(&line)) {
		u32 binding = line.type == kallsyms->types[0]	? 0
			      : line.type == kallsyms->types[1] ? 2
								: 1;

		name_length = line.name_length;
		name = clean(line.name, &name_length, buffer);
		span.order = spans_rank(true, binding, name, name_length);
		err = tag_of_module(kallsyms, &line, &span.tag);
	} else {
		span.tag = TAG_BOUNDARY;
	}
	if (!err)
		err = spans_add(&kallsyms->spans, span, name, name_length);
	return err == -E2BIG ? 0 : err;
}

static int settle(struct kallsyms *kallsyms)
{
	struct spans *spans = &kallsyms->spans;
	size_t kept = 0;
	int err;

	spans_keep_best(spans);
	err = spans_settle(spans);
	if (err)
		return err;
	for (size_t i = 0; i < spans->count; i++)
		if (spans->items[i].tag != TAG_BOUNDARY)
			spans->items[kept++] = spans->items[i];
	spans->count = kept;
	spans_trim(spans);
	return 0;
}

static int read_types(int fd, const char *types, struct kallsyms **ret_kallsyms)
{
	struct kallsyms *kallsyms = calloc(1, sizeof(*kallsyms));
	int err;

	if (!kallsyms)
		return -ENOMEM;
	kallsyms->types = types;
	spans_init(&kallsyms->spans, SYMBOLS_MAX, TEXT_MAX);
	hash_init(&kallsyms->modules, MODULE_NAME_SZ, MODULE_NAME_SZ, MODULES_MAX);
	err = line_feed(fd, FILE_MAX, take_line, kallsyms);
	if (err == -EFBIG)
		err = 0; /* no kernel has that many; what was read is true */
	if (!err && !kallsyms->has_address)
		err = -EPERM;
	if (!err)
		err = settle(kallsyms);
	if (err) {
		kallsyms_close(kallsyms);
		return err;
	}
	*ret_kallsyms = kallsyms;
	return 0;
}

int kallsyms_read(int fd, struct kallsyms **ret_kallsyms)
{
	return read_types(fd, "tTwW", ret_kallsyms);
}

int kallsyms_read_data(int fd, struct kallsyms **ret_kallsyms)
{
	struct kallsyms *kallsyms;
	int err = read_types(fd, "dDbBvV", &kallsyms);

	if (err)
		return err;
	if (kallsyms->spans.count < VARIABLES_MIN) {
		kallsyms_close(kallsyms);
		return -ENODATA;
	}
	*ret_kallsyms = kallsyms;
	return 0;
}

/* One that is not 0 ends the reading. */
static int find_address(void *context, const char *text, size_t length)
{
	struct line line;

	(void)context;
	return parse(text, length, &line) && line.address ? -ECANCELED : 0;
}

int kallsyms_check(int fd)
{
	int err = line_feed(fd, CHECKED_BYTES, find_address, NULL);

	if (err == -ECANCELED)
		return 0;
	return err && err != -EFBIG ? err : -EPERM;
}

void kallsyms_close(struct kallsyms *kallsyms)
{
	if (!kallsyms)
		return;
	spans_free(&kallsyms->spans);
	hash_free(&kallsyms->modules);
	free(kallsyms);
}

u64 kallsyms_text(const struct kallsyms *kallsyms)
{
	return kallsyms->text ? kallsyms->text : kallsyms->stext;
}

const char *kallsyms_find(const struct kallsyms *kallsyms, u64 address, const char **ret_module,
			  u64 *ret_offset)
{
	const struct span *span = spans_find(&kallsyms->spans, address);

	if (!span)
		return NULL;
	*ret_module = span->tag ? hash_item(&kallsyms->modules, span->tag - 1) : NULL;
	*ret_offset = address - span->begin;
	return spans_name(&kallsyms->spans, span);
}

bool kallsyms_is_interrupt(const struct kallsyms *kallsyms, u64 address)
{
	const struct span *span = spans_find(&kallsyms->spans, address);

	return span && !span->tag && is_interrupt(spans_name(&kallsyms->spans, span));
}
