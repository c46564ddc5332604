// SPDX-License-Identifier: Apache-2.0
/*
 * x86-64, by tables of what follows an opcode. They leave out what no compiler writes into
 * functions of user space: what is left out is not known. Lengths and returns are all that is
 * needed, on bytes that may be anything; a library that disassembles brings megabytes for the rest.
 */
#include "instruction.h"

#include <string.h>

#if defined(__x86_64__)

#define INSTRUCTION_MAX 15

/*
 * Sixteen opcodes a line. A dot: nothing follows. m: a ModRM byte; b, w: 1 or 2 bytes; z: 4, or 2
 * with the prefix 66; M, Z: m and b, m and z; j, J: 1 or 4 bytes of a jump; C: 4 of a call; v: 8
 * with REX.W, else z; o: an address of 8 bytes; e: w and b; t: m, and b or z for the first two of
 * eight; r, R: returns, with w; x: not known, a prefix, or another table.
 */
static const char one_byte[] = "mmmmbzxxmmmmbzxx" /* 00 */
			       "mmmmbzxxmmmmbzxx" /* 10 */
			       "mmmmbzxxmmmmbzxx" /* 20 */
			       "mmmmbzxxmmmmbzxx" /* 30 */
			       "xxxxxxxxxxxxxxxx" /* 40 */
			       "................" /* 50 */
			       "xxxmxxxxzZbM...." /* 60 */
			       "jjjjjjjjjjjjjjjj" /* 70 */
			       "MZxMmmmmmmmmmmmm" /* 80 */
			       "..........x....." /* 90 */
			       "oooo....bz......" /* a0 */
			       "bbbbbbbbvvvvvvvv" /* b0 */
			       "MMRrxxMZe.xx.bxx" /* c0 */
			       "mmmmxxx.mmmmmmmm" /* d0 */
			       "jjjjbbbbCJxj...." /* e0 */
			       "x.xx..tt......mm" /* f0 */;

static const char two_bytes[] = "mmmmx.......xm.M" /* 00 */
				"mmmmmmmmmmmmmmmm" /* 10 */
				"mmmmxxxxmmmmmmmm" /* 20 */
				"......x.xxxxxxxx" /* 30 */
				"mmmmmmmmmmmmmmmm" /* 40 */
				"mmmmmmmmmmmmmmmm" /* 50 */
				"mmmmmmmmmmmmmmmm" /* 60 */
				"MMMMmmm.mmxxmmmm" /* 70 */
				"JJJJJJJJJJJJJJJJ" /* 80 */
				"mmmmmmmmmmmmmmmm" /* 90 */
				"...mMmxx...mMmmm" /* a0 */
				"mmmmmmmmmmMmmmmm" /* b0 */
				"mmMmMMMm........" /* c0 */
				"mmmmmmmmmmmmmmmm" /* d0 */
				"mmmmmmmmmmmmmmmm" /* e0 */
				"mmmmmmmmmmmmmmmm" /* f0 */;

/* Read so far; past the end there is nothing. */
struct reading {
	const u8 *code;
	size_t size, at;
	bool has_66, has_67, has_rex_w;
};

static u8 peek(const struct reading *reading)
{
	return reading->at < reading->size ? reading->code[reading->at] : 0;
}

static u8 take(struct reading *reading)
{
	u8 byte = peek(reading);

	reading->at++;
	return byte;
}

static void skip_prefixes(struct reading *reading)
{
	static const u8 prefixes[] = {0x66, 0x67, 0xf0, 0xf2, 0xf3, 0x2e,
				      0x36, 0x3e, 0x26, 0x64, 0x65};

	while (reading->at < reading->size && memchr(prefixes, peek(reading), sizeof(prefixes))) {
		reading->has_66 |= peek(reading) == 0x66;
		reading->has_67 |= peek(reading) == 0x67;
		reading->at++;
	}
	if ((peek(reading) & 0xf0) == 0x40)
		reading->has_rex_w = take(reading) & 8;
}

/* Its register field, in which some opcodes say what they are. */
static u8 skip_modrm(struct reading *reading)
{
	u8 modrm = take(reading), mod = modrm >> 6, rm = modrm & 7;

	if (mod != 3 && rm == 4 && (take(reading) & 7) == 5 && mod == 0)
		reading->at += 4;
	if (mod == 1)
		reading->at += 1;
	if (mod == 2 || (mod == 0 && rm == 5))
		reading->at += 4;
	return modrm >> 3 & 7;
}

static size_t immediate(const struct reading *reading)
{
	return reading->has_66 && !reading->has_rex_w ? 2 : 4;
}

static s32 take_jump(struct reading *reading, size_t bytes)
{
	s32 far = 0;

	if (reading->at + bytes <= reading->size && bytes == sizeof(far))
		memcpy(&far, reading->code + reading->at, sizeof(far));
	else
		far = (s8)peek(reading);
	reading->at += bytes;
	return far;
}

/* Of VEX and EVEX: the map's number, and what is behind the prefix. */
static bool read_vector(struct reading *reading, u8 first)
{
	u8 map = 1, opcode;

	if (first == 0xc5)
		reading->at += 1;
	else
		map = take(reading) & (first == 0x62 ? 7 : 31);
	if (first != 0xc5)
		reading->at += first == 0x62 ? 2 : 1;
	opcode = take(reading);
	if (!map || map == 4 || map > 6)
		return false;
	if (map == 1 && opcode == 0x77)
		return true;
	skip_modrm(reading);
	if (map == 3 || (map == 1 && two_bytes[opcode] == 'M'))
		reading->at += 1;
	return true;
}

/* What follows the opcode, as its letter says. */
static bool read_rest(struct reading *reading, char letter, u8 opcode, struct instruction *ret)
{
	switch (letter) {
	case '.':
		return true;
	case 'm':
	case 'M':
	case 'Z': {
		u8 field = skip_modrm(reading);

		if (opcode == 0xff && letter == 'm' && field == 5)
			ret->kind = INSTRUCTION_ODD;
		reading->at += letter == 'M' ? 1 : letter == 'Z' ? immediate(reading) : 0;
		return !(opcode == 0x8f && letter == 'm' && field); /* XOP */
	}
	case 't':
		if (skip_modrm(reading) < 2)
			reading->at += opcode & 1 ? immediate(reading) : 1;
		return true;
	case 'b':
		reading->at += 1;
		return true;
	case 'z':
		reading->at += immediate(reading);
		return true;
	case 'v':
		reading->at += reading->has_rex_w ? 8 : immediate(reading);
		return true;
	case 'o':
		reading->at += reading->has_67 ? 4 : 8;
		return true;
	case 'e':
		reading->at += 3;
		return true;
	case 'C':
		reading->at += 4;
		return true;
	case 'j':
	case 'J':
		ret->kind = INSTRUCTION_JUMP;
		ret->jump = take_jump(reading, letter == 'J' ? 4 : 1);
		return true;
	case 'r':
	case 'R':
		ret->kind = INSTRUCTION_RETURN;
		reading->at += letter == 'R' ? 2 : 0;
		return true;
	default:
		return false;
	}
}

static bool read_whole(struct reading *reading, struct instruction *ret)
{
	u8 opcode;

	skip_prefixes(reading);
	opcode = take(reading);
	if (opcode == 0xc4 || opcode == 0xc5 || opcode == 0x62)
		return read_vector(reading, opcode);
	if (opcode != 0x0f)
		return read_rest(reading, one_byte[opcode], opcode, ret);
	opcode = take(reading);
	if (opcode == 0x38 || opcode == 0x3a) {
		reading->at++;
		skip_modrm(reading);
		reading->at += opcode == 0x3a;
		return true;
	}
	return read_rest(reading, two_bytes[opcode], 0, ret);
}

bool instruction_read(const u8 *code, size_t size, struct instruction *ret_instruction)
{
	struct reading reading = {
		.code = code,
		.size = size < INSTRUCTION_MAX ? size : INSTRUCTION_MAX,
	};

	*ret_instruction = (struct instruction){.kind = INSTRUCTION_OTHER};
	if (!read_whole(&reading, ret_instruction) || reading.at > reading.size)
		return false;
	ret_instruction->length = (u8)reading.at;
	return true;
}

#else

bool instruction_read(const u8 *code, size_t size, struct instruction *ret_instruction)
{
	(void)code;
	(void)size;
	*ret_instruction = (struct instruction){0};
	return false;
}

#endif
