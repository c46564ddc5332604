// SPDX-License-Identifier: Apache-2.0
#include "fetched_names.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "../base/cleanup.h"
#include "../base/clock.h"
#include "../base/log.h"
#include "../base/utf8.h"
#include "../model/resolver.h"
#include "fetcher.h"
#include "symbols.h"

/* A module with frames that have no name. */
struct wanted {
	u64 module_id; /* the key */
	u64 uses;      /* stacks that begin with such a frame */
};

struct fetch {
	struct profile *profile;
	struct hash wanted;
	bool *is_seen; /* by stack */
	struct fetcher *fetcher;
	u32 source;
	u64 deadline_ns;
	size_t found, late;	/* files */
	size_t named, nameless; /* frames */
	int last_err;
};

static void want_frame(struct fetch *fetch, const struct profile_frame *frame)
{
	const struct profile_module *module =
		hash_find(&fetch->profile->modules, &frame->module_id);
	struct wanted *wanted;

	if (frame->name || !module || module->kind != MODULE_FILE || !module->build_id)
		return;
	wanted = hash_add(&fetch->wanted, &module->id);
	if (wanted)
		wanted->uses++;
}

/* Upwards until somebody was there before: each stack once, whatever they say of their parents. */
static void want_stack(struct fetch *fetch, u64 id)
{
	struct profile *profile = fetch->profile;
	const struct profile_stack *stacks = (void *)profile->stacks.items, *stack;

	while (id && (stack = hash_find(&profile->stacks, &id)) &&
	       !fetch->is_seen[stack - stacks]) {
		const struct profile_frame *frame = hash_find(&profile->frames, &stack->frame_id);

		fetch->is_seen[stack - stacks] = true;
		if (frame)
			want_frame(fetch, frame);
		id = stack->parent_id;
	}
}

static int by_uses(const void *a, const void *b)
{
	const struct wanted *x = a, *y = b;

	return x->uses > y->uses ? -1 : x->uses < y->uses;
}

static int choose(struct fetch *fetch)
{
	fetch->is_seen = calloc(fetch->profile->stacks.count + 1, sizeof(*fetch->is_seen));
	if (!fetch->is_seen)
		return -ENOMEM;
	for (size_t i = 0; i < fetch->profile->samples.count; i++) {
		const struct profile_sample *sample = hash_item(&fetch->profile->samples, i);

		want_stack(fetch, sample->stack);
		want_stack(fetch, sample->waker_stack);
	}
	free(fetch->is_seen);
	for (size_t i = 0; i < fetch->profile->frames.count; i++) {
		const struct profile_frame *frame = hash_item(&fetch->profile->frames, i);

		fetch->nameless += !frame->name && hash_find(&fetch->wanted, &frame->module_id);
	}
	if (fetch->wanted.count) /* from here on nothing is looked up in it */
		qsort(fetch->wanted.items, fetch->wanted.count, sizeof(struct wanted), by_uses);
	return 0;
}

/* How many bytes it has; 0: it is none. */
static size_t parse_build_id(const char *text, u8 id[BUILD_ID_MAX])
{
	size_t length = strlen(text);

	if (length % 2 || length > 2 * BUILD_ID_MAX || strspn(text, "0123456789abcdef") != length)
		return 0;
	for (size_t i = 0; i < length / 2; i++) {
		const char digits[] = {text[2 * i], text[2 * i + 1], '\0'};

		id[i] = (u8)strtoul(digits, NULL, 16);
	}
	return length / 2;
}

static void name_frames(struct fetch *fetch, u64 module_id, struct symbols *symbols)
{
	for (size_t i = 0; i < fetch->profile->frames.count; i++) {
		struct profile_frame *frame = hash_item(&fetch->profile->frames, i);
		enum name_source source;
		const char *name;
		u32 text;

		if (frame->name || frame->module_id != module_id)
			continue;
		name = symbols_name(symbols, frame->address, &source);
		text = name ? strings_add(&fetch->profile->strings, name) : STRINGS_NONE;
		if (text == STRINGS_NONE)
			continue;
		frame->name = text;
		frame->source = fetch->source;
		fetch->named++;
	}
}

/* The symbols of what a server sent, if it is what was asked for. */
static int read_symbols(int fd, const u8 *id, size_t id_size, struct symbols **ret_symbols)
{
	struct elf_file file;
	int err = elf_file_open(fd, &file);

	if (err)
		return err;
	err = -ENOEXEC;
	if (file.build_id_size == id_size && !memcmp(file.build_id, id, id_size))
		err = symbols_build(&file, NULL, ret_symbols);
	elf_file_close(&file);
	return err;
}

static int fetch_module(struct fetch *fetch, const struct profile_module *module)
{
	const char *path = profile_text(fetch->profile, module->path);
	u64 now_ns = clock_now_ns();
	struct symbols *symbols = NULL;
	_cleanup_close_ int fd = -1;
	u8 id[BUILD_ID_MAX];
	size_t id_size = parse_build_id(profile_text(fetch->profile, module->build_id), id);
	char name[256];
	int err = 0;

	utf8_escape(name, sizeof(name), path);
	fd = now_ns >= fetch->deadline_ns
		     ? -ETIMEDOUT
		     : fetcher_fetch(fetch->fetcher, id, id_size, name,
				     (fetch->deadline_ns - now_ns) / NS_PER_MS);
	err = fd < 0 ? fd : read_symbols(fd, id, id_size, &symbols);
	if (symbols)
		name_frames(fetch, module->id, symbols);
	symbols_close(symbols);
	if (err == -ENOSYS)
		return err;
	fetch->found += !err;
	fetch->late += err == -ETIMEDOUT;
	if (err && err != -ENOENT && err != -ETIMEDOUT)
		fetch->last_err = err;
	log_verbose("debuginfod: %s: %s", name, err ? strerror(-err) : "found");
	return 0;
}

static int fetch_all(struct fetch *fetch)
{
	int err = 0;

	for (size_t i = 0; !err && i < fetch->wanted.count; i++) {
		const struct wanted *wanted = hash_item(&fetch->wanted, i);

		err = fetch_module(fetch, hash_find(&fetch->profile->modules, &wanted->module_id));
	}
	if (err == -ENOSYS)
		log_error("cannot ask debuginfod: there is no libdebuginfod.so.1; install it (its "
			  "package is libdebuginfod1, or elfutils-debuginfod-client), or leave out "
			  "--debuginfod");
	return err;
}

static void tell(const struct fetch *fetch)
{
	if (!fetch->wanted.count) {
		log_info("debuginfod: nothing to fetch: all frames of files with a build id have "
			 "symbol names");
		return;
	}
	log_info("debuginfod: symbolized %zu of %zu frames; found %zu of %zu debug files%s%s",
		 fetch->named, fetch->nameless, fetch->found, fetch->wanted.count,
		 fetch->last_err ? "; the last that failed: " : "",
		 fetch->last_err ? strerror(-fetch->last_err) : "");
	if (fetch->late)
		log_info("debuginfod: timed out before %zu files were fetched: --debuginfod=60 "
			 "waits longer; fetched files are cached unless you are root",
			 fetch->late);
}

int fetched_names(struct profile *profile, const void *context)
{
	const struct fetch_request *request = context;
	struct fetch fetch = {.profile = profile,
			      .fetcher = request->fetcher,
			      .source = strings_add(&profile->strings, "debuginfod"),
			      .deadline_ns = clock_now_ns() + request->limit_ms * NS_PER_MS};
	int err;

	if (fetch.source == STRINGS_NONE)
		return -ENOMEM;
	hash_init(&fetch.wanted, sizeof(struct wanted), sizeof(u64), PROFILE_MODULES_MAX);
	err = choose(&fetch);
	if (!err && fetch.wanted.count)
		err = fetch_all(&fetch);
	if (!err)
		tell(&fetch);
	hash_free(&fetch.wanted);
	return err;
}
