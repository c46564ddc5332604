/* SPDX-License-Identifier: Apache-2.0 OR GPL-2.0-only */
/*
 * Go's crypto/tls: probes where its functions begin, and at each instruction with which they
 * return. A return probe would crash a Go program. Included by requests.bpf.c, after those of
 * OpenSSL.
 */
#ifndef DWELL_REQUESTS_TLS_GO_PROBES_BPF_H
#define DWELL_REQUESTS_TLS_GO_PROBES_BPF_H

#include "tls_probes.bpf.h"

static __always_inline struct go_key go_key_of(const struct cpu_regs *ctx, u32 tgid)
{
	return (struct go_key){.routine = ctx->GO_ROUTINE, .tgid = tgid};
}

/* What a goroutine's structure begins with. */
struct go_stack {
	u64 begin, end;
};

/* 0: this address is not on its stack. */
static __always_inline u64 go_stack_end(u64 routine, u64 address)
{
	struct go_stack stack;

	if (bpf_probe_read_user(&stack, sizeof(stack), (const void *)routine))
		return 0;
	return !address || (address >= stack.begin && address < stack.end) ? stack.end : 0;
}

static __always_inline void go_begin(const struct cpu_regs *ctx, u32 function)
{
	struct request_common *common = request_common();
	struct ledger_task *account;
	struct go_call call = {};
	struct go_key key;

	tls_count(function);
	account = tls_account();
	if (!account || !common)
		return;
	if (!common->has_go)
		common->has_go = 1;
	key = go_key_of(ctx, account->tgid);
	/* The first Read makes the handshake, if nobody has: it is a part of that. */
	if (function == TLS_BY_GO_HANDSHAKE && bpf_map_lookup_elem(&request_go_calls, &key))
		return;
	call.connection = GO_ARG1(ctx);
	call.to = function == TLS_BY_GO_READ ? GO_ARG2(ctx) : 0;
	if (call.to)
		call.stack_end = go_stack_end(key.routine, call.to);
	call.function = function;
	bpf_map_update_elem(&request_go_calls, &key, &call, BPF_ANY);
}

/* The turn that the call has read of; NULL: it is not known, or is over. */
static __always_inline struct turn_sock *go_turn(const struct go_call *call, u32 tgid)
{
	struct tls_key key = {.ssl = call->connection, .tgid = tgid};
	const struct tls_connection *known;

	if (call->sock)
		return tls_find_received(&key, call->sock, call->turn);
	known = bpf_map_lookup_elem(&request_tls, &key);
	return known && known->is_received ? tls_known(known) : NULL;
}

static __always_inline void go_end(const struct cpu_regs *ctx, u32 function)
{
	struct ledger_task *account = account_of_current();
	s64 length = (s64)GO_RESULT(ctx);
	struct turn_sock *entry;
	struct go_call *at, call;
	struct go_key key;

	if (!account)
		return;
	key = go_key_of(ctx, account->tgid);
	at = bpf_map_lookup_elem(&request_go_calls, &key);
	if (!at || at->function != function)
		return;
	call = *at;
	bpf_map_delete_elem(&request_go_calls, &key);
	entry = go_turn(&call, account->tgid);
	if (!entry || !entry->begin_ns)
		return;
	if (call.stack_end)
		call.to += go_stack_end(key.routine, 0) - call.stack_end;
	if (function == TLS_BY_GO_READ && length > 0) {
		account->request.tls.ssl = call.connection;
		account->request.tls.to = call.to;
		tls_take(entry->address, (u64)length);
	} else if (call.sock) {
		tls_note_bare(entry->address, function == TLS_BY_GO_HANDSHAKE);
	}
}

#define GO_BEGIN(name, FUNCTION)                                                                   \
	SEC("?uprobe")                                                                             \
	int requests_go_##name(struct cpu_regs *ctx)                                               \
	{                                                                                          \
		UPROBE_BEGIN(ctx);                                                                 \
		go_begin(ctx, TLS_BY_GO_##FUNCTION);                                               \
		return 0;                                                                          \
	}

#define GO_END(name, FUNCTION)                                                                     \
	SEC("?uprobe")                                                                             \
	int requests_go_##name##_end(struct cpu_regs *ctx)                                         \
	{                                                                                          \
		UPROBE_BEGIN(ctx);                                                                 \
		go_end(ctx, TLS_BY_GO_##FUNCTION);                                                 \
		return 0;                                                                          \
	}

GO_BEGIN(read, READ)
GO_END(read, READ)
GO_BEGIN(handshake, HANDSHAKE)
GO_END(handshake, HANDSHAKE)

SEC("?uprobe")
int requests_go_write(struct cpu_regs *ctx)
{
	struct ledger_task *account;

	UPROBE_BEGIN(ctx);
	tls_count(TLS_BY_GO_WRITE);
	account = tls_account();
	if (account)
		tls_note_written(account, GO_ARG1(ctx), GO_ARG2(ctx), GO_ARG3(ctx));
	return 0;
}

#endif
