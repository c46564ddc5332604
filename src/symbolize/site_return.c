// SPDX-License-Identifier: Apache-2.0
/*
 * May a return probe be put at a function? It replaces the return address on the stack, which some
 * look at: then it does harm, and ends are told by the instructions that return, if those are
 * known.
 */
#include <stdlib.h>
#include <string.h>

#include "../base/cleanup.h"
#include "../base/pattern.h"
#include "elf_section.h"
#include "elf_segment.h"
#include "site_return.h"

#define STRINGS_MAX (256u << 20)
#define READ_MAX    256 /* functions whose instructions are read: as many as can be traced */
#define TRIES_MAX   4	/* to read one */

/* Functions that do not return as others do; a return probe would break the process. */
static const char *const odd_returns[] = {
	"setjmp",	  "_setjmp",
	"sigsetjmp",	  "__sigsetjmp",
	"vfork",	  "__vfork",
	"getcontext",	  "swapcontext",
	"makecontext",	  "setcontext",
	"clone",	  "__clone",
	"clone3",	  "__clone3",
	"_start",	  "__restore_rt",
	"longjmp",	  "_longjmp",
	"siglongjmp",	  "__longjmp_chk",
	"_dl_start_user", "_dl_runtime_resolve*",
	"_dl_tlsdesc_*",  "__tls_get_addr_slow",
};

/* Functions of C that call one of their caller's, from which an exception may come. */
static const char *const with_callbacks[] = {
	"qsort",   "qsort_r", "__qsort_r", "bsearch",	   "lfind",	     "lsearch",
	"tsearch", "tfind",   "tdelete",   "twalk",	   "twalk_r",	     "tdestroy",
	"ftw",	   "ftw64",   "nftw",	   "nftw64",	   "scandir",	     "scandir64",
	"glob",	   "glob64",  "call_once", "pthread_once", "__pthread_once", "dl_iterate_phdr",
	"dlopen",  "dlclose",
};

/* What looks through the stack for who catches an exception: of C++, of Rust. */
static const char *const personalities[] = {"__gxx_personality_v0", "rust_eh_personality"};

static bool is_among(const char *name, const char *const *names, size_t count)
{
	for (size_t i = 0; i < count; i++)
		if (pattern_matches(names[i], name))
			return true;
	return false;
}

bool site_returns_oddly(const char *name)
{
	return is_among(name, odd_returns, ARRAY_SIZE(odd_returns));
}

bool site_is_mangled(const char *name)
{
	return !strncmp(name, "_Z", 2) || !strncmp(name, "_R", 2);
}

bool site_is_cold(const char *name)
{
	const char *cold = strstr(name, ".cold");

	return cold && (!cold[5] || cold[5] == '.');
}

enum site_return site_judge_return(const struct sites_facts *facts, const struct span *span,
				   const char *name)
{
	if (facts->is_go)
		return RETURN_GO;
	if (span->is_label || span->is_open || site_is_cold(name))
		return RETURN_NO_START;
	if (facts->has_exceptions || site_is_mangled(name) ||
	    is_among(name, with_callbacks, ARRAY_SIZE(with_callbacks)))
		return RETURN_THROWS;
	return RETURN_MAY;
}

/* By the name of what it needs for them, which its strings have, be it stripped or not. */
bool site_file_has_exceptions(const struct elf_file *file)
{
	static const char *const sections[] = {".dynstr", ".strtab"};

	for (size_t i = 0; i < ARRAY_SIZE(sections); i++) {
		_cleanup_elf_bytes_ struct elf_bytes strings = {0};
		GElf_Shdr header;

		if (!elf_section_find(file, sections[i], &header) ||
		    elf_section_read(file, &header, STRINGS_MAX, &strings))
			continue;
		for (size_t p = 0; p < ARRAY_SIZE(personalities); p++)
			if (memmem(strings.bytes, strings.size, personalities[p],
				   strlen(personalities[p])))
				return true;
	}
	return false;
}

/* --- once the functions are found --- */

/* The part of a function that stands elsewhere is named as the function is, and ".cold". */
static const struct span *find_cold(const struct spans *spans, const struct span *whole)
{
	const char *name = spans_name(spans, whole);
	size_t length = strlen(name);

	for (size_t i = 0; i < spans->count; i++) {
		const char *other = spans_name(spans, &spans->items[i]);

		if (!spans->items[i].is_open && !strncmp(other, name, length) &&
		    !strncmp(other + length, ".cold", 5) && site_is_cold(other + length))
			return &spans->items[i];
	}
	return NULL;
}

static void find_returns(const struct elf_file *file, const struct spans *spans,
			 const struct span *span, struct site *site)
{
	struct site_piece pieces[SITE_PIECES_MAX] = {{site->offset, site->size}};
	const struct span *cold = find_cold(spans, span);
	size_t count = 1;

	if (cold && elf_offset_of(file, cold->begin, true, &pieces[1].offset)) {
		pieces[1].size = cold->size;
		count = 2;
	}
	site->return_count = (u8)site_find_returns(file, pieces, count, site->returns);
	if (site->return_count)
		site->at_return = RETURN_BY_INSTRUCTION;
}

/* A site by its address, as functions have it. */
struct judged {
	u64 address;
	struct site *site;
	u32 tries; /* to read its instructions: each of its names may have another length */
};

static int by_address(const void *a, const void *b)
{
	const struct judged *left = a, *right = b;

	return left->address < right->address ? -1 : left->address > right->address;
}

/* Whichever of its names it was found by: one may tell of it, one may be that of its other part. */
static void settle(const struct elf_file *file, const struct spans *spans, const struct span *span,
		   struct judged *judged, bool is_read)
{
	struct site *site = judged->site;

	if (site_returns_oddly(spans_name(spans, span)))
		site->at_return = RETURN_TWICE;
	if (site->at_return != RETURN_THROWS || !is_read || site->size != span->size ||
	    judged->tries == TRIES_MAX)
		return;
	judged->tries++;
	find_returns(file, spans, span, site);
}

void site_settle_returns(const struct elf_file *file, const struct spans *spans,
			 struct sites *sites)
{
	_cleanup_free_ struct judged *all = calloc(sites->count, sizeof(*all));
	size_t count = 0;

	for (size_t i = 0; i < sites->count; i++) {
		if (!all) /* no memory: nothing is known of any */
			sites->items[i].at_return = RETURN_NO_START;
		if (all && elf_address_of(file, sites->items[i].offset, &all[count].address))
			all[count++].site = &sites->items[i];
	}
	if (!count)
		return;
	qsort(all, count, sizeof(*all), by_address);
	for (size_t i = 0; i < spans->count; i++) {
		const struct judged wanted = {.address = spans->items[i].begin};
		struct judged *found = bsearch(&wanted, all, count, sizeof(*all), by_address);

		if (found)
			settle(file, spans, &spans->items[i], found, sites->count <= READ_MAX);
	}
}

void site_note_go_returns(const struct elf_file *file, struct sites *sites)
{
	for (size_t i = 0; sites->count <= READ_MAX && i < sites->count; i++) {
		struct site *site = &sites->items[i];
		const struct site_piece piece = {site->offset, site->size};

		site->return_count = (u8)site_find_returns(file, &piece, 1, site->returns);
	}
}
