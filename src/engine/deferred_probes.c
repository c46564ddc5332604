// SPDX-License-Identifier: Apache-2.0
#include "deferred_probes.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "../base/cleanup.h"
#include "../base/clock.h"
#include "../base/figures.h"
#include "../base/log.h"
#include "../base/utf8.h"
#include "deferred_sites.h"

#define LOOK_NS		(200 * NS_PER_MS)
#define FORGET_EVERY_NS (5 * NS_PER_S)
#define WORD_BYTES	64
#define FILE_BYTES	4096

static void on_file(void *context, u32 pid, int fd);
static void on_process(void *context, u32 pid);
static void on_gone(void *context, u32 pid);

void deferred_open(struct deferred_probes *deferred, struct capture *capture, struct worker *worker,
		   const struct plan *plan, size_t place)
{
	int signal = plan->deferred[place].signal;

	*deferred = (struct deferred_probes){
		.kind = signal ? signal_rows[signal].signal->deferred : NULL,
		.signal = signal,
		.capture = capture,
		.worker = worker,
		.probes = &plan->probes,
		.listener = {on_file, on_process, on_gone, deferred, NULL},
		.is_for_all = plan->is_for_all,
		.is_wanted = signal != 0,
		.is_asked = signal && !signal_rows[signal].signal->deferred->asked_map,
		.is_forced = plan->is_forced,
		.limit = plan->deferred[place].limit,
		.tracks_lives = signal && signal_rows[signal].signal->deferred->lives_map &&
				plan->tracks_lives,
	};
}

void deferred_close(struct deferred_probes *deferred)
{
	for (size_t i = 0; i < deferred->file_count; i++)
		close(deferred->files[i].fd);
	deferred->file_count = 0;
	if (deferred->is_wanted && !deferred->is_for_all)
		log_verbose("%s: %llu processes had probes", signal_rows[deferred->signal].name,
			    (unsigned long long)deferred->process_count);
	if (deferred->refused > 1)
		log_info("%s: %llu times a process was without probes, as all were in use",
			 signal_rows[deferred->signal].name, (unsigned long long)deferred->refused);
	deferred->refused = 0;
	deferred->is_wanted = false;
}

/* --- files --- */

/* A place in the signal's list of libraries; -1: it is none of them. */
static int find_library(const struct deferred_probes *deferred, const char *path)
{
	const char *const *libraries = deferred->kind->libraries;
	const char *name = strrchr(path, '/');

	for (int i = 0; name && libraries[i]; i++)
		if (!strncmp(name + 1, libraries[i], strlen(libraries[i])))
			return i;
	return -1;
}

/* A program may have an allocator linked in. */
static bool is_executable_of(u32 pid, int fd)
{
	struct statx file, program;
	char path[WORD_BYTES];

	snprintf(path, sizeof(path), "/proc/%u/exe", pid);
	/* As the kernel has it: a file system that does not answer is not asked. */
	return !statx(AT_FDCWD, path, AT_STATX_DONT_SYNC, STATX_INO, &program) &&
	       !statx(fd, "", AT_EMPTY_PATH | AT_STATX_DONT_SYNC, STATX_INO, &file) &&
	       file.stx_dev_major == program.stx_dev_major &&
	       file.stx_dev_minor == program.stx_dev_minor && file.stx_ino == program.stx_ino;
}

/* What is missing is told once, and counted. */
static void refuse(struct deferred_probes *deferred, u32 pid)
{
	if (!deferred->refused++)
		log_info("%s: %zu processes have probes, which is the limit: %s is not measured in "
			 "process %u, or in others until some of these have ended",
			 signal_rows[deferred->signal].name, deferred->pid_count,
			 deferred->kind->main_function, pid);
}

/* Descriptors: else each place has a perf event and a link. */
static size_t links_of(const struct deferred_probes *deferred, const struct deferred_part *part)
{
	bool is_one = deferred->probes->items[part->probe].kind == PROBE_UPROBE_SESSION;

	return is_one && part->places.count ? 1 : 2 * part->places.count;
}

/* All that a process needs of a file, or nothing: half of it would give wrong numbers. */
static bool has_room(const struct deferred_probes *deferred, const struct deferred_file *file)
{
	u64 retired = capture_retired_links(deferred->capture); /* of other signals, too */
	u64 used = deferred->link_count > retired ? deferred->link_count - retired : 0;

	for (size_t i = 0; i < file->part_count; i++)
		used += links_of(deferred, &file->parts[i]);
	return used <= DEFERRED_LINKS_MAX;
}

static void attach_part(struct deferred_probes *deferred, const struct deferred_file *file,
			const struct deferred_part *part, u32 pid)
{
	const struct probe *spec = &deferred->probes->items[part->probe];
	int err = capture_attach_deferred(deferred->capture, part->probe, file->fd, &part->places,
					  (pid_t)pid);

	if (!err)
		deferred->link_count += links_of(deferred, part);
	else if (err == -EMFILE || err == -ENFILE)
		refuse(deferred, pid);
	else if (err != -ESRCH)
		log_verbose("%s: without %s in process %u: %s", signal_rows[deferred->signal].name,
			    spec->program, pid, strerror(-err));
}

/* pid 0: in all processes. */
static void attach(struct deferred_probes *deferred, const struct deferred_file *file, u32 pid)
{
	if (deferred->is_resting || !deferred->is_asked)
		return; /* attach_all() comes when that changes */
	if (!has_room(deferred, file)) {
		refuse(deferred, pid);
		return;
	}
	for (size_t i = 0; i < file->part_count; i++)
		if (file->parts[i].places.count)
			attach_part(deferred, file, &file->parts[i], pid);
}

static void attach_everywhere(struct deferred_probes *deferred, const struct deferred_file *file)
{
	if (deferred->is_for_all)
		attach(deferred, file, 0);
	for (size_t i = 0; !deferred->is_for_all && i < deferred->pid_count; i++)
		attach(deferred, file, deferred->pids[i]);
}

static void attach_all(struct deferred_probes *deferred)
{
	for (size_t i = 0; i < deferred->file_count; i++)
		attach_everywhere(deferred, &deferred->files[i]);
}

static void keep_file(struct deferred_probes *deferred, const struct deferred_file *file, int fd,
		      const char *path)
{
	struct deferred_file *kept = &deferred->files[deferred->file_count];
	char shown[FILE_BYTES];

	*kept = *file;
	kept->fd = fcntl(fd, F_DUPFD_CLOEXEC, 0);
	if (kept->fd < 0)
		return;
	deferred->file_count++;
	deferred->program_count += kept->library < 0;
	utf8_escape(shown, sizeof(shown), path); /* whoever made the file has named it */
	log_verbose("%s: %zu probe sites in %s", signal_rows[deferred->signal].name,
		    file->site_count, shown);
	if (deferred->price_ns[deferred->kind->main_cookie])
		log_verbose("%s: a call of %s costs about %.1f us",
			    signal_rows[deferred->signal].name, deferred->kind->main_function,
			    (double)(deferred->price_ns[deferred->kind->main_cookie] +
				     deferred->return_ns) /
				    1e3);
	attach_everywhere(deferred, kept);
}

static void refuse_file(struct deferred_probes *deferred)
{
	if (!deferred->files_refused++)
		log_info("%s: %zu files have probes, %zu of them executables, which is the limit: "
			 "%s in more of them are not measured",
			 signal_rows[deferred->signal].name, deferred->file_count,
			 deferred->program_count, deferred->kind->functions);
}

/* --- as they come --- */

static void on_file(void *context, u32 pid, int fd)
{
	char link[WORD_BYTES], path[FILE_BYTES];
	struct deferred_file file = {0};
	struct deferred_probes *deferred = context;
	ssize_t length;

	if (deferred->is_given_up)
		return;
	snprintf(link, sizeof(link), "/proc/self/fd/%d", fd);
	length = readlink(link, path, sizeof(path) - 1);
	path[length < 0 ? 0 : length] = '\0';
	file.library = find_library(deferred, path);
	if (file.library < 0 && !is_executable_of(pid, fd))
		return;
	deferred_find_sites(deferred, &file, fd);
	if (!file.site_count)
		return;
	if (deferred->file_count == DEFERRED_FILES_MAX ||
	    (file.library < 0 && deferred->program_count == DEFERRED_PROGRAMS_MAX))
		refuse_file(deferred);
	else
		keep_file(deferred, &file, fd, path);
}

static void on_process(void *context, u32 pid)
{
	struct deferred_probes *deferred = context;

	if (deferred->is_for_all || deferred->is_given_up)
		return;
	for (size_t i = 0; i < deferred->pid_count; i++)
		if (deferred->pids[i] == pid)
			return;
	if (deferred->pid_count == DEFERRED_PROCESSES_MAX) {
		refuse(deferred, pid);
		return;
	}
	deferred->pids[deferred->pid_count++] = pid;
	deferred->process_count++;
	for (size_t i = 0; i < deferred->file_count; i++)
		attach(deferred, &deferred->files[i], pid);
}

static void on_gone(void *context, u32 pid)
{
	struct deferred_probes *deferred = context;

	for (size_t i = 0; i < deferred->pid_count; i++)
		if (deferred->pids[i] == pid) {
			deferred->pids[i] = deferred->pids[--deferred->pid_count];
			capture_retire_process(deferred->capture, (pid_t)pid);
			return;
		}
}

/* --- the price --- */

struct calls_sum {
	const struct deferred_kind *kind;
	u64 *calls;
};

static void add_calls(void *context, const void *of_cpu)
{
	const struct calls_sum *sum = context;

	sum->kind->add_calls(of_cpu, sum->calls);
}

static int read_calls(const struct deferred_probes *deferred, u64 ret_calls[DEFERRED_FUNCTIONS_MAX])
{
	struct calls_sum sum = {deferred->kind, ret_calls};

	memset(ret_calls, 0, DEFERRED_FUNCTIONS_MAX * sizeof(*ret_calls));
	return capture_read_cpus(deferred->capture, deferred->kind->calls_map,
				 deferred->kind->calls_size, add_calls, &sum);
}

static void give_up(struct deferred_probes *deferred, double rate, double share,
		    struct throttle_step *ret_step)
{
	for (size_t i = 0; i < deferred->probes->count; i++)
		if (deferred_is_ours(deferred, i))
			capture_detach_probe(deferred->capture, i);
	deferred->is_given_up = true;
	snprintf(ret_step->what, sizeof(ret_step->what), "%s: %s are not measured any more",
		 signal_rows[deferred->signal].name, deferred->kind->functions);
	snprintf(ret_step->why, sizeof(ret_step->why),
		 "%s calls a second would cost %.1f %% of a CPU, and %.1f %% is the limit; --force "
		 "continues",
		 FIGURE_NUMBER((u64)rate), share * 100, deferred->limit * 100);
}

static void tell(struct deferred_probes *deferred, double rate, double share)
{
	deferred->is_told = true;
	log_info("%s: %s %s a second, which cost %.1f %% of a CPU%s",
		 signal_rows[deferred->signal].name, FIGURE_NUMBER((u64)rate),
		 deferred->kind->calls, share * 100,
		 deferred->is_forced && share > deferred->limit ? "; --force continues" : "");
}

static bool is_of_dead(void *context, const void *key)
{
	const struct deferred_probes *deferred = context;

	return kill((pid_t)deferred->kind->process_of(key), 0) && errno == ESRCH;
}

/* What a process has not freed when it ends, nobody frees: it makes room for others. */
static void forget_dead_lives(struct deferred_probes *deferred, u64 now_ns)
{
	if (!deferred->tracks_lives || now_ns - deferred->forgot_ns < FORGET_EVERY_NS)
		return;
	deferred->forgot_ns = now_ns;
	deferred->lives_forgotten += capture_forget_keys(
		deferred->capture, deferred->kind->lives_map, is_of_dead, deferred);
}

/* What its signal lost when it was switched off, for good unless that goes on without them. */
void deferred_rest(struct deferred_probes *deferred, bool is_off)
{
	bool is_back = deferred->is_resting && !is_off;

	deferred->is_resting = is_off;
	if (!deferred->is_wanted || deferred->is_given_up)
		return;
	if (is_off && !deferred->kind->is_part)
		deferred->is_given_up = true;
	if (is_back)
		deferred->link_count = capture_retired_links(deferred->capture);
	if (is_back)
		attach_all(deferred);
}

/* Programs see that the probes would be of use. */
static void look_for_use(struct deferred_probes *deferred, u64 now_ns)
{
	if (!deferred->is_wanted || deferred->is_asked || now_ns - deferred->asked_ns < LOOK_NS)
		return;
	deferred->asked_ns = now_ns;
	if (!capture_read_sum(deferred->capture, deferred->kind->asked_map, 0))
		return;
	deferred->is_asked = true;
	attach_all(deferred);
}

bool deferred_watch(struct deferred_probes *deferred, struct throttle_step *ret_step)
{
	u64 now_ns = clock_now_ns(), calls[DEFERRED_FUNCTIONS_MAX], sum = 0;
	double cost_ns = 0, span_ns = (double)(now_ns - deferred->looked_ns);
	bool is_first = !deferred->looked_ns;

	look_for_use(deferred, now_ns);
	if (!deferred->file_count || !deferred->is_asked || deferred->is_given_up ||
	    now_ns - deferred->looked_ns < LOOK_NS || read_calls(deferred, calls))
		return false;
	for (int i = 0; i < DEFERRED_FUNCTIONS_MAX; i++) {
		sum += calls[i] - deferred->calls[i];
		cost_ns +=
			(double)(calls[i] - deferred->calls[i]) *
			(double)(deferred->price_ns[i] + deferred->end_ns[i] + deferred->return_ns);
	}
	memcpy(deferred->calls, calls, sizeof(calls));
	deferred->looked_ns = now_ns;
	forget_dead_lives(deferred, now_ns);
	if (is_first || !sum)
		return false;
	if (!deferred->is_told)
		tell(deferred, (double)sum / span_ns * 1e9, cost_ns / span_ns);
	if (deferred->is_forced || cost_ns / span_ns <= deferred->limit)
		return false;
	give_up(deferred, (double)sum / span_ns * 1e9, cost_ns / span_ns, ret_step);
	return true;
}
