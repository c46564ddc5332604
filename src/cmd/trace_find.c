// SPDX-License-Identifier: Apache-2.0
/*
 * From words to places: the worker looks into the files, and here it is decided what becomes of
 * what it found.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/utsname.h>

#include "../base/cleanup.h"
#include "../base/log.h"
#include "../engine/target_files.h"
#include "trace.h"

static bool is_pattern(const char *name)
{
	return strpbrk(name, "*?");
}

/* --- one place --- */

static void take_usdt_args(struct trace_place *place, const struct site *site)
{
	static const u8 kinds[] = {
		[ARG_NONE] = FUNC_ARG_NONE,	[ARG_REGISTER] = FUNC_ARG_REGISTER,
		[ARG_MEMORY] = FUNC_ARG_MEMORY, [ARG_CONSTANT] = FUNC_ARG_CONSTANT,
		[ARG_ODD] = FUNC_ARG_NONE,
	};

	for (size_t i = 0; i < FUNC_ARGS_MAX; i++) {
		const struct site_arg *arg = &site->args[i];

		place->spec.args[i] = (struct func_arg){
			.kind = i < site->arg_count ? kinds[arg->kind] : FUNC_ARG_NONE,
			.place = arg->place,
			.size = arg->size,
			.value = arg->value};
	}
}

static const char *const return_reasons[] = {
	[RETURN_MAY] = "",
	[RETURN_GO] = "it is in a Go program, which moves its stacks and checks the addresses on "
		      "them: a return probe would crash it",
	[RETURN_NO_START] =
		"it is not known to be the beginning of a function: a return probe would "
		"write over data on the stack",
	[RETURN_TWICE] = "it does not return as other functions do: a return probe would crash the "
			 "process",
	[RETURN_THROWS] =
		"an exception that passes a return probe ends the process, and not all "
		"instructions are known at which it returns (it ends with a jump into another "
		"function, or has too many)",
	[RETURN_BY_INSTRUCTION] = "",
};

/* May its return be probed? 0; -EPERM, told unless it is one of many. */
static int check_return(const struct trace *trace, const struct site *site, bool is_one_of_many)
{
	if (site->at_return == RETURN_MAY || site->at_return == RETURN_BY_INSTRUCTION ||
	    (site->at_return == RETURN_THROWS && trace->force))
		return 0;
	if (!is_one_of_many)
		log_error("the return of %s is not probed: %s; --count counts how often it is "
			  "reached%s",
			  site->name[0] ? site->name : "this address",
			  return_reasons[site->at_return],
			  site->at_return == RETURN_THROWS ? ", --force insists" : "");
	return -EPERM;
}

/*
 * From 6.18 on a uprobe there becomes a call, which writes its return address below the stack
 * pointer: where a leaf function may have its variables, unless it only just begins.
 */
static bool is_overwritten(const struct site *site)
{
	struct utsname host;
	int major, minor;

	if (!site->is_nop5 || site->kind == SITE_FUNCTION || site->kind == SITE_RESOLVER)
		return false;
	return uname(&host) || sscanf(host.release, "%d.%d", &major, &minor) != 2 || major > 6 ||
	       (major == 6 && minor >= 18);
}

static int check_site(const struct trace *trace, const struct trace_word *word,
		      const struct site *site, bool is_one_of_many)
{
	if (site->kind == SITE_RESOLVER && !trace->force) {
		if (!is_one_of_many)
			log_error("%s is chosen at run time: what is at its symbol only chooses, "
				  "once in each process; trace the chosen one, as in '*%s_*', or "
				  "--force",
				  site->name, site->name);
		return -EPERM;
	}
	if (is_overwritten(site) && !trace->force) {
		if (!is_one_of_many)
			log_error("%s is not traced: it is a 5-byte nop that does not begin a "
				  "function; this kernel puts a call there, which can overwrite "
				  "variables of the function (its red zone); --force overrides",
				  site->name[0] ? site->name : word->name);
		return -EPERM;
	}
	if (word->at_return || (!word->role && !trace->count_only && site->kind != SITE_USDT &&
				site->kind != SITE_OFFSET))
		return check_return(trace, site, is_one_of_many);
	return 0;
}

static int take_returns(struct trace *trace, struct trace_place *place, const struct site *site)
{
	trace->return_count += site->return_count;
	if (trace->return_count > FUNC_PLACES_MAX) {
		log_error("these functions return at more than %d instructions: choose fewer, or a "
			  "narrower pattern",
			  FUNC_PLACES_MAX);
		return -E2BIG;
	}
	memcpy(place->returns, site->returns, sizeof(place->returns));
	place->return_count = site->return_count;
	return 0;
}

static int take_site(struct trace *trace, const struct trace_word *word, int fd,
		     const struct site *site, bool is_one_of_many)
{
	char offset[32];
	struct trace_place *place;
	int err = check_site(trace, word, site, is_one_of_many);

	if (!err && word->kind == TRACE_USER)
		err = is_one_of_many && !trace->force
			      ? trace_check_danger(NULL, site->name, false)
			      : trace_check_danger(trace, site->name, false);
	if (err && is_one_of_many) {
		trace->skipped++;
		return 0;
	}
	if (err)
		return err;
	if (site->kind == SITE_OFFSET && !trace->force) {
		log_error("no symbol shows that an instruction begins at %s of %s, and a probe "
			  "inside an instruction crashes every process that runs it: check with "
			  "objdump -d, then use --force",
			  word->name, word->file);
		return -EINVAL;
	}
	snprintf(offset, sizeof(offset), "0x%" PRIx64, (uint64_t)site->offset);
	place = trace_place_add(trace, word, site->name[0] ? site->name : offset);
	if (!place)
		return -E2BIG;
	snprintf(place->path, sizeof(place->path), "/proc/self/fd/%d", fd);
	place->offset = site->offset;
	place->counter = site->semaphore;
	place->price = site->price;
	if (site->kind == SITE_USDT)
		take_usdt_args(place, site);
	else if (!word->role && !trace->count_only && site->kind != SITE_OFFSET) {
		place->spec.role = FUNC_CALL;
		place->has_return = true;
	}
	if (place->has_return && site->at_return == RETURN_BY_INSTRUCTION)
		err = take_returns(trace, place, site);
	return err;
}

/* --- one word --- */

/* Debug symbols that are installed beside it, as distributions have them. */
static void add_debug_file(struct worker *worker, struct finding_file *file)
{
	struct target_files files = {0};
	_cleanup_close_ int proc_fd = target_process((u32)getpid()), fd = -1;

	if (file->is_full || proc_fd < 0)
		return;
	fd = target_debug_open(&files, proc_fd, file->build_id, file->build_id_size, true);
	if (fd >= 0)
		worker_finding_debug(worker, fd, file);
}

static void tell_not_found(const struct trace_word *word, const struct finding_file *file,
			   const struct finding_result *result)
{
	if (word->kind == TRACE_USDT)
		log_error("%s has no USDT probe %s: readelf -n shows those that it has", word->file,
			  word->name);
	else if (result->is_inlined)
		log_error(
			"%s has no function %s of its own: the compiler has inlined it wherever it "
			"is called; trace a caller",
			word->file, word->name);
	else if (!file->is_full)
		log_error("%s has no symbol %s: it is stripped, and has exported symbols only; "
			  "install its debug symbols, or give an offset, as %s:0xOFFSET",
			  word->file, word->name, word->file);
	else
		log_error("%s has no function %s; it may be in a library that it uses (ldd %s), or "
			  "have another name: patterns such as '%s:*part*' find some",
			  word->file, word->name, word->file, word->file);
}

static int search(struct worker *worker, const struct trace_word *word,
		  struct finding_result *ret_result)
{
	char *end;
	u64 offset;

	if (word->kind == TRACE_USDT)
		return worker_finding_search(worker, FINDING_USDT, word->name, 0, ret_result);
	if (strncmp(word->name, "0x", 2) != 0)
		return worker_finding_search(worker, FINDING_FUNCTIONS, word->name, 0, ret_result);
	errno = 0;
	offset = strtoull(word->name, &end, 16);
	if (errno || *end) {
		log_error("'%s' is no offset: it is hexadecimal, as in 0x1a30", word->name);
		return -EINVAL;
	}
	return worker_finding_search(worker, FINDING_OFFSET, "", offset, ret_result);
}

static int take_sites(struct trace *trace, struct worker *worker, const struct trace_word *word,
		      int fd, u32 count)
{
	_cleanup_free_ struct site *sites = calloc(count, sizeof(*sites));
	int got = sites ? worker_finding_sites(worker, 0, sites, count) : -ENOMEM, err = 0;

	for (int i = 0; i < got && !err; i++)
		err = take_site(trace, word, fd, &sites[i], is_pattern(word->name));
	return got < 0 ? got : err;
}

static int find_in_file(struct trace *trace, struct worker *worker, const struct trace_word *word)
{
	int fd = trace_file_open(trace, word->file), err;
	struct finding_result result = {0};
	struct finding_file file;
	u32 before = trace->place_count;

	if (fd < 0)
		return fd;
	err = worker_finding_open(worker, fd, &file);
	if (err == -ENOEXEC) {
		log_error("%s is no program or library of this machine%s", word->file,
			  "; of a script, trace its interpreter");
		return err;
	}
	if (!err) {
		add_debug_file(worker, &file);
		err = search(worker, word, &result);
	}
	if (err == -ERANGE)
		log_error("%s is not in the code of %s", word->name, word->file);
	else if (err)
		log_error("cannot look for %s in %s: %s", word->name, word->file, strerror(-err));
	if (err)
		return err;
	if (!result.count) {
		tell_not_found(word, &file, &result);
		return -ENOENT;
	}
	if (result.matched > trace->limit) {
		log_error("%s:%s fits %" PRIu64
			  " probe sites, more than --limit %u: each probe costs; choose a narrower "
			  "pattern, or a higher limit",
			  word->file, word->name, (uint64_t)result.matched, trace->limit);
		return -E2BIG;
	}
	err = take_sites(trace, worker, word, fd, result.count);
	if (!err && is_pattern(word->name))
		log_info("%s:%s: %u probe site%s", word->file, word->name,
			 trace->place_count - before, trace->place_count - before == 1 ? "" : "s");
	return err;
}

/* The probe of a process without a file: in whatever it runs. */
static int name_file_of_process(const struct trace *trace, struct trace_word *word)
{
	char path[64];
	ssize_t length;

	if (word->file[0])
		return 0;
	if (!trace->pid) {
		log_error("-U %s needs the file that it is in, as BIN:%s, or one process by -p",
			  word->name, word->name);
		return -EINVAL;
	}
	snprintf(path, sizeof(path), "/proc/%d/exe", trace->pid);
	length = readlink(path, word->file, sizeof(word->file) - 1);
	if (length < 0) {
		log_error("cannot find out what process %d runs: %s", trace->pid, strerror(errno));
		return -errno;
	}
	word->file[length] = '\0';
	return 0;
}

int trace_find(struct trace *trace, struct worker *worker)
{
	int err = 0;

	for (size_t i = 0; i < trace->word_count && !err; i++) {
		struct trace_word *word = &trace->words[i];

		if (word->kind == TRACE_KERNEL)
			err = trace_find_kernel(trace, word);
		else if (word->kind == TRACE_TRACEPOINT)
			err = trace_find_tracepoint(trace, word);
		else if (!(err = name_file_of_process(trace, word)))
			err = find_in_file(trace, worker, word);
	}
	if (!err && !trace->place_count) {
		log_error("nothing is left to be traced%s",
			  trace->skipped
				  ? ": what fits cannot be measured, or is dangerous; --count "
				    "and --force are less strict"
				  : "");
		err = -ENOENT;
	}
	if (!err && trace->skipped)
		log_info("skipped, as they cannot be measured or are dangerous: %u probe site%s",
			 trace->skipped, trace->skipped == 1 ? "" : "s");
	return err;
}
