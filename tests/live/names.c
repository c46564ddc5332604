// SPDX-License-Identifier: Apache-2.0
/*
 * names [--raw | --lines] FILE [DEBUG-FILE]: names the addresses (hexadecimal, link-time) that come
 * in on stdin, one per line, "??" where there is none; what it took it says on stderr.
 * --raw: not demangled. --lines: the address, then "function file:line" for each function that was
 * inlined there, innermost first, from FILE's DWARF; not demangled either.
 */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../../src/base/clock.h"
#include "../../src/symbolize/lines.h"
#include "../../src/symbolize/symbols.h"

static void open_file(const char *path, struct elf_file *ret_file)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	int err = fd < 0 ? -1 : elf_file_open(fd, ret_file);

	if (!err)
		return;
	fprintf(stderr, "names: cannot read %s\n", path);
	exit(1);
}

static bool next_address(u64 *ret_address)
{
	char line[64];

	if (!fgets(line, sizeof(line), stdin))
		return false;
	*ret_address = strtoull(line, NULL, 16);
	return true;
}

static int name_lines(const struct elf_file *file)
{
	struct frame_name frames[FRAME_NAMES_MAX];
	struct lines *lines;
	u64 address;
	int err = lines_open(file, 0, &lines);

	if (err) {
		fprintf(stderr, "names: no lines: %s\n", strerror(-err));
		return 1;
	}
	while (next_address(&address)) {
		size_t count = lines_find(lines, address, frames);

		printf("0x%016llx\n", address);
		for (size_t i = 0; i < count; i++)
			printf("%s %s:%u\n", frames[i].name ? frames[i].name : "??",
			       frames[i].file ? frames[i].file : "??", frames[i].line);
	}
	lines_close(lines);
	return 0;
}

static int name_symbols(const struct elf_file *file, const struct elf_file *debug_file, bool is_raw)
{
	u64 begin = clock_now_ns(), built, address;
	struct symbols *symbols;

	if (symbols_build(file, debug_file, &symbols))
		return 1;
	built = clock_now_ns();
	while (next_address(&address)) {
		enum name_source source;
		const char *name = is_raw ? symbols_find(symbols, address, &source)
					  : symbols_name(symbols, address, &source);

		puts(name ? name : "??");
	}
	fprintf(stderr, "%zu symbols in %.3f ms, named in %.3f ms\n", symbols_count(symbols),
		(double)(built - begin) / 1e6, (double)(clock_now_ns() - built) / 1e6);
	symbols_close(symbols);
	return 0;
}

int main(int argc, char **argv)
{
	bool is_raw = argc > 1 && !strcmp(argv[1], "--raw");
	bool is_lines = argc > 1 && !strcmp(argv[1], "--lines");
	int first = 1 + (is_raw || is_lines), status;
	struct elf_file file, debug_file = {0};

	if (argc - first < 1 || argc - first > 2) {
		fprintf(stderr, "usage: names [--raw | --lines] FILE [DEBUG-FILE]\n");
		return 64;
	}
	open_file(argv[first], &file);
	if (argc - first > 1)
		open_file(argv[first + 1], &debug_file);
	if (is_lines)
		status = name_lines(&file);
	else
		status = name_symbols(&file, argc - first > 1 ? &debug_file : NULL, is_raw);
	elf_file_close(&debug_file);
	elf_file_close(&file);
	return status;
}
