/* SPDX-License-Identifier: Apache-2.0 OR GPL-2.0-only */
/*
 * Which TCP sockets serve nobody: a cache by their addresses, in which a hash chooses the slot.
 * Each message of the host asks, and a load is cheaper than to judge the socket again. Also which
 * processes serve requests: only their calls are followed.
 */
#ifndef DWELL_REQUESTS_PASSED_BPF_H
#define DWELL_REQUESTS_PASSED_BPF_H

#define REQUEST_PASSED_BITS 14
#define REQUEST_SERVING_MAX 4096

enum passed {
	PASSED_NOT,  /* not known */
	PASSED_CALL, /* a client's, of a process that serves: its calls are followed */
	PASSED_ALL,  /* of no interest */
};

/* Two CPUs may write one slot at once: a socket's calls can be missed then, no server's. */
struct passed_slot {
	u64 address;
	u64 serving; /* PASSED_CALL_MARK, or how many processes served when it was judged */
};

#define PASSED_CALL_MARK (~0ULL)

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, 1 << REQUEST_PASSED_BITS);
	__type(key, u32);
	__type(value, struct passed_slot);
} request_passed SEC(".maps");

/* Processes that have received a request. Those that ask for longest not to be known make room. */
struct {
	__uint(type, BPF_MAP_TYPE_LRU_HASH);
	__uint(max_entries, REQUEST_SERVING_MAX);
	__type(key, u32); /* tgid */
	__type(value, u64);
} request_serving SEC(".maps");

/* What all CPUs share. */
struct request_common {
	u64 serving; /* so many processes have begun to serve: what was passed before may make calls
		      */
	u64 asked;   /* so many calls were noted in request_asked */
	u64 has_tls; /* servers speak it */
	u64 has_go;  /* by Go's own library */
	u64 trace_mask;	   /* see REQUEST_TRACE_HASH ... */
	u64 trace_mask_ns; /* ... and when it was last changed */
};

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, 1);
	__type(key, u32);
	__type(value, struct request_common);
} request_commons SEC(".maps");

static __always_inline struct request_common *request_common(void)
{
	u32 zero = 0;

	return bpf_map_lookup_elem(&request_commons, &zero);
}

static __always_inline struct passed_slot *passed_slot(u64 address)
{
	u32 place;

	/* Half of an address is a number to the verifier: one that it lets us count with. */
	__asm__ volatile("%0 = %1" : "=w"(place) : "w"((u32)address));
	place = place * 0x9e3779b1U >> (32 - REQUEST_PASSED_BITS);
	return bpf_map_lookup_elem(&request_passed, &place);
}

static __always_inline u32 passed(u64 address)
{
	struct passed_slot *slot = passed_slot(address);
	struct request_common *common;

	if (!slot || slot->address != address)
		return PASSED_NOT;
	if (slot->serving == PASSED_CALL_MARK)
		return PASSED_CALL;
	common = request_common();
	return common && slot->serving == common->serving ? PASSED_ALL : PASSED_NOT;
}

static __always_inline void set_passed(u64 address, u32 kind)
{
	struct passed_slot *slot = passed_slot(address);
	struct request_common *common = request_common();

	if (!slot || !common)
		return;
	slot->serving = kind == PASSED_CALL ? PASSED_CALL_MARK : common->serving;
	slot->address = address;
}

static __always_inline void clear_passed(u64 address)
{
	struct passed_slot *slot = passed_slot(address);

	if (slot && slot->address == address)
		slot->address = 0;
}

/* True: it did not until now. */
static __always_inline bool note_serving(u32 tgid)
{
	struct request_common *common = request_common();
	u64 yes = 1;

	if (!common || bpf_map_lookup_elem(&request_serving, &tgid))
		return false;
	bpf_map_update_elem(&request_serving, &tgid, &yes, BPF_ANY);
	__sync_fetch_and_add(&common->serving, 1);
	return true;
}

static __always_inline bool is_serving(u32 tgid)
{
	return bpf_map_lookup_elem(&request_serving, &tgid) != NULL;
}

#endif
