/* SPDX-License-Identifier: Apache-2.0 OR GPL-2.0-only */
/*
 * Connections that were there before, and that are there at the end.
 */
#ifndef DWELL_TCP_OPEN_BPF_H
#define DWELL_TCP_OPEN_BPF_H

/*
 * Each window: of those on which something moved, the round trip; what listeners dropped. And at
 * the end, when all rows are asked for, those that are open.
 */
SEC("?iter/bpf_map_elem")
int tcp_rows(struct bpf_iter__bpf_map_elem *ctx)
{
	struct live_config *live = live_config();
	struct tcp_conn *conn = ctx->value;
	u64 *address = ctx->key, moved;
	struct rec_tcp row;
	struct sock *sk;

	if (!address || !conn || !live || !conn->is_owned)
		return 0;
	sk = (struct sock *)*address;
	if (conn->direction == TCP_LISTENING) {
		take_drops(conn, sk);
		return 0;
	}
	moved = socket_sent_bytes(sk) + socket_received_bytes(sk);
	if (moved != conn->moved) {
		u64 srtt_ns = conn_srtt_ns(sk);

		conn->moved = moved;
		if (srtt_ns)
			conn_add(conn, TCP_KIND_RTT, srtt_ns);
	}
	if (live->all_rows != ALL_ROWS_LAST)
		return 0;
	emit_header(&row.hdr, SIG_TCP, SIG_VERSION_TCP, sizeof(row), 1, current_task());
	fill_conn(&row, conn, sk, 0);
	bpf_seq_write(ctx->meta->seq, &row, sizeof(row));
	return 0;
}

/* The TCP socket that an open file is; NULL: it is none. */
static __always_inline struct sock *tcp_sock_of(struct file *file)
{
	struct inode *inode = BPF_CORE_READ(file, f_inode);
	struct sock *sk;
	u32 family;

	if ((BPF_CORE_READ(inode, i_mode) & MODE_TYPE) != MODE_SOCKET)
		return NULL;
	sk = object_sock(file);
	family = BPF_CORE_READ(sk, __sk_common.skc_family);
	if (family != FAMILY_INET && family != FAMILY_INET6)
		return NULL;
	/* A raw socket can have TCP's number, too. */
	if (BPF_CORE_READ(sk, sk_type) != SOCK_STREAM ||
	    BPF_CORE_READ(sk, sk_protocol) != PROTOCOL_TCP)
		return NULL;
	return sk;
}

/* Those of who is followed from the start on: when they began is not known. */
SEC("?iter/task_file")
int tcp_seed(struct bpf_iter__task_file *ctx)
{
	struct task_struct *task = ctx->task;
	struct file *file = ctx->file;
	const struct ledger_task *account;
	struct tcp_conn conn = {};
	struct sock *sk;
	u32 state;

	if (!task || !file)
		return 0;
	account = account_of(task);
	sk = account ? tcp_sock_of(file) : NULL;
	if (!sk || conn_of(sk))
		return 0;
	state = BPF_CORE_READ(sk, __sk_common.skc_state);
	if (state == STATE_LISTEN) {
		listen_begin(sk, account);
		return 0;
	}
	if (state != STATE_ESTABLISHED && state != STATE_CLOSE_WAIT)
		return 0;
	conn_own(&conn, account);
	conn.object = listen_object(sk);
	conn.direction = bpf_map_lookup_elem(&tcp_listens, &conn.object) ? TCP_IN : TCP_OUT;
	if (conn.direction == TCP_OUT)
		conn.object = object_id_of_sock(sk, 0);
	conn.told = BPF_CORE_READ((struct tcp_sock *)sk, total_retrans);
	conn_keep(sk, &conn);
	name_object(conn.object, sk,
		    conn.direction == TCP_IN ? NAME_OF_ITS_LISTENER : NAME_OF_PEER);
	return 0;
}

#endif
