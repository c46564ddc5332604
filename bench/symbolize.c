// SPDX-License-Identifier: Apache-2.0
/*
 * symbolize FILE [DEBUG-FILE]: names the addresses (hexadecimal, link-time) that come in on stdin,
 * one per line, "??" where there is none. What it did it says on stderr.
 */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "../src/base/clock.h"
#include "../src/symbolize/demangle.h"
#include "../src/symbolize/symbols.h"

static int open_file(const char *path, struct elf_file *ret_file)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	int err = fd < 0 ? -1 : elf_file_open(fd, ret_file);

	if (err)
		fprintf(stderr, "symbolize: cannot read %s\n", path);
	return err;
}

static void name_all(const struct symbols *symbols)
{
	bool is_raw = getenv("RAW");
	char line[64];

	while (fgets(line, sizeof(line), stdin)) {
		enum name_source source;
		const char *name = symbols_find(symbols, strtoull(line, NULL, 16), &source);
		char text[DEMANGLED_MAX] = "??";

		if (name && !is_raw)
			demangle(name, text, sizeof(text));
		puts(name && is_raw ? name : text);
	}
}

int main(int argc, char **argv)
{
	struct elf_file file, debug_file;
	struct symbols *symbols;
	u64 begin = clock_now_ns(), built;

	if (argc < 2 || argc > 3) {
		fprintf(stderr, "usage: symbolize FILE [DEBUG-FILE]\n");
		return 64;
	}
	if (open_file(argv[1], &file) || (argc > 2 && open_file(argv[2], &debug_file)) ||
	    symbols_build(&file, argc > 2 ? &debug_file : NULL, &symbols))
		return 1;
	built = clock_now_ns();
	name_all(symbols);
	fprintf(stderr, "%zu symbols in %.3f ms, named in %.3f ms\n", symbols_count(symbols),
		(double)(built - begin) / 1e6, (double)(clock_now_ns() - built) / 1e6);
	symbols_close(symbols);
	return 0;
}
