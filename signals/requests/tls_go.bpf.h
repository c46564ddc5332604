/* SPDX-License-Identifier: Apache-2.0 OR GPL-2.0-only */
/*
 * Calls of Go's crypto/tls that are under way, by goroutine: one may return on another thread than
 * it was called on. While it runs, its address is in a register, also when it enters the kernel:
 * that is how a receive finds the call it belongs to. The probes are in tls_go_probes.bpf.h.
 */
#ifndef DWELL_REQUESTS_TLS_GO_BPF_H
#define DWELL_REQUESTS_TLS_GO_BPF_H

#include "passed.bpf.h"

/* What Go passes in registers, from 1.17 on. */
#if defined(__TARGET_ARCH_x86)
#define GO_ARG1(regs)	((regs)->ax)
#define GO_ARG2(regs)	((regs)->bx)
#define GO_ARG3(regs)	((regs)->cx)
#define GO_RESULT(regs) ((regs)->ax)
#define GO_ROUTINE	r14
#elif defined(__TARGET_ARCH_arm64)
#define GO_ARG1(context)   ((context)->regs[0])
#define GO_ARG2(context)   ((context)->regs[1])
#define GO_ARG3(context)   ((context)->regs[2])
#define GO_RESULT(context) ((context)->regs[0])
#define GO_ROUTINE	   regs[28]
#endif

#define GO_CALLS_MAX 8192

struct go_key {
	u64 routine; /* address of what Go has of it */
	u64 tgid;
};

struct go_call {
	u64 connection; /* address of the *tls.Conn */
	u64 to;		/* where it puts what it reads ... */
	u64 stack_end;	/* ... on its stack, which may be moved, and ended there; 0: elsewhere */
	u64 sock;	/* on which was received meanwhile; 0: on none */
	u64 turn;	/* of that, if it serves */
	u64 function;	/* enum tls_function */
};

/* A call that never returns, by a panic, makes room when it is the oldest. */
struct {
	__uint(type, BPF_MAP_TYPE_LRU_HASH);
	__uint(max_entries, GO_CALLS_MAX);
	__type(key, struct go_key);
	__type(value, struct go_call);
} request_go_calls SEC(".maps");

/* True: what this thread has received is for a call of its goroutine. */
static __noinline int go_received(u32 tgid, u64 address, u64 turn)
{
	struct go_key key = {.tgid = tgid};
	struct go_call *call;

	key.routine = user_reg_at(offsetof(struct cpu_regs, GO_ROUTINE));
	call = bpf_map_lookup_elem(&request_go_calls, &key);
	if (!call)
		return 0;
	call->sock = address;
	call->turn = turn;
	return 1;
}

#endif
