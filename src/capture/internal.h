/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The capture object as its own files see it; nobody else includes this.
 */
#ifndef DWELL_CAPTURE_INTERNAL_H
#define DWELL_CAPTURE_INTERNAL_H

#include <bpf/libbpf.h>

#include "bpflog.h"
#include "capture.h"
#include "reader.h"

#define SEND_WAIT_NS 500000000ULL /* that rows may wait for room in the queue */

#define CAPTURE_SOURCES_MAX 8

/* What keeps a program attached: a link, or where this libbpf does not know its kind (NULL) its
 * descriptor. */
struct kept_link {
	struct bpf_link *link;
	int fd;
	pid_t pid; /* a deferred probe's: in whose process; 0: in all */
};

struct capture_probe {
	const struct probe *spec;
	struct bpf_program *program; /* belongs to its object */
	struct kept_link *links;     /* one, or one per CPU for a perf event */
	size_t link_count;
	struct kept_link *fds; /* those that are descriptors only */
	size_t fd_count;
	pid_t for_pid;	      /* links that are kept now are of this process; 0: of all */
	bool is_resting;      /* a fallback that is not needed */
	bool is_refused_once; /* by an earlier capture on this boot, with this build */
	bool is_called;	      /* by another program, since it was first attached */
	int call_array; /* the map in which its caller finds it, not ours to close; -1: none */
	struct failure failure;
};

struct capture {
	struct capture_config config;
	struct filter_key *filters; /* config.filters; a copy */
	struct capture_probe *probes;
	struct bpf_object *objects[CAPTURE_SOURCES_MAX]; /* by source; [0] is the main one */
	struct bpflog log;
	struct reader *reader;
	struct ring_buffer *requests; /* of the walk of stacks; NULL: nobody asked for them */
	void (*on_request)(void *context, const struct unwind_request *request);
	void *request_context;
	struct queue_outcome outcome_before; /* the queue may have served captures before */
	u64 pushed_before;
	u64 rows;	       /* read by iterators, and sent on */
	bool has_task_storage; /* the kernel's abilities that choose between forms of a signal */
	bool has_task_regs;
	bool has_cookies;
	struct series *series;	       /* NULL: nothing counts in series */
	struct retired_links *retired; /* NULL: none yet */
	int hotplug_fd;		       /* negative: CPUs that come online are not announced here */
	bool detached;
	struct health final; /* kernel's side, fixed when detached */
};

/* source.c: the objects that are embedded, by number; 0 is the main one */
extern const int source_count;
const char *source_name(int source);
const void *source_bytes(int source, size_t *ret_size);
int source_of(const struct probe *spec); /* -ENOENT: there is no such object */
u64 source_build_hash(void); /* of the kernel side of this build, for what is remembered of it */
const char *
source_kernel_types(void); /* a file of those that they name; NULL: libbpf has its own ways */

/* object.c: one attempt at opening and loading; names the culprit if there is one. */
void object_find_form(struct capture *capture);
int object_open_main(struct capture *capture); /* only that: nothing is loaded */
int object_load_all(struct capture *capture, int *ret_source);
int object_fill_maps(const struct capture *capture); /* with what probes want in them */
void object_close_all(struct capture *capture);
bool object_map_is_shared(const struct bpf_map *map);

/* maps.c */
struct bpf_map *object_map(const struct capture *capture, const char *name);

/* live_config.c */
u64 live_filter_kinds(const struct capture *capture); /* a bit for each that is in use */
int live_write_filters(struct capture *capture);      /* and the live knobs */

/* fallback.c */
void fallback_choose(struct capture *capture); /* who rests in the next load */
bool fallback_has(const struct capture *capture, const char *program);

/* Why one that was not loaded cannot take over: the failure of the probe that it stands in for. */
int fallback_error(const struct capture *capture, const struct probe *spec);
bool fallback_is_needed(const struct capture *capture, const struct probe *spec);

/* missing_hooks.c */
typedef void missing_hook_fn(struct capture *capture, struct capture_probe *probe,
			     const char *tracepoint);
bool missing_hooks_are_told(const struct bpflog *log); /* by a load that failed */
void missing_hooks_find(struct capture *capture, missing_hook_fn *on_missing);

/* attach.c */
int attach_probe(const struct capture *capture, struct capture_probe *probe);
int attach_try_perf(struct capture_probe *probe); /* is there such an event? 0 or -errno */
void attach_undo(struct capture_probe *probe);

/* links.c */
int links_keep(struct capture_probe *probe, struct bpf_link *link); /* NULL: it is in errno */
int links_keep_fd(struct capture_probe *probe, int fd);
bool links_are_there(const struct capture_probe *probe);
void links_close(struct capture_probe *probe);
void links_close_one(const struct kept_link *kept);

/* retired_links.c: links of processes that have ended, closed in a thread, as each takes long */
struct retired_links;
struct retired_links *retired_links_open(void); /* NULL: no memory */
void retired_links_add(struct retired_links *retired, const struct kept_link *kept);
u64 retired_links_closed(struct retired_links *retired); /* so far */
void retired_links_free(struct retired_links *retired);	 /* when all are closed; NULL is allowed */

/* uprobe_multi.c */
struct uprobe_places {
	const u64 *offsets, *cookies; /* cookies may be NULL */
	u32 count;
};

bool uprobe_multi_has_sessions(void); /* PROBE_UPROBE_SESSION, from 6.13 on */
int uprobe_multi_attach(struct capture_probe *probe, const char *path,
			const struct uprobe_places *places, pid_t pid);

/* series.c */
u32 series_stripes_here(void);
int series_open(struct capture *capture); /* after the load; without series it does nothing */
void series_close(struct capture *capture);

/* rows.c */
void rows_send(struct capture *capture, const struct rec_hdr *row); /* when there is room */
bool rows_wait(struct capture *capture, u64 *patience_ns);

/* counts.c: what became of records */
void counts_drain(struct capture *capture); /* until all have arrived, or for so long */
void counts_fix(struct capture *capture);   /* as they are, when nothing is attached any more */
/* Until the reader has taken what is sent by now; no longer than this. */
void counts_catch_up(const struct capture *capture, u64 limit_ns);

/* verdicts.c: what this boot and build refused before. Failing to read or write is no error. */
void verdicts_read(struct capture *capture);
void verdicts_write(const struct capture *capture);

static inline bool probe_is_on(const struct capture_probe *probe)
{
	return probe->failure.err == 0 && !probe->is_resting;
}

#endif
