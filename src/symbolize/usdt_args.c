// SPDX-License-Identifier: Apache-2.0
/*
 * Where an argument of a USDT probe is, as the assembler wrote it: N@OPERAND, N its size in bytes,
 * negative if it has a sign. Operands with an index or a symbol in them are odd: they are shown as
 * unknown, never guessed.
 */
#include <string.h>

#include "sites.h"

#define NUMBER_DIGITS_MAX 19

struct cursor {
	const char *at, *end;
};

static bool skip(struct cursor *cursor, char wanted)
{
	if (cursor->at == cursor->end || *cursor->at != wanted)
		return false;
	cursor->at++;
	return true;
}

/* Decimal, or hexadecimal after 0x, with a sign: false if there is no number. */
static bool take_number(struct cursor *cursor, s64 *ret_value)
{
	bool is_negative = skip(cursor, '-');
	u64 value = 0, base = 10;
	int digits = 0;

	if (cursor->end - cursor->at > 2 && cursor->at[0] == '0' && cursor->at[1] == 'x') {
		cursor->at += 2;
		base = 16;
	}
	for (; cursor->at < cursor->end && digits < NUMBER_DIGITS_MAX; digits++) {
		char c = *cursor->at;
		u64 digit;

		if (c >= '0' && c <= '9')
			digit = (u64)(c - '0');
		else if (base == 16 && c >= 'a' && c <= 'f')
			digit = (u64)(c - 'a' + 10);
		else
			break;
		value = value * base + digit;
		cursor->at++;
	}
	*ret_value = (s64)(is_negative ? 0 - value : value);
	return digits > 0;
}

#if defined(__x86_64__)

/* In the order of struct pt_regs, the names of 8, 4, 2 and 1 bytes. */
struct register_names {
	u8 place;
	const char *names[4];
};

static const struct register_names registers[] = {
	{0, {"r15", "r15d", "r15w", "r15b"}}, {1, {"r14", "r14d", "r14w", "r14b"}},
	{2, {"r13", "r13d", "r13w", "r13b"}}, {3, {"r12", "r12d", "r12w", "r12b"}},
	{4, {"rbp", "ebp", "bp", "bpl"}},     {5, {"rbx", "ebx", "bx", "bl"}},
	{6, {"r11", "r11d", "r11w", "r11b"}}, {7, {"r10", "r10d", "r10w", "r10b"}},
	{8, {"r9", "r9d", "r9w", "r9b"}},     {9, {"r8", "r8d", "r8w", "r8b"}},
	{10, {"rax", "eax", "ax", "al"}},     {11, {"rcx", "ecx", "cx", "cl"}},
	{12, {"rdx", "edx", "dx", "dl"}},     {13, {"rsi", "esi", "si", "sil"}},
	{14, {"rdi", "edi", "di", "dil"}},    {19, {"rsp", "esp", "sp", "spl"}},
};

static bool take_register(struct cursor *cursor, u8 *ret_place)
{
	size_t length = 0, left;

	if (!skip(cursor, '%'))
		return false;
	left = (size_t)(cursor->end - cursor->at);
	while (length < left && ((cursor->at[length] >= 'a' && cursor->at[length] <= 'z') ||
				 (cursor->at[length] >= '0' && cursor->at[length] <= '9')))
		length++;
	for (size_t i = 0; i < sizeof(registers) / sizeof(registers[0]); i++) {
		for (size_t width = 0; width < 4; width++) {
			const char *name = registers[i].names[width];

			if (strlen(name) != length || memcmp(name, cursor->at, length) != 0)
				continue;
			*ret_place = registers[i].place;
			cursor->at += length;
			return true;
		}
	}
	return false;
}

/* $5, %rdi, (%rdi), -12(%rbp) */
static bool take_operand(struct cursor *cursor, struct site_arg *arg)
{
	arg->kind = ARG_CONSTANT;
	if (skip(cursor, '$'))
		return take_number(cursor, &arg->value);
	arg->kind = ARG_REGISTER;
	if (take_register(cursor, &arg->place))
		return true;
	arg->kind = ARG_MEMORY;
	take_number(cursor, &arg->value);
	return skip(cursor, '(') && take_register(cursor, &arg->place) && skip(cursor, ')');
}

#elif defined(__aarch64__)

/* x0 to x30, w0 to w30, sp: as struct pt_regs has them. */
static bool take_register(struct cursor *cursor, u8 *ret_place)
{
	s64 number;

	if (cursor->end - cursor->at >= 2 && cursor->at[0] == 's' && cursor->at[1] == 'p') {
		cursor->at += 2;
		*ret_place = 31;
		return true;
	}
	if (!skip(cursor, 'x') && !skip(cursor, 'w'))
		return false;
	if (!take_number(cursor, &number) || number < 0 || number > 30)
		return false;
	*ret_place = (u8)number;
	return true;
}

/* 5, x0, [x0], [sp, 12] */
static bool take_operand(struct cursor *cursor, struct site_arg *arg)
{
	arg->kind = ARG_CONSTANT;
	if (take_number(cursor, &arg->value))
		return true;
	arg->kind = ARG_REGISTER;
	if (take_register(cursor, &arg->place))
		return true;
	arg->kind = ARG_MEMORY;
	if (!skip(cursor, '[') || !take_register(cursor, &arg->place))
		return false;
	if (skip(cursor, ','))
		take_number(cursor, &arg->value);
	return skip(cursor, ']');
}

#endif

static bool is_size(s64 size)
{
	s64 bytes = size < 0 ? -size : size;

	return bytes == 1 || bytes == 2 || bytes == 4 || bytes == 8;
}

struct site_arg site_parse_arg(const char *text, size_t length)
{
	struct cursor cursor = {text, text + length};
	struct site_arg arg = {0};
	s64 size;

	if (take_number(&cursor, &size) && is_size(size) && skip(&cursor, '@')) {
		arg.size = (s8)size;
		if (take_operand(&cursor, &arg) && cursor.at == cursor.end)
			return arg;
	}
	return (struct site_arg){.kind = ARG_ODD};
}
