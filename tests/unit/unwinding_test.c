// SPDX-License-Identifier: Apache-2.0
/*
 * The privileged side and the worker together look at this very process: descriptors go over,
 * tables come back in shared memory. And files of others are opened with care.
 */
#include "unit.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "../../src/base/clock.h"
#include "../../src/engine/mappings_scan.h"
#include "../../src/engine/process_list.h"
#include "../../src/worker/unwinding.h"

static const size_t sizes[UNWINDING_MAP_COUNT] = {
	UNWIND_ROWS_DEFAULT * sizeof(struct unwind_row),
	UNWIND_PAGES_MAX * sizeof(struct unwind_page),
	UNWIND_MODULES_MAX * sizeof(struct unwind_module),
	UNWIND_MAPPINGS_MAX * sizeof(struct unwind_mapping),
};

static struct {
	struct queue *queue;
	struct worker *worker;
	struct spawner_role role;
	struct spawner *spawner;
	struct opener *opener;
	struct mappings_scanner scanner;
	int fds[UNWINDING_MAP_COUNT]; /* as good as BPF maps, as far as memory goes */
} fixture;

static const struct unwinding_wish no_wish;
static struct unwinding_batch batch;

static int set_up(void **state)
{
	char dir[] = "/tmp/dwell-unwinding-test-XXXXXX";

	(void)state;
	for (int i = 0; i < UNWINDING_MAP_COUNT; i++) {
		fixture.fds[i] = memfd_create("map", MFD_CLOEXEC);
		if (ftruncate(fixture.fds[i], (off_t)sizes[i]))
			return -1;
	}
	if (opener_make_role(&fixture.role) || queue_create(QUEUE_BYTES_MIN, &fixture.queue) ||
	    spawner_start(&fixture.role, 1, -1, &fixture.spawner) ||
	    opener_start(fixture.spawner, 0, &fixture.role, &fixture.opener) ||
	    worker_start(fixture.queue, NULL, 0, &fixture.worker))
		return -1;
	fixture.scanner =
		(struct mappings_scanner){.symbolizer = fixture.worker, .opener = fixture.opener};
	if (!mkdtemp(dir))
		return -1;
	table_cache_open(&fixture.scanner.cache, dir);
	return worker_unwinding_open(fixture.worker, fixture.fds, UNWIND_ROWS_DEFAULT, &no_wish);
}

/* The cache's folder has no name here any more: by its descriptor. */
static void remove_cache(void)
{
	char path[64], command[256] = "";
	ssize_t length;

	snprintf(path, sizeof(path), "/proc/self/fd/%d", fixture.scanner.cache.dir_fd);
	length = readlink(path, command, sizeof(command) - 1);
	table_cache_close(&fixture.scanner.cache);
	if (length > 0 && !strncmp(command, "/tmp/dwell-unwinding-test-", 26)) {
		char whole[300];

		snprintf(whole, sizeof(whole), "rm -r %s", command);
		assert_int_equal(system(whole), 0);
	}
}

static int tear_down(void **state)
{
	(void)state;
	worker_stop(fixture.worker);
	opener_stop(fixture.opener);
	spawner_stop(fixture.spawner);
	opener_free_role(&fixture.role);
	queue_destroy(fixture.queue);
	for (int i = 0; i < UNWINDING_MAP_COUNT; i++)
		close(fixture.fds[i]);
	remove_cache();
	return 0;
}

static void a_process_is_looked_at(void **state)
{
	struct unwind_mapping *mappings = mmap(NULL, sizes[UNWINDING_MAPPINGS], PROT_READ,
					       MAP_SHARED, fixture.fds[UNWINDING_MAPPINGS], 0);
	u64 pc = (u64)(size_t)a_process_is_looked_at;
	struct unwinding_found found, again;
	struct symbolize_counts counts;
	int with_table = 0;

	(void)state;
	assert_int_equal(mappings_scan(&fixture.scanner, &batch, (u32)getpid(), ~0ULL, &found), 0);
	assert_true(found.process.count >= 3 && found.process.generation);
	for (u32 i = 0; i < found.process.count; i++) {
		const struct unwind_mapping *mapping = &mappings[found.process.first + i];

		assert_int_equal(mapping->generation, found.process.generation);
		with_table += mapping->module != UNWIND_NO_TABLE;
		if (mapping->begin <= pc && pc < mapping->end)
			assert_int_not_equal(mapping->module, UNWIND_NO_TABLE);
	}
	assert_true(with_table >= 3); /* we, libc, the loader or the vdso */
	assert_int_equal(mappings_scan(&fixture.scanner, &batch, (u32)getpid(), 0, &again), 0);
	assert_int_equal(again.process.generation, found.process.generation);
	assert_int_equal(worker_unwinding_counts(fixture.worker, &counts), 0);
	assert_int_equal(counts.scans, 2);
	assert_int_equal(counts.processes, 1);
	assert_true(counts.tables.rows > 1000 && counts.builds >= 3 && counts.build_ns);
	munmap(mappings, sizes[UNWINDING_MAPPINGS]);
}

/* One file a turn at least: so it ends. */
static void a_scan_goes_on_where_time_was_up(void **state)
{
	struct unwinding_found found;
	int turns = 0, err;

	(void)state;
	do
		err = mappings_scan(&fixture.scanner, &batch, (u32)getpid(), 0, &found);
	while (err == -EAGAIN && ++turns < 100);
	assert_int_equal(err, 0);
	assert_true(turns >= 2);
}

static void add(u32 tgid, u32 want, u32 generation)
{
	batch.requests[batch.count++] =
		(struct unwind_request){.tgid = tgid, .want = want, .generation = generation};
}

static void requests_become_stale(void **state)
{
	struct unwinding_found found;

	(void)state;
	assert_int_equal(mappings_scan(&fixture.scanner, &batch, (u32)getpid(), ~0ULL, &found), 0);
	add(5, UNWIND_WANT_FORKED, found.process.generation);
	add(5, UNWIND_WANT_GONE, 0);
	add((u32)getpid(), UNWIND_WANT_GONE, 0);
	add(6, UNWIND_WANT_FORKED, found.process.generation);
	while (batch.count < UNWINDING_REQUESTS_MAX - 1)
		add(7, UNWIND_WANT_GONE, 0);
	add(8, UNWIND_WANT_FORKED, found.process.generation);
	assert_int_equal(worker_unwinding_send(fixture.worker, &batch), 0);
	assert_int_equal(batch.count, 0);
	assert_int_equal(batch.stale_count, 2);
	assert_int_equal(batch.stale[0], 6);
	assert_int_equal(batch.stale[1], 8);

	/* with a scan they go along, even with one that fails */
	batch.stale_count = 0;
	add(9, UNWIND_WANT_FORKED, found.process.generation);
	assert_int_equal(worker_unwinding_scan(fixture.worker, &batch, 1, -1, 0, NULL), -EINVAL);
	assert_int_equal(batch.count, 0);
	assert_int_equal(batch.stale_count, 1);
	batch.stale_count = 0;
}

static void gone_processes_are_told(void **state)
{
	struct unwinding_found found;

	(void)state;
	assert_int_equal(mappings_scan(&fixture.scanner, &batch, 0x7ffffff0, ~0ULL, &found),
			 -ENOENT);
	assert_true(mappings_is_gone(0x7ffffff0));
	assert_false(mappings_is_gone((u32)getpid()));
}

static void what_is_no_map_is_refused(void **state)
{
	struct unwinding_found found;

	(void)state;
	assert_true(worker_unwinding_open(fixture.worker, fixture.fds, UNWIND_ROWS_DEFAULT,
					  &no_wish) < 0); /* twice */
	assert_int_equal(worker_unwinding_scan(fixture.worker, &batch, 1, -1, 0, NULL), -EINVAL);
	assert_int_equal(worker_unwinding_finish(fixture.worker, &found), -EINVAL);
	assert_int_equal(worker_unwinding_perf_map(fixture.worker, 1, 2), -ENOENT);
}

/* --- files of others --- */

static void find_own_mapping(u64 *ret_begin, u64 *ret_end)
{
	FILE *file = fopen("/proc/self/maps", "re");
	unsigned long long begin = 0, end = 0;
	u64 pc = (u64)(size_t)find_own_mapping;
	char line[512];

	while (fgets(line, sizeof(line), file) &&
	       (sscanf(line, "%llx-%llx", &begin, &end) != 2 || pc < begin || pc >= end))
		;
	fclose(file);
	*ret_begin = begin;
	*ret_end = end;
}

static void mapped_files_are_opened(void **state)
{
	struct target_files files = {0};
	int proc_fd = target_process((u32)getpid()), fd;
	struct file_facts facts;
	struct stat st;
	u64 begin, end;

	(void)state;
	find_own_mapping(&begin, &end);
	assert_int_equal(target_mapped_facts(&files, proc_fd, begin, end, &facts), 0);
	assert_int_equal(facts.refusal, FILE_TAKEN);
	assert_int_equal(stat("/proc/self/exe", &st), 0);
	assert_int_equal(facts.key.inode, st.st_ino);
	assert_int_equal(facts.key.dev, st.st_dev);
	assert_int_equal(facts.key.size, st.st_size);
	assert_int_equal(facts.is_trusted, !st.st_uid && !(st.st_mode & 022));
	fd = target_mapped_open(&files, proc_fd, begin, end, &facts);
	assert_true(fd >= 0);
	close(fd);
	facts.key.mtime_ns++; /* it was another file when it was asked */
	assert_int_equal(target_mapped_open(&files, proc_fd, begin, end, &facts), -1);
	assert_int_equal(facts.refusal, FILE_UNREACHABLE);
	assert_int_equal(target_mapped_facts(&files, proc_fd, 0x1000, 0x2000, &facts), -ESTALE);
	close(proc_fd);
}

static void only_programs_are_handed_on(void **state)
{
	char path[] = "/tmp/dwell-no-program-XXXXXX";
	struct target_files files = {0};
	int proc_fd = target_process((u32)getpid()), fd = mkstemp(path);
	struct file_facts facts;
	char *memory;

	(void)state;
	assert_int_equal(ftruncate(fd, 4096), 0);
	memory = mmap(NULL, 4096, PROT_READ, MAP_PRIVATE, fd, 0);
	target_mapped_facts(&files, proc_fd, (u64)memory, (u64)memory + 4096, &facts);
	assert_int_equal(facts.refusal, FILE_TAKEN);
	assert_int_equal(facts.is_trusted, !getuid());
	assert_int_equal(
		target_mapped_open(&files, proc_fd, (u64)memory, (u64)memory + 4096, &facts), -1);
	assert_int_equal(facts.refusal, FILE_NO_PROGRAM);
	munmap(memory, 4096);
	unlink(path);
	close(fd);
	close(proc_fd);
}

static void a_perf_map_is_followed(void **state)
{
	struct target_files files = {0};
	struct target_map map = {.fd = -1};
	char path[64];
	int fd;

	(void)state;
	snprintf(path, sizeof(path), "/tmp/perf-%d.map", getpid());
	assert_int_equal(target_map_open(&files, (u32)getpid(), &map), -ENOENT);
	assert_false(target_map_has_changed(&map));
	assert_int_equal(symlink("/proc/version", path), 0);
	assert_true(target_map_open(&files, (u32)getpid(), &map) < 0);
	unlink(path);
	assert_int_equal(mkfifo(path, 0600), 0);
	assert_true(target_map_open(&files, (u32)getpid(), &map) < 0); /* and does not wait */
	unlink(path);
	fd = open(path, O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
	assert_int_equal(write(fd, "1000 10 a\n", 10), 10);
	assert_int_equal(target_map_open(&files, (u32)getpid(), &map), 0);
	unlink(path); /* as at the end of its process: it is still there for us */
	assert_true(target_map_has_changed(&map));
	assert_false(target_map_has_changed(&map));
	assert_int_equal(write(fd, "2000 10 b\n", 10), 10);
	assert_true(target_map_has_changed(&map));
	target_map_close(&map);
	close(fd);
}

static void the_cache_keeps_what_it_is_given(void **state)
{
	struct table_cache *cache = &fixture.scanner.cache;
	const u8 build_id[20] = {1, 2, 3}, other[20] = {4};
	char text[16] = "";
	int fd;

	(void)state;
	assert_true(cache->dir_fd >= 0);
	assert_int_equal(table_cache_find(cache, build_id, 20), -ENOENT);
	fd = table_cache_blank(cache);
	table_cache_store(cache, build_id, 20, fd); /* nothing was written */
	assert_int_equal(table_cache_find(cache, build_id, 20), -ENOENT);
	assert_int_equal(write(fd, "rows", 4), 4);
	table_cache_store(cache, build_id, 20, fd);
	close(fd);
	fd = table_cache_find(cache, build_id, 20);
	assert_int_equal(read(fd, text, sizeof(text)), 4);
	assert_string_equal(text, "rows");
	close(fd);
	assert_int_equal(table_cache_find(cache, other, 20), -ENOENT);
	assert_int_equal(table_cache_find(cache, build_id, 19), -ENOENT);
	assert_int_equal(cache->files, 1);
}

static void a_cache_that_others_can_write_is_none(void **state)
{
	char dir[] = "/tmp/dwell-cache-test-XXXXXX";
	struct table_cache cache;

	(void)state;
	assert_non_null(mkdtemp(dir));
	assert_int_equal(chmod(dir, 0777), 0);
	table_cache_open(&cache, dir);
	assert_int_equal(cache.dir_fd, -1);
	assert_true(table_cache_blank(&cache) < 0);
	rmdir(dir);
}

/* --- whose turn it is --- */

static u32 looked[4];
static u32 look_count;

static bool look(void *context, struct process *process, u64 until_ns)
{
	(void)until_ns;
	if (context)
		return false;
	looked[look_count++ % 4] = process->tgid;
	process_list_done(process, clock_now_ns(), clock_now_ns());
	return true;
}

static void whoever_changes_often_waits_longer(void **state)
{
	struct process_list *list = calloc(1, sizeof(*list));
	struct process *one, *two;
	u64 now_ns = clock_now_ns();

	(void)state;
	assert_int_equal(process_list_init(list), 0);
	assert_int_equal(process_list_due(list, 77), 77);
	one = process_list_get(list, 1);
	two = process_list_get(list, 2);
	assert_ptr_equal(process_list_get(list, 1), one);
	process_list_want(list, one, now_ns);
	process_list_want(list, one, now_ns);
	process_list_want_at(list, two, now_ns + NS_PER_S);
	assert_int_equal(list->waiting_count, 2);
	process_list_look(list, ~0ULL, look, list); /* not done */
	assert_int_equal(list->waiting_count, 2);
	process_list_look(list, ~0ULL, look, NULL);
	assert_int_equal(look_count, 1);
	assert_int_equal(looked[0], 1);
	assert_int_equal(list->waiting_count, 1);
	process_list_want(list, two, now_ns); /* sooner, after all */
	process_list_look(list, ~0ULL, look, NULL);
	assert_int_equal(looked[1], 2);

	for (int i = 0; i < 20; i++)
		process_list_done(one, one->last_ns + 1, one->last_ns + 1);
	process_list_want(list, one, one->last_ns);
	assert_int_equal(one->due_ns, one->last_ns + 128 * NS_PER_MS);
	one->is_waiting = false;
	list->waiting_count = 0;
	process_list_done(one, one->last_ns + 2 * NS_PER_S, one->last_ns + 2 * NS_PER_S);
	process_list_want(list, one, one->last_ns);
	assert_int_equal(one->due_ns, one->last_ns + NS_PER_MS / 8);
	process_list_remove(list, two);
	assert_null(process_list_find(list, 2));
	process_list_free(list);
	free(list);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(a_process_is_looked_at),
		TEST(a_scan_goes_on_where_time_was_up),
		TEST(requests_become_stale),
		TEST(gone_processes_are_told),
		TEST(what_is_no_map_is_refused),
		cmocka_unit_test(mapped_files_are_opened),
		cmocka_unit_test(only_programs_are_handed_on),
		cmocka_unit_test(a_perf_map_is_followed),
		TEST(the_cache_keeps_what_it_is_given),
		cmocka_unit_test(a_cache_that_others_can_write_is_none),
		cmocka_unit_test(whoever_changes_often_waits_longer),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
