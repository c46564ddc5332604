// SPDX-License-Identifier: Apache-2.0
/*
 * Where a function returns, found by reading its instructions one after the other. A probe that is
 * put into the middle of one makes a process crash; so all of it is read, and must fit together:
 * the last instruction ends where the function does, and each jump leads to where one begins.
 */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "../base/cleanup.h"
#include "instruction.h"
#include "site_return.h"

#define PIECE_MAX (1u << 18) /* bytes; larger functions are not looked at */
#define JUMPS_MAX 16384

struct piece {
	u64 offset;
	u32 size;
	u8 *code;
	u8 *begins; /* a byte for each of code: an instruction begins there */
};

struct sweep {
	struct piece pieces[SITE_PIECES_MAX];
	size_t piece_count;
	u64 *targets; /* of jumps */
	u32 target_count;
	u64 *returns;
	u32 return_count;
};

static bool read_code(const struct elf_file *file, struct piece *piece)
{
	size_t image_size = 0;
	const char *image;

	piece->code = malloc(piece->size);
	piece->begins = calloc(1, piece->size);
	if (!piece->code || !piece->begins || piece->offset > INT64_MAX - PIECE_MAX)
		return false;
	if (file->fd >= 0)
		return pread(file->fd, piece->code, piece->size, (off_t)piece->offset) ==
		       (ssize_t)piece->size;
	image = elf_rawfile(file->elf, &image_size);
	if (!image || piece->offset > image_size || piece->size > image_size - piece->offset)
		return false;
	memcpy(piece->code, image + piece->offset, piece->size);
	return true;
}

static bool sweep_piece(struct sweep *sweep, struct piece *piece)
{
	struct instruction instruction;

	for (u32 at = 0; at < piece->size; at += instruction.length) {
		if (!instruction_read(piece->code + at, piece->size - at, &instruction) ||
		    instruction.kind == INSTRUCTION_ODD)
			return false;
		piece->begins[at] = 1;
		if (instruction.kind == INSTRUCTION_RETURN) {
			if (sweep->return_count == SITE_RETURNS_MAX)
				return false;
			sweep->returns[sweep->return_count++] = piece->offset + at;
		}
		if (instruction.kind == INSTRUCTION_JUMP) {
			if (sweep->target_count == JUMPS_MAX)
				return false;
			sweep->targets[sweep->target_count++] =
				piece->offset + at + instruction.length + (u64)instruction.jump;
		}
	}
	return true;
}

static bool is_instruction(const struct sweep *sweep, u64 offset)
{
	for (size_t i = 0; i < sweep->piece_count; i++) {
		const struct piece *piece = &sweep->pieces[i];

		if (offset >= piece->offset && offset - piece->offset < piece->size)
			return piece->begins[offset - piece->offset];
	}
	return false;
}

static bool sweep_all(struct sweep *sweep, const struct elf_file *file)
{
	for (size_t i = 0; i < sweep->piece_count; i++)
		if (!read_code(file, &sweep->pieces[i]) || !sweep_piece(sweep, &sweep->pieces[i]))
			return false;
	for (u32 i = 0; i < sweep->target_count; i++)
		if (!is_instruction(sweep, sweep->targets[i]))
			return false;
	return true;
}

u32 site_find_returns(const struct elf_file *file, const struct site_piece *pieces, size_t count,
		      u64 ret_offsets[SITE_RETURNS_MAX])
{
	_cleanup_free_ u64 *targets = calloc(JUMPS_MAX, sizeof(*targets));
	struct sweep sweep = {.targets = targets, .returns = ret_offsets};
	bool is_known = targets && count && count <= SITE_PIECES_MAX;

	for (size_t i = 0; is_known && i < count; i++) {
		is_known = pieces[i].size && pieces[i].size <= PIECE_MAX;
		sweep.pieces[i] =
			(struct piece){.offset = pieces[i].offset, .size = pieces[i].size};
		sweep.piece_count = i + 1;
	}
	is_known = is_known && sweep_all(&sweep, file);
	for (size_t i = 0; i < sweep.piece_count; i++) {
		free(sweep.pieces[i].code);
		free(sweep.pieces[i].begins);
	}
	return is_known ? sweep.return_count : 0;
}
