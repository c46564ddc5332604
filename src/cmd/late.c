// SPDX-License-Identifier: Apache-2.0
#include "late.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "../../signals/alloc/alloc.h"
#include "../base/cleanup.h"
#include "../base/clock.h"
#include "../base/figures.h"
#include "../base/log.h"
#include "../base/utf8.h"
#include "../worker/finding.h"

#define LOOK_NS	     (200 * NS_PER_MS)
#define LIMIT_OF_CPU 0.05
#define WORD_BYTES   64
#define FILE_BYTES   4096

/* What one call costs, by the first instruction of its function, as measured: docs/alloc.md. */
static const u64 prices_ns[] = {
	[PRICE_UNKNOWN] = 5000,
	[PRICE_NOP5] = 300,
	[PRICE_EMULATED] = 550,
	[PRICE_STEPPED] = 5500,
};

_Static_assert(ALLOC_FUNCTION_COUNT <= LATE_FUNCTIONS_MAX, "each function has a cost");

static void on_file(void *context, u32 pid, int fd);
static void on_process(void *context, u32 pid);
static void on_gone(void *context, u32 pid);

void late_open(struct late *late, struct capture *capture, struct worker *worker,
	       const struct probe_list *probes, const struct follow_options *options)
{
	*late = (struct late){
		.capture = capture,
		.worker = worker,
		.probes = probes,
		.listener = {on_file, on_process, on_gone, late},
		.is_for_all = options->selection.all,
		.is_forced = options->alloc.force,
		.limit = LIMIT_OF_CPU,
	};
	if (options->overhead_limit > 0)
		late->limit = options->overhead_limit * (double)sysconf(_SC_NPROCESSORS_ONLN);
	for (size_t i = 0; i < probes->count; i++)
		late->is_wanted |= probes->items[i].is_late;
}

void late_close(struct late *late)
{
	for (size_t i = 0; i < late->file_count; i++)
		close(late->files[i].fd);
	late->file_count = 0;
}

/* --- files --- */

/* Libraries that allocate, by the beginnings of the names that their makers gave them. */
static const struct {
	const char *name;
	enum late_inner inner;
} libraries[] = {
	{"libc.so.", LATE_INNER_NULL},	  {"libc-2.", LATE_INNER_NULL},
	{"ld-musl-", LATE_INNER_MALLOC},  {"libc.musl-", LATE_INNER_MALLOC},
	{"libjemalloc", LATE_INNER_NONE}, {"libtcmalloc", LATE_INNER_NONE},
	{"libmimalloc", LATE_INNER_NONE},
};

static bool is_allocator(const char *path, enum late_inner *ret_inner)
{
	const char *name = strrchr(path, '/');

	for (size_t i = 0; name && i < ARRAY_SIZE(libraries); i++) {
		if (strncmp(name + 1, libraries[i].name, strlen(libraries[i].name)) != 0)
			continue;
		*ret_inner = libraries[i].inner;
		return true;
	}
	return false;
}

/* A program may have an allocator linked in. */
static bool is_executable_of(u32 pid, int fd)
{
	struct stat file, program;
	char path[WORD_BYTES];

	snprintf(path, sizeof(path), "/proc/%u/exe", pid);
	return !stat(path, &program) && !fstat(fd, &file) && file.st_dev == program.st_dev &&
	       file.st_ino == program.st_ino;
}

/* Where each return is one trap more, it is one of every function. */
static void note_price(struct late *late, const struct probe *spec, const struct site *site)
{
	u64 price = prices_ns[site->price < ARRAY_SIZE(prices_ns) ? site->price : PRICE_UNKNOWN];

	if (spec->kind == PROBE_URETPROBE)
		late->return_ns = prices_ns[PRICE_EMULATED];
	else if (spec->cookie < LATE_FUNCTIONS_MAX && price > late->price_ns[spec->cookie])
		late->price_ns[spec->cookie] = price;
}

/* One program may stand in the list for each of its functions: the first is its link's owner. */
static size_t owner_of(const struct late *late, size_t probe)
{
	for (size_t i = 0; i < probe; i++)
		if (!strcmp(late->probes->items[i].program, late->probes->items[probe].program))
			return i;
	return probe;
}

static struct late_part *part_of(struct late_file *file, size_t probe)
{
	for (size_t i = 0; i < file->part_count; i++)
		if (file->parts[i].probe == probe)
			return &file->parts[i];
	if (file->part_count == LATE_PARTS_MAX)
		return NULL;
	file->parts[file->part_count].probe = probe;
	return &file->parts[file->part_count++];
}

/* Also of a library that is linked in under names of its own: je_malloc, tc_malloc, mi_malloc. */
static u64 cookie_of(const struct probe *spec, const struct late_file *file,
		     const struct site *site)
{
	bool has_prefix = site->name[0] && site->name[1] && site->name[2] == '_';

	return file->inner == LATE_INNER_NONE || has_prefix ? spec->cookie | ALLOC_COUNTS_NULL
							    : spec->cookie;
}

/* malloc and the like tell by their result that they failed: no exception passes them. */
static bool may_have_return_probe(const struct site *site)
{
	return site->at_return == RETURN_MAY || site->at_return == RETURN_THROWS ||
	       site->at_return == RETURN_BY_INSTRUCTION;
}

static void take_site(struct late *late, struct late_file *file, size_t probe,
		      const struct site *site)
{
	const struct probe *spec = &late->probes->items[probe];
	struct late_part *part = part_of(file, owner_of(late, probe));
	struct capture_places *places = part ? &part->places : NULL;

	if (file->inner == LATE_INNER_MALLOC && spec->cookie != ALLOC_BY_MALLOC &&
	    spec->cookie != ALLOC_BY_FREE)
		return;
	if (!places || site->kind == SITE_RESOLVER || places->count == CAPTURE_PLACES_MAX ||
	    (spec->kind != PROBE_UPROBE && !may_have_return_probe(site)))
		return;
	for (u32 i = 0; i < places->count; i++)
		if (places->offsets[i] == site->offset)
			return; /* one function under several names */
	places->offsets[places->count] = site->offset;
	places->cookies[places->count++] = cookie_of(spec, file, site);
	file->site_count++;
	note_price(late, spec, site);
}

static void look_for(struct late *late, struct late_file *file, size_t probe)
{
	const char *names = late->probes->items[probe].function;

	for (const char *at = names; at; at = strchr(at, ':') ? strchr(at, ':') + 1 : NULL) {
		struct finding_result result;
		char name[WORD_BYTES];
		struct site site;

		snprintf(name, sizeof(name), "%.*s", (int)strcspn(at, ":"), at);
		if (!worker_finding_search(late->worker, FINDING_FUNCTIONS, name, 0, &result) &&
		    result.count && worker_finding_sites(late->worker, 0, &site, 1) == 1)
			take_site(late, file, probe, &site);
	}
}

static void find_sites(struct late *late, struct late_file *file, int fd)
{
	struct finding_file facts;

	if (worker_finding_open(late->worker, fd, &facts))
		return;
	/* Go has an allocator of its own, and must not have its returns probed. */
	for (size_t i = 0; !facts.is_go && i < late->probes->count; i++)
		if (late->probes->items[i].is_late && !capture_failure(late->capture, i)->err &&
		    !capture_is_resting(late->capture, i))
			look_for(late, file, i);
	worker_finding_close(late->worker);
}

/* Once: what is missing from here on. */
static void fill_up(struct late *late, u32 pid)
{
	if (!late->is_full)
		log_info("alloc: %zu processes have probes, which is the limit: malloc is not "
			 "measured in process %u or in later ones",
			 late->attached_count, pid);
	late->is_full = true;
}

static void attach_part(struct late *late, const struct late_file *file,
			const struct late_part *part, u32 pid)
{
	const struct probe *spec = &late->probes->items[part->probe];
	/* Else each place has a perf event and a link. */
	size_t links = spec->kind == PROBE_UPROBE_SESSION ? 1 : 2 * part->places.count;
	int err = -EMFILE;

	if (late->link_count + links <= LATE_LINKS_MAX)
		err = capture_attach_late(late->capture, part->probe, file->fd, &part->places,
					  (pid_t)pid);
	if (!err)
		late->link_count += links;
	else if (err == -EMFILE || err == -ENFILE)
		fill_up(late, pid);
	else if (err != -ESRCH)
		log_verbose("alloc: without %s in process %u: %s", spec->program, pid,
			    strerror(-err));
}

/* pid 0: in all processes. */
static void attach(struct late *late, const struct late_file *file, u32 pid)
{
	for (size_t i = 0; i < file->part_count && !late->is_full; i++)
		if (file->parts[i].places.count)
			attach_part(late, file, &file->parts[i], pid);
}

static void keep_file(struct late *late, const struct late_file *file, int fd, const char *path)
{
	struct late_file *kept = &late->files[late->file_count];
	char shown[FILE_BYTES];

	*kept = *file;
	kept->fd = fcntl(fd, F_DUPFD_CLOEXEC, 0);
	if (kept->fd < 0)
		return;
	late->file_count++;
	utf8_escape(shown, sizeof(shown), path); /* whoever made the file has named it */
	log_verbose("alloc: %zu probe sites in %s: a call of malloc costs about %.1f us",
		    file->site_count, shown,
		    (double)(late->price_ns[ALLOC_BY_MALLOC] + late->return_ns) / 1e3);
	if (late->is_for_all)
		attach(late, kept, 0);
	for (size_t i = 0; i < late->pid_count; i++)
		attach(late, kept, late->pids[i]);
}

/* --- as they come --- */

static void on_file(void *context, u32 pid, int fd)
{
	char link[WORD_BYTES], path[FILE_BYTES];
	struct late_file file = {0};
	struct late *late = context;
	ssize_t length;

	if (late->is_given_up || late->file_count == LATE_FILES_MAX)
		return;
	snprintf(link, sizeof(link), "/proc/self/fd/%d", fd);
	length = readlink(link, path, sizeof(path) - 1);
	path[length < 0 ? 0 : length] = '\0';
	if (!is_allocator(path, &file.inner) && !is_executable_of(pid, fd))
		return;
	find_sites(late, &file, fd);
	if (file.site_count)
		keep_file(late, &file, fd, path);
}

static void on_process(void *context, u32 pid)
{
	struct late *late = context;

	if (late->is_for_all || late->is_given_up)
		return;
	for (size_t i = 0; i < late->pid_count; i++)
		if (late->pids[i] == pid)
			return;
	if (late->is_full || late->attached_count == LATE_PROCESSES_MAX) {
		fill_up(late, pid);
		return;
	}
	late->attached_count++;
	late->pids[late->pid_count++] = pid;
	for (size_t i = 0; i < late->file_count; i++)
		attach(late, &late->files[i], pid);
}

/* Its links go with all others, as each takes its time: so there can only be so many. */
static void on_gone(void *context, u32 pid)
{
	struct late *late = context;

	for (size_t i = 0; i < late->pid_count; i++)
		if (late->pids[i] == pid) {
			late->pids[i] = late->pids[--late->pid_count];
			return;
		}
}

/* --- the price --- */

static void add_calls(void *context, const void *of_cpu)
{
	const struct alloc_choice *choice = of_cpu;
	u64 *calls = context;

	for (int i = 0; i < ALLOC_FUNCTION_COUNT; i++)
		calls[i] += choice->calls[i];
}

static int read_calls(const struct late *late, u64 ret_calls[LATE_FUNCTIONS_MAX])
{
	memset(ret_calls, 0, LATE_FUNCTIONS_MAX * sizeof(*ret_calls));
	return capture_read_cpus(late->capture, "alloc_choices", sizeof(struct alloc_choice),
				 add_calls, ret_calls);
}

static void give_up(struct late *late, double rate, double share, struct brake_step *ret_step)
{
	for (size_t i = 0; i < late->probes->count; i++)
		if (late->probes->items[i].is_late)
			capture_detach_probe(late->capture, i);
	late->is_given_up = true;
	snprintf(ret_step->what, sizeof(ret_step->what),
		 "alloc: malloc and similar functions are not measured any more");
	snprintf(ret_step->why, sizeof(ret_step->why),
		 "%s calls a second would cost %.1f %% of a CPU, and %.1f %% is the limit; --force "
		 "continues",
		 FIGURE_NUMBER((u64)rate), share * 100, late->limit * 100);
}

static void tell(struct late *late, double rate, double share)
{
	late->is_told = true;
	log_info("alloc: %s allocation calls a second, which cost %.1f %% of a CPU%s",
		 FIGURE_NUMBER((u64)rate), share * 100,
		 late->is_forced && share > late->limit ? "; --force continues" : "");
}

bool late_watch(struct late *late, struct brake_step *ret_step)
{
	u64 now_ns = clock_now_ns(), calls[LATE_FUNCTIONS_MAX], sum = 0;
	double cost_ns = 0, span_ns = (double)(now_ns - late->looked_ns);
	bool is_first = !late->looked_ns;

	if (!late->file_count || late->is_given_up || now_ns - late->looked_ns < LOOK_NS ||
	    read_calls(late, calls))
		return false;
	for (int i = 0; i < LATE_FUNCTIONS_MAX; i++) {
		sum += calls[i] - late->calls[i];
		cost_ns += (double)(calls[i] - late->calls[i]) *
			   (double)(late->price_ns[i] + late->return_ns);
	}
	memcpy(late->calls, calls, sizeof(calls));
	late->looked_ns = now_ns;
	if (is_first || !sum)
		return false;
	if (!late->is_told)
		tell(late, (double)sum / span_ns * 1e9, cost_ns / span_ns);
	if (late->is_forced || cost_ns / span_ns <= late->limit)
		return false;
	give_up(late, (double)sum / span_ns * 1e9, cost_ns / span_ns, ret_step);
	return true;
}
