/* SPDX-License-Identifier: Apache-2.0 OR GPL-2.0-only */
/*
 * Asking user space for what a walk of stacks lacks: the mappings of a process, or a page of rows.
 * Included by stack.bpf.h alone, which has the maps.
 */
#ifndef DWELL_UNWIND_ASK_BPF_H
#define DWELL_UNWIND_ASK_BPF_H

#define ASK_AGAIN_NS	   100000000ULL	 /* for what was not in the mappings */
#define ASK_AGAIN_FIRST_NS 1000000000ULL /* for a process that user space did not answer for */

/* number: a generation, or a module. */
static __always_inline void unwind_send(void *ring, u32 tgid, u32 want, u32 number, u32 page)
{
	struct unwind_request *request = bpf_ringbuf_reserve(ring, sizeof(*request), 0);

	if (!request)
		return; /* it is asked again, and what is gone is found out by its generation */
	request->tgid = tgid;
	request->want = want;
	request->generation = number;
	request->page = page;
	bpf_ringbuf_submit(request, 0);
}

static __always_inline void unwind_request(void *ring, u32 tgid, u32 want, u32 generation)
{
	unwind_send(ring, tgid, want, generation, 0);
}

/*
 * Once per process, and again now and then while something is missing. Of one that dwell's pid
 * namespace does not see, nothing can be read.
 */
static __always_inline void unwind_ask(u32 tgid, struct unwind_process *process)
{
	u64 now = bpf_ktime_get_ns();

	if (!tgid)
		return;
	if (!process) {
		struct unwind_process asked = {.asked_ns = now};

		if (bpf_map_update_elem(&unwind_processes, &tgid, &asked, BPF_NOEXIST))
			return; /* no place; or another thread was first */
	} else {
		if (now - process->asked_ns <
		    (process->generation ? ASK_AGAIN_NS : ASK_AGAIN_FIRST_NS))
			return;
		process->asked_ns = now;
	}
	unwind_request(&unwind_requests, tgid, UNWIND_WANT_PROCESS, 0);
}

/* The same in NMI: see nmi.bpf.h. */
static __always_inline void unwind_ask_nmi(u32 tgid, bool is_known)
{
	u32 place = tgid & (NMI_ASKS_MAX - 1);
	struct nmi_ask *last = bpf_map_lookup_elem(&nmi_asks, &place);
	u64 now = bpf_ktime_get_ns();

	if (!tgid || !last ||
	    (last->tgid == tgid &&
	     now - last->asked_ns < (is_known ? ASK_AGAIN_NS : ASK_AGAIN_FIRST_NS)))
		return;
	last->tgid = tgid;
	last->asked_ns = now;
	unwind_request(&unwind_requests_nmi, tgid, UNWIND_WANT_PROCESS, 0);
}

/* Now and then, whoever else needs it meanwhile: user space may have had no room for it. */
static __always_inline void unwind_ask_page(void *ring, u32 tgid, u32 module, u32 place)
{
	struct unwind_page *page = unwind_page_at(place);
	u32 turn = (u32)(bpf_ktime_get_ns() >> UNWIND_ASK_SHIFT);

	if (!page || unwind_run_of(page) || page->asked == turn)
		return;
	page->asked = turn;
	unwind_send(ring, tgid, UNWIND_WANT_PAGE, module, place);
}

/* A word of the stack that leads into the same code may be a return address. */
static __always_inline void unwind_ask_about(void *ring, u32 tgid,
					     const struct unwind_mapping *mapping, u64 word)
{
	struct unwind_module *module;
	u64 page;

	if (!unwind_is_in(mapping, word))
		return;
	module = unwind_module_at(mapping->module);
	page = (word - 1 - mapping->bias) >> UNWIND_PAGE_SHIFT;
	if (module && page < module->page_count)
		unwind_ask_page(ring, tgid, mapping->module, module->first_page + (u32)page);
}

#endif
