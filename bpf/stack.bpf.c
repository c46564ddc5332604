// SPDX-License-Identifier: Apache-2.0 OR GPL-2.0-only
/*
 * The walk of user stacks, as a function of its own.
 */
#include "common.bpf.h"

#define ASK_WORDS 4 /* of the stack, at a time: frames have 512 bytes in all */
#define ASK_TIMES 64

int stack_walk_frame(u32 context)
{
	struct stack_scratch *scratch = stack_scratch_of(context);
	u64 place;
	int is_over;

	if (!scratch)
		return 1;
	place = (u64)scratch->rec.kernel_count + scratch->walk.frames;
	is_over = unwind_step(&scratch->walk);
	if (place < KERNEL_FRAMES_MAX + USER_FRAMES_MAX)
		scratch->rec.frames[place] = scratch->walk.address;
	return is_over;
}

/*
 * May this word of the stack be a return address into the mapping? By itself: inlined into the
 * loops below, the verifier would go through it once for each word, and take a tenth of a second.
 */
__attribute__((weak)) int stack_ask_about(u32 mapping, u32 tgid, u64 word)
{
	unwind_ask_about(&unwind_requests, tgid, unwind_mapping_at(mapping), word);
	return 0;
}

__attribute__((weak)) int stack_ask_about_nmi(u32 mapping, u32 tgid, u64 word)
{
	unwind_ask_about(&unwind_requests_nmi, tgid, unwind_mapping_at(mapping), word);
	return 0;
}

/* The page that the walk lacks, and those that it would lack next. */
static __always_inline void ask_pages(u32 context, u32 tgid, const bool is_nmi)
{
	struct stack_scratch *scratch = stack_scratch_of(context);
	u64 words[ASK_WORDS], at;
	u32 mapping;

	if (!scratch)
		return;
	if (is_nmi)
		unwind_ask_page(&unwind_requests_nmi, tgid, scratch->walk.module,
				scratch->walk.page);
	else
		unwind_ask_page(&unwind_requests, tgid, scratch->walk.module, scratch->walk.page);
	mapping = scratch->walk.mapping - 1;
	at = scratch->walk.sp;
	for (u32 i = 0; i < ASK_TIMES; i++) {
		if (unwind_read(words, sizeof(words), at))
			break;
		for (u32 k = 0; k < ASK_WORDS; k++)
			if (is_nmi)
				stack_ask_about_nmi(mapping, tgid, words[k]);
			else
				stack_ask_about(mapping, tgid, words[k]);
		at += sizeof(words);
	}
}

int stack_ask_pages(u32 context, u32 tgid)
{
	ask_pages(context, tgid, false);
	return 0;
}

int stack_ask_pages_nmi(u32 context, u32 tgid)
{
	ask_pages(context, tgid, true);
	return 0;
}
