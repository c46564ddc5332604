// SPDX-License-Identifier: Apache-2.0
/*
 * replay FILE...: what a fuzzer does, but with these inputs alone and with any compiler. Each
 * target is linked with it once (build/replay/), for `make check`. Exits 0 if all inputs could be
 * read; what is wrong with a target ends the process.
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

int LLVMFuzzerInitialize(int *argc, char ***argv) __attribute__((weak));
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* All of the file, in memory that ends where it does, so that a byte too many is noticed. */
static int read_input(const char *path, uint8_t **ret_data, size_t *ret_size)
{
	FILE *file = fopen(path, "r");
	uint8_t *data = NULL;
	long size = -1;

	if (file && !fseek(file, 0, SEEK_END))
		size = ftell(file);
	if (size >= 0)
		data = malloc((size_t)size);
	if (size > 0 && data) {
		rewind(file);
		if (fread(data, 1, (size_t)size, file) != (size_t)size)
			size = -1;
	}
	if (file)
		fclose(file);
	*ret_data = data;
	*ret_size = (size_t)size;
	return size < 0 || (size && !data) ? -1 : 0;
}

int main(int argc, char **argv)
{
	if (argc < 2) {
		fputs("Usage: replay FILE...\n", stderr);
		return 1;
	}
	if (LLVMFuzzerInitialize)
		LLVMFuzzerInitialize(&argc, &argv);
	for (int i = 1; i < argc; i++) {
		uint8_t *data;
		size_t size;

		if (read_input(argv[i], &data, &size)) {
			perror(argv[i]);
			free(data);
			return 1;
		}
		LLVMFuzzerTestOneInput(data, size);
		free(data);
	}
	return 0;
}
