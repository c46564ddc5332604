// SPDX-License-Identifier: Apache-2.0
#include "debugdata.h"

#include <errno.h>
#include <lzma.h>
#include <stdlib.h>

#include "elf_section.h"

#define PACKED_MAX (16u << 20)
#define IMAGE_MAX  (64u << 20) /* some hundred KB are usual */
#define MEMORY_MAX (80u << 20) /* of the decoder: what xz -9 wants */

static int error_of(lzma_ret status)
{
	switch (status) {
	case LZMA_STREAM_END:
		return 0;
	case LZMA_MEM_ERROR:
		return -ENOMEM;
	case LZMA_MEMLIMIT_ERROR:
		return -EFBIG;
	default:
		return -EBADMSG;
	}
}

/* Decodes all of the stream; the image grows as it needs to. */
static int unpack(lzma_stream *stream, u8 **image, size_t *ret_size)
{
	size_t capacity = 0;
	lzma_ret status;

	do {
		if (!stream->avail_out) {
			size_t larger = capacity ? capacity * 2 : 256u << 10;
			u8 *room;

			if (larger > IMAGE_MAX)
				return -EFBIG;
			room = realloc(*image, larger);
			if (!room)
				return -ENOMEM;
			*image = room;
			stream->next_out = room + capacity;
			stream->avail_out = larger - capacity;
			capacity = larger;
		}
		status = lzma_code(stream, LZMA_FINISH);
	} while (status == LZMA_OK);
	*ret_size = capacity - stream->avail_out;
	return error_of(status);
}

int debugdata_unpack(const struct elf_file *file, void **ret_image, size_t *ret_size)
{
	_cleanup_elf_bytes_ struct elf_bytes packed = {0};
	lzma_stream stream = LZMA_STREAM_INIT;
	u8 *image = NULL;
	GElf_Shdr header;
	int err;

	if (!elf_section_find(file, DEBUGDATA_SECTION, &header))
		return -ENOENT;
	err = elf_section_read(file, &header, PACKED_MAX, &packed);
	if (err)
		return err;
	if (lzma_stream_decoder(&stream, MEMORY_MAX, 0) != LZMA_OK)
		return -ENOMEM;
	stream.next_in = (const u8 *)packed.bytes;
	stream.avail_in = packed.size;
	err = unpack(&stream, &image, ret_size);
	lzma_end(&stream);
	if (err)
		free(image);
	else
		*ret_image = image;
	return err;
}
