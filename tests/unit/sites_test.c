// SPDX-License-Identifier: Apache-2.0
/*
 * Places for probes: in this very program, through a worker, as commands ask for them.
 */
#include "unit.h"

#include <errno.h>
#include <fcntl.h>
#include <dlfcn.h>
#include <link.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "../../src/base/pattern.h"
#include "../../src/symbolize/instruction.h"
#include "../../src/worker/finding.h"

static struct {
	struct queue *queue;
	struct worker *worker;
	int self_fd;
} fixture;

static int set_up(void **state)
{
	(void)state;
	fixture.self_fd = open("/proc/self/exe", O_RDONLY | O_CLOEXEC);
	if (fixture.self_fd < 0 || queue_create(QUEUE_BYTES_MIN, &fixture.queue))
		return -1;
	return worker_start(fixture.queue, NULL, 0, &fixture.worker);
}

static int tear_down(void **state)
{
	(void)state;
	worker_stop(fixture.worker);
	queue_destroy(fixture.queue);
	close(fixture.self_fd);
	return 0;
}

/* Names that nobody else has. */
int sites_test_first(int value);
int sites_test_second(int value);

__attribute__((noinline, used)) int sites_test_first(int value)
{
	return value * 3 + (int)getpid();
}

__attribute__((noinline, used)) int sites_test_second(int value)
{
	return value * 5 + (int)getpid();
}

static inline __attribute__((always_inline)) int sites_test_inlined(int value)
{
	return value * 7 + sites_test_first(value);
}

#if defined(__x86_64__)
/* What <sys/sdt.h> writes for a probe with four arguments. */
#define USDT(provider, name, args)                                                                 \
	__asm__ volatile("990: nop\n"                                                              \
			 ".pushsection .note.stapsdt,\"?\",\"note\"\n"                             \
			 ".balign 4\n .4byte 992f-991f, 994f-993f, 3\n"                            \
			 "991: .asciz \"stapsdt\"\n992: .balign 4\n"                               \
			 "993: .8byte 990b\n .8byte _.stapsdt.base\n .8byte 0\n"                   \
			 ".asciz \"" provider "\"\n .asciz \"" name "\"\n .asciz \"" args "\"\n"   \
			 "994: .balign 4\n.popsection\n"                                           \
			 ".ifndef _.stapsdt.base\n"                                                \
			 ".pushsection .stapsdt.base,\"aG\",\"progbits\",.stapsdt.base,comdat\n"   \
			 ".weak _.stapsdt.base\n.hidden _.stapsdt.base\n"                          \
			 "_.stapsdt.base: .space 1\n.size _.stapsdt.base, 1\n.popsection\n"        \
			 ".endif\n")
#endif

static u64 offset_of(const void *code)
{
	char line[512];
	FILE *maps = fopen("/proc/self/maps", "r");
	u64 address = (u64)(uintptr_t)code, found = 0;

	while (maps && fgets(line, sizeof(line), maps)) {
		unsigned long begin, end, offset;

		if (sscanf(line, "%lx-%lx %*s %lx", &begin, &end, &offset) == 3 &&
		    address >= begin && address < end)
			found = address - begin + offset;
	}
	if (maps)
		fclose(maps);
	return found;
}

static void function_is_found_by_name(void **state)
{
	struct finding_file file;
	struct site sites[4];

	(void)state;
	assert_int_equal(worker_find_functions(fixture.worker, fixture.self_fd, "sites_test_first",
					       &file, sites, 4),
			 1);
	assert_int_equal(sites[0].offset, offset_of(sites_test_first));
	assert_string_equal(sites[0].name, "sites_test_first");
	assert_int_equal(sites[0].kind, SITE_FUNCTION);
	assert_int_equal(sites[0].at_return, RETURN_MAY);
	assert_true(sites[0].size > 0);
	assert_int_not_equal(sites[0].price, PRICE_UNKNOWN);
	assert_false(file.is_go);
	assert_true(file.is_full);
	assert_true(file.build_id_size > 0);
}

static void pattern_finds_each_once_and_counts_them(void **state)
{
	struct finding_result result;
	struct finding_file file;
	struct site sites[8];

	(void)state;
	assert_int_equal(worker_finding_open(fixture.worker, fixture.self_fd, &file), 0);
	assert_int_equal(worker_finding_search(fixture.worker, FINDING_FUNCTIONS, "sites_test_*d*",
					       0, &result),
			 0);
	assert_int_equal(result.count, 1);
	assert_int_equal(worker_finding_search(fixture.worker, FINDING_FUNCTIONS, "sites_test_??*",
					       0, &result),
			 0);
	assert_int_equal(result.count, 2);
	assert_int_equal(result.matched, 2);
	assert_int_equal(worker_finding_sites(fixture.worker, 1, sites, 8), 1);
	assert_int_equal(worker_finding_sites(fixture.worker, 7, sites, 8), 0);
	assert_int_equal(worker_finding_search(fixture.worker, FINDING_FUNCTIONS, "*", 0, &result),
			 0);
	assert_true(result.count > 200);
	assert_int_equal(worker_finding_close(fixture.worker), 0);
	assert_int_equal(worker_finding_sites(fixture.worker, 0, sites, 8), 0);
	assert_int_equal(worker_finding_search(fixture.worker, FINDING_FUNCTIONS, "*", 0, &result),
			 -EINVAL);
}

static void symbol_is_found_by_its_own_name_alone(void **state)
{
	struct finding_result result;
	struct finding_file file;
	struct site site;

	(void)state;
	assert_int_equal(worker_finding_open(fixture.worker, fixture.self_fd, &file), 0);
	assert_int_equal(worker_finding_search(fixture.worker, FINDING_SYMBOL, "sites_test_first",
					       0, &result),
			 0);
	assert_int_equal(result.count, 1);
	assert_int_equal(worker_finding_sites(fixture.worker, 0, &site, 1), 1);
	assert_int_equal(site.offset, offset_of(sites_test_first));
	assert_int_equal(site.at_return, RETURN_MAY);
	/* a pattern is no name, and nobody reads DWARF for what is not there */
	assert_int_equal(
		worker_finding_search(fixture.worker, FINDING_SYMBOL, "sites_test_*", 0, &result),
		0);
	assert_int_equal(result.count, 0);
	assert_int_equal(worker_finding_search(fixture.worker, FINDING_SYMBOL, "sites_test_inlined",
					       0, &result),
			 0);
	assert_int_equal(result.count, 0);
	assert_false(result.is_inlined);
	/* names of another file are read anew */
	assert_int_equal(worker_finding_close(fixture.worker), 0);
	assert_int_equal(worker_finding_search(fixture.worker, FINDING_SYMBOL, "sites_test_first",
					       0, &result),
			 -EINVAL);
}

static void inlined_function_is_said_to_be(void **state)
{
	volatile int keep = sites_test_inlined(getpid());
	struct finding_result result;
	struct finding_file file;

	(void)state;
	(void)keep;
	assert_int_equal(worker_finding_open(fixture.worker, fixture.self_fd, &file), 0);
	assert_true(file.has_dwarf);
	assert_int_equal(worker_finding_search(fixture.worker, FINDING_FUNCTIONS,
					       "sites_test_inlined", 0, &result),
			 0);
	assert_int_equal(result.count, 0);
	assert_true(result.is_inlined);
	assert_int_equal(worker_finding_search(fixture.worker, FINDING_FUNCTIONS,
					       "sites_test_nowhere", 0, &result),
			 0);
	assert_false(result.is_inlined);
}

static void offset_must_be_code(void **state)
{
	u64 offset = offset_of(sites_test_second);
	struct finding_result result;
	struct finding_file file;
	struct site site;

	(void)state;
	assert_int_equal(worker_finding_open(fixture.worker, fixture.self_fd, &file), 0);
	assert_int_equal(worker_finding_search(fixture.worker, FINDING_OFFSET, "", offset, &result),
			 0);
	assert_int_equal(worker_finding_sites(fixture.worker, 0, &site, 1), 1);
	assert_string_equal(site.name, "sites_test_second");
	assert_int_equal(site.at_return, RETURN_MAY);
	assert_int_equal(
		worker_finding_search(fixture.worker, FINDING_OFFSET, "", offset + 1, &result), 0);
	assert_int_equal(worker_finding_sites(fixture.worker, 0, &site, 1), 1);
	assert_int_equal(site.kind, SITE_OFFSET);
	assert_int_equal(site.at_return, RETURN_NO_START);
	assert_int_equal(worker_finding_search(fixture.worker, FINDING_OFFSET, "", 0, &result),
			 -ERANGE);
	assert_int_equal(
		worker_finding_search(fixture.worker, FINDING_OFFSET, "", 1ULL << 60, &result),
		-ERANGE);
}

static void what_would_break_the_process_has_no_return_probe(void **state)
{
	struct finding_file file;
	struct site sites[4];

	(void)state;
	assert_int_equal(
		worker_find_functions(fixture.worker, fixture.self_fd, "_start", &file, sites, 4),
		1);
	assert_int_not_equal(sites[0].at_return, RETURN_MAY);
}

static int open_library(const char *name)
{
	struct link_map *map = NULL;
	void *handle = dlopen(name, RTLD_LAZY);
	int fd = -1;

	if (handle && !dlinfo(handle, RTLD_DI_LINKMAP, &map))
		fd = open(map->l_name, O_RDONLY | O_CLOEXEC);
	return fd;
}

static void library_has_its_exported_names(void **state)
{
	int fd = open_library("libc.so.6");
	struct finding_file file;
	struct site sites[16];

	(void)state;
	assert_true(fd >= 0);
	assert_true(worker_find_functions(fixture.worker, fd, "malloc", &file, sites, 16) >= 1);
	assert_int_equal(sites[0].at_return, RETURN_MAY);
	assert_true(worker_find_functions(fixture.worker, fd, "setjmp", &file, sites, 16) >= 1);
	assert_int_equal(sites[0].at_return, RETURN_TWICE);
	assert_true(worker_find_functions(fixture.worker, fd, "vfork", &file, sites, 16) >= 1);
	assert_int_equal(sites[0].at_return, RETURN_TWICE);
	assert_true(worker_find_functions(fixture.worker, fd, "memcpy", &file, sites, 16) >= 1);
	assert_int_equal(sites[0].kind, SITE_RESOLVER);
	close(fd);
}

static void what_is_no_program_is_refused(void **state)
{
	int fd = open("/proc/self/maps", O_RDONLY | O_CLOEXEC);
	struct finding_result result;
	struct finding_file file;

	(void)state;
	assert_int_equal(worker_finding_open(fixture.worker, fd, &file), -ENOEXEC);
	close(fd);
	assert_int_equal(worker_finding_search(fixture.worker, FINDING_FUNCTIONS, "*", 0, &result),
			 -EINVAL);
}

static void patterns_fit_whole_names(void **state)
{
	(void)state;
	assert_true(pattern_matches("PQexec", "PQexec"));
	assert_false(pattern_matches("PQexec", "PQexecParams"));
	assert_true(pattern_matches("PQexec*", "PQexec"));
	assert_true(pattern_matches("*a*a*b", "aaaaaab"));
	assert_false(pattern_matches("*a*a*b", "aaaaaabc"));
	assert_false(pattern_matches("?", ""));
	assert_true(pattern_matches("*", ""));
}

static void a_step_costs_more_than_an_emulation(void **state)
{
	(void)state;
	assert_true(site_trap_ns(PRICE_NOP5) <= site_trap_ns(PRICE_EMULATED));
	assert_true(site_trap_ns(PRICE_EMULATED) * 2 < site_trap_ns(PRICE_STEPPED));
	/* What is not known is not taken for cheap, nor is a number that the worker made up. */
	assert_int_equal(site_trap_ns(PRICE_UNKNOWN), site_trap_ns(PRICE_STEPPED));
	assert_int_equal(site_trap_ns(250), site_trap_ns(PRICE_UNKNOWN));
}

#if defined(__x86_64__)

static void expect_price(const char *code, size_t size, enum site_price price)
{
	assert_int_equal(site_price((const u8 *)code, size), price);
}

static void first_instruction_tells_the_price(void **state)
{
	(void)state;
	expect_price("\x0f\x1f\x44\x00\x00", 5, PRICE_NOP5);
	expect_price("\x90\xc3", 2, PRICE_EMULATED);		 /* nop */
	expect_price("\x55\x48\x89\xe5", 4, PRICE_EMULATED);	 /* push %rbp */
	expect_price("\x41\x57", 2, PRICE_EMULATED);		 /* push %r15 */
	expect_price("\xe9\x00\x00\x00\x00", 5, PRICE_EMULATED); /* jmp */
	expect_price("\x0f\x84\x00\x00\x00\x00", 6, PRICE_EMULATED);
	expect_price("\xf3\x0f\x1e\xfa", 4, PRICE_STEPPED); /* endbr64 */
	expect_price("\x48\x83\xec\x08", 4, PRICE_STEPPED); /* sub $8,%rsp */
	expect_price("\x89\xf8", 2, PRICE_STEPPED);	    /* mov */
	expect_price("", 0, PRICE_UNKNOWN);
}

static void expect_instruction(const char *code, size_t size, size_t length,
			       enum instruction_kind kind, s32 jump)
{
	struct instruction instruction;

	assert_true(instruction_read((const u8 *)code, size, &instruction));
	assert_int_equal(instruction.length, length);
	assert_int_equal(instruction.kind, kind);
	assert_int_equal(instruction.jump, jump);
}

#define EXPECT_INSTRUCTION(code, kind, jump)                                                       \
	expect_instruction(code "\x90", sizeof(code), sizeof(code) - 1, kind, jump)

static void instructions_are_as_long_as_they_are(void **state)
{
	struct instruction instruction;

	(void)state;
	EXPECT_INSTRUCTION("\xc3", INSTRUCTION_RETURN, 0);
	EXPECT_INSTRUCTION("\xf3\xc3", INSTRUCTION_RETURN, 0); /* repz ret */
	EXPECT_INSTRUCTION("\xc2\x08\x00", INSTRUCTION_RETURN, 0);
	EXPECT_INSTRUCTION("\x75\xfe", INSTRUCTION_JUMP, -2);
	EXPECT_INSTRUCTION("\xe9\x00\x01\x00\x00", INSTRUCTION_JUMP, 256);
	EXPECT_INSTRUCTION("\x0f\x84\xff\xff\xff\xff", INSTRUCTION_JUMP, -1);
	EXPECT_INSTRUCTION("\xe8\xc3\xc3\xc3\xc3", INSTRUCTION_OTHER, 0); /* call */
	EXPECT_INSTRUCTION("\x48\xb8\xc3\xc3\xc3\xc3\xc3\xc3\xc3\xc3", INSTRUCTION_OTHER, 0);
	EXPECT_INSTRUCTION("\x48\x8b\x84\xc8\xc3\x00\x00\x00", INSTRUCTION_OTHER, 0); /* SIB */
	EXPECT_INSTRUCTION("\x8b\x05\xc3\x00\x00\x00", INSTRUCTION_OTHER, 0);	      /* of %rip */
	EXPECT_INSTRUCTION("\x66\xc7\x00\xc3\xc3", INSTRUCTION_OTHER, 0);	      /* movw */
	EXPECT_INSTRUCTION("\xf7\xc0\xc3\x00\x00\x00", INSTRUCTION_OTHER, 0);	      /* test */
	EXPECT_INSTRUCTION("\xf7\xd8", INSTRUCTION_OTHER, 0); /* neg has no number */
	EXPECT_INSTRUCTION("\x62\xf1\x7c\x48\x10\x00", INSTRUCTION_OTHER, 0); /* EVEX */
	EXPECT_INSTRUCTION("\xc5\xf8\x77", INSTRUCTION_OTHER, 0);	      /* vzeroupper */
	EXPECT_INSTRUCTION("\xff\xe0", INSTRUCTION_OTHER, 0);		      /* jmp *%rax */
	assert_false(instruction_read((const u8 *)"\x06", 1, &instruction));
	assert_false(instruction_read((const u8 *)"\xe9\x00", 2, &instruction));
	assert_false(instruction_read((const u8 *)"", 0, &instruction));
}

/* bsearch() calls back, and so an exception may pass. */
static void returns_are_found_where_exceptions_may_pass(void **state)
{
	int fd = open_library("libc.so.6");
	struct finding_file file;
	struct site sites[4];
	u8 code;

	(void)state;
	assert_int_equal(worker_find_functions(fixture.worker, fd, "bsearch", &file, sites, 4), 1);
	assert_int_equal(sites[0].at_return, RETURN_BY_INSTRUCTION);
	assert_in_range(sites[0].return_count, 1, SITE_RETURNS_MAX);
	for (u32 i = 0; i < sites[0].return_count; i++) {
		assert_in_range(sites[0].returns[i], sites[0].offset,
				sites[0].offset + sites[0].size - 1);
		assert_int_equal(pread(fd, &code, 1, (off_t)sites[0].returns[i]), 1);
		assert_int_equal(code, 0xc3);
	}
	close(fd);
}

static void expect_arg(const char *text, enum site_arg_kind kind, int size, int place, s64 value)
{
	struct site_arg arg = site_parse_arg(text, strlen(text));

	assert_int_equal(arg.kind, kind);
	assert_int_equal(arg.size, size);
	assert_int_equal(arg.place, place);
	assert_int_equal(arg.value, value);
}

static void arguments_of_usdt_are_understood(void **state)
{
	(void)state;
	expect_arg("8@%rdi", ARG_REGISTER, 8, 14, 0);
	expect_arg("-4@%eax", ARG_REGISTER, -4, 10, 0);
	expect_arg("1@%r10b", ARG_REGISTER, 1, 7, 0);
	expect_arg("-4@-12(%rbp)", ARG_MEMORY, -4, 4, -12);
	expect_arg("8@(%rsp)", ARG_MEMORY, 8, 19, 0);
	expect_arg("8@0x10(%rsp)", ARG_MEMORY, 8, 19, 16);
	expect_arg("8@$5", ARG_CONSTANT, 8, 0, 5);
	expect_arg("-4@$-5", ARG_CONSTANT, -4, 0, -5);
	expect_arg("8@12(%rbx,%rax,8)", ARG_ODD, 0, 0, 0);
	expect_arg("8@counter(%rip)", ARG_ODD, 0, 0, 0);
	expect_arg("8f@%xmm0", ARG_ODD, 0, 0, 0);
	expect_arg("3@%rax", ARG_ODD, 0, 0, 0);
	expect_arg("8@", ARG_ODD, 0, 0, 0);
	expect_arg("", ARG_ODD, 0, 0, 0);
	expect_arg("8@$", ARG_ODD, 0, 0, 0);
	expect_arg("8@%rdi ", ARG_ODD, 0, 0, 0);
}

static void usdt_probes_are_found_with_their_arguments(void **state)
{
	struct finding_result result;
	struct finding_file file;
	struct site sites[4];

	(void)state;
	USDT("dwelltest", "begin", "8@%rdi -4@-12(%rbp) 8@$5 8@sym(%rip)");
	USDT("dwelltest", "end", "");
	assert_int_equal(worker_finding_open(fixture.worker, fixture.self_fd, &file), 0);
	assert_int_equal(
		worker_finding_search(fixture.worker, FINDING_USDT, "dwelltest:begin", 0, &result),
		0);
	assert_int_equal(result.count, 1);
	assert_int_equal(worker_finding_sites(fixture.worker, 0, sites, 4), 1);
	assert_string_equal(sites[0].name, "dwelltest:begin");
	assert_int_equal(sites[0].kind, SITE_USDT);
	assert_int_equal(sites[0].price, PRICE_EMULATED);
	assert_int_equal(sites[0].semaphore, 0);
	assert_int_equal(sites[0].arg_count, 4);
	assert_int_equal(sites[0].args[1].value, -12);
	assert_int_equal(sites[0].args[3].kind, ARG_ODD);
	assert_int_equal(
		worker_finding_search(fixture.worker, FINDING_USDT, "dwelltest:*", 0, &result), 0);
	assert_int_equal(result.count, 2);
	assert_int_equal(worker_finding_search(fixture.worker, FINDING_USDT, "other:*", 0, &result),
			 0);
	assert_int_equal(result.count, 0);
}

#endif

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_step_costs_more_than_an_emulation),
		cmocka_unit_test(function_is_found_by_name),
		cmocka_unit_test(pattern_finds_each_once_and_counts_them),
		cmocka_unit_test(symbol_is_found_by_its_own_name_alone),
		cmocka_unit_test(inlined_function_is_said_to_be),
		cmocka_unit_test(offset_must_be_code),
		cmocka_unit_test(what_would_break_the_process_has_no_return_probe),
		cmocka_unit_test(library_has_its_exported_names),
		cmocka_unit_test(what_is_no_program_is_refused),
		cmocka_unit_test(patterns_fit_whole_names),
#if defined(__x86_64__)
		cmocka_unit_test(first_instruction_tells_the_price),
		cmocka_unit_test(instructions_are_as_long_as_they_are),
		cmocka_unit_test(returns_are_found_where_exceptions_may_pass),
		cmocka_unit_test(arguments_of_usdt_are_understood),
		cmocka_unit_test(usdt_probes_are_found_with_their_arguments),
#endif
	};

	return cmocka_run_group_tests(tests, set_up, tear_down);
}
