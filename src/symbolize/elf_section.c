// SPDX-License-Identifier: Apache-2.0
#include "elf_section.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

void elf_bytes_free(struct elf_bytes *bytes)
{
	free(bytes->own);
	*bytes = (struct elf_bytes){0};
}

bool elf_section_find(const struct elf_file *file, const char *name, GElf_Shdr *ret_header)
{
	Elf_Scn *section = NULL;
	size_t names;

	if (elf_getshdrstrndx(file->elf, &names))
		return false;
	while ((section = elf_nextscn(file->elf, section))) {
		const char *found;

		if (!gelf_getshdr(section, ret_header))
			continue;
		found = elf_strptr(file->elf, names, ret_header->sh_name);
		if (found && !strcmp(found, name))
			return true;
	}
	return false;
}

static int read_whole(int fd, char *buffer, size_t size, u64 offset)
{
	for (size_t done = 0; done < size;) {
		ssize_t got = pread(fd, buffer + done, size - done, (off_t)(offset + done));

		if (got < 0 && errno == EINTR)
			continue;
		if (got < 0)
			return -errno;
		if (!got)
			return -EBADMSG;
		done += (size_t)got;
	}
	return 0;
}

int elf_section_read(const struct elf_file *file, const GElf_Shdr *header, size_t max,
		     struct elf_bytes *ret_bytes)
{
	struct elf_bytes bytes = {.size = header->sh_size};
	int err;

	if (header->sh_type == SHT_NOBITS || (header->sh_flags & SHF_COMPRESSED) || !bytes.size)
		return -ENODATA;
	if (header->sh_size > max)
		return -EFBIG;
	if (header->sh_offset > INT64_MAX - header->sh_size)
		return -EBADMSG;
	if (file->fd < 0) {
		size_t image_size = 0;
		const char *image = elf_rawfile(file->elf, &image_size);

		if (!image || header->sh_offset + header->sh_size > image_size)
			return -EBADMSG;
		bytes.bytes = image + header->sh_offset;
		*ret_bytes = bytes;
		return 0;
	}
	bytes.own = malloc(bytes.size);
	if (!bytes.own)
		return -ENOMEM;
	bytes.bytes = bytes.own;
	err = read_whole(file->fd, bytes.own, bytes.size, header->sh_offset);
	if (err)
		elf_bytes_free(&bytes);
	else
		*ret_bytes = bytes;
	return err;
}
