// SPDX-License-Identifier: Apache-2.0
/*
 * USDT probes: notes that say where a probe is, and where its arguments are then.
 */
#include <errno.h>
#include <gelf.h>
#include <stdio.h>
#include <string.h>

#include "../base/cleanup.h"
#include "../base/pattern.h"
#include "../base/utf8.h"
#include "elf_section.h"
#include "elf_segment.h"
#include "sites.h"

#define NOTES_SECTION ".note.stapsdt"
#define BASE_SECTION  ".stapsdt.base"
#define NOTES_BYTES   (4u << 20)
#define NOTE_OWNER    "stapsdt"
#define NOTE_TYPE     3
#define PART_MAX      60 /* bytes of a provider or a name: both and a colon are a site's name */

/* What the note begins with; three texts follow, each ended by NUL. */
struct note_head {
	u64 address;
	u64 base;
	u64 semaphore;
};

struct note_texts {
	const char *provider, *name, *args;
	size_t provider_length, name_length, args_length;
};

/* One text: false if it has no end within the note. */
static bool take_text(const char **bytes, size_t *left, const char **ret_text, size_t *ret_length)
{
	const char *end = memchr(*bytes, '\0', *left);

	if (!end)
		return false;
	*ret_text = *bytes;
	*ret_length = (size_t)(end - *bytes);
	*left -= *ret_length + 1;
	*bytes = end + 1;
	return true;
}

static bool take_texts(const char *bytes, size_t left, struct note_texts *ret_texts)
{
	return take_text(&bytes, &left, &ret_texts->provider, &ret_texts->provider_length) &&
	       take_text(&bytes, &left, &ret_texts->name, &ret_texts->name_length) &&
	       take_text(&bytes, &left, &ret_texts->args, &ret_texts->args_length) &&
	       ret_texts->provider_length && ret_texts->provider_length <= PART_MAX &&
	       ret_texts->name_length && ret_texts->name_length <= PART_MAX;
}

/* Arguments are separated by blanks; in one there is none. */
static void take_args(struct site *site, const char *text, size_t length)
{
	for (size_t at = 0; at < length && site->arg_count < SITE_ARGS_MAX;) {
		size_t begin = at;

		while (at < length && text[at] != ' ')
			at++;
		if (at > begin)
			site->args[site->arg_count++] = site_parse_arg(text + begin, at - begin);
		at++;
	}
}

struct note_search {
	const struct elf_file *file;
	const char *pattern;
	bool has_base;
	u64 base; /* where the base section is by now: a prelinked file has moved it */
	struct sites *sites;
};

static int take_note(const struct note_search *search, const char *bytes, size_t size)
{
	char name[2 * PART_MAX + 2];
	struct site site = {.kind = SITE_USDT, .at_return = RETURN_NO_START};
	struct note_texts texts;
	struct note_head head;
	u64 moved;
	int err;

	if (size < sizeof(head) || !take_texts(bytes + sizeof(head), size - sizeof(head), &texts))
		return 0;
	memcpy(&head, bytes, sizeof(head));
	snprintf(name, sizeof(name), "%.*s:%.*s", (int)texts.provider_length, texts.provider,
		 (int)texts.name_length, texts.name);
	if (!pattern_matches(search->pattern, name))
		return 0;
	moved = search->has_base ? search->base - head.base : 0;
	if (!elf_offset_of(search->file, head.address + moved, true, &site.offset))
		return 0;
	if (head.semaphore &&
	    !elf_offset_of(search->file, head.semaphore + moved, false, &site.semaphore))
		return 0; /* without its counter it would never fire */
	sites_look_at_code(search->file, &site);
	utf8_copy(site.name, sizeof(site.name), name, strlen(name));
	take_args(&site, texts.args, texts.args_length);
	err = sites_add(search->sites, &site);
	return err == -E2BIG ? 0 : err;
}

/* Padding is of four bytes each, also where a field ends the section. */
static size_t padded(size_t size)
{
	return (size + 3) & ~(size_t)3;
}

static int walk_notes(const struct note_search *search, const struct elf_bytes *notes)
{
	size_t at = 0;
	int err = 0;

	while (!err && notes->size - at >= sizeof(Elf64_Nhdr)) {
		Elf64_Nhdr note;
		size_t left = notes->size - at - sizeof(note);
		const char *owner = notes->bytes + at + sizeof(note);

		memcpy(&note, notes->bytes + at, sizeof(note));
		if (note.n_namesz > left || padded(note.n_namesz) > left ||
		    note.n_descsz > left - padded(note.n_namesz))
			break;
		if (note.n_type == NOTE_TYPE && note.n_namesz == sizeof(NOTE_OWNER) &&
		    !memcmp(owner, NOTE_OWNER, sizeof(NOTE_OWNER)))
			err = take_note(search, owner + padded(note.n_namesz), note.n_descsz);
		left -= padded(note.n_namesz);
		if (padded(note.n_descsz) > left)
			break;
		at += sizeof(note) + padded(note.n_namesz) + padded(note.n_descsz);
	}
	return err;
}

int sites_find_usdt(const struct elf_file *file, const char *pattern, struct sites *ret_sites)
{
	_cleanup_elf_bytes_ struct elf_bytes notes = {0};
	struct note_search search = {.file = file, .pattern = pattern, .sites = ret_sites};
	GElf_Shdr header;
	int err;

	*ret_sites = (struct sites){0};
	search.has_base = elf_section_find(file, BASE_SECTION, &header);
	search.base = search.has_base ? header.sh_addr : 0;
	if (!elf_section_find(file, NOTES_SECTION, &header))
		return 0;
	err = elf_section_read(file, &header, NOTES_BYTES, &notes);
	if (!err)
		err = walk_notes(&search, &notes);
	if (err)
		sites_free(ret_sites);
	else
		sites_settle(ret_sites);
	return err;
}
