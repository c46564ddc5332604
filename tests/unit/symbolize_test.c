// SPDX-License-Identifier: Apache-2.0
/*
 * A process, this one or its child, is looked at as the worker looks at it; its own functions,
 * those of its libraries, of the vdso and of the kernel are found and named.
 */
#include "unit.h"

#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "../../src/base/clock.h"
#include "../../src/symbolize/proc_maps.h"
#include "../../src/symbolize/processes.h"
#include "../../src/symbolize/symbolize.h"

#define MAPS_MAX 512

struct fixture {
	struct symbolize *symbolize;
	struct resolver *resolver;
	struct unwind_memory memory;
};

static struct fixture fixture;

static int set_up(void **state)
{
	(void)state;
	fixture.memory = (struct unwind_memory){
		.rows = calloc(UNWIND_ROWS_DEFAULT, sizeof(struct unwind_row)),
		.pages = calloc(UNWIND_PAGES_MAX, sizeof(struct unwind_page)),
		.modules = calloc(UNWIND_MODULES_MAX, sizeof(struct unwind_module)),
		.mappings = calloc(UNWIND_MAPPINGS_MAX, sizeof(struct unwind_mapping)),
		.row_count = UNWIND_ROWS_DEFAULT,
		.page_count = UNWIND_PAGES_MAX,
		.module_count = UNWIND_MODULES_MAX,
		.mapping_count = UNWIND_MAPPINGS_MAX,
	};
	if (symbolize_create(&fixture.symbolize))
		return -1;
	fixture.resolver = symbolize_resolver(fixture.symbolize);
	return symbolize_give_tables(fixture.symbolize, &fixture.memory, 0);
}

static int tear_down(void **state)
{
	(void)state;
	symbolize_free(fixture.symbolize);
	free(fixture.memory.rows);
	free(fixture.memory.pages);
	free(fixture.memory.modules);
	free(fixture.memory.mappings);
	return 0;
}

/* --- the privileged side, as far as it matters here --- */

static struct file_facts facts_of(int fd)
{
	struct stat st;

	assert_int_equal(fstat(fd, &st), 0);
	return (struct file_facts){
		.key = {.dev = st.st_dev,
			.inode = st.st_ino,
			.size = (u64)st.st_size,
			.mtime_ns = (u64)st.st_mtim.tv_sec * NS_PER_S + (u64)st.st_mtim.tv_nsec},
		.is_trusted = true,
	};
}

static u32 files_taken;

static void give_file(u32 i, const char *path)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	struct file_facts facts;
	struct file_wants wants;
	bool is_worthy;

	assert_true(fd >= 0);
	facts = facts_of(fd);
	if (symbolize_knows_file(fixture.symbolize, i, &facts)) {
		close(fd);
		return;
	}
	files_taken++;
	assert_int_equal(symbolize_take_file(fixture.symbolize, i, &facts, fd, &wants), 0);
	assert_int_equal(wants.rows, 1);
	assert_int_equal(symbolize_build_rows(fixture.symbolize, i, &is_worthy), 0);
}

static int open_maps(pid_t pid)
{
	char path[64];
	int fd;

	snprintf(path, sizeof(path), "/proc/%d/maps", pid);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	assert_true(fd >= 0);
	return fd;
}

/* As tgid, which need not be its pid. */
static struct unwind_process scan_as(pid_t pid, u32 tgid, bool *ret_has_jit)
{
	static struct proc_mapping maps[MAPS_MAX];
	int fd = open_maps(pid), count = symbolize_scan(fixture.symbolize, tgid, fd);
	ssize_t map_count = proc_maps_read(fd, maps, MAPS_MAX);
	struct thread_context context;
	struct unwind_process process;

	assert_true(count > 0 && map_count > count && map_count <= MAPS_MAX);
	for (u32 i = 0; i < (u32)count; i++) {
		u64 begin, end;

		assert_true(symbolize_scan_file(fixture.symbolize, i, &begin, &end));
		for (ssize_t k = 0; k < map_count; k++)
			if (maps[k].begin == begin)
				give_file(i, maps[k].path);
	}
	assert_int_equal(symbolize_finish(fixture.symbolize, &process, &context, ret_has_jit), 0);
	assert_int_equal(context.kind, THREAD_CONTEXT_NONE);
	assert_true(process.generation && process.count > (u32)count / 2);
	close(fd);
	return process;
}

static struct unwind_process scan(pid_t pid)
{
	bool has_jit;

	return scan_as(pid, (u32)pid, &has_jit);
}

/* --- questions --- */

static void expect_name(u32 generation, const void *code, enum module_kind kind, const char *name)
{
	struct frame_name names[FRAME_NAMES_MAX];
	struct module_info info;
	struct place place;

	fixture.resolver->place(fixture.resolver, generation, (u64)code, &place);
	fixture.resolver->describe(fixture.resolver, place.module, &info);
	assert_int_equal(info.kind, kind);
	assert_int_equal(fixture.resolver->name(fixture.resolver, &place, names), 1);
	if (name)
		assert_string_equal(names[0].name, name);
	else
		assert_null(names[0].name);
}

static __attribute__((noinline)) int a_function_of_our_own(int value)
{
	return value * 3 + getpid();
}

static void own_functions_and_libraries_have_names(void **state)
{
	struct unwind_process process = scan(getpid());
	const char *own = (const char *)(size_t)a_function_of_our_own;

	(void)state;
	expect_name(process.generation, own, MODULE_FILE, "a_function_of_our_own");
	expect_name(process.generation, own + 1, MODULE_FILE, "a_function_of_our_own");
	expect_name(process.generation, dlsym(RTLD_DEFAULT, "qsort"), MODULE_FILE, "qsort");
	expect_name(process.generation, "not code", MODULE_UNKNOWN, NULL);
	expect_name(process.generation + 1, own, MODULE_UNKNOWN, NULL);
}

/* What clang's sanitizers put before the first line of a function would be longer than it is. */
#ifdef __clang__
#define AS_WRITTEN __attribute__((no_sanitize("address", "undefined", "coverage")))
#else
#define AS_WRITTEN
#endif

/* Inlined where it is called, and only there. */
static inline AS_WRITTEN __attribute__((always_inline)) int an_inlined_one(volatile int *value)
{
	return *value = *value * 7 + 1;
}

static AS_WRITTEN __attribute__((noinline)) int a_function_with_another_in_it(volatile int *value)
{
	return an_inlined_one(value) + *value;
}

static void lines_and_inlined_functions_are_found(void **state)
{
	const char *own = (const char *)(size_t)a_function_with_another_in_it;
	struct unwind_process process = scan(getpid());
	struct frame_name names[FRAME_NAMES_MAX];
	struct place place;
	size_t most = 0;

	(void)state;
	symbolize_want(fixture.symbolize, true, true);
	for (int i = 0; i < 16; i++) { /* somewhere in its first instructions */
		size_t count;

		fixture.resolver->place(fixture.resolver, process.generation, (u64)own + (u64)i,
					&place);
		count = fixture.resolver->name(fixture.resolver, &place, names);
		assert_string_equal(names[count - 1].name, "a_function_with_another_in_it");
		assert_true(names[0].line > 0);
		assert_non_null(strstr(names[0].file, "symbolize_test.c"));
		if (count > most)
			most = count;
		if (count == 2)
			assert_string_equal(names[0].name, "an_inlined_one");
	}
	assert_int_equal(most, 2);
	symbolize_want(fixture.symbolize, true, false);
	assert_int_equal(fixture.resolver->name(fixture.resolver, &place, names), 1);
	assert_string_equal(names[0].name, "a_function_with_another_in_it");
	assert_true(names[0].line > 0);
	symbolize_want(fixture.symbolize, false, false);
	assert_int_equal(fixture.resolver->name(fixture.resolver, &place, names), 1);
	assert_null(names[0].file);
	assert_int_equal(a_function_with_another_in_it(&(volatile int){1}), 16);
}

static void the_vdso_has_names(void **state)
{
	const char *vdso = (const char *)getauxval(AT_SYSINFO_EHDR);
	struct unwind_process process = scan(getpid());
	struct frame_name names[FRAME_NAMES_MAX];
	struct place place;
	int found = 0;

	(void)state;
	if (!vdso)
		skip();
	for (int i = 0; i < 4096; i += 16) {
		struct module_info info;

		fixture.resolver->place(fixture.resolver, process.generation, (u64)vdso + (u64)i,
					&place);
		fixture.resolver->describe(fixture.resolver, place.module, &info);
		assert_int_equal(info.kind, MODULE_VDSO);
		assert_string_equal(info.path, "[vdso]");
		fixture.resolver->name(fixture.resolver, &place, names);
		found += names[0].name && strstr(names[0].name, "gettime") != NULL;
	}
	assert_true(found > 0);
}

/* The kernel side finds the mapping, and in it a row for the function. */
static void the_kernel_side_finds_rows(void **state)
{
	struct unwind_process process = scan(getpid());
	u64 pc = (u64)(size_t)a_function_of_our_own;
	const struct unwind_mapping *found = NULL;
	const struct unwind_page *page;
	const struct unwind_row *row = NULL, *first;

	(void)state;
	for (u32 i = 0; i < process.count; i++) {
		const struct unwind_mapping *mapping = &fixture.memory.mappings[process.first + i];

		assert_int_equal(mapping->generation, process.generation);
		if (mapping->begin <= pc && pc < mapping->end)
			found = mapping;
	}
	assert_non_null(found);
	assert_int_not_equal(found->module, UNWIND_NO_TABLE);
	pc -= found->bias;
	assert_true(pc >> UNWIND_PAGE_SHIFT < fixture.memory.modules[found->module].page_count);
	page = &fixture.memory.pages[fixture.memory.modules[found->module].first_page +
				     (pc >> UNWIND_PAGE_SHIFT)];
	first = fixture.memory.rows + (page->run >> UNWIND_RUN_SHIFT);
	for (u32 i = 0; i < (page->run & UNWIND_RUN_COUNT); i++)
		if (first[i].pc <= pc)
			row = &first[i];
	assert_non_null(row);
	assert_int_equal(row->kind & ROW_KIND_MASK, ROW_SP); /* at its first instruction */
	assert_int_equal(row->cfa, 1);
}

/* --- processes come and go --- */

static void what_is_the_same_stays_the_same(void **state)
{
	struct unwind_process first = scan(getpid()), again;
	u32 taken = files_taken;

	(void)state;
	again = scan(getpid());
	assert_memory_equal(&first, &again, sizeof(first));
	assert_int_equal(files_taken, taken); /* no file was handed over twice */
}

static void a_child_shares_until_it_maps(void **state)
{
	const void *own = (const void *)(size_t)a_function_of_our_own;
	struct unwind_process parent = scan(getpid()), child;
	struct symbolize_counts counts;
	pid_t pid = fork();

	(void)state;
	if (!pid) {
		pause();
		_exit(0);
	}
	child = scan(pid); /* the same mappings, but by a scan of its own */
	assert_int_not_equal(child.generation, parent.generation);
	expect_name(child.generation, own, MODULE_FILE, "a_function_of_our_own");

	assert_int_equal(symbolize_forked(fixture.symbolize, 77, parent.generation), 0);
	symbolize_gone(fixture.symbolize, (u32)getpid(), parent.generation);
	expect_name(parent.generation, own, MODULE_FILE, "a_function_of_our_own");
	assert_int_equal(symbolize_forked(fixture.symbolize, 78, parent.generation), 0);
	symbolize_gone(fixture.symbolize, 77, 0);
	symbolize_gone(fixture.symbolize, 78, 1234567); /* not what it has */
	symbolize_gone(fixture.symbolize, 78, parent.generation);
	/* all are gone, but their stacks may still be on the way */
	expect_name(parent.generation, own, MODULE_FILE, "a_function_of_our_own");
	assert_int_equal(symbolize_forked(fixture.symbolize, 79, parent.generation), -ESTALE);
	symbolize_counts(fixture.symbolize, &counts);
	assert_int_equal(counts.processes, 1);
	assert_int_equal(counts.tables.mappings, child.count);
	kill(pid, SIGKILL);
	waitpid(pid, NULL, 0);
}

/* --- code that is in no file --- */

static int text_file(const char *text)
{
	int fd = memfd_create("text", MFD_CLOEXEC);

	assert_int_equal(write(fd, text, strlen(text)), strlen(text));
	return fd;
}

static void code_that_a_process_makes_is_its_own(void **state)
{
	char *code = mmap(NULL, 4096, PROT_READ | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	struct unwind_process process, again, other;
	struct place place, place_of_other;
	char text[128];
	bool has_jit = false;
	int fd;

	(void)state;
	assert_ptr_not_equal(code, MAP_FAILED);
	process = scan_as(getpid(), 7, &has_jit);
	assert_true(has_jit);
	expect_name(process.generation, code + 0x100, MODULE_JIT, NULL);
	snprintf(text, sizeof(text), "%llx 40 Interpreter::run\n",
		 (unsigned long long)code + 0x100);
	fd = text_file(text);
	assert_int_equal(symbolize_perf_map(fixture.symbolize, 7, fd), 0);
	assert_int_equal(symbolize_perf_map(fixture.symbolize, 8, fd), -ENOENT);
	close(fd);
	expect_name(process.generation, code + 0x13f, MODULE_JIT, "Interpreter::run");
	expect_name(process.generation, code + 0x140, MODULE_JIT, NULL);

	assert_int_equal(mprotect(code, 4096, PROT_READ), 0);
	again = scan_as(getpid(), 7, &has_jit);
	assert_int_not_equal(process.generation, again.generation);
	expect_name(process.generation, code + 0x100, MODULE_JIT, "Interpreter::run");
	expect_name(again.generation, code + 0x100, MODULE_UNKNOWN, NULL);

	/* the same addresses of another process are another module */
	assert_int_equal(mprotect(code, 4096, PROT_READ | PROT_EXEC), 0);
	other = scan_as(getpid(), 9, &has_jit);
	fixture.resolver->place(fixture.resolver, process.generation, (u64)code, &place);
	fixture.resolver->place(fixture.resolver, other.generation, (u64)code, &place_of_other);
	assert_int_equal(place.address, place_of_other.address);
	assert_int_not_equal(place.module, place_of_other.module);
	munmap(code, 4096);
}

static void the_kernel_has_names(void **state)
{
	int fd = text_file("ffffffff81000000 T _text\n"
			   "ffffffff81000040 T do_something\n"
			   "ffffffff81000080 T do_more\n"
			   "ffffffff82000000 T _etext\n"
			   "ffffffffc0000000 t of_module\t[some]\n"
			   "ffffffffc0000100 t of_module_too\t[some]\n");
	struct place place;

	(void)state;
	fixture.resolver->place(fixture.resolver, 0, 0xffffffff81000041, &place);
	assert_int_equal(place.module, 1); /* even without any name */
	assert_int_equal(symbolize_kallsyms(fixture.symbolize, fd), 0);
	fixture.resolver->place(fixture.resolver, 0, 0xffffffff81000041, &place);
	assert_int_equal(place.module, 1);
	assert_int_equal(place.address, 0x41);
	expect_name(0, (void *)0xffffffff81000041, MODULE_KERNEL, "do_something");
	expect_name(0, (void *)0xffffffffc0000010, MODULE_KERNEL_OTHER, "of_module");
	expect_name(0, (void *)0xffffffffc0000110, MODULE_KERNEL_OTHER, "of_module_too");
}

static void expect_caller(u64 address, u64 callee, u64 place_address, const char *name)
{
	struct frame_name names[FRAME_NAMES_MAX];
	struct place place;

	fixture.resolver->place_caller(fixture.resolver, address, callee, &place);
	assert_int_equal(place.address, place_address);
	assert_int_equal(fixture.resolver->name(fixture.resolver, &place, names), 1);
	assert_non_null(names[0].name);
	assert_string_equal(names[0].name, name);
}

/* A return address is behind its call, an interrupted one is as it is. */
static void interrupted_functions_of_the_kernel_have_their_own_names(void **state)
{
	int fd = text_file("ffffffff81000000 T _text\n"
			   "ffffffff81000040 T before\n"
			   "ffffffff81000080 T interrupted\n"
			   "ffffffff810000f0 t __pfx_padded\n"
			   "ffffffff81000100 t padded\n"
			   "ffffffff81000200 T asm_sysvec_apic_timer_interrupt\n"
			   "ffffffff81000300 T asm_call_irq_on_stack\n"
			   "ffffffff81000400 T _etext\n");

	(void)state;
	assert_int_equal(symbolize_kallsyms(fixture.symbolize, fd), 0);
	/* a call that is a function's last instruction */
	expect_caller(0xffffffff81000080, 0xffffffff81000150, 0x7f, "before");
	/* interrupted at the function's first instruction */
	expect_caller(0xffffffff81000080, 0xffffffff81000210, 0x80, "interrupted");
	/* a function that switches stacks is called */
	expect_caller(0xffffffff81000080, 0xffffffff81000310, 0x7f, "before");
	/* nothing runs in front of it, so it is no call */
	expect_caller(0xffffffff81000100, 0xffffffff81000150, 0x100, "padded");
	expect_caller(0xffffffff81000101, 0xffffffff81000150, 0x100, "padded");
}

/* --- files --- */

/* This program under another key: which module it becomes. */
static u32 take_self_as(u64 inode, bool is_trusted, u32 refusal)
{
	int maps_fd = open_maps(getpid()), fd = -1;
	struct file_facts facts = {.key = {.dev = 1, .inode = inode, .size = 1000},
				   .is_trusted = is_trusted,
				   .refusal = refusal};
	struct unwind_process process;
	struct file_wants wants;
	struct thread_context context;
	struct place place = {0};
	bool has_jit;
	u64 begin, end;

	assert_true(symbolize_scan(fixture.symbolize, 1, maps_fd) > 0);
	close(maps_fd);
	if (!refusal)
		fd = open("/proc/self/exe", O_RDONLY | O_CLOEXEC);
	assert_int_equal(symbolize_take_file(fixture.symbolize, 0, &facts, fd, &wants), 0);
	assert_int_equal(wants.cache, is_trusted && wants.rows);
	assert_true(symbolize_scan_file(fixture.symbolize, 0, &begin, &end));
	assert_int_equal(symbolize_finish(fixture.symbolize, &process, &context, &has_jit), 0);
	fixture.resolver->place(fixture.resolver, process.generation, begin, &place);
	return place.module;
}

static void one_build_is_one_module_if_it_can_be_believed(void **state)
{
	u32 first = take_self_as(1, true, 0), foreign;
	struct symbolize_counts counts;

	(void)state;
	assert_int_not_equal(first, 0);
	assert_int_equal(take_self_as(2, true, 0), first);
	foreign = take_self_as(3, false, 0);
	assert_int_not_equal(foreign, first); /* who can write it can claim any build id */
	assert_int_equal(take_self_as(3, false, 0), foreign);
	assert_int_not_equal(take_self_as(4, false, 0), foreign);
	assert_int_not_equal(take_self_as(5, true, FILE_MAY_BLOCK), first);
	symbolize_counts(fixture.symbolize, &counts);
	assert_int_equal(counts.refused[FILE_MAY_BLOCK], 1);
	assert_int_equal(counts.refused[FILE_TAKEN], 0);
}

/* Files of processes that are gone are given up after a while, those of others are not. */
static void what_nobody_maps_is_reclaimed(void **state)
{
	struct unwind_process process;
	struct symbolize_counts counts;
	bool has_jit;

	(void)state;
	process = scan_as(getpid(), 7, &has_jit);
	for (u64 i = 0; i < 3 * MODULES_IDLE_MAX; i++)
		take_self_as(100000 + i, false, 0);
	symbolize_counts(fixture.symbolize, &counts);
	assert_true(counts.modules > 3 * MODULES_IDLE_MAX);
	/* stacks may still be on their way */
	symbolize_reclaim(fixture.symbolize, clock_now_ns());
	symbolize_counts(fixture.symbolize, &counts);
	assert_true(counts.modules > 3 * MODULES_IDLE_MAX);
	symbolize_reclaim(fixture.symbolize, clock_now_ns() + MAPSETS_KEPT_NS + 2 * NS_PER_S);
	symbolize_counts(fixture.symbolize, &counts);
	assert_true(counts.modules < 2 * MODULES_IDLE_MAX);
	assert_true(counts.modules_reclaimed > MODULES_IDLE_MAX);
	expect_name(process.generation, (const char *)(size_t)a_function_of_our_own, MODULE_FILE,
		    "a_function_of_our_own");
	/* one of those comes back */
	assert_true(take_self_as(100000, false, 0) > 3 * MODULES_IDLE_MAX);
}

static void rows_can_be_kept_on_disk(void **state)
{
	int rows_fd = memfd_create("rows", MFD_CLOEXEC), maps_fd = open_maps(getpid()), fd;
	struct symbolize_counts counts;
	struct file_facts facts;
	struct file_wants wants;
	bool is_worthy;

	(void)state;
	for (int turn = 0; turn < 2; turn++) {
		assert_true(symbolize_scan(fixture.symbolize, 1, maps_fd) > 0);
		fd = open("/proc/self/exe", O_RDONLY | O_CLOEXEC);
		facts = facts_of(fd);
		assert_int_equal(symbolize_take_file(fixture.symbolize, 0, &facts, fd, &wants), 0);
		assert_true(wants.rows && wants.cache);
		if (turn) {
			assert_int_equal(symbolize_read_rows(fixture.symbolize, 0, rows_fd), 0);
			break;
		}
		assert_true(symbolize_read_rows(fixture.symbolize, 0, rows_fd) < 0); /* empty */
		assert_int_equal(symbolize_build_rows(fixture.symbolize, 0, &is_worthy), 0);
		assert_int_equal(symbolize_write_rows(fixture.symbolize, 0, rows_fd), 0);
		assert_true(symbolize_write_rows(fixture.symbolize, 0, rows_fd) < 0); /* once */
		tear_down(NULL);
		assert_int_equal(set_up(NULL), 0);
	}
	symbolize_counts(fixture.symbolize, &counts);
	assert_int_equal(counts.cached, 1);
	assert_int_equal(counts.builds, 0);
	assert_true(counts.tables.rows > 100);
	close(maps_fd);
	close(rows_fd);
}

static void what_was_not_scanned_is_refused(void **state)
{
	struct file_facts facts = {0};
	struct file_wants wants;
	struct unwind_process process;
	struct thread_context context;
	bool answer;

	(void)state;
	assert_int_equal(symbolize_take_file(fixture.symbolize, 0, &facts, dup(2), &wants),
			 -EINVAL);
	assert_int_equal(symbolize_take_debug_file(fixture.symbolize, 0, dup(2)), -EINVAL);
	assert_int_equal(symbolize_build_rows(fixture.symbolize, 0, &answer), -EINVAL);
	assert_int_equal(symbolize_finish(fixture.symbolize, &process, &context, &answer), -EINVAL);
	assert_int_equal(symbolize_forked(fixture.symbolize, 5, 5), -ESTALE);
	symbolize_gone(fixture.symbolize, 5, 5);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(own_functions_and_libraries_have_names),
		TEST(lines_and_inlined_functions_are_found),
		TEST(the_vdso_has_names),
		TEST(the_kernel_side_finds_rows),
		TEST(what_is_the_same_stays_the_same),
		TEST(a_child_shares_until_it_maps),
		TEST(code_that_a_process_makes_is_its_own),
		TEST(the_kernel_has_names),
		TEST(interrupted_functions_of_the_kernel_have_their_own_names),
		TEST(one_build_is_one_module_if_it_can_be_believed),
		TEST(what_nobody_maps_is_reclaimed),
		TEST(rows_can_be_kept_on_disk),
		TEST(what_was_not_scanned_is_refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
