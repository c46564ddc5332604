// SPDX-License-Identifier: Apache-2.0
/*
 * The code of RFC 7541, appendix B. It is canonical: codes of one length are numbers in a row, in
 * the order of their symbols, so that lengths and that order say it all.
 */
#include "hpack_huffman.h"

#define CODE_BITS_MAX 30
#define SYMBOL_END    256 /* in no string */

static const u8 codes_of_length[CODE_BITS_MAX + 1] = {
	[5] = 10,  [6] = 26,  [7] = 32, [8] = 6,   [10] = 5,  [11] = 3,	 [12] = 2,
	[13] = 6,  [14] = 2,  [15] = 3, [19] = 3,  [20] = 8,  [21] = 13, [22] = 26,
	[23] = 29, [24] = 12, [25] = 4, [26] = 15, [27] = 19, [28] = 29, [30] = 4,
};

/* By the length of their codes, then by themselves. */
static const u16 symbols[SYMBOL_END + 1] = {
	48,  49,  50,  97,  99,	 101, 105, 111, 115, 116, 32,  37,  45,	 46,  47,  51,	52,  53,
	54,  55,  56,  57,  61,	 65,  95,  98,	100, 102, 103, 104, 108, 109, 110, 112, 114, 117,
	58,  66,  67,  68,  69,	 70,  71,  72,	73,  74,  75,  76,  77,	 78,  79,  80,	81,  82,
	83,  84,  85,  86,  87,	 89,  106, 107, 113, 118, 119, 120, 121, 122, 38,  42,	44,  59,
	88,  90,  33,  34,  40,	 41,  63,  39,	43,  124, 35,  62,  0,	 36,  64,  91,	93,  126,
	94,  125, 60,  96,  123, 92,  195, 208, 128, 130, 131, 162, 184, 194, 224, 226, 153, 161,
	167, 172, 176, 177, 179, 209, 216, 217, 227, 229, 230, 129, 132, 133, 134, 136, 146, 154,
	156, 160, 163, 164, 169, 170, 173, 178, 181, 185, 186, 187, 189, 190, 196, 198, 228, 232,
	233, 1,	  135, 137, 138, 139, 140, 141, 143, 147, 149, 150, 151, 152, 155, 157, 158, 165,
	166, 168, 174, 175, 180, 182, 183, 188, 191, 197, 231, 239, 9,	 142, 144, 145, 148, 159,
	171, 206, 215, 225, 236, 237, 199, 207, 234, 235, 192, 193, 200, 201, 202, 205, 210, 213,
	218, 219, 238, 240, 242, 243, 255, 203, 204, 211, 212, 214, 221, 222, 223, 241, 244, 245,
	246, 247, 248, 250, 251, 252, 253, 254, 2,   3,	  4,   5,   6,	 7,   8,   11,	12,  14,
	15,  16,  17,  18,  19,	 20,  21,  23,	24,  25,  26,  27,  28,	 29,  30,  31,	127, 220,
	249, 10,  13,  22,  256,
};

/* How far a code is read: its bits so far, and the first code of that many bits. */
struct code {
	u32 bits, length;
	u32 first, before; /* symbols of shorter codes */
};

/* One bit more. The symbol, if it is a code now; -1: it is not yet; -2: there is no such code. */
static int add_bit(struct code *code, u32 bit)
{
	u32 count;

	if (code->length == CODE_BITS_MAX)
		return -2;
	code->before += codes_of_length[code->length];
	code->first = (code->first + codes_of_length[code->length]) << 1;
	code->bits = code->bits << 1 | bit;
	code->length++;
	count = codes_of_length[code->length];
	if (code->bits < code->first || code->bits - code->first >= count)
		return -1;
	return symbols[code->before + code->bits - code->first];
}

bool hpack_huffman(struct bytes from, bool is_cut, u8 *to, size_t max, size_t *ret_length)
{
	struct code code = {0};
	size_t length = 0;

	for (size_t i = 0; i < from.length * 8; i++) {
		int symbol = add_bit(&code, from.at[i / 8] >> (7 - i % 8) & 1);

		if (symbol == SYMBOL_END || symbol == -2)
			return false;
		if (symbol < 0)
			continue;
		if (length < max)
			to[length] = (u8)symbol;
		length++;
		code = (struct code){0};
	}
	*ret_length = length;
	/* What is left are the first bits of the end's code: ones, less than a byte. */
	return is_cut || (code.length < 8 && code.bits == (1U << code.length) - 1);
}
