// SPDX-License-Identifier: Apache-2.0
/*
 * What the first instruction makes a uprobe cost. The kernel puts a breakpoint there; what it
 * cannot emulate it has to execute elsewhere, by single step, which is a second trap and ten times
 * more expensive. The rule is that of arch/x86/kernel/uprobes.c, as 6.x has it.
 */
#include <string.h>

#include "../base/cleanup.h"
#include "sites.h"

/* As measured on x86-64 of 2023. */
u32 site_trap_ns(u32 price)
{
	static const u32 ns[] = {
		[PRICE_UNKNOWN] = 5500, /* it may be stepped */
		[PRICE_NOP5] = 500,	/* 230, where the kernel replaces it, from 6.18 on */
		[PRICE_EMULATED] = 500,
		[PRICE_STEPPED] = 5500,
	};

	return ns[price < ARRAY_SIZE(ns) ? price : PRICE_UNKNOWN];
}

#if defined(__x86_64__)

#define PREFIXES_MAX 4

static bool is_rex(u8 byte)
{
	return (byte & 0xf0) == 0x40;
}

/* push of a register, nop, jmp, call and conditional jumps are emulated. */
static bool is_emulated(const u8 *code, size_t size)
{
	if (!size)
		return false;
	if (code[0] == 0x90 || code[0] == 0xe8 || code[0] == 0xe9 || code[0] == 0xeb)
		return true;
	if ((code[0] & 0xf8) == 0x50 || (code[0] & 0xf0) == 0x70)
		return true;
	return size > 1 && code[0] == 0x0f && (code[1] & 0xf0) == 0x80;
}

enum site_price site_price(const u8 *code, size_t size)
{
	static const u8 nop5[] = {0x0f, 0x1f, 0x44, 0x00, 0x00};
	size_t skipped = 0;

	if (!size)
		return PRICE_UNKNOWN;
	if (size >= sizeof(nop5) && !memcmp(code, nop5, sizeof(nop5)))
		return PRICE_NOP5;
	/* push %r12 has a prefix; xchg %r8,%rax, which is a nop with one, has not its meaning. */
	if (size > 1 && is_rex(code[0]) && (code[1] & 0xf8) == 0x50)
		return PRICE_EMULATED;
	while (skipped < PREFIXES_MAX && skipped < size &&
	       (code[skipped] == 0x66 || code[skipped] == 0xf2))
		skipped++;
	return is_emulated(code + skipped, size - skipped) ? PRICE_EMULATED : PRICE_STEPPED;
}

#else

enum site_price site_price(const u8 *code, size_t size)
{
	(void)code;
	return size < 4 ? PRICE_UNKNOWN : PRICE_STEPPED;
}

#endif
