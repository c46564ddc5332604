// SPDX-License-Identifier: Apache-2.0
/*
 * Our walk of user stacks against libdw's, which interprets the DWARF itself: both see the same
 * moments. One perf event runs our program, and carries the registers and 64 KiB of stack from
 * which libdw unwinds in user space.
 *
 *   agree [-v] NAME SAMPLES COMMAND...
 *
 * compares so many samples of the command and prints one line of TAP; -v shows what differs.
 */
#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <elfutils/libdwfl.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/perf_event.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "../../abi/records.h"
#include "../../src/base/cleanup.h"
#include "../../src/base/clock.h"
#include "../../src/symbolize/proc_maps.h"
#include "../../src/symbolize/unwind_tables.h"
#include "agree.skel.h"
#include "tap.h"

#define AGREE_CPUS_MAX 64
#define STACK_BYTES    65528 /* what perf can copy at most */
#define RING_PAGES     1024
#define MAPPINGS_MAX   512
#define STACKS_MAX     65536
#define PENDING_MAX    4096
#define SAME_NS	       300000 /* between our record and the event's own time */
#define REGISTERS      17     /* as DWARF numbers them; the last is the instruction pointer */

/* perf's numbers of the registers, in DWARF's order: ax dx cx bx si di bp sp r8-r15 ip. */
static const int perf_numbers[REGISTERS] = {0,	3,  2,	1,  4,	5,  6,	7, 16,
					    17, 18, 19, 20, 21, 22, 23, 8};
#define REGISTER_MASK 0xff01ffULL

struct kept_stack {
	u64 key;
	u16 count;
	u64 frames[USER_FRAMES_MAX];
};

struct pending {
	u64 ts_ns, key;
	u8 stop;
};

struct queue_of_cpu {
	struct perf_event_mmap_page *ring;
	int fd;
	struct pending pending[PENDING_MAX]; /* by time; a ring */
	unsigned int head, tail;
};

struct agreement {
	struct agree_bpf *skel;
	pid_t pid;
	Dwfl *dwfl;
	struct kept_stack *stacks; /* by key, open addressing */
	struct queue_of_cpu cpus[AGREE_CPUS_MAX];
	int cpu_count;
	/* the sample under way */
	const u64 *registers;
	const char *stack;
	u64 stack_base, stack_size;
	u64 chain[USER_FRAMES_MAX];
	unsigned int chain_count;
	/* results */
	unsigned long same, other, incomplete, unmatched;
	bool is_verbose;
};

/* --- tables --- */

static void *map_table(struct bpf_map *map, u32 *ret_count)
{
	size_t size = (size_t)bpf_map__max_entries(map) * bpf_map__value_size(map);
	void *memory = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED, bpf_map__fd(map), 0);

	*ret_count = bpf_map__max_entries(map);
	return memory == MAP_FAILED ? NULL : memory;
}

static u32 add_file(struct unwind_tables *tables, const struct proc_mapping *from, pid_t pid,
		    u32 owner, u64 *ret_bias)
{
	struct row_table table = {0};
	struct elf_file file = {0};
	_cleanup_close_ int fd = -1;
	u32 module = UNWIND_NO_TABLE;
	char path[128];
	int err;

	if (from->is_vdso) {
		err = elf_file_open_memory((void *)getauxval(AT_SYSINFO_EHDR),
					   from->end - from->begin, &file);
		*ret_bias = from->begin;
	} else {
		snprintf(path, sizeof(path), "/proc/%d/map_files/%llx-%llx", pid,
			 (unsigned long long)from->begin, (unsigned long long)from->end);
		fd = open(path, O_RDONLY | O_CLOEXEC);
		err = fd < 0 ? -errno : elf_file_open(fd, &file);
		if (!err && !elf_file_bias(&file, from->begin, from->offset, ret_bias))
			err = -ENOENT;
	}
	if (!err && !row_table_build(&file, &table))
		module = unwind_tables_add(tables, &table, owner, clock_now_ns());
	row_table_close(&table);
	elf_file_close(&file);
	return module;
}

static bool tell_mappings(struct agreement *agreement)
{
	static struct proc_mapping found[MAPPINGS_MAX];
	static struct unwind_mapping mappings[MAPPINGS_MAX];
	struct agree_bpf *skel = agreement->skel;
	struct unwind_memory memory = {0};
	struct unwind_process process = {0};
	struct unwind_tables *tables;
	u32 pid = (u32)agreement->pid;
	_cleanup_close_ int fd = -1;
	char path[64];
	ssize_t count;

	snprintf(path, sizeof(path), "/proc/%d/maps", agreement->pid);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	count = fd < 0 ? -errno : proc_maps_read(fd, found, MAPPINGS_MAX);
	if (count <= 0 || count > MAPPINGS_MAX)
		return false;
	memory.rows = map_table(skel->maps.unwind_rows, &memory.row_count);
	memory.pages = map_table(skel->maps.unwind_pages, &memory.page_count);
	memory.modules = map_table(skel->maps.unwind_modules, &memory.module_count);
	memory.mappings = map_table(skel->maps.unwind_mappings, &memory.mapping_count);
	if (unwind_tables_create(&memory, 0, &tables))
		return false;
	for (ssize_t i = 0; i < count; i++) {
		mappings[i].begin = found[i].begin;
		mappings[i].end = found[i].end;
		mappings[i].module = UNWIND_NO_TABLE;
		if (found[i].inode || found[i].is_vdso)
			mappings[i].module = add_file(tables, &found[i], agreement->pid, (u32)i + 1,
						      &mappings[i].bias);
	}
	if (unwind_tables_map(tables, mappings, (size_t)count, clock_now_ns(), &process))
		return false;
	return !bpf_map_update_elem(bpf_map__fd(skel->maps.unwind_processes), &pid, &process,
				    BPF_ANY);
}

/* --- our own records --- */

static struct kept_stack *place_of(struct agreement *agreement, u64 key)
{
	for (u64 i = key;; i++) {
		struct kept_stack *stack = &agreement->stacks[i & (STACKS_MAX - 1)];

		if (!stack->key || stack->key == key)
			return stack;
	}
}

static int on_record(void *context, void *data, size_t size)
{
	struct agreement *agreement = context;
	const struct rec_hdr *hdr = data;

	(void)size;
	if (hdr->type == SIG_STACK) {
		const struct rec_stack *rec = data;
		struct kept_stack *stack = place_of(agreement, rec->key);

		stack->key = rec->key;
		stack->count = rec->user_count;
		memcpy(stack->frames, rec->frames + rec->kernel_count, 8ULL * rec->user_count);
	} else if (hdr->type == SIG_SAMPLE) {
		const struct rec_sample *rec = data;
		struct queue_of_cpu *cpu = &agreement->cpus[hdr->cpu % AGREE_CPUS_MAX];

		cpu->pending[cpu->head++ % PENDING_MAX] =
			(struct pending){hdr->ts_ns, rec->stack, rec->stop};
	}
	return 0;
}

/* --- libdw's view --- */

static bool read_memory(Dwfl *dwfl, Dwarf_Addr address, Dwarf_Word *ret_word, void *context)
{
	struct agreement *agreement = context;
	struct iovec to = {ret_word, sizeof(*ret_word)},
		     from = {(void *)address, sizeof(*ret_word)};

	(void)dwfl;
	if (address >= agreement->stack_base &&
	    address + sizeof(*ret_word) <= agreement->stack_base + agreement->stack_size) {
		memcpy(ret_word, agreement->stack + (address - agreement->stack_base),
		       sizeof(*ret_word));
		return true;
	}
	return process_vm_readv(agreement->pid, &to, 1, &from, 1, 0) == sizeof(*ret_word);
}

static pid_t next_thread(Dwfl *dwfl, void *context, void **ret_context)
{
	(void)dwfl;
	if (*ret_context)
		return 0;
	*ret_context = context;
	return ((struct agreement *)context)->pid;
}

static bool set_registers(Dwfl_Thread *thread, void *context)
{
	struct agreement *agreement = context;

	return dwfl_thread_state_registers(thread, 0, REGISTERS,
					   (const Dwarf_Word *)agreement->registers);
}

static const Dwfl_Thread_Callbacks thread_callbacks = {
	.next_thread = next_thread,
	.memory_read = read_memory,
	.set_initial_registers = set_registers,
};

static int on_frame(Dwfl_Frame *frame, void *context)
{
	struct agreement *agreement = context;
	bool is_exact = false;
	Dwarf_Addr pc;

	if (!dwfl_frame_pc(frame, &pc, &is_exact) || agreement->chain_count == USER_FRAMES_MAX)
		return DWARF_CB_ABORT;
	if (pc)
		agreement->chain[agreement->chain_count++] = is_exact ? pc : pc - 1;
	return DWARF_CB_OK;
}

static bool attach_dwfl(struct agreement *agreement)
{
	static char *no_path = (char *)"";
	static const Dwfl_Callbacks callbacks = {
		.find_elf = dwfl_linux_proc_find_elf,
		.find_debuginfo = dwfl_standard_find_debuginfo,
		.debuginfo_path = &no_path,
	};

	agreement->dwfl = dwfl_begin(&callbacks);
	return agreement->dwfl && !dwfl_linux_proc_report(agreement->dwfl, agreement->pid) &&
	       !dwfl_report_end(agreement->dwfl, NULL, NULL) &&
	       dwfl_attach_state(agreement->dwfl, NULL, agreement->pid, &thread_callbacks,
				 agreement);
}

/* --- comparing --- */

static void show(const char *whose, Dwfl *dwfl, const u64 *frames, unsigned int count)
{
	printf("# %s:", whose);
	for (unsigned int i = 0; i < count && i < 40; i++) {
		Dwfl_Module *module = dwfl_addrmodule(dwfl, frames[i]);
		const char *name = module ? dwfl_module_addrname(module, frames[i]) : NULL;

		printf(" %s(%llx)", name ? name : "?", (unsigned long long)frames[i]);
	}
	printf("\n");
}

static void compare(struct agreement *agreement, const struct pending *ours)
{
	struct kept_stack *stack = place_of(agreement, ours->key);

	agreement->chain_count = 0;
	dwfl_getthread_frames(agreement->dwfl, agreement->pid, on_frame, agreement);
	agreement->incomplete += ours->stop != STOP_END && ours->stop != STOP_ZERO;
	if (stack->key && stack->count == agreement->chain_count &&
	    !memcmp(stack->frames, agreement->chain, 8ULL * stack->count)) {
		agreement->same++;
		return;
	}
	agreement->other++;
	if (!agreement->is_verbose && agreement->other > 2)
		return;
	printf("# they differ; ours stopped by %d\n", ours->stop);
	show("ours", agreement->dwfl, stack->frames, stack->count);
	show("libdw's", agreement->dwfl, agreement->chain, agreement->chain_count);
}

/* The record of the same moment was made just before the event was written. */
static void on_event(struct agreement *agreement, struct queue_of_cpu *cpu, const u64 *words)
{
	u64 registers[REGISTERS];
	const struct pending *ours = NULL;
	u64 time = words[1], abi = words[2];
	const u64 *values = words + 3;
	const u64 *stack;

	while (cpu->tail != cpu->head) {
		const struct pending *next = &cpu->pending[cpu->tail % PENDING_MAX];

		if (next->ts_ns > time + SAME_NS)
			break;
		cpu->tail++;
		if (next->ts_ns + SAME_NS >= time) {
			ours = next;
			break;
		}
	}
	if (!ours || abi != PERF_SAMPLE_REGS_ABI_64) {
		agreement->unmatched++;
		return;
	}
	/* perf has them in the order of its bits: 0-8, then 16-23. */
	for (int i = 0; i < REGISTERS; i++)
		registers[i] = values[perf_numbers[i] <= 8 ? perf_numbers[i] : perf_numbers[i] - 7];
	stack = values + 17;
	agreement->registers = registers;
	agreement->stack = (const char *)(stack + 1);
	agreement->stack_base = registers[7];
	agreement->stack_size = stack[0] ? stack[1 + stack[0] / 8] : 0; /* what was really copied */
	compare(agreement, ours);
}

static void drain(struct agreement *agreement, struct queue_of_cpu *cpu)
{
	static u64 copy[65536 / 8]; /* a size of 16 bits */
	size_t size = (size_t)RING_PAGES * 4096;
	const char *data = (const char *)cpu->ring + 4096;
	u64 head = __atomic_load_n(&cpu->ring->data_head, __ATOMIC_ACQUIRE);
	u64 tail = cpu->ring->data_tail;

	while (tail < head) {
		struct perf_event_header header;

		for (size_t i = 0; i < sizeof(header); i++)
			((char *)&header)[i] = data[(tail + i) % size];
		if (header.size < sizeof(header))
			break;
		for (size_t i = 0; i < header.size; i++)
			((char *)copy)[i] = data[(tail + i) % size];
		if (header.type == PERF_RECORD_SAMPLE)
			on_event(agreement, cpu, copy + sizeof(header) / 8);
		tail += header.size;
	}
	__atomic_store_n(&cpu->ring->data_tail, tail, __ATOMIC_RELEASE);
}

/* --- the whole --- */

static bool open_cpu(struct agreement *agreement, int number)
{
	struct queue_of_cpu *cpu = &agreement->cpus[number];
	struct perf_event_attr attr = {
		.size = sizeof(attr),
		.type = PERF_TYPE_SOFTWARE,
		.config = PERF_COUNT_SW_CPU_CLOCK,
		.freq = 1,
		.sample_freq = 499,
		.sample_type = PERF_SAMPLE_TID | PERF_SAMPLE_TIME | PERF_SAMPLE_REGS_USER |
			       PERF_SAMPLE_STACK_USER,
		.sample_regs_user = REGISTER_MASK,
		.sample_stack_user = STACK_BYTES,
		.use_clockid = 1,
		.clockid = CLOCK_MONOTONIC,
	};

	cpu->fd = (int)syscall(SYS_perf_event_open, &attr, -1, number, -1, PERF_FLAG_FD_CLOEXEC);
	if (cpu->fd < 0)
		return false;
	cpu->ring =
		mmap(NULL, (RING_PAGES + 1) * 4096, PROT_READ | PROT_WRITE, MAP_SHARED, cpu->fd, 0);
	return cpu->ring != MAP_FAILED &&
	       bpf_program__attach_perf_event(agreement->skel->progs.agree_tick, cpu->fd);
}

static bool set_up(struct agreement *agreement)
{
	agreement->skel = agree_bpf__open();
	if (!agreement->skel)
		return false;
	agreement->skel->rodata->agree_tgid = (u32)agreement->pid;
	if (agree_bpf__load(agreement->skel) || !tell_mappings(agreement) ||
	    !attach_dwfl(agreement))
		return false;
	agreement->cpu_count = (int)sysconf(_SC_NPROCESSORS_ONLN);
	if (agreement->cpu_count > AGREE_CPUS_MAX)
		agreement->cpu_count = AGREE_CPUS_MAX;
	for (int i = 0; i < agreement->cpu_count; i++)
		if (!open_cpu(agreement, i))
			return false;
	return true;
}

static void watch(struct agreement *agreement, unsigned long wanted)
{
	struct ring_buffer *ring = ring_buffer__new(bpf_map__fd(agreement->skel->maps.records),
						    on_record, agreement, NULL);
	u64 end = clock_now_ns() + 20 * NS_PER_S;
	const struct timespec pause = {.tv_nsec = 2 * 1000 * 1000};

	while (ring && clock_now_ns() < end && agreement->same + agreement->other < wanted &&
	       !waitpid(agreement->pid, NULL, WNOHANG)) {
		nanosleep(&pause, NULL);
		ring_buffer__consume(ring);
		for (int i = 0; i < agreement->cpu_count; i++)
			drain(agreement, &agreement->cpus[i]);
	}
	ring_buffer__free(ring);
}

/* The command, given half a second to be what it is to be. */
static pid_t launch(char *const command[])
{
	const struct timespec pause = {.tv_nsec = 500 * 1000 * 1000};
	pid_t pid = fork();

	if (pid == 0) {
		int null = open("/dev/null", O_RDWR | O_CLOEXEC);

		dup2(null, 1);
		dup2(null, 2);
		execvp(command[0], command);
		_exit(127);
	}
	nanosleep(&pause, NULL);
	return pid;
}

static void clean_up(struct agreement *agreement)
{
	for (int i = 0; i < agreement->cpu_count; i++) {
		if (agreement->cpus[i].ring)
			munmap(agreement->cpus[i].ring, (RING_PAGES + 1) * 4096);
		close(agreement->cpus[i].fd);
	}
	dwfl_end(agreement->dwfl);
	agree_bpf__destroy(agreement->skel);
	free(agreement->stacks);
	free(agreement);
}

int main(int argc, char **argv)
{
	struct agreement *agreement = calloc(1, sizeof(*agreement));
	unsigned long wanted, all;
	int at = 1;

	agreement->is_verbose = argc > 1 && !strcmp(argv[1], "-v");
	at += agreement->is_verbose;
	if (argc < at + 3)
		return 64;
	wanted = strtoul(argv[at + 1], NULL, 10);
	agreement->stacks = calloc(STACKS_MAX, sizeof(*agreement->stacks));
	agreement->pid = launch(argv + at + 2);
	if (set_up(agreement))
		watch(agreement, wanted);
	kill(agreement->pid, SIGKILL);
	waitpid(agreement->pid, NULL, 0);
	all = agreement->same + agreement->other;
	tap(all >= wanted && (double)agreement->same >= 0.98 * (double)all,
	    "%s: %lu of %lu chains agree with libdw's (%.2f %%; %lu not complete, %lu not matched)",
	    argv[at], agreement->same, all, all ? 100.0 * (double)agreement->same / (double)all : 0,
	    agreement->incomplete, agreement->unmatched);
	clean_up(agreement);
	return tap_status();
}
