/* SPDX-License-Identifier: Apache-2.0 */
/*
 * `dwell trace`, as its own files see it: from the words that a person types to places that probes
 * are put at, what they will cost, and what is told while it runs. Nobody else includes this.
 */
#ifndef DWELL_CMD_TRACE_H
#define DWELL_CMD_TRACE_H

#include "../../abi/func.h"
#include "../../abi/records.h"
#include "../worker/finding.h"
#include "../engine/engine.h"
#include "reader_process.h"

#define TRACE_WORDS_MAX	 64
#define TRACE_LIMIT	 64 /* places that a pattern may have, unless --limit says otherwise */
#define TRACE_FILES_MAX	 64
#define TRACE_LOOK_NS	 200000000ULL /* how long is counted before it is judged */
#define TRACE_CORE_SHARE 0.05	      /* of one core, that probes may cost */

/* --- words --- */

enum trace_kind { TRACE_USER, TRACE_KERNEL, TRACE_TRACEPOINT, TRACE_USDT, TRACE_KIND_COUNT };

/* A probe as it was typed: u:BIN:SYM, ur:BIN:SYM, k:FUNC, kr:FUNC, t:CAT:EVENT, U:[BIN:]PROV:NAME.
 */
struct trace_word {
	enum trace_kind kind;
	bool at_return; /* what is meant is the return alone */
	char file[256]; /* BIN; empty: none was given */
	char name[FINDING_PATTERN_MAX];
	u8 role; /* enum func_role */
};

/* Without its first part: 0, or -EINVAL, told. */
int trace_word_parse(enum trace_kind kind, const char *text, struct trace_word *ret_word);
/* With it: of --from, --to and --pool. */
int trace_word_parse_whole(const char *text, struct trace_word *ret_word);

/* All options, checked; of a zeroed trace: 0, or -EINVAL, told. */
struct trace;
int trace_parse(int argc, char **argv, struct trace *trace);

/* --- places --- */

struct trace_place {
	struct func_spec spec;
	char label[LABEL_BYTES];
	enum trace_kind kind;
	bool has_entry, has_return;
	bool is_fentry;		       /* by fentry and fexit, unless the kernel refuses them */
	u8 price;		       /* enum site_price */
	char path[32];		       /* uprobe: of a descriptor of ours */
	u64 offset;		       /* uprobe */
	u64 returns[SITE_RETURNS_MAX]; /* of instructions that return; none: by a return probe */
	u8 return_count;
	u64 counter;	    /* USDT with a semaphore */
	char function[160]; /* kprobe: symbol; tracepoint: category:event */
};

/* The programs, the last first as they are put into capture: what stands in for another is before
 * it here. */
enum trace_program {
	TRACE_ENTER,
	TRACE_LEAVE,
	TRACE_AT_RETURN,
	TRACE_KERNEL_ENTER,
	TRACE_FENTRY,
	TRACE_KERNEL_LEAVE,
	TRACE_FEXIT,
	TRACE_AT_TRACEPOINT,
	TRACE_PROGRAM_COUNT
};

struct trace {
	struct engine_options engine;
	bool json, help, force, count_only, dry_run, no_classes;
	u32 limit;
	u8 by, by_arg; /* enum func_by */
	u8 key;	       /* FUNC_KEY_* */
	bool has_key;
	bool is_streaming; /* --slow */

	struct trace_word words[TRACE_WORDS_MAX];
	size_t word_count;
	pid_t pid; /* the one process that was chosen; 0: more, or others */

	struct trace_place places[FUNC_PLACES_MAX];
	u32 place_count;
	u32 return_count;      /* of all places: instructions that return */
	const char *no_fentry; /* why kernel functions have kprobes; NULL: they do not */
	u32 skipped;	       /* fit a pattern, but cannot be measured */
	int files[TRACE_FILES_MAX];
	size_t file_count;

	struct probe_place lists[TRACE_PROGRAM_COUNT][FUNC_PLACES_MAX];
	size_t list_counts[TRACE_PROGRAM_COUNT];
	struct probe probes[TRACE_PROGRAM_COUNT];
	size_t probe_count;

	u32 one_in; /* calls are measured, from the start; 0: each */
	u64 told_hits[FUNC_PLACES_MAX];
	u64 told_ns;
	u64 ended_windows, printed_windows; /* of which slow calls are printed */
	struct reader_process printer;
	bool is_detached;
};

/* An executable or library by path, by its name in PATH or among libraries, or as the process maps
 * it: a descriptor, which stays open with the trace, or -errno, told. */
int trace_file_open(struct trace *trace, const char *name);

/* All words become places; what is not found is told with its reason: 0 or -errno. */
int trace_find(struct trace *trace, struct worker *worker);
int trace_find_kernel(struct trace *trace, const struct trace_word *word);
/* A line of /proc/kallsyms that is of a function? */
bool trace_read_symbol(const char *line, char ret_name[160]);
int trace_find_tracepoint(struct trace *trace, const struct trace_word *word);
/* NULL: there are too many, told. */
struct trace_place *trace_place_add(struct trace *trace, const struct trace_word *word,
				    const char *label);

/* --- what it costs --- */

/* Known to be called so often that a probe stops the host: 0 or -EPERM, told. */
int trace_check_danger(const struct trace *trace, const char *name, bool is_kernel);
int trace_check_event(const struct trace *trace, const char *name); /* of a tracepoint */
/* Tells the price of each place. */
void trace_tell_prices(const struct trace *trace);
/* Counts for a moment, without measuring, and tells: 0, or -EPERM, told, if it is too dear. */
int trace_check_rate(struct trace *trace, struct worker *worker, struct queue *queue);
/* What was hit while all was being attached is nobody's: its time is not known. */
void trace_begin_budget(struct trace *trace, struct capture *capture);
/* Looks at what was hit since it was last called; samples, or gives up. */
void trace_hold_budget(struct trace *trace, struct capture *capture, struct live_config *live);

/* If it is one function of the kernel: makes it FUNC_FENTRY_PLACE, and is_fentry. */
void trace_choose_fentry(struct trace *trace);
/* What became of that, once all is attached. */
void trace_tell_hook(struct trace *trace, const struct capture *capture);

/* Lists of places by program, and the probes that have them. */
void trace_make_probes(struct trace *trace);

/* A window has ended: prints slow calls. Waits until they are printed after the last one only. */
void trace_stream(struct trace *trace, const struct session_files *files, bool is_last);

#endif
